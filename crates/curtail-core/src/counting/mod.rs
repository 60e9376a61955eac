//! What counts tokens, as processors see it: tokenizers and chat templates are traits here, and neither is implemented.

mod calibrated;

use std::fmt;

use crate::dialects::Dialect;
use crate::json::Text;
use crate::processors::Counting;
use crate::transcript::{Message, Transcript};

pub use calibrated::{BY_USAGE, Calibrated};

/// Counts the tokens of texts. Special tokens such as `<|endoftext|>` in a text are text.
pub trait Tokenizer: Send + Sync {
    /// Its name, which users choose it by.
    fn name(&self) -> &str;

    /// Whether counts equal those of the model's own tokenizer; otherwise they are estimates.
    fn exact(&self) -> bool;

    /// Whether no text has more tokens than bytes. A tokenizer that rewrites a text before it splits it cannot promise this.
    fn at_most_bytes(&self) -> bool {
        false
    }

    /// What `tokens` that are not those of a text count, such as those of an image: a calibrated tokenizer multiplies them.
    fn scaled(&self, tokens: usize) -> usize {
        tokens
    }

    /// Tokens of the text.
    fn count(&self, text: &str) -> usize;

    /// Tokens of a text that a chat template rendered: special tokens in it are tokens, if the tokenizer knows any.
    fn count_rendered(&self, text: &str) -> usize {
        self.count(text)
    }

    /// Tokens of the text, or `None` if there are more than `limit`. Stops as soon as there are more.
    fn count_until(&self, text: &str, limit: usize) -> Option<usize>;

    /// Bytes of the longest start of the text that has at most its first `tokens` tokens and ends both a token and a character.
    fn head(&self, text: &str, tokens: usize) -> usize;

    /// Start, in bytes, of the longest end of the text that has at most its last `tokens` tokens and starts both a token and a
    /// character.
    fn tail(&self, text: &str, tokens: usize) -> usize;
}

/// Renders messages as a model reads them.
pub trait Template: Send + Sync {
    /// Prepares messages, and the instructions and tools outside their list, so that some of them can be rendered again and
    /// again.
    fn prepare(&self, preamble: &[Text<'_>], messages: &[Message<'_>]) -> Box<dyn Prepared + '_>;
}

/// Messages that a [`Template`] prepared.
pub trait Prepared {
    /// The text of the messages with these numbers.
    ///
    /// # Errors
    /// The template refuses them, such as roles that do not alternate.
    fn text(&self, kept: &mut dyn Iterator<Item = usize>) -> Result<String, TemplateError>;
}

/// How the error of a transcript that a template cannot render begins.
pub const REFUSED: &str = "the chat template refuses the transcript";

/// A template that cannot be read, or a transcript that it cannot render.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TemplateError(String);

impl TemplateError {
    /// An error with this message.
    #[must_use]
    pub const fn new(message: String) -> Self {
        Self(message)
    }
}

impl fmt::Display for TemplateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for TemplateError {}

/// Calibrates a counting by the provider's own figures in a transcript, or says why it cannot.
pub type Calibrate = fn(&dyn Dialect, &Transcript<'_>, &Counting) -> Result<Counting, &'static str>;
