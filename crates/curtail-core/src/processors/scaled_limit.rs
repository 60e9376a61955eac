//! A token budget that is a share of the transcript.

use std::sync::Arc;

use super::token_limit::TokenLimit;
use super::{Counting, Plan, Processor, ProcessorError, Traits, View};

/// A [`TokenLimit`] whose numbers are shares of the tokens of each transcript. A second run cuts again, because the shares are of
/// what the first one left.
#[derive(Clone)]
pub struct ScaledLimit {
    /// The limit; its numbers apply where there is no share.
    pub limit: TokenLimit,
    /// The share that is kept: 0.5 is half of the tokens.
    pub max_tokens: Option<f64>,
    /// The share above which a transcript is cut.
    pub trigger: Option<f64>,
    /// The share that is dropped at a time.
    pub step: Option<f64>,
}

impl Processor for ScaledLimit {
    fn name(&self) -> &'static str {
        "limit"
    }

    fn traits(&self) -> Traits {
        // A second pass would take its share of what the first one left.
        Traits { passes: 1, decides_once: true, ..self.limit.traits() }
    }

    fn counting(&self) -> Option<&Counting> {
        self.limit.counting()
    }

    fn with_counting(&self, counting: Counting) -> Option<Arc<dyn Processor>> {
        Some(Arc::new(Self { limit: TokenLimit { counting, ..self.limit.clone() }, ..self.clone() }))
    }

    fn decide(&self, view: &View<'_, '_>) -> Result<Plan, ProcessorError> {
        let total = self.limit.counting.total(view)?;
        let max_tokens = self.max_tokens.map_or(self.limit.max_tokens, |share| tokens(total, share));
        let trigger = self.trigger.map(|share| tokens(total, share)).or(self.limit.trigger);
        let step = self.step.map_or(self.limit.step, |share| tokens(total, share)).clamp(1, max_tokens.max(1));
        TokenLimit { max_tokens, trigger, step, ..self.limit.clone() }.decide(view)
    }
}

/// `share` of `total`, rounded down.
#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "tokens of a transcript are far below 2^52, and shares are positive"
)]
pub(super) fn tokens(total: usize, share: f64) -> usize {
    (total as f64 * share).floor() as usize
}
