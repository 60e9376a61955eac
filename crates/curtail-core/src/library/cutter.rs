//! The cutter of the library: what it does is said once, and then texts and values are cut.

use std::fmt;
use std::io::Write;
use std::sync::Arc;

use serde_json::Value;

use super::policy::UserPolicy;
use super::reading::TextReader;
use super::values::List;
use super::{Error, LimitPolicy, Policy, Source, ToolPolicy, WindowPolicy};
use crate::counting::{Approximate, Tokenizer};
use crate::dialects::{Framing, Reading};
use crate::explain::Explained;
use crate::pipeline::{Chain, Cut, Decider, TextCutter};
use crate::processors::{ClearResults, Counting, Repair, RepairMode, StaleResults, Strip, StripKind};
use crate::transcript::Role;

/// Cuts transcripts with the policies that its [builder](Cutter::builder) was given, one after another.
///
/// Everything that is kept is kept byte for byte, no tool call loses its result, and a second cut changes nothing.
///
/// ```
/// use curtail_core::{Cutter, LimitPolicy, StripKind, WindowPolicy};
///
/// let cutter = Cutter::builder()
///     .strip(StripKind::Reasoning)
///     .window(WindowPolicy::last(40))
///     .limit(LimitPolicy::tokens(8_000))
///     .build()?;
/// let chat = "{\"role\": \"user\", \"content\": \"Hello\"}\n";
/// assert_eq!(cutter.cut(chat)?, chat);
/// # Ok::<(), curtail_core::Error>(())
/// ```
pub struct Cutter {
    cutter: TextCutter,
    reader: TextReader,
}

impl Cutter {
    /// A builder without policies: its cutter changes nothing.
    pub fn builder() -> CutterBuilder {
        CutterBuilder::default()
    }

    /// Cuts every transcript of `text`.
    ///
    /// # Errors
    /// The text is not JSON or not a transcript, or a policy cannot decide.
    pub fn cut(&self, text: &str) -> Result<String, Error> {
        let mut out = String::with_capacity(text.len());
        self.append(&self.reader.reading(text), text, &mut out)?;
        Ok(out)
    }

    /// Cuts every transcript of `text`, writes the result to `out` and reports what was done. If it fails to cut, nothing is
    /// written.
    ///
    /// ```
    /// use curtail_core::{Approximate, Cutter, WindowPolicy};
    ///
    /// let chat = concat!(
    ///     "{\"role\":\"user\",\"content\":\"When does the first train leave?\"}\n",
    ///     "{\"role\":\"assistant\",\"content\":\"At 05:12.\"}\n",
    ///     "{\"role\":\"user\",\"content\":\"And the last one?\"}\n",
    /// );
    /// let cutter = Cutter::builder().window(WindowPolicy::last(1).sliding()).tokenizer(Approximate::default()).build()?;
    /// let mut out = Vec::new();
    /// let report = cutter.write(chat, &mut out)?;
    /// assert!(report.changed && out.len() < chat.len());
    /// assert_eq!((report.transcripts, report.messages_before, report.messages_after), (1, 3, 1));
    /// assert_eq!((report.tokens_before, report.tokens_after), (16, 5));
    /// assert_eq!(report.explanations[0].to_string(), "message 0 (person): dropped: no place in a window of 1 item");
    /// # Ok::<(), curtail_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`cut`](Self::cut), and `out` cannot be written to.
    pub fn write(&self, text: &str, mut out: impl Write) -> Result<Report, Error> {
        let mut shorter = String::with_capacity(text.len());
        let cut = self.append(&self.reader.reading(text), text, &mut shorter)?;
        out.write_all(shorter.as_bytes()).map_err(Error::Write)?;
        Ok(Report::of_cut(cut))
    }

    /// Cuts a list of messages, as they are sent to a provider, and reports what was done. The values that are kept are copies of
    /// those that were given; only those that a policy changes or writes are parsed anew.
    ///
    /// ```
    /// use curtail_core::{Cutter, WindowPolicy};
    /// use serde_json::json;
    ///
    /// let messages = vec![
    ///     json!({"role": "system", "content": "Answer in one sentence."}),
    ///     json!({"role": "user", "content": "When does the first train leave?"}),
    ///     json!({"role": "assistant", "content": "At 05:12."}),
    ///     json!({"role": "user", "content": "And the last one?"}),
    /// ];
    /// let cutter = Cutter::builder().window(WindowPolicy::last(2).sliding()).build()?;
    /// let (sent, report) = cutter.cut_values(&messages)?;
    /// assert_eq!((sent.len(), &sent[1]["content"]), (2, &json!("And the last one?")));
    /// assert_eq!((report.messages_before, report.messages_after), (4, 2));
    /// # Ok::<(), curtail_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// The values are not messages in a known format, or a policy cannot decide.
    pub fn cut_values(&self, messages: &[Value]) -> Result<(Vec<Value>, Report), Error> {
        let list = List::from_values(messages);
        let reading = self.reader.reading_as(Framing::Records, &list.text);
        let mut shorter = String::new();
        let cut = self.append(&reading, &list.text, &mut shorter)?;
        Ok((list.cut_to(&shorter), Report::of_cut(cut)))
    }

