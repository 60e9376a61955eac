//! What a provider demands of a transcript besides whole pairs: neutral facts that rules ask for, stated by dialects.

use super::Role;

/// What whoever takes a format refuses, beyond the manners of its pairs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ProviderRules {
    /// Whose answers are quoted; empty where nobody takes the format as it is.
    pub provider: &'static str,
    /// Whether items of a kind that the format does not know are expected, as in the log of a session.
    pub log: bool,
    /// Who must speak first, instructions aside.
    pub first_speaker: Option<Role>,
    /// Whether user and assistant must take turns.
    pub turns: Turns,
    /// Whether the results of a message's calls must all stand in one message.
    pub results_together: bool,
    /// Whether the provider can hold items itself, and ties reasoning to what it led to.
    pub server_state: bool,
    /// Members of which a thought must carry one: the proof that the model thought it.
    pub signatures: &'static [&'static str],
    /// Members of which the first call of a message must carry one, where other calls of the transcript do.
    pub call_signatures: &'static [&'static str],
    /// How the ids of calls may be spelt.
    pub ids: Option<IdFormat>,
}

/// Whether messages of one role may follow each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Turns {
    /// They may, or the provider joins them.
    #[default]
    Free,
    /// User and assistant must alternate.
    Alternate,
}

/// How an id may be spelt: ASCII letters, digits, and some marks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IdFormat {
    /// Marks that are allowed besides letters and digits.
    pub marks: &'static str,
    /// Greatest length in bytes.
    pub longest: usize,
}

impl IdFormat {
    /// Whether `id` is spelt so.
    #[must_use]
    pub fn accepts(self, id: &str) -> bool {
        let right = |c: char| c.is_ascii_alphanumeric() || self.marks.contains(c);
        !id.is_empty() && id.len() <= self.longest && id.chars().all(right)
    }
}
