//! What an answer says of a transcript.

use crate::checks::{Constraint, Finding};

/// What an answer says of a transcript.
#[derive(Debug, Clone)]
#[expect(clippy::large_enum_variant, reason = "there is one for each transcript that is searched")]
pub enum Diagnosis {
    /// The answer is about something else, such as the account.
    Unrelated(&'static Constraint),
    /// No known answer has these words; the nearest ones.
    Unknown(Vec<&'static Constraint>),
    /// The answer is about one of these, and the transcript has no such fault.
    Absent(Vec<&'static Constraint>),
    /// The place that the answer names, where no rule finds the fault.
    Named(Finding),
    /// The places that it means, in order.
    Found {
        /// What the provider demands.
        constraint: &'static Constraint,
        /// The fault at each place.
        findings: Vec<Finding>,
        /// Whether the answer names the place; otherwise the transcript was searched.
        is_named: bool,
        /// The provider, if it is another than the one that the format of the transcript is for.
        profile: Option<&'static str>,
    },
}