    /// Parses `text` as this cutter reads it: in the framing and the dialect that it was given.
    ///
    /// ```
    /// let cutter = curtail_core::Cutter::builder().dialect("anthropic").build()?;
    /// let source = cutter.read("{\"role\":\"user\",\"content\":\"Hello\"}")?;
    /// assert_eq!(source.transcripts()?[0].dialect(), Some("anthropic"));
    /// # Ok::<(), curtail_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// The text is not JSON.
    pub fn read<'t>(&self, text: &'t str) -> Result<Source<'t>, Error> {
        Source::parse_as(text, self.reader.reading(text))
    }

    fn append(&self, reading: &Reading, text: &str, out: &mut String) -> Result<Cut, Error> {
        self.cutter.cut(reading, text, out).map_err(|error| Error::cut(text, error))
    }
}

/// Adds a policy of a builder to a chain, which counts with a tokenizer.
type PolicyStep = Box<dyn FnOnce(Chain, &Arc<dyn Tokenizer>) -> Result<Chain, Error>>;

/// Makes a [`Cutter`]: how texts are read, and what is done with them, in the order of the calls.
///
/// ```
/// use curtail_core::{Cutter, Error, Framing, Role};
///
/// let chat = "{\"turns\":[{\"role\":\"user\",\"content\":\"Hello\"},{\"role\":\"assistant\",\"content\":\"Hi\"}]}\n";
/// let cutter = Cutter::builder()
///     .framing(Framing::Records)
///     .dialect("openai")
///     .messages_key("turns")
///     .keep_roles([Role::User])
///     .build()?;
/// assert_eq!(cutter.cut(chat)?, "{\"turns\":[{\"role\":\"user\",\"content\":\"Hello\"}]}\n");
/// let wrong = Cutter::builder().dialect("open-ai").build();
/// assert!(matches!(wrong, Err(Error::UnknownDialect { .. })));
/// # Ok::<(), Error>(())
/// ```
#[derive(Default)]
#[must_use]
pub struct CutterBuilder {
    framing: Option<Framing>,
    dialect: Option<String>,
    messages_key: Option<String>,
    tokenizer: Option<Arc<dyn Tokenizer>>,
    steps: Vec<PolicyStep>,
}

impl CutterBuilder {
    /// How transcripts are laid out in a text. By default, it is detected.
    pub fn framing(self, framing: Framing) -> Self {
        Self { framing: Some(framing), ..self }
    }

    /// The name of the dialect of all messages, such as `openai`. By default, it is detected.
    pub fn dialect(self, name: impl Into<String>) -> Self {
        Self { dialect: Some(name.into()), ..self }
    }

    /// The key under which records keep their messages, as keys joined by dots. By default, the usual keys are tried.
    pub fn messages_key(self, key: impl Into<String>) -> Self {
        Self { messages_key: Some(key.into()), ..self }
    }

    /// Counts tokens, for limits and in reports. By default, limits use [`Approximate`], and reports count none.
    pub fn tokenizer(self, tokenizer: impl Tokenizer + 'static) -> Self {
        Self { tokenizer: Some(Arc::new(tokenizer)), ..self }
    }

    /// Keeps the newest units.
    pub fn window(self, window: WindowPolicy) -> Self {
        self.then(move |chain, _| Ok(window.onto(chain)))
    }

    /// Keeps what fits into a number of tokens.
    pub fn limit(self, limit: LimitPolicy) -> Self {
        self.then(move |chain, tokenizer| Ok(limit.onto(chain, tokenizer)))
    }

    /// Drops tool calls with their results.
    pub fn tools(self, tools: ToolPolicy) -> Self {
        self.then(|chain, _| tools.onto(chain))
    }

    /// Drops parts of this kind.
    pub fn strip(self, kind: StripKind) -> Self {
        self.then(move |chain, _| Ok(chain.then(Strip { kinds: vec![kind], ..Strip::default() })))
    }

    /// Drops messages of all other roles.
    pub fn keep_roles(self, roles: impl IntoIterator<Item = Role>) -> Self {
        let roles = roles.into_iter().collect();
        self.then(|chain, _| Ok(chain.then(Strip { roles, ..Strip::default() })))
    }

