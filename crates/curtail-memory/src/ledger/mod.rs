//! What happened in a transcript, as facts: requests, changed files, commits, checks, open items.
//! Facts are read from calls and results by rule and are never paraphrased. Each names the message that it comes from.

mod action;
mod calls;
mod changes;
mod checks;
mod commands;
mod compose;
mod facts;
mod git;
mod handoff;
mod paths;
mod quotes;
mod read;
mod recall;
mod scripts;
mod sections;
mod shell;
mod todos;
mod work;

pub use facts::{Change, Check, Commit, Failure, Pointer, Progress, Quote, Todo, Verdict};

use serde::{Deserialize, Serialize};

/// Most messages of the user that are kept word for word beside the first one.
const ASKED: usize = 60;

/// Most paths, commits and failing tests that are kept; the oldest are dropped first.
const FACTS: usize = 400;

/// The facts of a transcript up to one of its messages.
///
/// A ledger can be read in parts. The result depends only on the messages, not on where the parts begin, so the ledger of a
/// later summary still contains the facts of the earlier ones.
///
/// ```
/// use curtail_core::dialects::{Framing, Reading};
/// use curtail_memory::ledger::Ledger;
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
/// let mut ledger = Ledger::default();
/// ledger.read_range(&transcript.messages, &Pairs::from_messages(&transcript.messages), 0..3);
/// assert_eq!(ledger.changed[0].path, "tests/a.rs");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Ledger {
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
    pub failing: Vec<Failure>,
    /// Names of tests that failed earlier and passed in a later run.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub passed_since: Vec<String>,
    /// The items of the last to-do list, done or not.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub todos: Vec<Todo>,
    /// A question of the assistant that nobody has answered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub question: Option<Quote>,
    /// The assistant's last words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub said: Option<Quote>,
}

/// Whether a person typed this text, which has the role of the user. Programs write messages with this role as well.
#[must_use]
pub fn is_typed(text: &str) -> bool {
    matches!(quotes::writer(text), quotes::Writer::Person(_))
}

/// The words of a prompt without the tag with which a template begins it, such as `<pr_description>`, and without what follows a
/// line that closes it.
///
/// ```
/// assert_eq!(curtail_memory::ledger::without_tag("<task>\nMend it.\n</task>\n<time>\nNoon\n</time>"), "Mend it.");
/// assert_eq!(curtail_memory::ledger::without_tag("<b>Mend</b>\nNow."), "Mend</b>\nNow.");
/// assert_eq!(curtail_memory::ledger::without_tag("Why is 2 < 3?"), "Why is 2 < 3?");
/// ```
#[must_use]
pub fn without_tag(words: &str) -> &str {
    let tagged = words.trim_start().strip_prefix('<').and_then(|rest| rest.split_once('>'));
    let is_name = |tag: &str| !tag.is_empty() && tag.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    let inside = tagged.filter(|(tag, _)| is_name(tag)).and_then(|(tag, inside)| {
        let (before, after) = inside.split_once(&format!("\n</{tag}>")).unwrap_or(("", "-"));
        let is_line = after.is_empty() || after.starts_with(['\n', '\r']);
        let begun = inside.contains(&format!("</{tag}>\n")).then_some(inside);
        if is_line { Some(before) } else { begun }
    });
    let inside = inside.map(str::trim_start);
    inside.filter(|inside| !inside.is_empty()).unwrap_or(words)
}

impl Ledger {
    /// Whether nothing was read.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.messages == 0
    }

    /// Whether tools were called. Without calls, there are no facts but what was said.
    #[must_use]
    pub const fn shows_work(&self) -> bool {
        self.calls > 0
    }

    /// The items of the to-do list that are not done, those in progress first.
    pub fn open(&self) -> impl Iterator<Item = &Todo> {
        let of = |progress| self.todos.iter().filter(move |todo| todo.progress == progress);
        of(Progress::InProgress).chain(of(Progress::Pending))
    }
}
