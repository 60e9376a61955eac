//! A rolling memory that outlives its runs: messages are appended, and only what is new is summarized.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::state;
use crate::dialects::{self, Dialect, Framing, Reading};
use crate::edit::apply;
use crate::json::{Document, Text};
use crate::processors::{RollingState, RollingSummary, View, apply_plan};
use crate::store::{self, RecordKey, Scope, Shelf, Store};
use crate::transcript::{Message, Transcript};

/// The version of the form in which a thread is kept.
const VERSION: u32 = 1;

/// The state of a thread in which nothing was said.
const NOTHING: &str = "{\"interactions\":[],\"summaries\":[]}\n";

/// What is kept of a conversation between two runs: the window, what gives instructions, and the summaries.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Thread {
    version: u32,
    /// What counts as an interaction: `message` or `exchange`.
    unit: String,
    dialect: Option<String>,
    /// How many messages came in so far, those without words and instructions included.
    taken: usize,
    /// The number of the first interaction among `items`.
    first: usize,
    memory: RollingState,
    items: Vec<Item>,
}

/// A message as it stood, and when.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Item {
    json: String,
    ts: String,
}

/// What comes in.
#[derive(Debug, Clone, Copy)]
pub struct Taken<'t> {
    /// The text of one transcript.
    pub text: &'t str,
    /// How it is read.
    pub reading: &'t Reading,
    /// The number that its first message has in the thread, from 1; `None` if it follows on what was taken.
    pub from: Option<usize>,
    /// The time of messages that tell none.
    pub now: &'t str,
}

/// What to show of a thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shown {
    /// Instructions, summaries and window, as a model should get them.
    Context,
    /// The state as JSON.
    State,
}

/// Why messages could not be appended. The thread is then as it was.
#[derive(Debug)]
pub enum ThreadError {
    /// What came in cannot be read, with the offset of the byte.
    Input(usize, String),
    /// What came in does not go with what is there, or cannot be summarized.
    Thread(String),
    /// The store cannot be read or written.
    Store(store::StoreError),
}