    /// Writes `[cleared]` into all tool results but the last `count`.
    ///
    /// ```
    /// let log = concat!(
    ///     "{\"role\":\"tool\",\"tool_call_id\":\"1\",\"content\":\"05:12, 05:42, 06:12, 06:42\"}\n",
    ///     "{\"role\":\"tool\",\"tool_call_id\":\"2\",\"content\":\"on time\"}\n",
    /// );
    /// let cut = curtail_core::Cutter::builder().keep_last_results(1).build()?.cut(log)?;
    /// assert_eq!(cut, log.replace("05:12, 05:42, 06:12, 06:42", "[cleared]"));
    /// # Ok::<(), curtail_core::Error>(())
    /// ```
    pub fn keep_last_results(self, count: usize) -> Self {
        let stale = StaleResults::AllButLast(count);
        self.then(|chain, tokenizer| Ok(chain.then(ClearResults::new(stale, Arc::clone(tokenizer)))))
    }

    /// Repairs broken pairs of calls and results, and drops those that cannot be repaired. Calls that are pending at the end
    /// stay.
    ///
    /// ```
    /// use curtail_core::{Cutter, RepairMode, check};
    ///
    /// let chat = concat!(
    ///     "{\"role\":\"user\",\"content\":\"When does it leave?\"}\n",
    ///     "{\"role\":\"tool\",\"tool_call_id\":\"call-1\",\"content\":\"05:12\"}\n",
    ///     "{\"role\":\"assistant\",\"content\":\"At 05:12.\"}\n",
    /// );
    /// let repaired = Cutter::builder().repair(RepairMode::Drop).build()?.cut(chat)?;
    /// assert!(!check(chat).is_empty() && check(&repaired).is_empty());
    /// # Ok::<(), curtail_core::Error>(())
    /// ```
    pub fn repair(self, mode: RepairMode) -> Self {
        let stages = Repair { mode, pending: false }.with_drop();
        self.then(|chain, _| Ok(stages.into_iter().fold(chain, Chain::then)))
    }

    /// Applies a policy of your own.
    pub fn policy(self, policy: impl Policy + 'static) -> Self {
        self.then(|chain, _| Ok(chain.then(UserPolicy(policy))))
    }

    /// The cutter.
    ///
    /// # Errors
    /// No dialect has the name that was given, or a pattern of tool names is not a glob.
    pub fn build(self) -> Result<Cutter, Error> {
        let reader = TextReader::new(self.framing, self.dialect.as_deref(), self.messages_key)?;
        let tokenizer = self.tokenizer.clone().unwrap_or_else(|| Arc::new(Approximate::default()));
        let chain = self.steps.into_iter().try_fold(Chain::default(), |chain, step| step(chain, &tokenizer))?;
        let cutter = TextCutter { chain, explain: true, counting: self.tokenizer.map(Counting::new) };
        Ok(Cutter { cutter, reader })
    }

    fn then(mut self, step: impl FnOnce(Chain, &Arc<dyn Tokenizer>) -> Result<Chain, Error> + 'static) -> Self {
        self.steps.push(Box::new(step));
        self
    }
}

/// What [`Cutter::write`] or [`Cutter::cut_values`] did.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Report {
    /// Whether the result differs from the text.
    pub changed: bool,
    /// Number of transcripts in the text.
    pub transcripts: usize,
    /// Number of messages before.
    pub messages_before: usize,
    /// Number of messages after.
    pub messages_after: usize,
    /// Tokens before; 0 without a tokenizer.
    pub tokens_before: usize,
    /// Tokens after; 0 without a tokenizer.
    pub tokens_after: usize,
    /// Why messages were dropped, changed or written: transcript by transcript, and of each policy by policy.
    pub explanations: Vec<Explanation>,
    /// Warnings.
    pub notes: Vec<String>,
}

impl Report {
    fn of_cut(cut: Cut) -> Self {
        Self {
            changed: cut.changed,
            transcripts: cut.totals.transcripts,
            messages_before: cut.totals.messages_before,
            messages_after: cut.totals.messages_after,
            tokens_before: cut.totals.tokens_before,
            tokens_after: cut.totals.tokens_after,
            explanations: cut.explained.into_iter().map(Explanation::from).collect(),
            notes: cut.notes.into_iter().map(|(_, note)| note).collect(),
        }
    }
}

/// What a policy decided about a message. Written as text: `message 4 (tool result of "timetable"): dropped with its call`.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Explanation {
    /// The number of the message in its transcript, from 0; `None` if a policy wrote it, and for figures that were reset.
    pub message: Option<usize>,
    /// The name of the policy.
    pub policy: &'static str,
    /// The message in words.
    pub subject: String,
    /// What was done, and why.
    pub outcome: String,
}

impl From<(Decider, Explained)> for Explanation {
    fn from((decider, explained): (Decider, Explained)) -> Self {
        Self {
            message: explained.message,
            policy: decider.processor,
            subject: explained.subject(),
            outcome: explained.outcome(),
        }
    }
}

impl fmt::Display for Explanation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.subject, self.outcome)
    }
}
