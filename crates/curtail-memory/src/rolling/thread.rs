//! A rolling memory in the store: messages are appended, and only new messages are summarized.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::stored::{
    ChangedMessage, Had, Intake, LineKind, StoredLine, bind_ahead, drop_replaced, is_line_break, is_list, line_break,
    line_kinds, line_values, mark_ahead, plan_from, spaces, window_start,
};
use super::{RollingState, RollingSummary, RollingView, StateSoFar, state};
use crate::store::{RecordKey, Scope, Shelf, Store, StoreError};
use curtail_core::dialects::{self, Dialect, Framing, Reading};
use curtail_core::edit::apply;
use curtail_core::figures::{FigureEdits, StaleFigures};
use curtail_core::json::{Document, Span};
use curtail_core::processors::{
    Decision, ProcessorError, Thinking, ThoughtModels, ThoughtPrefixes, View, apply_plan, drop_standing,
};
use curtail_core::transcript::{Layout, Message, SlotKind, Standing, Transcript, checks_prefix};

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
    /// What counts as an interaction: `message` or `exchange`.
    unit: String,
    pub(super) dialect: Option<String>,
    /// Number of messages appended so far, of all roles.
    taken: usize,
    /// The number of the first interaction in `items`.
    first: usize,
    pub(super) memory: RollingState,
    pub(super) items: Vec<StoredLine>,
    /// The text before the first line: white space, perhaps with a byte order mark.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(super) open: String,
    /// The white space after the last line: a line break, and perhaps more.
    #[serde(default = "line_break", skip_serializing_if = "is_line_break")]
    pub(super) close: String,
    /// Number of messages that are no longer in `items`.
    #[serde(default)]
    pub(super) dropped: usize,
    /// How often the thread has started over.
    #[serde(default)]
    pub(super) epoch: u32,
    /// Number of lines of metadata after the last message.
    #[serde(default)]
    pub(super) trailing: usize,
    /// Number of messages that were appended before digests of messages were stored.
    #[serde(default)]
    pub(super) undigested: usize,
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
    /// Whether the thread starts over with the input if their histories differ.
    pub rewind: bool,
}

/// The form in which a thread is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shown {
    /// System messages, summaries and window, as a model should read them.
    Context {
        /// How to handle signed reasoning, which a provider may reject if the messages before it are missing.
        thinking: Thinking,
        /// What happens to figures that are wrong without the messages before them.
        figures: StaleFigures,
    },
    /// The state as JSON.
    State,
}

