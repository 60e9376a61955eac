//! A rolling memory in the store: messages are appended, and only new messages are summarized.

mod dropping;
mod stored_text;
mod taking;
mod thread_error;
mod threads;

use serde::{Deserialize, Serialize};

use super::lines::{LineKind, StoredLine, is_line_break, line_break, line_kinds, line_values};
use super::window::window_start;
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
        let from = if is_whole { Some(1) } else { taken.from };
        let fresh = match thread.add(summary, Taken { from, rewind: is_whole, ..taken }, known) {
            Err(ThreadError::Changed(_) | ThreadError::RolledBack) if is_whole => {
                let unit = std::mem::take(&mut thread.unit);
                thread = Self { unit, epoch: thread.epoch + 1, ..Self::default() };
                thread.add(summary, Taken { from, rewind: false, ..taken }, known)?
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

    /// Makes the summaries that are due and drops lines that are no longer needed. `stored` is the number of messages that were
    /// stored before the last input.
    fn advance(&mut self, summary: &RollingSummary, stored: usize) -> Result<(), ThreadError> {
        let Some(dialect) = self.dialect.as_deref().and_then(dialects::dialect_named) else { return Ok(()) };
        self.drop_rolled_back(summary, dialect, stored)?;
        let text = self.lines();
        let document = document(&text)?;
        let Transcript { layout, messages } = self.transcript(&document)?.1;
        let kinds = line_kinds(&line_values(&document), &layout);
        self.mark_ahead(&kinds);
        let mut rolling = self.rolling(summary, &messages, &kinds);
        let due = summary.due(&rolling);
        let mut fresh = summary.summarize(&messages, &rolling, &due, None).map_err(ThreadError::Summary)?;
        let times = self.times(dialect, &messages, &kinds);
        for summary in &mut fresh {
            let last =
                rolling.interaction(summary.range.span.end).and_then(|interaction| interaction.utterances.last());
            summary.ts = last.and_then(|&at| times.get(at).cloned());
        }
        let seen = rolling.seen();
        rolling.memory.advance(summary.rolling, seen, fresh);
        let held = summary.held(&rolling).start.max(self.first);
        let (next, start) = window_start(&rolling, held, &messages);
        self.memory = rolling.memory;
        // Part of a list inside a line cannot be dropped: the line would no longer be the one that was read.
        if !kinds.iter().any(|kind| matches!(kind, LineKind::Nested { .. })) {
            self.first = next;
            self.drop_before(start, dialect, &layout, messages, &kinds);
        }
        self.drop_replaced(dialect)
    }

    /// The time of each message: its own, or that of its line.
    fn times(&self, dialect: &dyn Dialect, messages: &[Message<'_>], kinds: &[LineKind]) -> Vec<String> {
        let own = |at: usize| dialect.time(messages.get(at)?.value()?);
        let lines = self.items.iter().zip(kinds);
        lines.flat_map(|(line, kind)| kind.messages().map(|at| own(at).unwrap_or_else(|| line.ts.clone()))).collect()
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
            let times = self.times(dialect, &messages, &kinds);
            let time = |at: usize| times.get(at).cloned();
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
