//! The summaries that a policy requests from a model, which add to its cost.

use std::sync::{Arc, Mutex, PoisonError};

use foldhash::HashMap;

use curtail_core::pipeline::Chain;
use curtail_core::processors::OnSummary;

/// The sum of distinct requests for summaries.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Summaries {
    /// The number of requests.
    pub(super) requests: usize,
    /// Their tokens.
    pub(super) tokens: u64,
    /// Their price; `None` if it is not known.
    pub(super) cost: Option<f64>,
}

/// The requests for summaries: the tokens of each, by digest. A policy that sees the whole history at every request
/// asks for the same summary again, which a program would have kept, so it counts once.
#[derive(Debug, Default)]
pub(super) struct SummaryRequests(Arc<Mutex<HashMap<u64, usize>>>);

impl SummaryRequests {
    pub(super) fn sum(&self) -> Summaries {
        let requests = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let tokens = requests.values().map(|tokens| *tokens as u64).sum();
        Summaries { requests: requests.len(), tokens, cost: None }
    }
}

/// The same chain with an observer that collects its requests for summaries; `None` if it makes none.
pub(super) fn observe_summaries(chain: &Chain) -> (Option<Chain>, SummaryRequests) {
    let collected = SummaryRequests::default();
    if !chain.stages.iter().any(|stage| stage.processor.traits().sends) {
        return (None, collected);
    }
    let requests = Arc::clone(&collected.0);
    let observer = OnSummary::new(move |request| {
        if let Some(request) = request {
            requests.lock().unwrap_or_else(PoisonError::into_inner).insert(request.digest, request.tokens);
        }
    });
    (Some(chain.observed_by(observer)), collected)
}
