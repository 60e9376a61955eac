//! What happened in a transcript, as facts: requests, changed files, commits, checks, open items.
//! Facts are read from calls and results by rule and are never paraphrased. Each points to the message that it comes from.

#![forbid(unsafe_code)]
#![allow(clippy::must_use_candidate, reason = "only the program calls this crate")]

mod calls;
mod effects;
mod outcomes;
mod paths;
mod programs;
mod quotes;
mod read;
pub mod references;
mod scripts;
mod shell;
mod text;
mod trace;
pub mod verify;
mod writers;

pub use calls::changes;
pub use read::failed;

use std::fmt;

use serde::{Deserialize, Serialize};

/// The most messages of the user that are kept, besides the first one; the oldest are dropped first.
const MAX_ASKED: usize = 60;

/// The most files, commits, failing tests and to-do items that are kept; the oldest are dropped first.
const MAX_FACTS: usize = 400;

/// The facts of a transcript up to one of its messages.
///
/// Messages can be added in several calls. The result depends only on the messages, not on how they are divided, so the facts
/// of a later summary still contains the facts of the earlier ones.
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

/// Whether a person typed `text`, which comes from a user message. Programs write user messages as well.
pub fn is_typed(text: &str) -> bool {
    matches!(writers::writer(text), writers::Writer::Person(_))
}

/// A prompt without the tag that a template wraps it in, such as `<pr_description>`, and without the text after the closing
/// tag. A closing tag that shares its line with other text is kept with what follows it. Without a closing tag at the end of a
/// line, the prompt is returned unchanged.
///
/// ```
/// assert_eq!(curtail_facts::without_tag("<task>\nMend it.\n</task>\n<time>\nNoon\n</time>"), "Mend it.");
/// assert_eq!(curtail_facts::without_tag("<b>Mend</b>\nNow."), "Mend</b>\nNow.");
/// assert_eq!(curtail_facts::without_tag("Why is 2 < 3?"), "Why is 2 < 3?");
/// ```
pub fn without_tag(prompt: &str) -> &str {
    let is_name = |tag: &str| !tag.is_empty() && tag.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    let tagged = prompt.trim_start().strip_prefix('<').and_then(|rest| rest.split_once('>'));
    let Some((tag, inside)) = tagged.filter(|(tag, _)| is_name(tag)) else { return prompt };
    let closed = inside.split_once(&format!("\n</{tag}>"));
    let content = match closed.filter(|(_, after)| after.is_empty() || after.starts_with(['\n', '\r'])) {
        Some((content, _)) => content,
        None if inside.contains(&format!("</{tag}>\n")) => inside,
        None => return prompt,
    };
    let content = content.trim_start();
    if content.is_empty() { prompt } else { content }
}

impl Facts {
    /// A ledger that also records what later events overtake.
    pub(crate) fn traced() -> Self {
        Self { trace: Some(Box::default()), ..Self::default() }
    }

    /// Whether nothing was read.
    pub const fn is_empty(&self) -> bool {
        self.messages == 0
    }

    /// Whether tools were called. Without calls, the only facts are quotes.
    pub const fn shows_work(&self) -> bool {
        self.calls > 0
    }

    /// The items of the to-do list that are not done, those in progress first.
    pub fn open(&self) -> impl Iterator<Item = &Todo> {
        let with_progress = |progress| self.todos.iter().filter(move |todo| todo.progress == progress);
        with_progress(Progress::InProgress).chain(with_progress(Progress::Pending))
    }
}

// Each kind of fact. They are plain data: `read` finds them; `text` writes them as text.

/// The message that a fact comes from.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pointer {
    /// The number of the message in its transcript, from 0, if it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<usize>,
    /// The message's own id, where it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
}

impl From<usize> for Pointer {
    fn from(message: usize) -> Self {
        Self { message: Some(message), id: None }
    }
}

impl fmt::Display for Pointer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.message.map_or(Ok(()), |message| write!(f, "[m{message}]"))
    }
}

/// Text of a message, quoted.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Quote {
    /// The text on one line; a long text is cut in the middle.
    pub text: String,
    /// The message that is quoted.
    #[serde(flatten)]
    pub at: Pointer,
    /// Whether it corrects something that was said or done before.
    #[serde(default, skip_serializing_if = "is_false")]
    pub correction: bool,
}

/// A file that the work changed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Change {
    /// Its path, as written in the calls.
    pub path: String,
    /// Number of changes.
    pub times: usize,
    /// The last change.
    #[serde(flatten)]
    pub at: Pointer,
    /// Whether the last change removed the file.
    #[serde(default, skip_serializing_if = "is_false")]
    pub deleted: bool,
    /// Whether a commit followed the last change.
    #[serde(default, skip_serializing_if = "is_false")]
    pub committed: bool,
    /// Whether the first change wrote the whole file, as for a new one.
    #[serde(default, skip_serializing_if = "is_false")]
    pub whole: bool,
    /// Whether version control listed it as changed, or a command added it by name.
    #[serde(default, skip_serializing_if = "is_false")]
    pub named: bool,
    /// Whether a command ran it.
    #[serde(default, skip_serializing_if = "is_false")]
    pub ran: bool,
    /// If it is a script that the work wrote: the files that it changes when it is run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub writes: Vec<String>,
    /// For each edit, digests of the replaced and of the written text; they show when a later edit reverts an earlier one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub edits: Vec<(u32, u32)>,
}

impl Change {
    /// Whether it is a helper script: the work wrote and ran it, and neither a commit nor version control shows that it is part
    /// of the result.
    pub const fn is_script(&self) -> bool {
        self.whole && self.ran && !self.committed && !self.named && !self.deleted
    }
}

/// A commit.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Commit {
    /// Its abbreviated hash, if the output showed it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hash: Option<String>,
    /// The first line of its message.
    pub subject: String,
    /// Where it was made.
    #[serde(flatten)]
    pub at: Pointer,
}

/// Whether a word can be the abbreviated hash of a commit.
fn is_hash(word: &str) -> bool {
    (7..=40).contains(&word.len()) && word.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// How a check ended.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// Everything passed.
    Passed,
    /// Something failed.
    Failed,
    /// The output does not say.
    #[default]
    Unknown,
}

impl Verdict {
    /// The verdict as a word.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::Failed => "failed",
            Self::Unknown => "unknown",
        }
    }
}

/// The last run of a build or of tests.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Check {
    /// The command, or the name of the tool.
    pub command: String,
    /// How it ended.
    pub verdict: Verdict,
    /// The line of the output that says why it failed, if it names no test.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Where it ran.
    #[serde(flatten)]
    pub at: Pointer,
}

/// A test that failed and has not passed since.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FailedTest {
    /// Its name, as the runner prints it.
    pub name: String,
    /// The kind of runner, such as `cargo` or `pytest`.
    pub runner: String,
    /// The command in which it failed last.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub command: String,
    /// The last run in which it failed.
    #[serde(flatten)]
    pub at: Pointer,
}

/// How far an item of a to-do list is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Progress {
    /// It has not begun.
    #[default]
    Pending,
    /// It has begun.
    InProgress,
    /// It is done or was cancelled.
    Done,
}

/// An item of a to-do list.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Todo {
    /// Its id, where the tool gives it one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// What is to be done.
    pub text: String,
    /// How far it is.
    pub progress: Progress,
    /// The call that set its progress.
    #[serde(flatten)]
    pub at: Pointer,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
const fn is_false(value: &bool) -> bool {
    !*value
}
