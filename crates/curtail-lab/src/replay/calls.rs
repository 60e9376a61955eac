//! Calls of the recorded session that repeat an earlier one: a policy that dropped the first result makes the second call
//! necessary.

use foldhash::HashMap;

use super::references::digest;
use crate::calibration::Session;
use curtail_core::json::{Document, Value};
use curtail_core::transcript::{Message, Pairs, PartRef, ToolCall};

/// Members of arguments that name a file.
const PATHS: &[&str] =
    &["file_path", "path", "filePath", "filename", "file", "target_file", "notebook_path", "absolute_path"];

/// Words in the names of tools that read files.
const READS: &[&str] = &["read", "view", "open", "cat"];

/// What a reply repeats.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Repeat {
    /// Position of the message with the earlier result.
    pub(super) result: usize,
    /// Whether the same call is made; otherwise only the same file is read.
    pub(super) same_call: bool,
    /// Whether a file is read.
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
                let result = pairs.other_half(PartRef { message: position, part }).map(|half| half.message);
                let keys = Keys::from_call(call);
                if request.reply.contains(&position) {
                    found.extend(keys.repeat(&earlier, request.at));
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

/// The keys by which two calls are the same, or two reads.
struct Keys {
    call: u64,
    read: Option<u64>,
}

impl Keys {
    fn from_call(call: &ToolCall<'_>) -> Self {
        let (name, arguments) = (call.name.decode(), call.arguments.decode());
        let lower = name.to_lowercase();
        let reads = READS.iter().any(|word| lower.contains(word));
        let path = if reads { path(&arguments) } else { None };
        Self {
            call: digest(&format!("{name}\n{arguments}")),
            read: path.map(|path| digest(&format!("{name}\nreads\n{path}"))),
        }
    }

    fn repeat(&self, earlier: &HashMap<u64, usize>, before: usize) -> Option<Repeat> {
        let result = |key: u64| earlier.get(&key).copied().filter(|&result| result < before);
        let same = result(self.call);
        let is_read = self.read.is_some();
        let read = self.read.and_then(result);
        same.or(read).map(|result| Repeat { result, same_call: same.is_some(), is_read })
    }
}

fn path(arguments: &str) -> Option<String> {
    let document = Document::parse(arguments).ok()?;
    let object = document.roots().next().filter(|root: &Value<'_>| root.is_object())?;
    PATHS.iter().find_map(|name| object.get_text(name)).map(|path| path.decode().into_owned())
}
