//! What a rule is: a fault that a transcript can have, with its documentation, its level, and what detects it.

use serde::Serialize;

use super::budget::TokenCounts;
use super::constraints::{Constraint, constraints};
use super::context::RuleContext;
use super::matched::Match;
use crate::transcript::FaultKind;

/// A fault that a transcript can have, with its documentation.
#[derive(Debug)]
pub struct Rule {
    /// The rule's code: the letter of its group and a number that never changes.
    pub code: &'static str,
    /// The name of the fault, so that "allow orphan-result" reads as a sentence.
    pub name: &'static str,
    /// The level of a finding unless flags or a configuration change it.
    pub level: Level,
    /// What is wrong, in one sentence.
    pub summary: &'static str,
    /// Why it matters, in Markdown.
    pub why: &'static str,
    /// What to do about it; reads after "help: ".
    pub help: &'static str,
    /// Whether `check --fix` mends it.
    pub fix: Fix,
    /// A command that mends it where `check --fix` does not, with `FILE` for the file; empty if there is none.
    pub command: &'static str,
    /// The flags with which `check` reports the bad example, for a rule that is off or needs a number.
    pub flags: &'static str,
    /// A file in which this rule, and no other, has a finding.
    pub bad: &'static str,
    /// The same file without the fault: no rule has a finding in it.
    pub good: &'static str,
    /// What detects the fault.
    pub detector: Detector,
}

/// What happens to a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// The rule does not run.
    Allow,
    /// The finding is reported.
    Warn,
    /// The finding is reported and the check fails.
    Deny,
}

impl Level {
    /// The level's name, as flags and configurations write it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Warn => "warn",
            Self::Deny => "deny",
        }
    }
}

/// Whether and how a fault can be mended by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fix {
    /// A person has to.
    No,
    /// The repair of pairs mends it, as faults of this kind; without a kind, as those of several.
    Pairs(Option<FaultKind>),
    /// In the part alone, and nothing is invented.
    Part,
    /// In the part alone, but the transcript says something else then.
    Unsafe,
}

/// What a rule looks at.
#[derive(Debug, Clone, Copy)]
pub enum Detector {
    /// One transcript, with this function.
    Transcript(for<'c, 'a> fn(&RuleContext<'c, 'a>) -> Vec<Match<'a>>),
    /// One transcript, its tokens and the number that it may have. Without that number, the rule does not run.
    Budget(for<'c, 'a> fn(&RuleContext<'c, 'a>, &TokenCounts, usize) -> Vec<Match<'a>>),
    /// Text that cannot be read, so that there is no transcript yet.
    Text,
    /// All transcripts of a run, compared with each other.
    Dataset,
}

/// What kind of fault a rule detects.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Group {
    /// Tool calls and their results (`P…`).
    Pairing,
    /// A single message, or its parts (`S…`).
    Shape,
    /// Which roles have messages, and in which order (`T…`).
    Turn,
    /// A transcript as one of many (`D…`).
    Dataset,
}

impl Group {
    /// Every group, in the order of the rules.
    pub const ALL: &'static [Self] = &[Self::Pairing, Self::Shape, Self::Turn, Self::Dataset];

    /// The name of the group, as flags and configurations write it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Pairing => "pairing",
            Self::Shape => "shape",
            Self::Turn => "turn",
            Self::Dataset => "dataset",
        }
    }

    /// The group called `name`.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|group| group.name() == name)
    }
}

impl Rule {
    /// Whether the rule runs only with a number of tokens that a transcript may have.
    #[must_use]
    pub const fn needs_budget(&self) -> bool {
        matches!(self.detector, Detector::Budget(_))
    }

    /// The group that the rule belongs to.
    #[must_use]
    pub fn group(&self) -> Group {
        match self.code.as_bytes() {
            [b'P', ..] => Group::Pairing,
            [b'S', ..] => Group::Shape,
            [b'T', ..] => Group::Turn,
            _ => Group::Dataset,
        }
    }

    /// What providers demand that the rule finds violated, and how they say so.
    pub fn constraints(&self) -> impl Iterator<Item = &'static Constraint> {
        constraints().iter().filter(|row| row.rule == Some(self.code))
    }

    /// What the provider called `name` answers, where it is known: about `what`, or anything that the rule finds if the table has no
    /// such subject.
    #[must_use]
    pub fn answer_of(&self, name: &str, what: &str) -> Option<&'static str> {
        // A finding is about messages; of an empty list, nothing is found.
        let mut rows = self.constraints().filter(|row| row.what != "no messages");
        let is_subject = self.constraints().any(|row| row.what == what);
        let answer = rows.find(|row| row.provider == name && (row.what == what || !is_subject));
        answer.map(|row| row.words)
    }

    /// Whether `--fix` mends it.
    pub(super) const fn is_fixed(&self) -> bool {
        !matches!(self.fix, Fix::No)
    }
}
