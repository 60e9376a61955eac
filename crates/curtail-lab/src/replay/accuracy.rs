//! The test of the predictions: `as recorded` against the figures of the log.

use super::report::Accuracy;

/// A request that was held back for the test: its prediction, and the provider's count.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Judged {
    /// Predicted tokens of the input.
    pub(super) tokens: u64,
    /// Predicted tokens from the cache.
    pub(super) read: u64,
    /// Tokens of the input as the provider counted them.
    pub(super) input: u64,
    /// Tokens from the cache as the provider counted them.
    pub(super) recorded_read: u64,
}

/// The errors of the requests that were held back for the test; `None` without any.
pub(super) fn judge(held: &[Judged]) -> Option<Accuracy> {
    #[expect(clippy::cast_precision_loss, reason = "a request is far below 2^52 tokens")]
    let error = |one: &Judged| (one.tokens as f64 - one.input as f64).abs() / (one.input as f64).max(1.0);
    let sum = |part: fn(&Judged) -> u64| held.iter().map(part).sum::<u64>();
    let mut accuracy = Accuracy {
        requests: held.len(),
        errors: held.iter().map(error).collect(),
        sums: [sum(|one| one.tokens), sum(|one| one.read), sum(|one| one.input), sum(|one| one.recorded_read)],
        ..Accuracy::default()
    };
    accuracy.set();
    (!held.is_empty()).then_some(accuracy)
}
