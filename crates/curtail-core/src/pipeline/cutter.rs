//! One text in, one text out: its transcripts are read, run through a chain and written back. It knows no file.

use std::ops::Range;

use super::chain::Steps;
use super::splitting::{Separators, Splitter};
use super::{Chain, Run, Splitting, Stage, ThoughtStep, Window};
use crate::dialects::{Dialect, Framing, ReadError, Reading, models, write_both};
use crate::edit::{Explained, apply, explain, name_drafts};
use crate::json::{Document, Value, quote};
use crate::processors::{Counting, Plan, ProcessorError, ThoughtPrefixes, View};
use crate::transcript::{Fault, Layout, Message, Pairs, Transcript, Unread, checks_prefix};

/// Cuts texts with a chain of processors. The default changes nothing.
#[derive(Default)]
pub struct TextCutter {
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
    fn from_stage(stage: &Stage) -> Self {
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

/// Counts before and after. Tokens and faults are counted only with [`TextCutter::counting`].
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

impl TextCutter {
    /// Cuts every transcript of `text`, which is read as `reading` says, and appends the result to `out`.
    ///
    /// ```
    /// use curtail_core::dialects::{Framing, Reading};
    /// use curtail_core::pipeline::{Chain, TextCutter};
    ///
    /// let cutter = TextCutter { chain: Chain::default(), ..TextCutter::default() };
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
        self.pass(reading, text, transcripts, &mut positions, &mut cut, out)?;
        while positions.iter().any(|position| position.next < self.chain.stages.len()) {
            let written = out.split_off(begin);
            let document = reading.parse(&written)?;
            let dialects: Vec<_> = positions.iter().map(|position| position.dialect).collect();
            let transcripts = reading.transcripts_as(&document, &dialects)?;
            if transcripts.len() < positions.len() {
                out.push_str(&written);
                break;
            }
            self.pass(reading, &written, transcripts, &mut positions, &mut cut, out)?;
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
        reading: &Reading,
        text: &str,
        transcripts: Vec<(&'static dyn Dialect, Transcript<'_>)>,
        positions: &mut [Position],
        cut: &mut Cut,
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
                at = splitter.append(&run, at, cut, &mut position.totals, out)?;
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
    let what = "this row has answers to train on, which depend on all messages before them, so it is not split; \
                `curtail limit` shortens it";
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

// Where a transcript is in a chain that reads it several times.

/// The index of a message, and the offset of its value, as they were read first; `None` if a stage wrote it.
type ReadPlace = Option<(usize, usize)>;

/// Where a transcript is in a chain, and what is known of it so far.
struct Position {
    pub(super) dialect: &'static dyn Dialect,
    /// The cutter that is calibrated for it, if one is.
    pub(super) cutter: Option<TextCutter>,
    /// Index of the stage that comes next.
    pub(super) next: usize,
    /// Where it begins in the text that was read first.
    pub(super) offset: usize,
    pub(super) totals: Totals,
    /// The messages, once they are read again.
    sources: Option<Vec<ReadPlace>>,
    explained: Vec<(Decider, Explained)>,
    notes: Vec<String>,
}

impl Position {
    /// A transcript that was just read.
    pub(super) fn begun(
        dialect: &'static dyn Dialect,
        transcript: &Transcript<'_>,
        cutter: Option<TextCutter>,
    ) -> Self {
        let messages_before = transcript.messages.len();
        let totals = Totals { transcripts: 1, messages_before, ..Totals::default() };
        let offset = transcript.layout.span.start as usize;
        Self { dialect, cutter, next: 0, offset, totals, sources: None, explained: Vec::new(), notes: Vec::new() }
    }

    /// Notes that `messages` were read. If they are not those that were written, it is not known where they come from.
    pub(super) fn reads(&mut self, messages: &[Message<'_>]) {
        if let Some(sources) = self.sources.as_mut().filter(|sources| sources.len() != messages.len()) {
            *sources = vec![None; messages.len()];
        }
    }

    /// Explains what `stage` decided about `messages`.
    pub(super) fn explain(&mut self, stage: &Stage, messages: &[Message<'_>], plan: &Plan) {
        for mut decision in explain(messages, plan) {
            if let Some(sources) = &self.sources {
                let source = decision.message.and_then(|at| sources.get(at).copied().flatten());
                (decision.message, decision.offset) = source.unzip();
            }
            self.explained.push((Decider::from_stage(stage), decision));
        }
    }

    pub(super) fn note(&mut self, notes: impl IntoIterator<Item = String>) {
        self.notes.extend(notes);
    }

    /// Notes what the stages up to the next made, of `stages` in all.
    pub(super) fn advance(&mut self, run: &Run<'_>, stages: usize) {
        self.next = run.next;
        self.totals.changed |= usize::from(run.changed);
        self.totals.messages_after = run.messages.len();
        if self.next == stages {
            return;
        }
        let source = |message: &Message<'_>| {
            let at = message.source_index()?;
            let read = || message.value().map(|value| (at, value.span().start as usize));
            self.sources.as_ref().map_or_else(read, |sources| sources.get(at).copied().flatten())
        };
        self.sources = Some(run.messages.iter().map(source).collect());
    }

    /// Hands over what is to be said about the transcript.
    pub(super) fn report(&mut self, cut: &mut Cut) {
        cut.explained.append(&mut self.explained);
        cut.notes.extend(self.notes.drain(..).map(|note| (self.offset, note)));
    }
}

// What a split can write into a record beside its messages: the numbers of the targets, and a suffix of the id.

/// Where a record is edited.
#[derive(Debug, Default)]
pub(super) struct RecordEdits {
    /// Before the quote that ends the id, in bytes of the source.
    id_end: Option<usize>,
    /// After the last member: the text before the numbers of the targets, and their separator.
    mark: Option<(usize, String, &'static str)>,
}

impl RecordEdits {
    /// The edits that `splitting` requires in the record of `layout`.
    ///
    /// # Errors
    /// The transcript is in no record, the id is not a string, or the mark exists already.
    pub(super) fn from_layout(splitting: &Splitting, layout: &Layout<'_>) -> Result<Self, String> {
        let Splitting { mark, id_key, .. } = splitting;
        if mark.is_none() && id_key.is_none() {
            return Ok(Self::default());
        }
        let (start, end) = (layout.record.start as usize, layout.record.end as usize);
        if layout.record == layout.span {
            return Err(String::from("--mark and --id-key need records that are objects with a list of messages"));
        }
        let text = &layout.source[start..end];
        let document = Document::parse(text).map_err(|error| error.kind.to_string())?;
        let Some(record) = document.roots().next() else { return Ok(Self::default()) };
        let id_end = id_key.as_deref().map(|key| id_end(record, key)).transpose()?;
        let mark = mark.as_deref().map(|key| mark_place(record, text, key)).transpose()?;
        Ok(Self { id_end: id_end.map(|at| start + at), mark: mark.map(|(at, text, comma)| (start + at, text, comma)) })
    }

    /// Whether every record gets a mark.
    pub(super) const fn has_mark(&self) -> bool {
        self.mark.is_some()
    }

    /// Copies a range of `source` with the edits in it.
    pub(super) fn copy(&self, source: &str, range: Range<usize>, window: &Window, out: &mut String) {
        let id = self.id_end.filter(|_| window.count > 1).map(|at| (at, format!("#{}", window.number)));
        let mark = self.mark.as_ref().map(|(at, text, comma)| {
            let numbers: Vec<String> = window.targets.iter().map(ToString::to_string).collect();
            (*at, format!("{text}[{}]", numbers.join(comma)))
        });
        let mut edits: Vec<(usize, String)> = id.into_iter().chain(mark).collect();
        edits.retain(|(at, _)| range.contains(at));
        edits.sort_by_key(|(at, _)| *at);
        let mut from = range.start;
        for (at, text) in edits {
            out.push_str(&source[from..at]);
            out.push_str(&text);
            from = at;
        }
        out.push_str(&source[from..range.end]);
    }
}

fn id_end(record: Value<'_>, key: &str) -> Result<usize, String> {
    let id = key.split('.').try_fold(record, Value::get);
    let id = id.ok_or_else(|| format!("the record has no `{key}`; check --id-key"))?;
    if id.text().is_none() {
        return Err(format!("`{key}` is not a string, and only a string can get a suffix; check --id-key"));
    }
    Ok(id.span().end as usize - 1)
}

fn mark_place(record: Value<'_>, text: &str, key: &str) -> Result<(usize, String, &'static str), String> {
    if record.get(key).is_some() {
        return Err(format!("the record already has a member `{key}`; pass another --mark"));
    }
    let last = record.members().last().map_or(1, |member| member.value.span().end as usize);
    // The style of the record: with a space after colons and commas, or without.
    let spaced = record.members().any(|member| text[..member.value.span().start as usize].ends_with(' '));
    let (comma, colon) = if spaced { (", ", ": ") } else { (",", ":") };
    Ok((last, format!("{comma}{}{colon}", quote(key)), comma))
}
