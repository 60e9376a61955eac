//! What happened in a transcript, as facts: requests, changed files, commits, checks, open items.
//! Facts are read from calls and results by rule and are never paraphrased. Each points to the message that it comes from.

#![forbid(unsafe_code)]
#![allow(clippy::must_use_candidate, reason = "only crates of this workspace call it")]

// The facts: what each is, how it is read from messages, and how it is written and read back.
mod actions;
mod arguments;
mod changed_files;
mod check_runs;
mod kinds;
mod page;
mod quotes;
mod read;
mod room;
mod sections;
mod text;
mod todo_list;
mod trace;
mod work_tree;
mod written_facts;
// What a call did: its arguments, the shell commands in them, its result.
mod call_result;
mod calls;
mod checks;
mod effects;
mod filters;
mod git;
mod idle;
mod outcomes;
mod patches;
mod prefixes;
mod programs;
mod scripts;
mod shell;
mod todos;
mod wrappers;
// How texts are read: who wrote them, and the names, paths and code in them.
mod fences;
mod paths;
pub mod references;
mod viewers;
mod words;
mod writers;
// What a cut lost of all this.
pub mod verify;

// The facts themselves.
pub use kinds::{Change, Check, Commit, FailedTest, Pointer, Progress, Quote, Todo, Verdict};
// What calls do, for pages and for replays.
pub use call_result::failed;
pub use calls::{COMMAND_KEYS, PATH_KEYS, file_read, normalized, todos};
pub use idle::changes_nothing;
pub use wrappers::{exit_code, unwrapped};
// How texts are read, for pages, lists of sessions and summaries.
pub use fences::{FenceLine, Fences};
pub use words::name_words;
pub use writers::{as_typed, command, is_typed};

use serde::{Deserialize, Serialize};

/// The most messages of the user that are kept, besides the first one; the oldest are dropped first.
const MAX_ASKED: usize = 60;

/// The most files, commits, failing tests and to-do items that are kept; the oldest are dropped first.
const MAX_FACTS: usize = 400;

/// The facts of a transcript up to one of its messages.
///
/// Messages can be added in several calls. As long as no part ends between a call and its result, the facts do not depend on how
/// the messages are divided, so those of a later summary contain those of the earlier ones.
///
/// ```
/// use curtail_core::dialects::{Framing, Reading};
/// use curtail_facts::Facts;
/// use curtail_core::transcript::Pairs;
///
/// let log = concat!(
///     "{\"role\": \"user\", \"content\": \"Add a test.\"}\n",
///     "{\"role\": \"assistant\", \"tool_calls\": [{\"id\": \"c1\", \"type\": \"function\", \"function\": ",
///     "{\"name\": \"write_file\", \"arguments\": \"{\\\"path\\\": \\\"tests/a.rs\\\", \\\"content\\\": \\\"\\\"}\"}}]}\n",
///     "{\"role\": \"tool\", \"tool_call_id\": \"c1\", \"content\": \"written\"}\n",
/// );
/// let reading = Reading::new(Framing::Lines, None, None)?;
/// let document = reading.parse(log)?;
/// let (_, transcript) = &reading.transcripts(&document)?[0];
/// let mut facts = Facts::default();
/// facts.read_range(&transcript.messages, &Pairs::from_messages(&transcript.messages), 0..3);
/// assert_eq!(facts.changed[0].path, "tests/a.rs");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Facts {
    /// Number of messages that were read.
    pub messages: usize,
    /// Number of tool calls among them.
    pub calls: usize,
    /// The first message of the user.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub goal: Option<Quote>,
    /// Further messages of the user, oldest first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub asked: Vec<Quote>,
    /// The last summary that another program wrote into the transcript.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub earlier: Option<Quote>,
    /// Changed files, the one that changed last at the end.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub changed: Vec<Change>,
    /// Commits, oldest first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub commits: Vec<Commit>,
    /// The last build or test run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub check: Option<Check>,
    /// Tests that failed and have not passed since.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub failing: Vec<FailedTest>,
    /// Names of tests that failed earlier and passed in a later run.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub passed_since: Vec<String>,
    /// The items of the last to-do list, done or not.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub todos: Vec<Todo>,
    /// A question of the assistant that nobody has answered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub question: Option<Quote>,
    /// The assistant's last text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub said: Option<Quote>,
    /// What later events overtook, if it is recorded.
    #[serde(skip)]
    pub(crate) trace: Option<Box<trace::Trace>>,
}

impl Facts {
    /// Whether nothing was read.
    pub const fn is_empty(&self) -> bool {
        self.messages == 0
    }

    /// The items of the to-do list that are not done, those in progress first.
    pub fn open(&self) -> impl Iterator<Item = &Todo> {
        self.todos_in(Progress::InProgress).chain(self.todos_in(Progress::Pending))
    }

    fn todos_in(&self, progress: Progress) -> impl Iterator<Item = &Todo> {
        self.todos.iter().filter(move |todo| todo.progress == progress)
    }
}

/// Drops the oldest items of `list` until it has `most`.
fn keep_newest<T>(list: &mut Vec<T>, most: usize) {
    let surplus = list.len().saturating_sub(most);
    list.drain(..surplus);
}
