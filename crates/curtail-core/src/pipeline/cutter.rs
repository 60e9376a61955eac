//! One text in, one text out: its transcripts are read, run through a chain and written back. It knows no file.

use super::chain::Steps;
use super::position::Position;
use super::splitting::{Separators, Splitter};
use super::{Chain, Run, Stage, ThoughtStep, Window};
use crate::counting::REFUSED;
use crate::dialects::{Dialect, Framing, ReadError, Reading, models};
use crate::edit::{Explained, apply, name_drafts};
use crate::json::{Document, Value};
use crate::processors::{Counting, Plan, ProcessorError, ThoughtPrefixes, View};
use crate::transcript::{Layout, Message, Transcript, Unread, checks_prefix};

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

    /// The text is read, its transcripts advance and are written; where a stage has to read what the stages before it wrote,
    /// the same happens to the text that was written.
    fn append(&self, reading: &Reading, text: &str, out: &mut String) -> Result<Cut, CutError> {
        let document = reading.parse(text)?;
        let transcripts = reading.transcripts(&document)?;
        let mut cut = Cut::of_text(&document, &transcripts);
        let begin = |(dialect, transcript): &Read<'_>| Session::begin(self, *dialect, transcript);
        let mut sessions = transcripts.iter().map(begin).collect::<Result<Vec<_>, _>>()?;
        let begin = out.len();
        Pass::over(self, (reading, text), &transcripts, (&mut cut, out)).apply(transcripts, &mut sessions)?;
        while sessions.iter().any(|session| !session.is_done()) {
            let written = out.split_off(begin);
            let document = reading.parse(&written)?;
            let dialects: Vec<_> = sessions.iter().map(|session| session.dialect).collect();
            let transcripts = reading.transcripts_as(&document, &dialects)?;
            if transcripts.len() < sessions.len() {
                out.push_str(&written);
                break;
            }
            Pass::over(self, (reading, &written), &transcripts, (&mut cut, out)).apply(transcripts, &mut sessions)?;
        }
        for mut session in sessions {
            session.position.report(&mut cut);
            cut.totals.add(session.position.totals);
        }
        Ok(cut)
    }
}

/// A transcript that was read, with its dialect.
type Read<'a> = (&'static dyn Dialect, Transcript<'a>);

/// One reading of a text, and what is made of it.
struct Pass<'p> {
    reading: &'p Reading,
    text: &'p str,
    /// What is written between the windows of each transcript, if transcripts are split.
    separators: Option<Separators>,
    /// Where the part of the text begins that is not written yet.
    at: usize,
    cut: &'p mut Cut,
    out: &'p mut String,
}

impl<'p> Pass<'p> {
    fn over(
        cutter: &Cutter,
        (reading, text): (&'p Reading, &'p str),
        transcripts: &[Read<'_>],
        (cut, out): (&'p mut Cut, &'p mut String),
    ) -> Self {
        let separators = cutter.chain.splitting.as_ref().map(|_| Separators::between(reading, text, transcripts));
        Self { reading, text, separators, at: 0, cut, out }
    }

    /// Every transcript advances by the stages that need no other reading, and is written.
    fn apply(mut self, transcripts: Vec<Read<'_>>, sessions: &mut [Session<'_>]) -> Result<(), CutError> {
        for (nth, ((_, transcript), session)) in transcripts.into_iter().zip(sessions).enumerate() {
            session.pass(nth, transcript, &mut self)?;
        }
        self.out.push_str(&self.text[self.at..]);
        Ok(())
    }
}

/// A transcript on its way through the chain.
struct Session<'c> {
    cutter: &'c Cutter,
    /// The cutter in place of the other, if the transcript is counted by its own figures.
    calibrated: Option<Cutter>,
    dialect: &'static dyn Dialect,
    position: Position,
}

impl<'c> Session<'c> {
    fn begin(
        cutter: &'c Cutter,
        dialect: &'static dyn Dialect,
        transcript: &Transcript<'_>,
    ) -> Result<Self, ReadError> {
        let calibrated = cutter.calibrated(dialect, transcript)?;
        Ok(Self { cutter, calibrated, dialect, position: Position::begun(transcript) })
    }

    /// Whether all stages were applied.
    const fn is_done(&self) -> bool {
        self.position.next >= self.cutter.chain.stages.len()
    }

    fn pass(&mut self, nth: usize, transcript: Transcript<'_>, pass: &mut Pass<'_>) -> Result<(), CutError> {
        let Transcript { layout, messages } = transcript;
        let dialect = self.dialect;
        let checks = |layout: &Layout<'_>| checks(dialect, layout);
        // Windows are rows for training: they are not sent to the model that wrote the thoughts.
        let dataset = pass.reading.framing == Framing::Records || self.cutter.chain.splitting.is_some();
        let prefixes = ThoughtPrefixes::from_messages(&messages);
        let thoughts = prefixes.map(|prefixes| ThoughtStep { prefixes, checks: &checks, dataset });
        let run = self.advance(&layout, messages, thoughts.as_ref(), &mut pass.cut.stages)?;
        self.write(&run, (nth, &layout), thoughts.as_ref(), pass)?;
        self.position.note(run.notes);
        if self.is_done() {
            self.position.report(pass.cut);
        }
        Ok(())
    }

