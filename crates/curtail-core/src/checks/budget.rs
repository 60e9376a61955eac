//! The tokens that a transcript may have, and those that it has.

use crate::counting::REFUSED;
use crate::dialects::{Dialect, ReadError};
use crate::pipeline::calibrated;
use crate::processors::{Counting, View};
use crate::transcript::Transcript;

/// The tokens that a transcript may have.
#[derive(Clone)]
pub struct Budget {
    /// Their number.
    pub max_tokens: usize,
    /// How they are counted.
    pub counting: Counting,
}

/// The tokens of a transcript.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TokenCounts {
    /// Tokens outside the messages.
    pub outside: usize,
    /// Tokens of each message.
    pub messages: Vec<usize>,
    /// All tokens; not their sum where a chat template renders the transcript.
    pub total: usize,
}

impl Budget {
    /// The same budget, counted by the usage in `transcript` if it has to be.
    pub(super) fn calibrated(&self, dialect: &dyn Dialect, transcript: &Transcript<'_>) -> Result<Self, ReadError> {
        Ok(Self { counting: calibrated(&self.counting, dialect, transcript)?, ..*self })
    }

    pub(super) fn counts(&self, transcript: &Transcript<'_>) -> Result<TokenCounts, ReadError> {
        let view = View::of_layout(&transcript.layout, &transcript.messages);
        let messages = view.messages.iter().map(|message| self.counting.message(message)).collect();
        let offset = transcript.layout.span.start as usize;
        let total =
            self.counting.total(&view).map_err(|error| ReadError { offset, what: format!("{REFUSED}: {error}") })?;
        Ok(TokenCounts { outside: self.counting.outside(&view), messages, total })
    }
}
