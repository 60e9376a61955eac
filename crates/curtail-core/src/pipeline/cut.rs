//! What becomes of a text that is cut: what is written, counted, explained and noted of it, or why it was not cut.

use std::ops::Range;

use super::chain::Stage;
use crate::dialects::{Dialect, ReadError};
use crate::explain::Explained;
use crate::json::Document;
use crate::processors::ProcessorError;
use crate::transcript::{Transcript, Unread};

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
    /// Nothing is cut yet: the notes about the text, and about its transcripts as they were read.
    pub(super) fn begin(document: &Document<'_>, transcripts: &[ReadTranscript<'_>]) -> Self {
        let mut cut = Self { dialect: transcripts.first().map(|(dialect, _)| dialect.name()), ..Self::default() };
        if let Some(end) = document.incomplete_end() {
            let note = "the last line is incomplete; it is kept as it is and not counted";
            cut.notes.push((end.offset, note.to_owned()));
        }
        for (dialect, transcript) in transcripts {
            let place = transcript.layout.span.start as usize;
            cut.notes.extend(dialect.remark(&transcript.layout.elements).map(|remark| (place, remark)));
            if let Some(unread) = Unread::find(&transcript.messages, &transcript.layout.non_messages) {
                let note = format!("{unread}; `curtail show` prints how the file is read");
                cut.notes.push((place, note));
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
    /// What is explained is done after all stages.
    pub(super) fn of_figures(explained: Explained) -> (Self, Explained) {
        (Self { level: String::new(), processor: "usage" }, explained)
    }

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

/// Counts before and after. Tokens and faults are counted only with `TextCutter::counting`.
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
    /// Requests whose figures were corrected, because the cut made them wrong.
    #[serde(skip_serializing_if = "is_zero")]
    pub figures_reset: usize,
    /// Pairing faults after.
    pub faults_after: usize,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
const fn is_zero(count: &usize) -> bool {
    *count == 0
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
        self.figures_reset += other.figures_reset;
        self.faults_after += other.faults_after;
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

/// A window that was written.
#[derive(Debug, Clone)]
pub struct Window {
    /// Byte offset of the record, log or document in the text that was read.
    pub offset: usize,
    /// Its number among the windows of the transcript, from 1.
    pub number: usize,
    /// The number of windows of the transcript.
    pub count: usize,
    /// Messages repeated because of their kind, such as instructions, as ranges of the messages that were read.
    pub pinned: Vec<Range<usize>>,
    /// Messages repeated as context.
    pub context: Vec<Range<usize>>,
    /// Its own messages.
    pub own: Vec<Range<usize>>,
    /// The numbers of its targets among the messages that were written.
    pub targets: Vec<usize>,
    /// The number of messages that were written.
    pub messages: usize,
    /// Tokens, preamble included.
    pub tokens: usize,
    /// Where its first byte is in the text that was written, and the byte after its last.
    pub written: Range<usize>,
}

// What the cutter and the splitter write to.

/// A transcript that was read, with its dialect.
pub(super) type ReadTranscript<'a> = (&'static dyn Dialect, Transcript<'a>);

/// What is written of one reading of a text.
pub(super) struct Writing<'p> {
    pub(super) text: &'p str,
    /// Where the part of the text begins that is not written yet.
    pub(super) at: usize,
    /// The separators between windows, if transcripts are split.
    pub(super) separators: Option<&'p [Option<String>]>,
    pub(super) cut: &'p mut Cut,
    pub(super) out: &'p mut String,
}