    /// Applies the next stages to the messages of the transcript: all of them, or those before one that has to read what they
    /// wrote.
    fn advance<'a>(
        &mut self,
        layout: &Layout<'a>,
        messages: Vec<Message<'a>>,
        thoughts: Option<&ThoughtStep<'_>>,
        counts: &mut Vec<StageCount>,
    ) -> Result<Run<'a>, CutError> {
        let cutter = self.calibrated.as_ref().unwrap_or(self.cutter);
        let (dialect, position) = (self.dialect, &mut self.position);
        let (first, offset, splits) = (position.next, position.offset, cutter.chain.splitting.is_some());
        position.reads(&messages);
        let mut tokens = cutter.counting.as_ref().map(|counting| Tokens { counting, layout, refused: None });
        if let Some(tokens) = tokens.as_mut().filter(|_| first == 0) {
            position.count_before(tokens.of_messages(&messages), &messages, layout);
        }
        let watch = |stage: &Stage, messages: &[Message<'a>], plan: &Plan| {
            if cutter.explain {
                position.explain(stage, messages, plan);
            }
        };
        let mut stages = vec![StageCount::default(); first];
        let after_stage = |messages: &mut [Message<'a>]| {
            // A split follows, which reads nothing again.
            if splits {
                name_drafts(layout, dialect, messages);
            }
            if let Some(tokens) = &mut tokens {
                stages.push(StageCount { messages: messages.len(), tokens: tokens.of_messages(messages) });
            }
        };
        let steps = Steps { first, pauses: !splits, thoughts };
        let run = cutter.chain.run_steps(layout, messages, &steps, watch, after_stage);
        let run = run.map_err(|(processor, error)| CutError::Stage { offset, processor, error })?;
        position.advance(&run, cutter.chain.stages.len());
        if let Some(last) = stages.get(first..).and_then(<[StageCount]>::last) {
            position.totals.tokens_after = last.tokens;
        }
        position.note(tokens.as_mut().and_then(|tokens| tokens.refused.take()));
        if tokens.is_some() {
            StageCount::add(counts, &stages);
        }
        let aside = record(layout).filter(|_| run.changed && first == 0).and_then(|record| dialect.set_aside(record));
        position.note(aside);
        Ok(run)
    }

    /// Writes the text up to the end of the transcript, the transcript as `run` left it, or its windows.
    fn write<'a>(
        &mut self,
        run: &Run<'a>,
        (nth, layout): (usize, &Layout<'a>),
        thoughts: Option<&ThoughtStep<'_>>,
        pass: &mut Pass<'_>,
    ) -> Result<(), CutError> {
        let cutter = self.calibrated.as_ref().unwrap_or(self.cutter);
        let dialect = self.dialect;
        if let (Some(splitting), Some(separators)) = (&cutter.chain.splitting, &pass.separators) {
            self.position.report(pass.cut);
            let splitter =
                Splitter { cutter, splitting, dialect, layout, thoughts, separator: separators.of_record(nth) };
            pass.at = splitter.append(run, pass.at, (pass.cut, &mut self.position.totals), pass.out)?;
        } else if run.changed {
            pass.out.push_str(&pass.text[pass.at..layout.span.start as usize]);
            apply(layout, dialect, &run.messages, pass.out);
            pass.at = layout.span.end as usize;
            pass.cut.changed = true;
        }
        Ok(())
    }
}

/// Counts the messages of a transcript.
struct Tokens<'t, 'a> {
    counting: &'t Counting,
    layout: &'t Layout<'a>,
    /// What is to be said if a chat template refused them.
    refused: Option<String>,
}

impl<'a> Tokens<'_, 'a> {
    /// Tokens of `messages`. What a template refuses is counted without it, which a note says; a budget that needs its count is
    /// an error.
    fn of_messages(&mut self, messages: &[Message<'a>]) -> usize {
        let Self { counting, layout, refused } = self;
        let view = View::new(messages, &layout.preamble, layout.pairing_rules);
        counting.total(&view).unwrap_or_else(|error| {
            refused.get_or_insert_with(|| format!("{REFUSED}: {error}; its tokens are counted without the template"));
            counting.outside(&view) + messages.iter().map(|message| counting.message(message)).sum::<usize>()
        })
    }
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

impl Cut {
    /// Nothing is cut yet: what there is to say about the text, and about its transcripts as they were read.
    fn of_text(document: &Document<'_>, transcripts: &[Read<'_>]) -> Self {
        let mut cut = Self { dialect: transcripts.first().map(|(dialect, _)| dialect.name()), ..Self::default() };
        if let Some(torn) = document.torn() {
            let note = "the last line is incomplete; it is kept as it is and not counted";
            cut.notes.push((torn.offset, note.to_owned()));
        }
        for (_, transcript) in transcripts {
            if let Some(unread) = Unread::find(&transcript.messages, &transcript.layout.non_messages) {
                let note = format!("{unread}; `curtail show` prints how the file is read");
                cut.notes.push((transcript.layout.span.start as usize, note));
            }
        }
        cut
    }
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

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
const fn is_zero(count: &usize) -> bool {
    *count == 0
}
