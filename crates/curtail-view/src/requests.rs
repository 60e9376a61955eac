//! What messages cost, and the size of the context at each request to the model: by our count, and by the provider's.

use std::collections::HashMap;

use curtail_core::dialects::Dialect;
use curtail_core::processors::Counting;
use curtail_core::transcript::{Message, Role, Standing, Transcript, Usage};
use curtail_lab::sessions;

/// Tokens of a message.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Cost {
    /// Of the whole message.
    pub(super) tokens: usize,
    /// Of each part.
    pub(super) parts: Vec<usize>,
}

impl Cost {
    pub(super) fn from_message(message: &Message<'_>, counting: &Counting) -> Self {
        let parts: Vec<usize> = message.parts.iter().map(|part| counting.part(part)).collect();
        let frame = counting.message_without(message, |_| true);
        Self { tokens: frame + parts.iter().sum::<usize>(), parts }
    }
}

/// A request to the model: everything before one of its replies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Request {
    /// Index of the first message of the reply.
    pub(super) message: usize,
    /// Tokens before it, from the last boundary on, with those of messages that the boundary kept.
    pub(super) tokens: usize,
}

/// The requests of a transcript. Assistant messages in a row are one reply.
pub(super) fn requests(messages: &[Message<'_>], costs: &[Cost], outside: usize) -> Vec<Request> {
    let mut contexts: HashMap<u32, Context> = HashMap::new();
    let mut requests = Vec::new();
    for (at, (message, cost)) in messages.iter().zip(costs).enumerate() {
        let context = contexts.entry(message.thread).or_default();
        if message.begins_context() {
            context.tokens = context.preserved;
        }
        if message.role == Role::Assistant && context.last != Some(Role::Assistant) {
            requests.push(Request { message: at, tokens: outside + context.tokens });
        }
        context.tokens += cost.tokens;
        if message.standing == Standing::Preserved {
            context.preserved += cost.tokens;
        }
        context.last = Some(message.role);
    }
    requests
}

/// What the model reads of a conversation before a message.
#[derive(Default)]
struct Context {
    tokens: usize,
    /// The tokens of it that the next boundary keeps.
    preserved: usize,
    /// The role of the last message.
    last: Option<Role>,
}

/// At most `most` of the requests, evenly spaced, with the first and the last.
pub(super) fn sample(requests: &[Request], most: usize) -> Vec<Request> {
    if requests.len() <= most {
        return requests.to_vec();
    }
    (0..most).map(|nth| requests[nth * (requests.len() - 1) / (most - 1)]).collect()
}

/// The provider's counts for a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Provided {
    /// Index of the first message of the reply.
    pub(super) message: usize,
    pub(super) usage: Usage,
    pub(super) model: Option<String>,
}

/// The provider's counts in a log.
#[derive(Debug, Default)]
pub(super) struct LoggedUsages {
    /// In the order of the messages.
    pub(super) provided: Vec<Provided>,
    /// The number of requests, counted or not.
    pub(super) requests: usize,
}

impl LoggedUsages {
    pub(super) fn new(dialect: &dyn Dialect, transcript: &Transcript<'_>) -> Self {
        let mut usages = Self::default();
        if dialect.log().usages(&transcript.layout.elements).iter().flatten().all(|usage| usage.input == 0) {
            return usages;
        }
        for session in sessions(dialect, transcript) {
            usages.requests += session.requests.len();
            for request in session.requests {
                let Some(usage) = request.usage.filter(|usage| usage.input > 0) else { continue };
                let message = session.messages[request.at];
                usages.provided.push(Provided { message, usage, model: request.model });
            }
        }
        usages.provided.sort_by_key(|request| request.message);
        usages
    }
}
