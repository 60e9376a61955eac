//! A tokenizer whose counts are multiplied, so that they follow those of a provider.

use std::sync::Arc;

use super::Tokenizer;

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

    fn exact(&self) -> bool {
        false
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
