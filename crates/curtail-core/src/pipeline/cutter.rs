//! One text in, one text out: its transcripts are read, run through a chain and written back. It knows no file.

use super::chain::Steps;
use super::position::Position;
use super::splitting::{Separators, Splitter};
use super::{Chain, Run, Stage, ThoughtStep, Window};
use crate::dialects::{Dialect, Framing, ReadError, Reading, models, write_both};
use crate::edit::{Explained, apply, name_drafts};
use crate::json::Value;
use crate::processors::{Counting, Plan, ProcessorError, ThoughtPrefixes, View};
use crate::transcript::{Fault, Layout, Message, Pairs, Transcript, Unread, checks_prefix};

/// Cuts texts with a chain of processors. The default changes nothing.
#[derive(Default)]
pub struct Cutter {
    /// What is done to every transcript.
    pub chain: Chain,
    /// Whether decisions are explained.
    pub explain: bool,
    /// Counts tokens before and after; `None` to leave them at 0.
    pub counting: Option<Counting>,
}

/// The result of cutting a text.
#[derive(Debug, Default)]
pub struct Cut {
    /// Whether the text changed.
    pub changed: bool,
    /// The explained decisions, each with its stage.
    pub explained: Vec<(Decider, Explained)>,
    /// Warnings, each with the offset of its transcript.
    pub notes: Vec<(usize, String)>,
    /// Counts before and after.
    pub totals: Totals,
    /// Messages and tokens after every stage of the chain; empty without `counting`.
    pub stages: Vec<StageCount>,
    /// The windows of a split, in order.
    pub windows: Vec<Window>,
    /// Whether each window is a file of its own: logs, and documents that are one transcript.
    pub parts: bool,
    /// The dialect of the first transcript.
    pub dialect: Option<&'static str>,
}

/// The stage that decided something.
#[derive(Debug, Clone, PartialEq, Eq, Default, serde::Serialize)]
pub struct Decider {
    /// The level it is configured at; empty for a command of its own.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub level: String,
    /// The name of its command.
    pub processor: &'static str,
}

impl Decider {
    pub(super) fn from_stage(stage: &Stage) -> Self {
        Self { level: stage.level.clone(), processor: stage.processor.name() }
    }
}

/// Messages and tokens after a stage of the chain.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize)]
pub struct StageCount {
    /// Messages.
    pub messages: usize,
    /// Tokens, preambles included.
    pub tokens: usize,
}

impl StageCount {
    /// Adds the counts of another text, stage by stage.
    pub fn add(sums: &mut Vec<Self>, others: &[Self]) {
        sums.resize(sums.len().max(others.len()), Self::default());
        for (sum, other) in sums.iter_mut().zip(others) {
            sum.messages += other.messages;
            sum.tokens += other.tokens;
        }
    }
}

/// Counts before and after. Tokens and faults are counted only with [`Cutter::counting`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize)]
pub struct Totals {
    /// Transcripts.
    pub transcripts: usize,
    /// Transcripts that changed.
    pub changed: usize,
    /// Windows that were written, if transcripts were split.
    #[serde(skip_serializing_if = "is_zero")]
    pub windows: usize,
    /// Messages before.
    pub messages_before: usize,
    /// Messages after.
    pub messages_after: usize,
    /// Tokens before, preambles included.
    pub tokens_before: usize,
    /// Tokens after.
    pub tokens_after: usize,
    /// Pairing faults before.
    pub faults: usize,
}

impl Totals {
    /// Adds what `other` counted.
    pub fn add(&mut self, other: Self) {
        self.transcripts += other.transcripts;
        self.changed += other.changed;
        self.windows += other.windows;
        self.messages_before += other.messages_before;
        self.messages_after += other.messages_after;
        self.tokens_before += other.tokens_before;
        self.tokens_after += other.tokens_after;
        self.faults += other.faults;
    }
}

/// Why a text was not cut.
#[derive(Debug)]
pub enum CutError {
    /// The text is not JSON, or not a transcript.
    Read(ReadError),
    /// A stage could not decide about a transcript.
    Stage {
        /// Byte offset of the transcript in the text.
        offset: usize,
        /// The name of its processor.
        processor: &'static str,
        /// Why.
        error: ProcessorError,
    },
}

impl From<ReadError> for CutError {
    fn from(error: ReadError) -> Self {
        Self::Read(error)
    }
}

