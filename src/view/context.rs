//! How full the context was at each request to the model: by our count, and by the provider's.

use std::collections::HashMap;

use super::conversation::Cost;
use curtail_core::dialects::Dialect;
use curtail_core::transcript::{Message, Role, Transcript, Usage};
use curtail_lab::calibration::sessions;

/// A request to the model: everything before one of its replies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Request {
    /// Index of the first message of the reply.
    pub(super) message: usize,
    /// Tokens before it, from the last boundary on.
    pub(super) tokens: usize,
}

/// The requests of a transcript. Assistant messages in a row are one reply.
pub(super) fn requests(messages: &[Message<'_>], costs: &[Cost], outside: usize) -> Vec<Request> {
    let mut sums: HashMap<u32, (usize, Option<Role>)> = HashMap::new();
    let mut requests = Vec::new();
    for (at, (message, cost)) in messages.iter().zip(costs).enumerate() {
        let (sum, last) = sums.entry(message.thread).or_insert((outside, None));
        if message.barrier {
            *sum = outside;
        }
        if message.role == Role::Assistant && *last != Some(Role::Assistant) {
            requests.push(Request { message: at, tokens: *sum });
        }
        *sum += cost.tokens;
        *last = Some(message.role);
    }
    requests
}

/// At most `most` of the requests, evenly spread, the first and the last among them.
pub(super) fn sample(requests: &[Request], most: usize) -> Vec<Request> {
    if requests.len() <= most {
        return requests.to_vec();
    }
    (0..most).map(|nth| requests[nth * (requests.len() - 1) / (most - 1)]).collect()
}

/// What the provider counted for a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Provided {
    /// Index of the first message of the reply.
    pub(super) message: usize,
    pub(super) usage: Usage,
    pub(super) model: Option<String>,
}

/// The provider's figures, in the order of the messages.
pub(super) fn provided(dialect: &dyn Dialect, transcript: &Transcript<'_>) -> Vec<Provided> {
    if dialect.usages(&transcript.layout.elements).iter().flatten().all(|usage| usage.input == 0) {
        return Vec::new();
    }
    let mut provided = Vec::new();
    for session in sessions(dialect, transcript) {
        for request in session.requests {
            let Some(usage) = request.usage.filter(|usage| usage.input > 0) else { continue };
            provided.push(Provided { message: session.messages[request.at], usage, model: request.model });
        }
    }
    provided.sort_by_key(|request| request.message);
    provided
}
