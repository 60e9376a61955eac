//! Copies. An agent that resumes or forks a session writes a new file with what it had before, and the file of a sub-agent can
//! begin with the history of the session that started it. What was asked once was paid for once.

use std::hash::BuildHasher as _;

use foldhash::HashSet;
use foldhash::quality::FixedState;

use super::requests::{Session, hash, sessions};
use crate::links::digest;
use curtail_core::dialects::Dialect;
use curtail_core::transcript::Transcript;

/// The requests of earlier files, by what identifies them.
#[derive(Debug, Default)]
pub struct SeenRequests(HashSet<u64>);

impl SeenRequests {
    /// Which of the requests with these keys, those of one session, are in an earlier session. Remembers them.
    pub fn shared<'k>(&mut self, keys: impl Iterator<Item = &'k Vec<u64>> + Clone) -> Vec<bool> {
        let shared = keys.clone().map(|keys| keys.iter().any(|key| self.0.contains(key))).collect();
        self.0.extend(keys.flatten());
        shared
    }
}

/// What identifies each request of `session` in every file that contains it.
///
/// The provider's ids of a reply identify it alone. Otherwise, one of these has to be the same:
/// - the reply, the ids that the log gives it or its calls, and its time, which most programs copy;
/// - in logs with usage, everything said so far and the usage: some programs write new ids and times into a copy;
/// - in a log that names the session that it was forked from, all usage so far.
pub(crate) fn keys(dialect: &dyn Dialect, transcript: &Transcript<'_>, session: &Session) -> Vec<Vec<u64>> {
    let lineage: Vec<u64> = match session.thread {
        0 => dialect.log().lineage(&transcript.layout.elements).iter().map(|id| hash(&[&id.decode()])).collect(),
        _ => Vec::new(),
    };
    let mut said = Said::default();
    let mut usages = 0;
    let keys = session.requests.iter().map(|request| {
        said.read_to(transcript, session, request.reply.last().map_or(request.at, |last| last + 1));
        let usage = request.usage.filter(|_| dialect.is_log());
        let own = usage.map(|usage| numbers([usage.input, usage.cache_read, usage.cache_write, usage.output]));
        usages = numbers([usages, own.unwrap_or_default()]);
        if !request.ids.is_empty() {
            return vec![request.ids.iter().fold(1, |key, id| numbers([key, *id]))];
        }
        let first = &transcript.messages[session.messages[request.at]];
        let ids = first.id.iter().chain(first.calls().filter_map(|(_, call)| call.id.as_ref()));
        let ids: Vec<u64> = ids.map(|id| hash(&[&id.decode()])).collect();
        let time = request.time.as_ref().filter(|_| !ids.is_empty());
        let said_now = digest(first);
        let dated = time.map(|time| ids.iter().fold(hash(&[time]), |key, id| numbers([key, *id, said_now])));
        let repeated = own.map(|own| numbers([2, said.digest, own]));
        let forked = lineage.iter().filter(|_| own.is_some()).map(|id| numbers([3, *id, usages]));
        dated.into_iter().chain(repeated).chain(forked).collect()
    });
    keys.collect()
}

/// A request that the provider counted.
#[derive(Debug, Clone)]
pub struct CountedRequest {
    /// What identifies it in every file that contains it.
    pub keys: Vec<u64>,
    /// The index behind its reply in the transcript.
    pub end: usize,
}

/// The requests of all conversations of `transcript` that the provider counted, the main conversation first.
pub fn counted_requests(dialect: &dyn Dialect, transcript: &Transcript<'_>) -> Vec<CountedRequest> {
    let mut counted = Vec::new();
    for session in sessions(dialect, transcript) {
        let requests = session.requests.iter().zip(keys(dialect, transcript, &session));
        for (request, keys) in requests.filter(|(request, _)| request.usage.is_some()) {
            let last = request.reply.last().copied().unwrap_or(request.at);
            counted.push(CountedRequest { keys, end: session.messages[last] + 1 });
        }
    }
    counted
}

/// A digest of the messages of a session, as far as they were read.
#[derive(Default)]
struct Said {
    digest: u64,
    /// The position of the next message.
    next: usize,
}

impl Said {
    fn read_to(&mut self, transcript: &Transcript<'_>, session: &Session, end: usize) {
        for &index in &session.messages[self.next.min(end)..end] {
            self.digest = numbers([self.digest, digest(&transcript.messages[index])]);
        }
        self.next = self.next.max(end);
    }
}

fn numbers<const N: usize>(numbers: [u64; N]) -> u64 {
    FixedState::default().hash_one(numbers)
}
