//! What each reply turned out to need: the references that it used, the calls that it repeated, and the state of the
//! work.

use foldhash::{HashMap, HashSet};

use super::history::History;
use crate::calibration::{Request, Session};
use curtail_core::json::{Document, Text, Value};
use curtail_core::transcript::{Message, Pairs, PartRef, Role, ToolCall};
use curtail_facts::references::{self, digest};
use curtail_facts::{Facts, Pointer};

/// What the reply to a request used of the history.
#[derive(Debug, Clone, Default)]
pub(super) struct Needs {
    /// References that were made earlier in the session.
    pub(super) references: Vec<Needed>,
    /// Calls that were made before.
    pub(super) repeats: Vec<Repeat>,
}

/// A reference that a reply used.
#[derive(Debug, Clone)]
pub(super) struct Needed {
    /// Its digest.
    pub(super) digest: u64,
    /// Its text.
    pub(super) text: String,
    /// Whether the arguments of a call used it.
    pub(super) in_call: bool,
    /// Whether a result of the next requests shows it again.
    pub(super) shown_again: bool,
}

/// The number of requests within which a result that shows a reference again makes up for its loss.
const SHOWN_WITHIN: usize = 5;

/// What the reply to each request of `session` used. References in instructions and in user text after the last reply
/// are left out: they do not have to come from the history.
pub(super) fn needs(history: &History<'_>, session: &Session, preamble: &[Text<'_>]) -> Vec<Needs> {
    let instructions = instructions(history, preamble);
    let repeats = repeats(&history.messages, session);
    let requests = session.requests.iter().zip(repeats).enumerate();
    requests
        .map(|(nth, (request, repeats))| {
            let soon = session.requests.get(nth + SHOWN_WITHIN).map_or(history.messages.len(), |later| later.at);
            let mut references = needed(history, session, request, &instructions);
            for needed in &mut references {
                let later = history.index.before(needed.digest, soon).iter().rev();
                let mut after = later.take_while(|&&at| at > request.at);
                needed.shown_again = after.any(|&at| history.messages[at].results().next().is_some());
            }
            Needs { references, repeats }
        })
        .collect()
}

fn instructions(history: &History<'_>, preamble: &[Text<'_>]) -> HashSet<u64> {
    let mut found = HashSet::default();
    let mut add = |reference: &str| {
        found.insert(references::digest(reference));
    };
    preamble.iter().for_each(|text| references::each_in_text(text, &mut add));
    let instructing = history.messages.iter().filter(|message| message.role.instructs());
    instructing.for_each(|message| references::each_in(message, &mut add));
    found
}

fn needed(history: &History<'_>, session: &Session, request: &Request, instructions: &HashSet<u64>) -> Vec<Needed> {
    let before = history.messages[..request.at].iter().rposition(|message| message.role == Role::Assistant);
    let after_reply = before.map_or(0, |at| at + 1);
    let is_user_text = |at: usize| history.messages[at].has_text_as(Role::User);
    let mut seen: HashMap<u64, Option<usize>> = HashMap::default();
    let mut needed: Vec<Needed> = Vec::new();
    for &at in &request.reply {
        references::each_use(&history.messages[at], &mut |reference, in_call| {
            let digest = references::digest(reference);
            if let Some(known) = seen.get(&digest) {
                known.iter().for_each(|&nth| needed[nth].in_call |= in_call);
                return;
            }
            let positions = history.index.before(digest, request.at);
            let is_sent = |at: usize| !session.summaries[at] && !session.is_rolled_back(at, request.at);
            let is_known = positions.iter().any(|&at| is_sent(at));
            let is_repeated = positions.iter().rev().take_while(|&&at| at >= after_reply).any(|&at| is_user_text(at));
            let is_needed = is_known && !is_repeated && !instructions.contains(&digest);
            seen.insert(digest, is_needed.then_some(needed.len()));
            if is_needed {
                needed.push(Needed { digest, text: reference.to_owned(), in_call, shown_again: false });
            }
        });
    }
    needed
}

