//! Constraints of a provider other than complete pairs: each dialect states them, and rules check them.

use super::Role;

/// Further constraints of a provider, in addition to the pairing rules. The default has none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ProviderRules {
    /// The provider whose error messages rules quote; empty if no provider accepts the format.
    pub provider: &'static str,
    /// Whether items of unknown kinds are expected, as in the log of a session.
    pub log: bool,
    /// The role of the first message after the instructions, if the provider requires one.
    pub first_speaker: Option<Role>,
    /// Whether user and assistant must alternate.
    pub turns: Turns,
    /// Whether the results for the calls of one message must all be in one message.
    pub results_together: bool,
    /// Whether the provider can store items itself, and requires reasoning together with the item after it.
    pub server_state: bool,
    /// Reasoning must have one of these members, which proves that the model wrote it.
    pub signatures: &'static [&'static str],
    /// The first call of a message must have one of these members, if other calls of the transcript do.
    pub call_signatures: &'static [&'static str],
    /// Whether instructions may be anywhere in the conversation.
    pub system_anywhere: bool,
    /// Whether instructions are always beside the list of messages, which has no role for them.
    pub system_beside: bool,
    /// The format of call ids, if the provider restricts it.
    pub ids: Option<IdFormat>,
}

impl ProviderRules {
    /// Where a block of context is written in a transcript with these rules.
    #[must_use]
    pub fn context_place(&self) -> ContextPlace {
        ContextPlace { joins: self.turns == Turns::Alternate, system: !self.system_beside }
    }
}

/// Where a block of context is written: summaries, or working memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ContextPlace {
    /// Whether a block from the user is written in front of the user's message that follows, because turns alternate.
    pub joins: bool,
    /// Whether the list of messages has a role for instructions.
    pub system: bool,
}

impl Default for ContextPlace {
    fn default() -> Self {
        Self { joins: false, system: true }
    }
}

/// Whether messages of one role may follow each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Turns {
    /// They may; some providers join them.
    #[default]
    Free,
    /// User and assistant must alternate.
    Alternate,
}

/// A format of ids: ASCII letters, digits and some punctuation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IdFormat {
    /// Punctuation that is allowed in addition to letters and digits.
    pub symbols: &'static str,
    /// Maximum length in bytes.
    pub longest: usize,
}

impl IdFormat {
    /// Whether `id` has this format.
    #[must_use]
    pub fn accepts(self, id: &str) -> bool {
        let right = |c: char| c.is_ascii_alphanumeric() || self.symbols.contains(c);
        !id.is_empty() && id.len() <= self.longest && id.chars().all(right)
    }
}