impl Default for Thread {
    /// An empty thread, whose unit is set when messages are appended.
    fn default() -> Self {
        let unit = String::new();
        let memory = RollingState::default();
        Self {
            version: VERSION,
            unit,
            dialect: None,
            taken: 0,
            first: 1,
            memory,
            items: Vec::new(),
            open: String::new(),
            close: line_break(),
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
                let dropped = thread.taken.saturating_sub(thread.items.len());
                let undigested = thread.taken;
                Ok(Self { version: VERSION, dropped, undigested, ..thread })
            }
            version => Err(ThreadError::Version(version)),
        }
    }

    pub(super) fn write(&self) -> String {
        // Strings and numbers always serialize.
        serde_json::to_string(self).unwrap_or_default()
    }

    /// The thread with `taken` appended, and the marks of the new messages. `known` returns whether a mark is already stored.
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
            return Err(ThreadError::Unit { kept: thread.unit, asked: summary.counted.name() });
        }
        // The whole conversation is compared with the thread message by message: where messages have no ids, nothing else shows
        // what the thread already has.
        let is_whole = taken.rewind && taken.from.is_none_or(|from| from == 1);
        let from = if is_whole && thread.taken > 0 { Some(1) } else { taken.from };
        let fresh = match thread.add(summary, Taken { from, rewind: is_whole, ..taken }, known) {
            Err(ThreadError::Changed(_) | ThreadError::RolledBack) if is_whole => {
                let unit = std::mem::take(&mut thread.unit);
                thread = Self { unit, epoch: thread.epoch + 1, ..Self::default() };
                thread.add(summary, Taken { from: None, rewind: false, ..taken }, known)?
            }
            fresh => fresh?,
        };
        Ok((thread, fresh))
    }

    /// Appends the new lines, makes the summaries that are due, and returns the marks of the new messages.
    fn add(
        &mut self,
        summary: &RollingSummary,
        taken: Taken<'_>,
        known: &dyn Fn(&str) -> bool,
    ) -> Result<Vec<String>, ThreadError> {
        let stored = self.taken.saturating_sub(self.dropped);
        let fresh = self.take(taken, known)?;
        self.advance(summary, stored)?;
        Ok(fresh)
    }

    /// Appends the new lines and returns the marks of their messages.
    fn take(&mut self, taken: Taken<'_>, known: &dyn Fn(&str) -> bool) -> Result<Vec<String>, ThreadError> {
        let document = taken.reading.parse(taken.text).map_err(|fault| ThreadError::Input(fault.offset, fault.what))?;
        // Input that is appended to a thread may consist of metadata only.
        let read = match self.taken {
            0 => taken.reading.writable_transcripts(&document),
            _ => taken.reading.transcripts_or_none(&document),
        };
        let transcripts = read.map_err(|fault| ThreadError::Input(fault.offset, fault.what))?;
        let [(dialect, transcript)] = transcripts.as_slice() else {
            let count = transcripts.len();
            return if count == 0 { Ok(Vec::new()) } else { Err(ThreadError::SeveralTranscripts(count)) };
        };
        self.check_dialect(*dialect, transcript)?;
        let skip = self.skip(taken, transcript.messages.len())?;
        let mut intake = Intake::new(known, self.had(), skip, &transcript.messages);
        let values = line_values(&document);
        let kinds = line_kinds(&values, &transcript.layout);
        let is_log = taken.reading.framing == Framing::Lines && !is_list(&document);
        let (leads, rest) = if is_log { spaces(taken.text, &values) } else { (vec!["\n"; values.len()], "\n") };
        let mut open = None;
        let mut lines = Vec::new();
        for (nth, (&value, kind)) in values.iter().zip(kinds).enumerate() {
            let ts = || dialect.time(value).unwrap_or_else(|| taken.now.to_owned());
            if intake.is_new(value, kind, &transcript.messages)? {
                let lead = if nth == 0 { self.separator_before(leads[0]) } else { leads[nth].to_owned() };
                open = open.or((nth == 0 && is_log).then_some(leads[0]));
                lines.push(StoredLine::from_value(value, lead, ts()));
            }
        }
        let is_at_end = intake.is_at_end();
        let Intake { marks, taken, behind, .. } = intake;
        (self.taken, self.trailing) = (taken, behind);
        if is_at_end && !values.is_empty() {
            self.close = if rest.contains('\n') { rest.to_owned() } else { line_break() };
        }
        if let Some(open) = open.filter(|_| self.items.is_empty() && self.dropped == 0) {
            open.clone_into(&mut self.open);
        }
        self.items.append(&mut lines);
        Ok(marks)
    }

    fn had(&self) -> Had<'_> {
        let Self { items, taken, trailing, undigested, epoch, .. } = self;
        Had { lines: items, taken: *taken, trailing: *trailing, undigested: *undigested, epoch: *epoch }
    }

    /// The separator between the last line and the first line of an input, before which the input has `lead`.
    fn separator_before(&self, lead: &str) -> String {
        format!("{}{}", self.close, lead.trim_start_matches('\u{feff}'))
    }

    /// Remembers the dialect of the first messages, and checks that later messages have the same one.
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

    /// The number of leading messages that the thread already contains, of `count`. The whole conversation has all of them.
    fn skip(&self, taken: Taken<'_>, count: usize) -> Result<usize, ThreadError> {
        let next = self.taken + 1;
        match taken.from {
            None => Ok(0),
            Some(from) if from <= next && taken.rewind && count < next - from => Err(ThreadError::Changed(count + 1)),
            Some(from) if from <= next => Ok(next - from),
            Some(from) => Err(ThreadError::Gap { taken: self.taken, from }),
        }
    }

    /// Makes the summaries that are due and drops lines that are no longer needed. `stored` is the number of messages that were
    /// stored before the last input.
    fn advance(&mut self, summary: &RollingSummary, stored: usize) -> Result<(), ThreadError> {
        let Some(dialect) = self.dialect.as_deref().and_then(dialects::dialect_named) else { return Ok(()) };
        let text = self.lines();
        drop_replaced(&mut self.items, &line_values(&document(&text)?), dialect);
        self.drop_rolled_back(summary, dialect, stored)?;
        let text = self.lines();
        let document = document(&text)?;
        let Transcript { layout, messages } = self.transcript(&document)?.1;
        let kinds = line_kinds(&line_values(&document), &layout);
        mark_ahead(&mut self.items, &kinds);
        let mut rolling = self.rolling(summary, &messages, &kinds);
        let due = summary.due(&rolling);
        let mut fresh = summary.summarize(&messages, &rolling, &due, None).map_err(ThreadError::Summary)?;
        let times = self.times(&kinds);
        for summary in &mut fresh {
            let last =
                rolling.interaction(summary.range.span.end).and_then(|interaction| interaction.utterances.last());
            summary.ts = last.and_then(|&at| times.get(at)).map(|ts| (*ts).to_owned());
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
            self.drop_before(start, dialect, &layout, messages, &kinds);
        }
        Ok(())
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

    /// The interactions in the thread. Messages that were kept in front of the window belong to none of them.
    pub(super) fn rolling(
        &self,
        summary: &RollingSummary,
        messages: &[Message<'_>],
        kinds: &[LineKind],
    ) -> RollingView {
        let mut rolling =
            summary.rolling_view(messages, Some(StateSoFar { state: self.memory.clone(), next: self.first }));
        let lines = self.items.iter().zip(kinds);
        let front = lines.filter(|(line, kind)| line.outlived && matches!(kind, LineKind::Message(_))).count();
        if let Some(first) = rolling.interactions.first_mut() {
            first.start = first.start.max(front);
        }
        rolling
    }

    /// The thread in the form `shown`. It ends with a line break.
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
        let kinds = line_kinds(&line_values(&document), &layout);
        let rolling = self.rolling(summary, &messages, &kinds);
        let Shown::Context { thinking, figures } = shown else {
            let times = self.times(&kinds);
            let time = |at: usize| times.get(at).map(|ts| (*ts).to_owned());
            return Ok(state(&messages, &rolling, summary.held(&rolling), &time) + "\n");
        };
        let prefixes = ThoughtPrefixes::from_messages(&messages);
        let view = View::of_layout(&layout, &messages);
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
        let lost = self.dropped > 0 && figures == StaleFigures::Reset;
        let stale = if lost { StaleFigures::ResetAll } else { figures };
        let figures = FigureEdits::find(&layout, dialect, &remaining, stale);
        if !changed && figures.count == 0 {
            return Ok(if framing == Framing::Lines { self.log() } else { text });
        }
        let mut out = String::new();
        apply(&layout, dialect, &remaining, &figures, &mut out);
        Ok(out)
    }

    /// Number of messages appended so far.
    pub const fn taken(&self) -> usize {
        self.taken
    }

    /// The number of kept summaries, and the number of interactions so far.
    pub fn outline(&self) -> (usize, usize) {
        (self.memory.summaries.len(), self.memory.seen)
    }
}