impl fmt::Display for ThreadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Input(_, what) | Self::Thread(what) => f.write_str(what),
            Self::Store(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for ThreadError {}

impl From<store::StoreError> for ThreadError {
    fn from(error: store::StoreError) -> Self {
        Self::Store(error)
    }
}

/// Appends what comes in to the thread `id` of `store`, and gives the thread as it is then.
///
/// The summaries are made outside of any transaction, so that a model that takes a minute keeps nobody waiting. If another
/// process appended meanwhile, all is done anew on what is there then: nothing of either is lost.
///
/// # Errors
/// [`ThreadError`]; the thread is as it was.
pub fn append(store: &mut Store, id: &str, summary: &RollingSummary, taken: Taken<'_>) -> Result<Thread, ThreadError> {
    let key = RecordKey { shelf: Shelf::Summary, scope: Scope::Thread, id };
    loop {
        let (before, marks) = store.update(key, |record| -> Result<_, store::StoreError> {
            Ok((record.body().map(str::to_owned), record.applied_ids()?))
        })?;
        let old = before.as_deref().map(Thread::read).transpose()?;
        let (new, fresh) = Thread::after(old, summary, taken, &|mark| marks.contains(mark))?;
        let body = new.write();
        if before.as_deref() == Some(&body) {
            return Ok(new);
        }
        let done = store.update(key, |record| -> Result<_, store::StoreError> {
            if record.body() != before.as_deref() {
                return Ok(false);
            }
            record.write(&body)?;
            for mark in &fresh {
                record.add_applied_id(mark)?;
            }
            Ok(true)
        })?;
        if done {
            return Ok(new);
        }
    }
}

/// The thread `id` of `store`, if there is one.
///
/// # Errors
/// [`ThreadError`] where it cannot be read.
pub fn current(store: &Store, id: &str) -> Result<Option<Thread>, ThreadError> {
    let body = store.read(RecordKey { shelf: Shelf::Summary, scope: Scope::Thread, id })?;
    body.as_deref().map(Thread::read).transpose()
}

impl Default for Thread {
    /// A thread in which nothing was said; it takes on the unit of what comes in first.
    fn default() -> Self {
        let (unit, memory) = (String::new(), RollingState::default());
        Self { version: VERSION, unit, dialect: None, taken: 0, first: 1, memory, items: Vec::new() }
    }
}

impl Thread {
    fn read(body: &str) -> Result<Self, ThreadError> {
        let thread: Self = serde_json::from_str(body)
            .map_err(|error| ThreadError::Thread(format!("what is kept of the thread cannot be read: {error}")))?;
        if thread.version == VERSION {
            return Ok(thread);
        }
        let version = thread.version;
        Err(ThreadError::Thread(format!("the thread was kept in version {version}, this is version {VERSION}")))
    }

    fn write(&self) -> String {
        // Strings and numbers always serialize.
        serde_json::to_string(self).unwrap_or_default()
    }

    /// What becomes of `thread` when `taken` comes in, and the marks of its new messages.
    ///
    /// # Errors
    /// What came in cannot be read, does not go with what is there, or cannot be summarized.
    pub fn after(
        thread: Option<Self>,
        summary: &RollingSummary,
        taken: Taken<'_>,
        known: &dyn Fn(&str) -> bool,
    ) -> Result<(Self, Vec<String>), ThreadError> {
        let mut thread = thread.unwrap_or_default();
        if thread.taken == 0 {
            summary.counted.name().clone_into(&mut thread.unit);
        }
        if thread.unit != summary.counted.name() {
            let (kept, asked) = (&thread.unit, summary.counted.name());
            return Err(ThreadError::Thread(format!(
                "the thread counts by {kept}, not by {asked}; give --unit {kept}"
            )));
        }
        let fresh = thread.take(taken, known)?;
        thread.advance(summary)?;
        Ok((thread, fresh))
    }

    /// Appends the messages that are new; gives their marks.
    fn take(&mut self, taken: Taken<'_>, known: &dyn Fn(&str) -> bool) -> Result<Vec<String>, ThreadError> {
        let document =
            taken.reading.document(taken.text).map_err(|fault| ThreadError::Input(fault.offset, fault.what))?;
        let read = taken.reading.transcripts(&document);
        let transcripts = read.map_err(|fault| ThreadError::Input(fault.offset, fault.what))?;
        let [(dialect, transcript)] = transcripts.as_slice() else {
            let count = transcripts.len();
            return match count {
                0 => Ok(Vec::new()),
                _ => Err(ThreadError::Thread(format!("a thread takes one transcript at a time, not {count}"))),
            };
        };
        self.settle(*dialect, transcript)?;
        let mut marks: Vec<String> = Vec::new();
        let skip = self.skip(taken.from)?;
        for message in transcript.messages.iter().skip(skip) {
            let Some(value) = message.value() else { continue };
            let raw = Text::Json(value.raw());
            let tight = raw.decode();
            if let Some(mark) = mark(message, &tight) {
                if known(&mark) || marks.contains(&mark) {
                    continue;
                }
                marks.push(mark);
            }
            let ts = dialect.time(value).unwrap_or_else(|| taken.now.to_owned());
            // As it stood, unless it stood on several lines: threads are written a message per line.
            let json = if value.raw().contains('\n') { tight.into_owned() } else { value.raw().to_owned() };
            self.items.push(Item { json, ts });
            self.taken += 1;
        }
        Ok(marks)
    }

    /// The dialect is the one that the first messages told; others must be of the same.
    fn settle(&mut self, dialect: &'static dyn Dialect, transcript: &Transcript<'_>) -> Result<(), ThreadError> {
        match &self.dialect {
            Some(kept) if kept != dialect.name() && !transcript.messages.is_empty() => {
                Err(ThreadError::Thread(format!(
                    "the thread is spelt as `{kept}`, what comes in as `{}`; name one with --dialect",
                    dialect.name()
                )))
            }
            Some(_) => Ok(()),
            None => {
                self.dialect = (!transcript.messages.is_empty()).then(|| dialect.name().to_owned());
                Ok(())
            }
        }
    }

    /// How many messages at the front of what comes in were taken before.
    fn skip(&self, from: Option<usize>) -> Result<usize, ThreadError> {
        let next = self.taken + 1;
        match from {
            None => Ok(0),
            Some(from) if from <= next => Ok(next - from),
            Some(from) => Err(ThreadError::Thread(format!(
                "the thread has {} messages; what begins with number {from} leaves out {next} to {}",
                self.taken,
                from - 1
            ))),
        }
    }

    /// Makes the summaries that are due and lets go of what is no longer held.
    fn advance(&mut self, summary: &RollingSummary) -> Result<(), ThreadError> {
        if self.items.is_empty() {
            return Ok(());
        }
        let text = self.lines();
        let document = document(&text)?;
        let (dialect, transcript) = self.transcript(&document)?;
        let messages = &transcript.messages;
        if messages.len() != self.items.len() {
            let name = dialect.name();
            return Err(ThreadError::Thread(format!("messages of `{name}` cannot be kept one by one")));
        }
        let mut rolling = summary.rolling_view(messages, Some((self.memory.clone(), self.first)));
        let due = summary.due(&rolling);
        let mut fresh = summary.summarize(messages, &rolling, &due).map_err(ThreadError::Thread)?;
        for made in &mut fresh {
            let last = rolling.interaction(made.range.span.end).and_then(|interaction| interaction.said.last());
            made.ts = last.and_then(|&at| self.items.get(at)).map(|item| item.ts.clone());
        }
        let seen = rolling.seen();
        rolling.memory.advance(summary.rolling, seen, fresh);
        let next = summary.rolling.held(seen).start.max(self.first);
        let start = rolling.interaction(next).map_or(0, |interaction| interaction.start);
        let kept: Vec<bool> =
            messages.iter().enumerate().map(|(at, message)| at >= start || message.role.instructs()).collect();
        (self.first, self.memory) = (next, rolling.memory);
        let mut kept = kept.into_iter();
        self.items.retain(|_| kept.next().unwrap_or(true));
        Ok(())
    }

    /// What a model should get, or the state; each ends with a line break.
    ///
    /// # Errors
    /// What is kept of the thread cannot be read.
    pub fn show(&self, summary: &RollingSummary, shown: Shown, framing: Framing) -> Result<String, ThreadError> {
        if self.items.is_empty() {
            return Ok(if shown == Shown::State { NOTHING.to_owned() } else { String::new() });
        }
        let text = if framing == Framing::Lines { self.lines() } else { self.list() };
        let document = document(&text)?;
        let (dialect, mut transcript) = self.transcript(&document)?;
        let rolling = summary.rolling_view(&transcript.messages, Some((self.memory.clone(), self.first)));
        if shown == Shown::State {
            let time = |at: usize| self.items.get(at).map(|item| item.ts.clone());
            return Ok(state(&transcript.messages, &rolling, summary.rolling, &time) + "\n");
        }
        let messages = std::mem::take(&mut transcript.messages);
        let view =
            View { messages: &messages, preamble: &transcript.preamble, pairing_rules: transcript.pairing_rules };
        let plan = summary.plan(&view, &rolling);
        if plan.is_identity() {
            return Ok(text);
        }
        let left = apply_plan(messages, &plan);
        let mut out = String::new();
        apply(&transcript, dialect, &left, &mut out);
        Ok(out)
    }

    /// How many messages came in so far.
    #[must_use]
    pub const fn taken(&self) -> usize {
        self.taken
    }

    /// How many summaries are kept, and how many interactions there were.
    #[must_use]
    pub fn outline(&self) -> (usize, usize) {
        (self.memory.summaries.len(), self.memory.seen)
    }

    fn lines(&self) -> String {
        self.items.iter().flat_map(|item| [item.json.as_str(), "\n"]).collect()
    }

    fn list(&self) -> String {
        let items: Vec<&str> = self.items.iter().map(|item| item.json.as_str()).collect();
        format!("[{}]\n", items.join(","))
    }

    fn transcript<'a>(
        &self,
        document: &'a Document<'a>,
    ) -> Result<(&'static dyn Dialect, Transcript<'a>), ThreadError> {
        let dialect = self.dialect.as_deref().and_then(dialects::dialect_named);
        let list = document.roots().next().is_some_and(crate::json::Value::is_array);
        let framing = if list { Framing::Document } else { Framing::Lines };
        let reading = Reading { framing, dialect, named: dialect.is_some(), messages_key: None };
        let read = reading.transcripts(document).map_err(|fault| ThreadError::Thread(fault.what))?;
        let first = read.into_iter().next();
        first.ok_or_else(|| ThreadError::Thread(String::from("nothing was said in the thread yet")))
    }
}

fn document(text: &str) -> Result<Document<'_>, ThreadError> {
    Document::read_all(text).map_err(|fault| ThreadError::Thread(format!("what is kept of the thread: {}", fault.kind)))
}

/// What tells a message that was taken from a new one: its id, and a digest of what it says, because some formats give one
/// id to several messages.
fn mark(message: &Message<'_>, json: &str) -> Option<String> {
    let id = message.id.as_ref()?.decode();
    let digest = crate::digest::fnv1a_64(json.bytes());
    Some(format!("{id} {digest:016x}"))
}
