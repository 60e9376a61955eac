//! What counts tokens, as processors see it: tokenizers and chat templates are traits. Here are only those that need no vocabulary:
//! an estimate, and a calibrated count.

use std::fmt;
use std::sync::Arc;

use crate::json::Text;
use crate::numbers::number_of;
use crate::transcript::Message;

/// A number of tokens with its unit: "1 token", "8 tokens".
pub(crate) fn token_count(tokens: usize) -> String {
    number_of(tokens, "token")
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
    #[expect(clippy::unnecessary_literal_bound, reason = "others know their name only when they run")]
    fn name(&self) -> &str {
        "custom"
    }

    /// Whether counts equal those of the model's own tokenizer; otherwise they are estimates.
    fn exact(&self) -> bool {
        false
    }

    /// Whether no text has more tokens than bytes. A tokenizer that rewrites a text before it splits it cannot promise this.
    fn at_most_bytes(&self) -> bool {
        false
    }

    /// What a user should know about how it counts, such as that it is slow.
    fn remark(&self) -> Option<String> {
        None
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

    /// Tokens of the text, or `None` if there are more than `limit`. Stops as soon as there are more, if it can.
    fn count_until(&self, text: &str, limit: usize) -> Option<usize> {
        Some(self.count(text)).filter(|count| *count <= limit)
    }

    /// Bytes of the longest start of the text that has at most its first `tokens` tokens and ends both a token and a character.
    /// By default, it is searched for with [`count`](Self::count), and ends a character.
    fn head(&self, text: &str, tokens: usize) -> usize {
        let ends: Vec<usize> = text.char_indices().map(|(at, _)| at).skip(1).chain([text.len()]).collect();
        let fitting = ends.partition_point(|end| self.count(&text[..*end]) <= tokens);
        fitting.checked_sub(1).map_or(0, |last| ends[last])
    }

    /// Start, in bytes, of the longest end of the text that has at most its last `tokens` tokens and starts both a token and a
    /// character. By default, it is searched for with [`count`](Self::count), and starts a character.
    fn tail(&self, text: &str, tokens: usize) -> usize {
        let starts: Vec<usize> = text.char_indices().map(|(at, _)| at).collect();
        let too_long = starts.partition_point(|start| self.count(&text[*start..]) > tokens);
        starts.get(too_long).copied().unwrap_or(text.len())
    }
}

/// What holds a tokenizer counts like it, so that a builder takes it as it is.
macro_rules! count_as_what_is_held {
    ($($holder:ty),+) => {$(
        impl<T: Tokenizer + ?Sized> Tokenizer for $holder {
            fn name(&self) -> &str {
                (**self).name()
            }

            fn exact(&self) -> bool {
                (**self).exact()
            }

            fn at_most_bytes(&self) -> bool {
                (**self).at_most_bytes()
            }

            fn remark(&self) -> Option<String> {
                (**self).remark()
            }

            fn scaled(&self, tokens: usize) -> usize {
                (**self).scaled(tokens)
            }

            fn count(&self, text: &str) -> usize {
                (**self).count(text)
            }

            fn count_rendered(&self, text: &str) -> usize {
                (**self).count_rendered(text)
            }

            fn count_until(&self, text: &str, limit: usize) -> Option<usize> {
                (**self).count_until(text, limit)
            }

            fn head(&self, text: &str, tokens: usize) -> usize {
                (**self).head(text, tokens)
            }

            fn tail(&self, text: &str, tokens: usize) -> usize {
                (**self).tail(text, tokens)
            }
        }
    )+};
}

count_as_what_is_held!(Arc<T>, Box<T>, &T);

/// Renders messages as a model reads them.
pub trait Template: Send + Sync {
    /// Prepares messages, with the instructions and tools before their list and the replies after it, so that some of them can be
    /// rendered again and again.
    fn prepare(&self, preamble: &[Text<'_>], messages: &[Message<'_>], replies: &[Text<'_>]) -> Box<dyn Prepared + '_>;
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

/// The length in UTF-16 units, divided by a ratio that was measured for an encoding, rounded up. By default that of
/// `o200k_base`: 4.2 units per token.
///
/// ```
/// use curtail_core::{Approximate, Tokenizer as _};
///
/// assert_eq!(Approximate::default().count("When does the first train leave?"), 8);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Approximate {
    name: &'static str,
    /// UTF-16 units per token, in tenths.
    tenths: usize,
    /// Why it stands for the tokenizer of a model.
    remark: Option<String>,
}

impl Default for Approximate {
    fn default() -> Self {
        Self::new("approx:o200k_base", 42)
    }
}

impl Tokenizer for Approximate {
    fn name(&self) -> &str {
        self.name
    }

    fn at_most_bytes(&self) -> bool {
        self.tenths >= 10
    }

    fn remark(&self) -> Option<String> {
        self.remark.clone()
    }

    fn count(&self, text: &str) -> usize {
        (utf16_units(text) * 10).div_ceil(self.tenths)
    }

    fn head(&self, text: &str, tokens: usize) -> usize {
        self.fitting(text.chars(), tokens)
    }

    fn tail(&self, text: &str, tokens: usize) -> usize {
        text.len() - self.fitting(text.chars().rev(), tokens)
    }
}

impl Approximate {
    /// An estimate with this name, of `tenths` tenths of a UTF-16 unit per token; 0 is taken for 1.
    #[must_use]
    pub const fn new(name: &'static str, tenths: usize) -> Self {
        Self { name, tenths: if tenths == 0 { 1 } else { tenths }, remark: None }
    }

    /// The same estimate, which remarks why it stands for the tokenizer of a model.
    #[must_use]
    pub fn with_remark(self, remark: String) -> Self {
        Self { remark: Some(remark), ..self }
    }

    /// Bytes of as many characters as have at most `tokens` tokens.
    fn fitting(&self, characters: impl Iterator<Item = char>, tokens: usize) -> usize {
        let mut remaining = tokens.saturating_mul(self.tenths) / 10;
        let mut bytes = 0;
        for character in characters {
            match remaining.checked_sub(character.len_utf16()) {
                Some(rest) => remaining = rest,
                None => break,
            }
            bytes += character.len_utf8();
        }
        bytes
    }
}

/// The length in UTF-16 units: one per character, two per character of four bytes.
fn utf16_units(text: &str) -> usize {
    text.bytes().map(|byte| usize::from(byte & 0xC0 != 0x80) + usize::from(byte >= 0xF0)).sum()
}

/// The name by which calibration is chosen; a tokenizer can follow after a colon.
pub const BY_USAGE: &str = "usage";

/// Counts with another tokenizer and multiplies each count; the result is rounded to the nearest whole number.
pub struct Calibrated {
    tokenizer: Arc<dyn Tokenizer>,
    factor: f64,
    name: String,
}

impl Calibrated {
    /// Multiplies the counts of `tokenizer` by `factor`, which is positive.
    #[must_use]
    pub fn new(tokenizer: Arc<dyn Tokenizer>, factor: f64) -> Self {
        let name = format!("{BY_USAGE}:{}", tokenizer.name());
        Self { tokenizer, factor, name }
    }

    /// The most tokens of the other tokenizer that are at most `tokens` of this one.
    fn at_most(&self, tokens: usize) -> usize {
        if tokens >> 52 > 0 {
            return usize::MAX;
        }
        #[expect(clippy::cast_precision_loss, reason = "below 2^52")]
        let most = (tokens as f64 + 1.0) / self.factor;
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "positive; the cast saturates")]
        let mut most = most as usize;
        while most > 0 && self.scaled(most) > tokens {
            most -= 1;
        }
        most
    }
}

impl Tokenizer for Calibrated {
    fn name(&self) -> &str {
        &self.name
    }

    fn remark(&self) -> Option<String> {
        self.tokenizer.remark()
    }

    fn scaled(&self, tokens: usize) -> usize {
        #[expect(clippy::cast_precision_loss, reason = "a text has far fewer than 2^52 tokens")]
        let scaled = (self.tokenizer.scaled(tokens) as f64 * self.factor).round();
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "positive; the cast saturates")]
        let whole = scaled as usize;
        whole
    }

    fn count(&self, text: &str) -> usize {
        self.scaled(self.tokenizer.count(text))
    }

    fn count_rendered(&self, text: &str) -> usize {
        self.scaled(self.tokenizer.count_rendered(text))
    }

    fn count_until(&self, text: &str, limit: usize) -> Option<usize> {
        self.tokenizer.count_until(text, self.at_most(limit)).map(|count| self.scaled(count))
    }

    fn head(&self, text: &str, tokens: usize) -> usize {
        self.tokenizer.head(text, self.at_most(tokens))
    }

    fn tail(&self, text: &str, tokens: usize) -> usize {
        self.tokenizer.tail(text, self.at_most(tokens))
    }
}

#[cfg(test)]
mod tests {
    use super::{Approximate, Tokenizer as _};

    #[test]
    fn an_estimate_below_a_unit_per_token_says_that_it_may_exceed_the_bytes() {
        let dense = Approximate::new("dense", 0);
        assert_eq!(dense.count("ab"), 20);
        assert!(!dense.at_most_bytes() && Approximate::default().at_most_bytes());
    }
}
