//! A rolling memory in the store: messages are appended, and only new ones are summarized.

use serde::{Deserialize, Serialize};

use super::error::ThreadError;
use super::intake::Intake;
use super::state;
use super::stored::{
    LineKind, StoredLine, bind_ahead, drop_replaced, is_list, line_kinds, line_values, note_ahead, plan_from,
    window_start,
};
use crate::dialects::{self, Dialect, Framing, Reading};
use crate::edit::apply;
use crate::json::Document;
use crate::processors::{
    Decision, RollingState, RollingSummary, Thinking, ThoughtModels, ThoughtPrefixes, View, apply_plan,
};
use crate::transcript::{Layout, Message, Transcript, checks_prefix};

/// The version of the stored form of a thread.
pub(super) const VERSION: u32 = 2;

/// The version before metadata was stored.
const MESSAGES_ONLY: u32 = 1;

/// The state of an empty thread.
const EMPTY_STATE: &str = "{\"interactions\":[],\"summaries\":[]}\n";

/// The stored part of a conversation: the window, system messages and summaries.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Thread {
    version: u32,
    /// What one interaction is: `message` or `exchange`.
    unit: String,
    dialect: Option<String>,
    /// Number of messages appended so far, of all roles.
    taken: usize,
    /// The number of the first interaction among `items`.
    first: usize,
    memory: RollingState,
    items: Vec<StoredLine>,
    /// Number of messages that are no longer among `items`.
    #[serde(default)]
    dropped: usize,
    /// How often the thread has started over.
    #[serde(default)]
    epoch: u32,
    /// Number of lines of metadata behind the last message.
    #[serde(default)]
    trailing: usize,
    /// Number of messages that the thread took before it kept digests of messages.
    #[serde(default)]
    undigested: usize,
}

/// Messages to append.
#[derive(Debug, Clone, Copy)]
pub struct Taken<'t> {
    /// The text of one transcript.
    pub text: &'t str,
    /// How to read it.
    pub reading: &'t Reading,
    /// The number of its first message in the thread, from 1; `None` if it follows the last message.
    pub from: Option<usize>,
    /// The time of messages without a timestamp.
    pub now: &'t str,
    /// Whether a thread whose history differs from the input starts over with the input.
    pub rewind: bool,
}

/// The form in which a thread is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Shown {
    /// System messages, summaries and window, as a model should read them.
    Context {
        /// What happens to signed reasoning, because the context no longer begins at the start of the conversation.
        thinking: Thinking,
    },
    /// The state as JSON.
    State,
}

impl Default for Thread {
    /// An empty thread; its first messages decide its unit.
    fn default() -> Self {
        let (unit, memory) = (String::new(), RollingState::default());
        Self {
            version: VERSION,
            unit,
            dialect: None,
            taken: 0,
            first: 1,
            memory,
            items: Vec::new(),
            dropped: 0,
            epoch: 0,
            trailing: 0,
            undigested: 0,
        }
    }
}

impl Thread {
    pub(super) fn parse(body: &str) -> Result<Self, ThreadError> {
        let thread: Self = serde_json::from_str(body).map_err(|error| ThreadError::Stored(error.to_string()))?;
        match thread.version {
            VERSION => Ok(thread),
            MESSAGES_ONLY => {
                let (dropped, undigested) = (thread.taken.saturating_sub(thread.items.len()), thread.taken);
                Ok(Self { version: VERSION, dropped, undigested, ..thread })
            }
            version => Err(ThreadError::Version(version)),
        }
    }

    pub(super) fn write(&self) -> String {
        // Strings and numbers always serialize.
        serde_json::to_string(self).unwrap_or_default()
    }

