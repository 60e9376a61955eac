//! What counts tokens, as processors see it: tokenizers and chat templates are traits here, and neither is implemented.

mod approximate;
mod calibrated;

use std::fmt;

use crate::dialects::Dialect;
use crate::json::Text;
use crate::processors::Counting;
use crate::transcript::{Message, Transcript};

pub use approximate::Approximate;
pub use calibrated::{BY_USAGE, Calibrated};

/// A number of tokens with its unit: "1 token", "8 tokens".
pub(crate) fn token_count(tokens: usize) -> String {
    if tokens == 1 { String::from("1 token") } else { format!("{tokens} tokens") }
}

/// Counts the tokens of texts. Special tokens such as `<|endoftext|>` in a text are text.
///
/// `curtail-tokens` has the tokenizers of many models; one of your own can be this short:
///
/// ```
/// use curtail_core::{Cutter, LimitPolicy, Tokenizer};
///
/// /// Counts words.
/// struct Words;
///
/// impl Tokenizer for Words {
///     fn count(&self, text: &str) -> usize {
///         text.split_whitespace().count()
///     }
/// }
///
/// let chat = concat!(
///     "{\"role\":\"user\",\"content\":\"When does the first train leave?\"}\n",
///     "{\"role\":\"assistant\",\"content\":\"At 05:12.\"}\n",
///     "{\"role\":\"user\",\"content\":\"And the last one?\"}\n",
/// );
/// let cutter = Cutter::builder().tokenizer(Words).limit(LimitPolicy::tokens(6)).build()?;
/// assert_eq!(cutter.cut(chat)?.lines().count(), 2);
/// # Ok::<(), curtail_core::Error>(())
/// ```
pub trait Tokenizer: Send + Sync {
    /// Its name, which users choose it by.
    #[doc(hidden)]
    #[expect(clippy::unnecessary_literal_bound, reason = "others know their name only when they run")]
    fn name(&self) -> &str {
        "custom"
    }

    /// Whether counts equal those of the model's own tokenizer; otherwise they are estimates.
    #[doc(hidden)]
    fn exact(&self) -> bool {
        false
    }

    /// Whether no text has more tokens than bytes. A tokenizer that rewrites a text before it splits it cannot promise this.
    #[doc(hidden)]
    fn at_most_bytes(&self) -> bool {
        false
    }

    /// What a user who asks for details should know about how it counts.
    #[doc(hidden)]
    fn remark(&self) -> Option<String> {
        None
    }

    /// What `tokens` that are not those of a text count, such as those of an image: a calibrated tokenizer multiplies them.
    #[doc(hidden)]
    fn scaled(&self, tokens: usize) -> usize {
        tokens
    }

    /// Tokens of the text.
    fn count(&self, text: &str) -> usize;

    /// Tokens of a text that a chat template rendered: special tokens in it are tokens, if the tokenizer knows any.
    #[doc(hidden)]
    fn count_rendered(&self, text: &str) -> usize {
        self.count(text)
    }

    /// Tokens of the text, or `None` if there are more than `limit`. Stops as soon as there are more, if it can.
    #[doc(hidden)]
    fn count_until(&self, text: &str, limit: usize) -> Option<usize> {
        Some(self.count(text)).filter(|count| *count <= limit)
    }

    /// Bytes of the longest start of the text that has at most its first `tokens` tokens and ends both a token and a character.
    /// By default, it is searched for with [`count`](Self::count), and ends a character.
    #[doc(hidden)]
    fn head(&self, text: &str, tokens: usize) -> usize {
        let ends: Vec<usize> = text.char_indices().map(|(at, _)| at).skip(1).chain([text.len()]).collect();
        let fitting = ends.partition_point(|end| self.count(&text[..*end]) <= tokens);
        fitting.checked_sub(1).map_or(0, |last| ends[last])
    }

    /// Start, in bytes, of the longest end of the text that has at most its last `tokens` tokens and starts both a token and a
    /// character. By default, it is searched for with [`count`](Self::count), and starts a character.
    #[doc(hidden)]
    fn tail(&self, text: &str, tokens: usize) -> usize {
        let starts: Vec<usize> = text.char_indices().map(|(at, _)| at).collect();
        let too_long = starts.partition_point(|start| self.count(&text[*start..]) > tokens);
        starts.get(too_long).copied().unwrap_or(text.len())
    }
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
