//! How full the context was at each request to the model.

use std::collections::HashMap;

use super::conversation::Cost;
use curtail_core::transcript::{Message, Role};

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