    /// The thread after `taken` is appended, and the marks of its new messages. `known` returns whether a mark is already
    /// stored.
    ///
    /// # Errors
    /// The messages cannot be read, do not fit the thread, or cannot be summarized.
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
            return Err(ThreadError::Unit { kept: kept.clone(), asked });
        }
        let fresh = match thread.take(taken, known) {
            Err(ThreadError::Changed(_)) if taken.rewind && taken.from.is_none_or(|from| from == 1) => {
                let unit = std::mem::take(&mut thread.unit);
                thread = Self { unit, epoch: thread.epoch + 1, ..Self::default() };
                thread.take(Taken { from: None, ..taken }, known)?
            }
            fresh => fresh?,
        };
        thread.advance(summary)?;
        Ok((thread, fresh))
    }

    /// Appends the new lines and returns the marks of their messages.
    fn take(&mut self, taken: Taken<'_>, known: &dyn Fn(&str) -> bool) -> Result<Vec<String>, ThreadError> {
        let document = taken.reading.parse(taken.text).map_err(|fault| ThreadError::Input(fault.offset, fault.what))?;
        let read = taken.reading.transcripts(&document);
        let transcripts = read.map_err(|fault| ThreadError::Input(fault.offset, fault.what))?;
        let [(dialect, transcript)] = transcripts.as_slice() else {
            let count = transcripts.len();
            return if count == 0 { Ok(Vec::new()) } else { Err(ThreadError::SeveralTranscripts(count)) };
        };
        self.check_dialect(*dialect, transcript)?;
        let skip = self.skip(taken.from)?;
        let mut intake = Intake::new(known, self, skip, &transcript.messages);
        let values = line_values(&document);
        let kinds = line_kinds(&values, &transcript.layout);
        let mut lines = Vec::new();
        for (&value, kind) in values.iter().zip(kinds) {
            let ts = || dialect.time(value).unwrap_or_else(|| taken.now.to_owned());
            if intake.takes(value, kind, &transcript.messages)? {
                lines.push(StoredLine::of_value(value, ts()));
            }
        }
        let Intake { marks, taken, behind, .. } = intake;
        (self.taken, self.trailing) = (taken, behind);
        self.items.append(&mut lines);
        Ok(marks)
    }

    /// Remembers the dialect of the first messages; later messages must have the same one.
    fn check_dialect(&mut self, dialect: &'static dyn Dialect, transcript: &Transcript<'_>) -> Result<(), ThreadError> {
        match &self.dialect {
            Some(kept) if kept != dialect.name() && !transcript.messages.is_empty() => {
                Err(ThreadError::Dialect { kept: kept.clone(), new: dialect.name() })
            }
            Some(_) => Ok(()),
            None => {
                self.dialect = (!transcript.messages.is_empty()).then(|| dialect.name().to_owned());
                Ok(())
            }
        }
    }

    /// The number of leading messages that the thread already contains.
    fn skip(&self, from: Option<usize>) -> Result<usize, ThreadError> {
        let next = self.taken + 1;
        match from {
            None => Ok(0),
            Some(from) if from <= next => Ok(next - from),
            Some(from) => Err(ThreadError::Gap { taken: self.taken, from }),
        }
    }

    /// Makes the summaries that are due and drops lines that are no longer held.
    fn advance(&mut self, summary: &RollingSummary) -> Result<(), ThreadError> {
        let Some(dialect) = self.dialect.as_deref().and_then(dialects::dialect_named) else { return Ok(()) };
        let text = self.lines();
        drop_replaced(&mut self.items, &line_values(&document(&text)?), dialect);
        let text = self.lines();
        let document = document(&text)?;
        let Transcript { layout, messages } = self.transcript(&document)?.1;
        let kinds = line_kinds(&line_values(&document), &layout);
        note_ahead(&mut self.items, &kinds);
        let mut rolling = summary.rolling_view(&messages, Some((self.memory.clone(), self.first)));
        let due = summary.due(&rolling);
        let mut fresh = summary.summarize(&messages, &rolling, &due, None).map_err(ThreadError::Summary)?;
        let times = self.times(&kinds);
        for made in &mut fresh {
            let last = rolling.interaction(made.range.span.end).and_then(|interaction| interaction.said.last());
            made.ts = last.and_then(|&at| times.get(at)).map(|ts| (*ts).to_owned());
        }
        let seen = rolling.seen();
        rolling.memory.advance(summary.rolling, seen, fresh);
        let held = summary.held(&rolling).start.max(self.first);
        let (next, start) = window_start(&rolling, held, &messages);
        self.memory = rolling.memory;
        self.taken = self.dropped + messages.len();
        // Part of a list inside a line cannot be dropped: the line would no longer be the one that was read.
        if !kinds.iter().any(|kind| matches!(kind, LineKind::Nested(_))) {
            self.first = next;
            self.drop_before(start, dialect, (&layout, messages), &kinds);
        }
        Ok(())
    }

    /// Drops the messages before `start` with their metadata. What is kept stays as it is, except for links to what is dropped.
    fn drop_before(
        &mut self,
        start: usize,
        dialect: &dyn Dialect,
        (layout, messages): (&Layout<'_>, Vec<Message<'_>>),
        kinds: &[LineKind],
    ) {
        let plan = plan_from(start, &messages);
        if plan.is_identity() {
            return;
        }
        let kept: Vec<bool> = plan.decisions.iter().map(|decision| !matches!(decision, Decision::Drop(_))).collect();
        let mut text = String::new();
        apply(layout, dialect, &apply_plan(messages, &plan), &mut text);
        let (mut owner, mut lines) = (true, Vec::new());
        for (line, kind) in std::mem::take(&mut self.items).into_iter().zip(kinds) {
            match *kind {
                LineKind::Message(index) => owner = kept[index],
                LineKind::With(index) if !kept[index] => continue,
                _ => {}
            }
            if owner || !matches!(kind, LineKind::Message(_)) {
                let outlived = line.outlived || *kind == LineKind::Pinned && !owner;
                lines.push(StoredLine { outlived, ..line });
            }
        }
        if text.lines().count() == lines.len() {
            for (line, json) in lines.iter_mut().zip(text.lines()) {
                json.clone_into(&mut line.json);
            }
        }
        self.items = lines;
        self.dropped += kept.iter().filter(|kept| !**kept).count();
    }

    /// The time of each message.
    fn times(&self, kinds: &[LineKind]) -> Vec<&str> {
        let count = |kind: &LineKind| match kind {
            LineKind::Message(_) => 1,
            LineKind::Nested(count) => *count,
            LineKind::With(_) | LineKind::Pinned => 0,
        };
        let lines = self.items.iter().zip(kinds);
        lines.flat_map(|(line, kind)| std::iter::repeat_n(line.ts.as_str(), count(kind))).collect()
    }

    /// The thread in the form `shown`, which ends with a line break.
    ///
    /// # Errors
    /// The stored thread cannot be read.
    pub fn render(&self, summary: &RollingSummary, shown: Shown, framing: Framing) -> Result<String, ThreadError> {
        if self.items.is_empty() {
            return Ok(if shown == Shown::State { EMPTY_STATE.to_owned() } else { String::new() });
        }
        let text = if framing == Framing::Lines { self.lines() } else { self.list() };
        if self.dialect.is_none() {
            return Ok(if shown == Shown::State { EMPTY_STATE.to_owned() } else { text });
        }
        let document = document(&text)?;
        let (dialect, Transcript { layout, messages }) = self.transcript(&document)?;
        let rolling = summary.rolling_view(&messages, Some((self.memory.clone(), self.first)));
        let Shown::Context { thinking } = shown else {
            let kinds = line_kinds(&line_values(&document), &layout);
            let times = self.times(&kinds);
            let time = |at: usize| times.get(at).map(|ts| (*ts).to_owned());
            return Ok(state(&messages, &rolling, summary.held(&rolling), &time) + "\n");
        };
        let prefixes = ThoughtPrefixes::from_messages(&messages);
        let view = View::new(&messages, &layout.preamble, layout.pairing_rules).placing(layout.context);
        let plan = summary.plan(&view, &rolling);
        let mut remaining = apply_plan(messages, &plan);
        let mut changed = !plan.is_identity();
        if let Some(prefixes) = prefixes {
            let broken = if self.dropped > 0 { prefixes.all(&remaining) } else { prefixes.broken(&remaining) };
            let models = dialects::models(dialect, &layout);
            let checks = |index: usize| models.get(index)?.as_ref().map(|model| checks_prefix(&model.decode()));
            let plan = thinking.plan(&remaining, &broken, ThoughtModels { checks: &checks, dataset: false });
            changed |= !plan.is_identity();
            remaining = apply_plan(remaining, &plan);
        }
        if !changed {
            return Ok(text);
        }
        let mut out = String::new();
        apply(&layout, dialect, &remaining, &mut out);
        Ok(out)
    }

    /// The stored lines.
    pub(super) fn stored(&self) -> impl Iterator<Item = &str> {
        self.items.iter().map(|line| line.json.as_str())
    }

    /// How often the thread has started over, the number of messages that were taken without digests, and the number of lines
    /// behind the last message.
    pub(super) const fn digests(&self) -> (u32, usize, usize) {
        (self.epoch, self.undigested, self.trailing)
    }

    /// Number of messages appended so far.
    #[must_use]
    pub const fn taken(&self) -> usize {
        self.taken
    }

    /// The numbers of kept summaries and of interactions so far.
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
        let framing = if is_list(document) { Framing::Document } else { Framing::Lines };
        let reading = Reading { framing, dialect, named: dialect.is_some(), messages_key: None };
        let read = reading.transcripts(document).map_err(|error| ThreadError::Stored(error.what))?;
        let first = read.into_iter().next();
        let (dialect, mut transcript) = first.ok_or(ThreadError::Empty)?;
        bind_ahead(&self.items, &line_values(document), &mut transcript.layout);
        Ok((dialect, transcript))
    }
}

fn document(text: &str) -> Result<Document<'_>, ThreadError> {
    Document::parse_all(text).map_err(|fault| ThreadError::Stored(fault.to_string()))
}
