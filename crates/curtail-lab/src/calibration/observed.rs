//! A request as it was counted, and whether one count can follow another.

use super::fit::{FACTORS, FRAMINGS};

/// A request to calibrate: its stretch, our count, and the provider's.
#[derive(Debug, Clone, Copy)]
pub struct Observed {
    /// Identifies the stretch between compactions that it belongs to.
    pub stretch: usize,
    /// Our count of the tokens that were sent.
    pub tokens: u64,
    /// How many messages were sent.
    pub messages: usize,
    /// The provider's count of the input, if the log has it.
    pub input: Option<u64>,
}

/// The program dropped messages if the input falls below this share of the previous one; a smaller decrease is noise.
pub(crate) const DROP: f64 = 0.93;

impl Observed {
    /// Whether the count of `later` can follow from this one by what the log has in between. Both are counted.
    pub(super) fn is_continued_by(&self, later: &Self) -> bool {
        let (Some(input), Some(now)) = (self.input, later.input) else { return false };
        let growth = later.tokens as f64 - self.tokens as f64;
        let messages = later.messages.saturating_sub(self.messages) as f64;
        let least = DROP * input as f64 + FACTORS.end() * growth.min(0.0);
        let most = input as f64 / DROP + FACTORS.end() * growth.max(0.0) + FRAMINGS[FRAMINGS.len() - 1] * messages;
        (least..=most).contains(&(now as f64))
    }

    /// Whether the provider counted less for this one than for the one before it, although the log only grew.
    pub(super) fn falls_after(&self, before: &Self) -> bool {
        let counts = before.input.zip(self.input);
        self.tokens >= before.tokens && counts.is_some_and(|(before, now)| (now as f64) < DROP * before as f64)
    }
}