impl From<CutError> for ReadError {
    /// The same error without its kind: the program prints a place and a message.
    fn from(error: CutError) -> Self {
        match error {
            CutError::Read(error) => error,
            CutError::Stage { offset, error, .. } => Self { offset, what: error.to_string() },
        }
    }
}

impl std::fmt::Display for CutError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Read(error) => error.fmt(f),
            Self::Stage { offset, processor, error } => write!(f, "byte {offset}: {processor}: {error}"),
        }
    }
}

impl std::error::Error for CutError {}

impl Cutter {
    /// Cuts every transcript of `text`, which is read as `reading` says, and appends the result to `out`.
    ///
    /// ```
    /// use curtail_core::dialects::{Framing, Reading};
    /// use curtail_core::pipeline::{Chain, Cutter};
    ///
    /// let cutter = Cutter { chain: Chain::default(), ..Cutter::default() };
    /// let (chat, mut out) = ("{\"role\": \"user\", \"content\": \"Hello\"}\n", String::new());
    /// let cut = cutter.cut(&Reading::new(Framing::Lines, None, None)?, chat, &mut out)?;
    /// assert!(!cut.changed && out == chat);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// The text is not JSON, not a transcript, or a processor failed. Nothing is appended then.
    pub fn cut(&self, reading: &Reading, text: &str, out: &mut String) -> Result<Cut, CutError> {
        let before = out.len();
        let cut = self.append(reading, text, out);
        if cut.is_err() {
            out.truncate(before);
        }
        cut
    }

    fn append(&self, reading: &Reading, text: &str, out: &mut String) -> Result<Cut, CutError> {
        let document = reading.parse(text)?;
        let mut cut = Cut::default();
        if let Some(torn) = document.torn() {
            let note = "the last line is incomplete; it is kept as it is and not counted";
            cut.notes.push((torn.offset, note.to_owned()));
        }
        let transcripts = reading.writable_transcripts(&document)?;
        let mut positions = Vec::with_capacity(transcripts.len());
        for (dialect, transcript) in &transcripts {
            positions.push(Position::begun(*dialect, transcript, self.calibrated(*dialect, transcript)?));
            if let Some(unread) = Unread::find(&transcript.messages, &transcript.layout.non_messages) {
                let note = format!("{unread}; `curtail show` prints how the file is read");
                cut.notes.push((transcript.layout.span.start as usize, note));
            }
        }
        cut.dialect = positions.first().map(|position| position.dialect.name());
        let begin = out.len();
        self.pass((reading, text), transcripts, (&mut positions, &mut cut), out)?;
        while positions.iter().any(|position| position.next < self.chain.stages.len()) {
            let written = out.split_off(begin);
            let document = reading.parse(&written)?;
            let dialects: Vec<_> = positions.iter().map(|position| position.dialect).collect();
            let transcripts = reading.transcripts_as(&document, &dialects)?;
            if transcripts.len() < positions.len() {
                out.push_str(&written);
                break;
            }
            self.pass((reading, &written), transcripts, (&mut positions, &mut cut), out)?;
        }
        for mut position in positions {
            position.report(&mut cut);
            cut.totals.add(position.totals);
        }
        Ok(cut)
    }

    /// Applies the next stages to each of `transcripts`, those of a text, and appends the text to `out`: all stages, or those
    /// before one that has to read what they wrote.
    fn pass(
        &self,
        (reading, text): (&Reading, &str),
        transcripts: Vec<(&'static dyn Dialect, Transcript<'_>)>,
        (positions, cut): (&mut [Position], &mut Cut),
        out: &mut String,
    ) -> Result<(), CutError> {
        let mut at = 0;
        let separators = self.chain.splitting.as_ref().map(|_| Separators::between(reading, text, &transcripts));
        for (nth, ((dialect, transcript), position)) in transcripts.into_iter().zip(positions).enumerate() {
            let calibrated = position.cutter.take();
            let cutter = calibrated.as_ref().unwrap_or(self);
            let Transcript { layout, messages } = transcript;
            let checks = |layout: &Layout<'_>| checks(dialect, layout);
            // Windows are rows for training: they are not sent to the model that wrote the thoughts.
            let dataset = reading.framing == Framing::Records || self.chain.splitting.is_some();
            let prefixes = ThoughtPrefixes::from_messages(&messages);
            let thoughts = prefixes.map(|prefixes| ThoughtStep { prefixes, checks: &checks, dataset });
            let thoughts = thoughts.as_ref();
            let first = position.next == 0;
            let run = cutter.run(&layout, messages, thoughts, position, &mut cut.stages)?;
            let aside = record(&layout).filter(|_| run.changed && first).and_then(|record| dialect.set_aside(record));
            position.note(aside);
            if let (Some(splitting), Some(separators)) = (&cutter.chain.splitting, &separators) {
                if !layout.answers.branches.is_empty() {
                    return Err(unsplit(&layout).into());
                }
                position.report(cut);
                let (layout, separator) = (&layout, separators.of_record(nth));
                let splitter = Splitter { cutter, splitting, dialect, layout, thoughts, separator };
                at = splitter.append(&run, at, (cut, &mut position.totals), out)?;
            } else if run.changed {
                out.push_str(&text[at..layout.span.start as usize]);
                let from = out.len();
                apply(&layout, dialect, &run.messages, out);
                at = write_both(&layout, out, from);
                cut.changed = true;
            }
            position.note(run.notes);
            if position.next == self.chain.stages.len() {
                position.report(cut);
            }
            position.cutter = calibrated;
        }
        out.push_str(&text[at..]);
        Ok(())
    }

