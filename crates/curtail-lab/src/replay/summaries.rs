//! What a policy pays for summaries that somebody else writes.

use std::sync::{Arc, Mutex, PoisonError};

use foldhash::HashMap;

use curtail_core::pipeline::Chain;
use curtail_core::processors::OnSummary;

/// The requests for summaries, each once.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Summaries {
    /// Their number.
    pub(super) requests: usize,
    /// Their tokens.
    pub(super) tokens: u64,
}

/// The requests that were seen: the tokens of each, by digest. A policy that sees the whole history at every request asks
/// for the same summary again, which a program would have kept.
#[derive(Debug, Default)]
pub(super) struct Seen(Arc<Mutex<HashMap<u64, usize>>>);

impl Seen {
    /// Their sum.
    pub(super) fn sum(&self) -> Summaries {
        let seen = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        Summaries { requests: seen.len(), tokens: seen.values().map(|tokens| *tokens as u64).sum() }
    }
}

/// The same chain with an observer of its requests for summaries, if it makes any.
pub(super) fn observed(chain: &Chain) -> (Option<Chain>, Seen) {
    let seen = Seen::default();
    if !chain.stages.iter().any(|stage| stage.processor.traits().sends) {
        return (None, seen);
    }
    let requests = Arc::clone(&seen.0);
    let observer = OnSummary::new(move |asked| {
        if let Some(asked) = asked {
            requests.lock().unwrap_or_else(PoisonError::into_inner).insert(asked.digest, asked.tokens);
        }
    });
    (Some(chain.observed_by(observer)), seen)
}
