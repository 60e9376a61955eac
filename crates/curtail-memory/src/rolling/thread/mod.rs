//! A rolling memory in the store: messages are appended, and only new messages are summarized.

mod dropping;
mod stored_text;
mod thread_error;
mod threads;

use serde::{Deserialize, Serialize};

use super::stored::{
    Had, Intake, LineKind, StoredLine, drop_replaced, is_line_break, is_list, line_break, line_kinds, line_values,
    mark_ahead, spaces, window_start,
};
use super::{RollingState, RollingSummary, RollingView, StateSoFar, state};
use curtail_core::dialects::{self, Dialect, Framing, Reading};
use curtail_core::edit::apply;
use curtail_core::figures::{FigureEdits, StaleFigures};
use curtail_core::processors::{Thinking, ThoughtModels, ThoughtPrefixes, View, apply_plan};
use curtail_core::transcript::{Message, Transcript, checks_prefix};
use stored_text::document;
pub use thread_error::ThreadError;
pub use threads::{append, current};

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
