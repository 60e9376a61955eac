//! `--pin`: the messages that a cut keeps, and a split repeats, wherever they are.

use crate::options::choices::Choice;
use curtail_core::processors::{Pins, Question};

/// The values of `--pin`.
pub(crate) const PINS: &[Choice<Pin>] = &[
    Choice::new("system", Pin::System, "System and developer messages"),
    Choice::new("first-user", Pin::FirstUser, "The first message that a person wrote, and what system pins"),
    Choice::new("last-user", Pin::LastUser, "The last one, and what system pins; while a round is in flight, always"),
    Choice::new("none", Pin::None, "Nothing"),
];

/// A value of `--pin`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Pin {
    System,
    FirstUser,
    LastUser,
    None,
}

/// What the values of `--pin` keep.
///
/// # Errors
/// `none` is combined with another value.
pub(crate) fn pins(which: &[Pin]) -> anyhow::Result<Pins> {
    if which.len() > 1 && which.contains(&Pin::None) {
        anyhow::bail!("--pin none excludes the other values");
    }
    let question = match (which.contains(&Pin::LastUser), which.contains(&Pin::None)) {
        (true, _) => Question::Always,
        (_, true) => Question::Never,
        _ => Question::InFlight,
    };
    Ok(Pins { system: !which.contains(&Pin::None), first_user: which.contains(&Pin::FirstUser), question })
}
