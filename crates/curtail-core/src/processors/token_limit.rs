//! The settings of a limit: its budget, how tokens are counted, and what is kept in any case. `limiting` decides by them.

use super::counting::Counting;
use super::keep::Keep;
use super::pins::Question;

/// What to do when the newest segment does not fit together with the question of a person that it follows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Overflow {
    /// Keep the newest segments that fit although they ask nothing, or only preserved messages, with a warning.
    Empty,
    /// While a round is in flight, keep its question and the newest segment although they exceed the budget. Otherwise, keep the
    /// newest segments that fit although they ask nothing, or the newest one if none fits. With a warning.
    KeepNewest,
    /// Shorten the texts of the newest segment in the middle, and those of the question if that is not enough.
    Truncate,
    /// Fail with an error.
    #[default]
    Error,
}

/// Keeps the newest segments that fit into `max_tokens`, without gaps.
///
/// Counting starts at the newest segment and stops at the first one that does not fit. Older messages are counted only if they
/// are preserved, or for `trigger` and `step`.
///
/// ```
/// use curtail_core::processors::{Counting, TokenLimit};
/// use curtail_tokens::tokenizers;
///
/// let counting = Counting::new(tokenizers::tokenizer_by_name("o200k_base")?);
/// let limit = TokenLimit { trigger: Some(16_000), ..TokenLimit::new(8_000, counting) };
/// assert!(limit.preserve_system);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct TokenLimit {
    /// The budget in tokens.
    pub max_tokens: usize,
    /// Cut only transcripts with more tokens than this.
    pub trigger: Option<usize>,
    /// How tokens are counted.
    pub counting: Counting,
    /// What to do when not even the newest segment fits.
    pub on_overflow: Overflow,
    /// Whether system and developer messages are kept and counted first; `true` by default.
    pub preserve_system: bool,
    /// Whether the first message that a person wrote is kept and counted first, too.
    pub first_user: bool,
    /// When the last message that a person wrote is kept, and counted after those.
    pub question: Question,
    /// Tokens that are dropped at a time, counted from the start of the transcript: so the earlier requests of a conversation are
    /// prefixes of the later ones until the next step, and stay in the provider's cache.
    pub step: usize,
}

impl TokenLimit {
    /// Limits transcripts to `max_tokens` as `counting` counts them; preserves system messages and has no trigger.
    #[must_use]
    pub fn new(max_tokens: usize, counting: Counting) -> Self {
        Self {
            max_tokens,
            trigger: None,
            counting,
            on_overflow: Overflow::default(),
            preserve_system: true,
            first_user: false,
            question: Question::default(),
            step: 1,
        }
    }

    /// The messages that are kept wherever they are.
    pub(super) fn keep(&self) -> Keep {
        let first_user = self.first_user;
        let question = self.question;
        Keep { system: self.preserve_system, first_user, question, ..Keep::default() }
    }
}
