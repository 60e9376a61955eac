//! What messages cost, and the size of the context at each request to the model: by our count, and by the provider's.

use std::collections::HashSet;

use curtail_core::processors::Counting;
use curtail_core::transcript::{Message, Usage};
use curtail_lab::Session;

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

/// A request to the model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Request {
    /// Index of the first message of the reply.
    pub(super) message: usize,
    /// Tokens that were sent, by our count.
    pub(super) tokens: usize,
}

/// The requests in the conversations of a transcript, in the order of its messages, of which `is_read` says whether the model reads
/// them to the end. Those were sent as long as they were in force, and others only up to the next compaction. `outside` is sent with
/// each request.
pub(super) fn requests(
    sessions: &[Session],
    costs: &[Cost],
    is_read: impl Fn(usize) -> bool,
    outside: usize,
) -> Vec<Request> {
    let mut requests = Vec::new();
    for session in sessions {
        // The tokens of what is not read to the end, and of what is, before each message.
        let mut sum = [0, 0];
        let mut sums = vec![sum];
        for &at in &session.messages {
            sum[usize::from(is_read(at))] += costs[at].tokens;
            sums.push(sum);
        }
        for request in &session.requests {
            let sent: usize = request.sent.iter().map(|run| sums[run.end][0] - sums[run.start][0]).sum();
            let in_force: usize = request.in_force.iter().map(|run| sums[run.end][1] - sums[run.start][1]).sum();
            requests.push(Request { message: session.messages[request.at], tokens: outside + sent + in_force });
        }
    }
    requests.sort_by_key(|request| request.message);
    requests
}

/// Which messages a request had, by their index.
pub(super) struct SentMessages {
    /// Those that were sent.
    pub(super) sent: HashSet<usize>,
    /// Those that were not rolled back, whether or not a compaction replaced them.
    pub(super) in_force: HashSet<usize>,
}

impl SentMessages {
    /// The messages of the request that the message `reply` answers, of all by the rule of [`requests`].
    pub(super) fn before(reply: usize, sessions: &[Session], is_read: impl Fn(usize) -> bool) -> Self {
        let requests =
            sessions.iter().flat_map(|session| session.requests.iter().map(move |request| (session, request)));
        let mut found = Self { sent: HashSet::new(), in_force: HashSet::new() };
        for (Session { messages, .. }, request) in requests.filter(|(session, one)| session.messages[one.at] == reply) {
            let sent = request.sent.iter().cloned().flatten().map(|position| messages[position]);
            found.in_force.extend(request.in_force.iter().cloned().flatten().map(|position| messages[position]));
            found.sent.extend(sent.filter(|at| !is_read(*at)));
            found.sent.extend(found.in_force.iter().filter(|at| is_read(**at)));
        }
        found
    }
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
    pub(super) fn new(sessions: &[Session]) -> Self {
        let mut usages = Self::default();
        for session in sessions {
            usages.requests += session.requests.len();
            for request in &session.requests {
                let Some(usage) = request.usage.filter(|usage| usage.input > 0) else { continue };
                let message = session.messages[request.at];
                usages.provided.push(Provided { message, usage, model: request.model.clone() });
            }
        }
        usages.provided.sort_by_key(|request| request.message);
        usages
    }
}

#[cfg(test)]
mod tests {
    use std::ops::Range;

    use curtail_lab::{Request as Sent, Session};

    use super::{Cost, Request, requests};

    #[test]
    fn a_request_has_the_tokens_of_what_was_sent() {
        // Messages 1 and 2 were rolled back before the second request. A compaction before the third replaced message 3.
        let beginning = vec![Range { start: 0, end: 1 }];
        let first = Sent { at: 1, sent: beginning.clone(), in_force: beginning, ..Sent::default() };
        let second = Sent { at: 3, ..first.clone() };
        let newest = vec![Range { start: 4, end: 5 }];
        let third = Sent { at: 5, sent: newest, in_force: vec![0..1, 3..5], ..Sent::default() };
        let session =
            Session { messages: (0..6).collect(), requests: vec![first, second, third], ..Session::default() };
        let costs: Vec<Cost> = [5, 70, 70, 30, 2, 1].map(|tokens| Cost { tokens, parts: Vec::new() }).into();
        let expected = [(1, 105), (3, 105), (5, 107)].map(|(message, tokens)| Request { message, tokens });
        assert_eq!(requests(&[session], &costs, |at| at != 3, 100), expected);
    }
}