// Threads in the store. An input is appended completely or not at all.

/// Appends messages to the thread `id` of `store` and returns the new thread.
///
/// Summaries are made outside of any transaction, so a slow model blocks no other process. If another process has appended in
/// the meantime, everything is repeated on the new state, so that neither input is lost.
///
/// # Errors
/// [`ThreadError`]; the thread is unchanged.
pub fn append(store: &mut Store, id: &str, summary: &RollingSummary, taken: Taken<'_>) -> Result<Thread, ThreadError> {
    let key = RecordKey { shelf: Shelf::Summary, scope: Scope::Thread, id };
    loop {
        let (before, marks) = store.update(key, |record| -> Result<_, StoreError> {
            Ok((record.body().map(str::to_owned), record.applied_ids()?))
        })?;
        let old = before.as_deref().map(Thread::parse).transpose()?;
        let (new, fresh) = Thread::after(old, summary, taken, &|mark| marks.contains(mark))?;
        let body = new.write();
        if before.as_deref() == Some(&body) {
            return Ok(new);
        }
        let done = store.update(key, |record| -> Result<_, StoreError> {
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

/// The thread `id` of `store`; `None` if the store does not contain it.
///
/// # Errors
/// [`ThreadError`] if it cannot be read.
pub fn current(store: &Store, id: &str) -> Result<Option<Thread>, ThreadError> {
    let body = store.read_body(RecordKey { shelf: Shelf::Summary, scope: Scope::Thread, id })?;
    body.as_deref().map(Thread::parse).transpose()
}

// Dropping what a thread no longer needs: messages before the window, and turns that were rolled back.

impl Thread {
    /// Drops the turns that were rolled back, as a run over the whole log does once it summarizes. `stored` is the number of
    /// messages that were stored before the last input.
    ///
    /// # Errors
    /// [`ThreadError::RolledBack`] if the thread may have summarized turns that are rolled back.
    fn drop_rolled_back(
        &mut self,
        summary: &RollingSummary,
        dialect: &dyn Dialect,
        stored: usize,
    ) -> Result<(), ThreadError> {
        let text = self.lines();
        let document = document(&text)?;
        let Transcript { layout, messages } = self.transcript(&document)?.1;
        let Some(first) = messages.iter().position(|message| message.standing.is_rolled_back()) else {
            return Ok(());
        };
        let has_begun = self.dropped > 0 || !self.memory.summaries.is_empty();
        if has_begun && first < stored {
            return Err(ThreadError::RolledBack);
        }
        let kinds = line_kinds(&line_values(&document), &layout);
        if !has_begun && summary.due(&self.rolling(summary, &messages, &kinds)).is_empty() {
            return Ok(());
        }
        mark_ahead(&mut self.items, &kinds);
        let view = View::of_layout(&layout, &messages);
        let plan = drop_standing(&view, Standing::TAKEN_BACK);
        let mut kept = vec![false; messages.len()];
        let remaining = apply_plan(messages, &plan);
        remaining.iter().filter_map(Message::source_index).for_each(|index| kept[index] = true);
        self.keep(&layout, dialect, &remaining, &kept, &kinds, 0);
        Ok(())
    }

    /// Drops the messages before `start` with their metadata.
    fn drop_before(
        &mut self,
        start: usize,
        dialect: &dyn Dialect,
        layout: &Layout<'_>,
        messages: Vec<Message<'_>>,
        kinds: &[LineKind],
    ) {
        let plan = plan_from(start, &messages);
        if plan.is_identity() {
            return;
        }
        let kept: Vec<bool> = plan.decisions.iter().map(|decision| !matches!(decision, Decision::Drop(_))).collect();
        let remaining = apply_plan(messages, &plan);
        self.keep(layout, dialect, &remaining, &kept, kinds, start);
    }

    /// Keeps the messages `remaining` with their metadata and drops the others. `kept` says of each message whether it is kept.
    /// Kept lines do not change, except for links to dropped messages. The window begins at `start`.
    fn keep(
        &mut self,
        layout: &Layout<'_>,
        dialect: &dyn Dialect,
        remaining: &[Message<'_>],
        kept: &[bool],
        kinds: &[LineKind],
        start: usize,
    ) {
        let mut text = String::new();
        apply(layout, dialect, remaining, &FigureEdits::default(), &mut text);
        let mut is_owner_kept = true;
        let mut lines = Vec::new();
        for (line, kind) in std::mem::take(&mut self.items).into_iter().zip(kinds) {
            let outlives = match *kind {
                LineKind::Message(index) => {
                    is_owner_kept = kept[index];
                    is_owner_kept && index < start
                }
                LineKind::With(index) if !kept[index] => continue,
                LineKind::Pinned => !is_owner_kept,
                _ => false,
            };
            if is_owner_kept || !matches!(kind, LineKind::Message(_)) {
                lines.push(StoredLine { outlived: line.outlived || outlives, ..line });
            }
        }
        if let Ok(document) = document(&text) {
            let values = line_values(&document);
            if values.len() == lines.len() {
                let leads = spaces(&text, &values).0;
                for (nth, (line, value)) in lines.iter_mut().zip(&values).enumerate() {
                    value.raw().clone_into(&mut line.json);
                    if nth > 0 {
                        leads[nth].clone_into(&mut line.lead);
                    }
                }
            }
        }
        self.items = lines;
        self.dropped += kept.iter().filter(|kept| !**kept).count();
    }
}

// The text of a thread, and the transcript in it.

impl Thread {
    /// The lines of the log that are stored.
    pub(super) fn log(&self) -> String {
        self.joined("")
    }

    /// The stored lines, with the separator before the first one, in case another line is written before it.
    pub(super) fn lines(&self) -> String {
        self.joined(self.lead())
    }

    /// The stored lines, with `lead` before the first one.
    fn joined(&self, lead: &str) -> String {
        let mut text = format!("{}{lead}", self.open);
        for (nth, line) in self.items.iter().enumerate() {
            text.push_str(if nth == 0 { "" } else { &line.lead });
            text.push_str(&line.json);
        }
        text + &self.close
    }

    /// The separator before the first line; empty if the log began with that line.
    fn lead(&self) -> &str {
        self.items.first().filter(|_| self.dropped > 0).map_or("", |line| &line.lead)
    }

    /// The stored lines as a JSON list.
    pub(super) fn list(&self) -> String {
        let items: Vec<Cow<'_, str>> = self.items.iter().map(StoredLine::on_one_line).collect();
        format!("[{}]\n", items.join(","))
    }

    /// The transcript in a document of the stored lines, and its dialect.
    pub(super) fn transcript<'a>(
        &self,
        document: &'a Document<'a>,
    ) -> Result<(&'static dyn Dialect, Transcript<'a>), ThreadError> {
        let dialect = self.dialect.as_deref().and_then(dialects::dialect_named);
        let framing = if is_list(document) { Framing::Document } else { Framing::Lines };
        let reading = Reading { framing, dialect, named: dialect.is_some(), messages_key: None };
        let read = reading.transcripts_or_none(document).map_err(|error| ThreadError::Stored(error.what))?;
        let first = read.into_iter().next();
        let (dialect, mut transcript) = first.ok_or(ThreadError::Empty)?;
        bind_ahead(&self.items, &line_values(document), &mut transcript.layout);
        if framing == Framing::Lines {
            self.separate_first(&mut transcript);
        }
        Ok((dialect, transcript))
    }

    /// Makes the white space before the first line its separator. As a part of the frame, it would always be written.
    fn separate_first(&self, transcript: &mut Transcript<'_>) {
        let open = self.open.len();
        let lead = self.lead().len();
        let (Ok(open), Ok(begin)) = (u32::try_from(open), u32::try_from(open + lead)) else { return };
        if let [frame, first, ..] = transcript.layout.slots.as_mut_slice()
            && matches!(frame.kind, SlotKind::Frame { .. })
            && frame.span == Span::new(0, begin)
            && first.span.start == begin
        {
            frame.span = Span::new(0, open);
            first.separator = Span::new(open, begin);
        }
    }
}

pub(super) fn document(text: &str) -> Result<Document<'_>, ThreadError> {
    Document::parse_all(text).map_err(|fault| ThreadError::Stored(fault.to_string()))
}

/// Why a thread could not be read or changed. The stored thread is unchanged.
#[derive(Debug, Error)]
pub enum ThreadError {
    /// The input cannot be read, with the offset of the byte.
    #[error("{1}")]
    Input(usize, String),
    /// The input contains this many transcripts instead of one.
    #[error("{0} transcripts found; append one transcript at a time to a thread")]
    SeveralTranscripts(usize),
    /// The thread is stored with interactions of another kind.
    #[error("the thread was stored with --unit {kept}, not {asked}; pass --unit {kept}")]
    Unit {
        /// The unit of the stored thread.
        kept: String,
        /// The unit of this run.
        asked: &'static str,
    },
    /// The input has another dialect than the thread.
    #[error("the thread is in dialect `{kept}`, the input in `{new}`; pass --dialect or use another thread")]
    Dialect {
        /// The dialect of the stored thread.
        kept: String,
        /// The dialect of the input.
        new: &'static str,
    },
    /// The input begins after the next message of the thread.
    #[error(
        "the thread has {taken} messages, so --from {from} would skip messages {} to {}", taken + 1, from - 1
    )]
    Gap {
        /// Number of messages in the thread.
        taken: usize,
        /// Number of the first message in the input.
        from: usize,
    },
    /// A message of the input, by its number from 1, differs from the one that the thread has.
    #[error(
        "message {0} of the input is not the one that the thread took: the history has changed; pass the whole \
         conversation with --rewind to start the thread over, or use another thread"
    )]
    Changed(usize),
    /// The input rolls back turns that the thread already has and may have summarized.
    #[error(
        "the input takes back turns that the thread took before: the history has changed; pass the whole conversation \
         with --rewind to start the thread over, or use another thread"
    )]
    RolledBack,
    /// The thread contains no message.
    #[error("the thread contains no messages")]
    Empty,
    /// The stored thread has another version.
    #[error("the thread was stored in version {0}; this program reads version {VERSION}")]
    Version(u32),
    /// The stored thread is damaged.
    #[error("the stored thread is damaged: {0}")]
    Stored(String),
    /// A summary could not be made.
    #[error("{0}")]
    Summary(ProcessorError),
    /// The store cannot be read or written.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl From<ChangedMessage> for ThreadError {
    fn from(ChangedMessage(number): ChangedMessage) -> Self {
        Self::Changed(number)
    }
}