    /// Applies the next stages to `messages`, those of one transcript.
    fn run<'a>(
        &self,
        layout: &Layout<'a>,
        messages: Vec<Message<'a>>,
        thoughts: Option<&ThoughtStep<'_>>,
        position: &mut Position,
        counts: &mut Vec<StageCount>,
    ) -> Result<Run<'a>, CutError> {
        let (dialect, offset, first) = (position.dialect, position.offset, position.next);
        position.reads(&messages);
        if let Some(counting) = self.counting.as_ref().filter(|_| first == 0) {
            position.totals.tokens_before = tokens(counting, layout, &messages);
            position.totals.tokens_after = position.totals.tokens_before;
            let pairs = Pairs::from_messages(&messages);
            position.totals.faults = Fault::find_all(&messages, &pairs, layout.pairing_rules).len();
        }
        let watch = |stage: &Stage, messages: &[Message<'a>], plan: &Plan| {
            if self.explain {
                position.explain(stage, messages, plan);
            }
        };
        let splits = self.chain.splitting.is_some();
        let mut stages = vec![StageCount::default(); first];
        let after_stage = |messages: &mut [Message<'a>]| {
            // A split follows, which reads nothing again.
            if splits {
                name_drafts(layout, dialect, messages);
            }
            if let Some(counting) = &self.counting {
                stages.push(StageCount { messages: messages.len(), tokens: tokens(counting, layout, messages) });
            }
        };
        let steps = Steps { first, pauses: !splits, thoughts };
        let run = self.chain.run_steps(layout, messages, &steps, watch, after_stage);
        let run = run.map_err(|(processor, error)| CutError::Stage { offset, processor, error })?;
        position.advance(&run, self.chain.stages.len());
        if let Some(last) = stages.get(first..).and_then(<[StageCount]>::last) {
            position.totals.tokens_after = last.tokens;
        }
        if self.counting.is_some() {
            StageCount::add(counts, &stages);
        }
        Ok(run)
    }
}

/// Why a row with answers has no windows.
fn unsplit(layout: &Layout<'_>) -> ReadError {
    let what = "this row has answers to train on, which belong to all that comes before them, so it is not split; \
                `curtail limit` makes it shorter";
    ReadError { offset: layout.record.start as usize, what: what.to_owned() }
}

/// The object that contains the messages.
fn record<'a>(layout: &Layout<'a>) -> Option<Value<'a>> {
    let element = layout.elements.first()?;
    std::iter::successors(element.parent(), |value| value.parent()).find(|parent| parent.is_object())
}

/// Whether the model of each message checks thoughts; `None` if no model is named.
fn checks(dialect: &dyn Dialect, layout: &Layout<'_>) -> Vec<Option<bool>> {
    let models = models(dialect, layout).into_iter();
    models.map(|model| model.map(|model| checks_prefix(&model.decode()))).collect()
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
const fn is_zero(count: &usize) -> bool {
    *count == 0
}

fn tokens<'a>(counting: &Counting, layout: &Layout<'a>, messages: &[Message<'a>]) -> usize {
    let view = View::new(messages, &layout.preamble, layout.pairing_rules);
    let sum = || counting.outside(&view) + messages.iter().map(|message| counting.message(message)).sum::<usize>();
    // What a template refuses counts as the sum of its messages; a budget that needs its count is an error.
    counting.total(&view).unwrap_or_else(|_| sum())
}
