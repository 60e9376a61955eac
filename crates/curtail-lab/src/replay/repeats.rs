//! Calls of the recorded session that repeat an earlier one. A policy that dropped the first result makes the second call
//! necessary.

use foldhash::HashMap;

use crate::requests::Session;
use curtail_core::transcript::{Message, Pairs, PartRef, ToolCall};
use curtail_facts::file_read;
use curtail_facts::references::digest;

/// A call of a reply that repeats an earlier one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Repeat {
    /// Position of the message with the earlier result.
    pub(super) result: usize,
    /// Whether the call is the same; otherwise it only reads the same file.
    pub(super) same_call: bool,
    /// Whether the call reads a file.
    pub(super) is_read: bool,
}

/// The repeats of each request of `session`, whose messages are `messages`.
pub(super) fn repeats(messages: &[Message<'_>], session: &Session) -> Vec<Vec<Repeat>> {
    let pairs = Pairs::from_messages(messages);
    let mut earlier: HashMap<u64, usize> = HashMap::default();
    let mut at = 0;
    let mut all = Vec::with_capacity(session.requests.len());
    for (nth, request) in session.requests.iter().enumerate() {
        let end = session.requests.get(nth + 1).map_or(messages.len(), |next| next.at);
        let mut found = Vec::new();
        for (position, message) in messages.iter().enumerate().take(end).skip(at) {
            for (part, call) in message.calls() {
                let result = pairs.counterpart(PartRef { message: position, part }).map(|result| result.message);
                let keys = Keys::from_call(call);
                if request.reply.contains(&position) {
                    let repeat = keys.repeat(&earlier, request.at);
                    found.extend(repeat.filter(|repeat| !request.is_rolled_back(repeat.result)));
                }
                if let Some(result) = result {
                    earlier.insert(keys.call, result);
                    if let Some(read) = keys.read {
                        earlier.insert(read, result);
                    }
                }
            }
        }
        at = end;
        all.push(found);
    }
    all
}

/// The digests by which two calls, or two reads of a file, are compared.
struct Keys {
    /// Of the tool's name and its arguments.
    call: u64,
    /// Of the tool's name and the path, if the call reads a file.
    read: Option<u64>,
}

impl Keys {
    fn from_call(call: &ToolCall<'_>) -> Self {
        let name = call.name.decode();
        let arguments = call.arguments.decode();
        let path = file_read(&name, &arguments);
        Self {
            call: digest(&format!("{name}\n{arguments}")),
            read: path.map(|path| digest(&format!("{name}\nreads\n{path}"))),
        }
    }

    /// The repeated call, if a result `before` a position answers the same call or read. `earlier` are results by key.
    fn repeat(&self, earlier: &HashMap<u64, usize>, before: usize) -> Option<Repeat> {
        let same_call = earlier.get(&self.call).copied().filter(|&result| result < before);
        let same_read = self.read.and_then(|key| earlier.get(&key)).copied().filter(|&result| result < before);
        let is_same = same_call.is_some();
        let is_read = self.read.is_some();
        same_call.or(same_read).map(|result| Repeat { result, same_call: is_same, is_read })
    }
}