// Calls of the recorded session that repeat an earlier one. A policy that dropped the first result makes the second
// call necessary.

/// Keys of arguments that name a file.
const PATHS: &[&str] =
    &["file_path", "path", "filePath", "filename", "file", "target_file", "notebook_path", "absolute_path"];

/// Words in the names of tools that read files.
const READS: &[&str] = &["read", "view", "open", "cat"];

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
                    found.extend(repeat.filter(|repeat| !session.is_rolled_back(repeat.result, request.at)));
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
        let lower = name.to_lowercase();
        let reads = READS.iter().any(|word| lower.contains(word));
        let path = if reads { path_in(&arguments) } else { None };
        Self {
            call: digest(&format!("{name}\n{arguments}")),
            read: path.map(|path| digest(&format!("{name}\nreads\n{path}"))),
        }
    }

    /// The repeated call, if a result `before` a position answers the same call or read. `earlier` are results by key.
    fn repeat(&self, earlier: &HashMap<u64, usize>, before: usize) -> Option<Repeat> {
        let result = |key: u64| earlier.get(&key).copied().filter(|&result| result < before);
        let same_call = result(self.call);
        let same_read = self.read.and_then(result);
        let is_same = same_call.is_some();
        let is_read = self.read.is_some();
        same_call.or(same_read).map(|result| Repeat { result, same_call: is_same, is_read })
    }
}

fn path_in(arguments: &str) -> Option<String> {
    let document = Document::parse(arguments).ok()?;
    let object = document.roots().next().filter(|root: &Value<'_>| root.is_object())?;
    PATHS.iter().find_map(|name| object.get_text(name)).map(|path| path.decode().into_owned())
}

// What the model has to know at a request, whether its reply used it or not. It is taken from the facts of the
// session.

/// The state of the work when a request was sent.
#[derive(Debug, Clone, Default)]
pub(super) struct WorkState {
    /// The last message that a person wrote.
    pub(super) instruction: Option<Statement>,
    /// Digest of the name of the file that was edited last.
    pub(super) edited_file: Option<u64>,
    /// Digest of the name of the test that failed last and has not passed since.
    pub(super) failing_test: Option<u64>,
    /// The last call that wrote a to-do list with open items.
    pub(super) todos: Option<Statement>,
}

/// The content of a message, which a summary may repeat.
#[derive(Debug, Clone, Copy)]
pub(super) struct Statement {
    /// Position of the message.
    pub(super) at: usize,
    /// Digest of the last reference in it: a summary that contains this reference repeats the statement.
    pub(super) name: Option<u64>,
}

/// The state of the work at each request of `session`.
pub(super) fn work_states(history: &History<'_>, session: &Session) -> Vec<WorkState> {
    let pairs = Pairs::from_messages(&history.messages);
    let mut facts = Facts::default();
    let at_request = |at: usize| {
        facts.read_range(&history.messages, &pairs, facts.messages..at);
        let instruction = facts.asked.last().or(facts.goal.as_ref());
        let edited = facts.changed.iter().rfind(|change| !change.deleted);
        WorkState {
            instruction: instruction.and_then(|quote| statement(&quote.at, &quote.text)),
            edited_file: edited.and_then(|change| last_name(&change.path)),
            failing_test: facts.failing.last().and_then(|failure| last_name(&failure.name)),
            todos: facts.open().filter_map(|todo| statement(&todo.at, &todo.text)).max_by_key(|todo| todo.at),
        }
    };
    session.requests.iter().map(|request| request.at).map(at_request).collect()
}

fn statement(pointer: &Pointer, text: &str) -> Option<Statement> {
    Some(Statement { at: pointer.message?, name: last_name(text) })
}

/// The digest of the last reference in `text`.
fn last_name(text: &str) -> Option<u64> {
    references::references(text).pop().map(|range| digest(&text[range]))
}
