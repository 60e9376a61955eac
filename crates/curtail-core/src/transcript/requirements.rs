//! What a wire format requires of calls and results, and what else a provider requires: each dialect states it, and pairing,
//! repair and checks apply it.

use super::{Content, Family, Role};

/// The rules of a wire format for calls and results. Pairing, repair and checks apply them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PairingRules {
    /// Where results must be.
    pub results: ResultPlace,
    /// Whether a call id may be used only once in a transcript, even after its call was answered.
    pub unique_ids: bool,
    /// Whether calls and results carry ids.
    pub ids: bool,
    /// Whether the format has a developer role.
    pub developer: bool,
    /// Whether the provider refuses the result of a tool that failed if it has no text.
    pub failures_need_text: bool,
}

impl PairingRules {
    /// These rules of a provider, for a transcript in a format that has the rules `format`.
    #[must_use]
    pub const fn over(self, format: Self) -> Self {
        use ResultPlace::{Anywhere, NextMessage, NextMessageFirst, RightAfter, RightAfterTurn};
        let results = match (format.results, self.results) {
            // A format with messages joins items in a row into one message.
            (Anywhere, RightAfter) => RightAfterTurn,
            (NextMessage | NextMessageFirst, RightAfter) => NextMessage,
            (_, required) => required,
        };
        // Whether there are ids depends on the transcript and not on the provider.
        Self { results, ids: format.ids, ..self }
    }

    /// Whether a call or a result lacks the id that the format requires, so that it cannot be paired.
    #[must_use]
    pub fn lacks_id(self, content: &Content<'_>) -> bool {
        let (id, family, hosted) = match (content.call(), content.result()) {
            (Some(call), _) => (&call.id, call.family, call.hosted),
            (_, Some(result)) => (&result.id, result.family, result.same_message),
            _ => return false,
        };
        // Tool searches may lack an id; positional calls never have one.
        let needs_id = self.ids && !hosted && !matches!(family, Family::Positional | Family::ToolSearch);
        needs_id && id.as_ref().is_none_or(|id| id.len_bound() == 0)
    }
}

/// Where a wire format requires the result of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ResultPlace {
    /// Anywhere after the call.
    Anywhere,
    /// In the messages right after the call, before any other role.
    #[default]
    RightAfter,
    /// As [`ResultPlace::RightAfter`], with consecutive items of the assistant as one message.
    RightAfterTurn,
    /// In the next message, before any other content.
    NextMessageFirst,
    /// In the next message.
    NextMessage,
    /// In the message of the call.
    SameMessage,
}

/// Further constraints of a provider, in addition to the pairing rules. The default has none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ProviderRules {
    /// The provider whose error messages rules quote; empty if no provider accepts the format.
    pub provider: &'static str,
    /// Whether the transcript is the log of a program, in which items of unknown kinds are expected: `is_log` of its
    /// format, whatever profile is in place of the format's rules.
    pub log: bool,
    /// Whether the program of the log writes messages anew for each provider: with other ids, and without what it cannot sign.
    pub converts: bool,
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
}

impl ProviderRules {
    /// Where a block of context is written in a transcript with these rules, and with whose message one begins.
    #[must_use]
    pub fn context_place(&self) -> ContextPlace {
        ContextPlace {
            joins: self.turns == Turns::Alternate,
            system: !self.system_beside,
            user_first: self.first_speaker == Some(Role::User),
        }
    }
}

/// Where a block of context is written, such as summaries or working memory, and with whose message a cut may begin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ContextPlace {
    /// Whether a block from the user is written in front of the user's message that follows, because turns alternate.
    pub joins: bool,
    /// Whether the list of messages has a role for instructions.
    pub system: bool,
    /// Whether the first message after the instructions has to be the user's.
    pub user_first: bool,
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
