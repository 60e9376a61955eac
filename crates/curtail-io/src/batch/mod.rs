//! Many inputs at once: all cores, output in the order of the input, bounded memory. It knows no command.
//!
//! A command plugs in with two things, and [`Batch::run`] does the rest:
//!
//! 1. a [`Work`]: a pure function of one [`Unit`] (the text of one record, or of a whole file that is one transcript or one
//!    document), called on any thread, that adds its result to its own `Out`;
//! 2. a fold: a closure that takes [`Event`]s one at a time, on any thread, strictly in the order of the input, whatever the
//!    number of jobs.
//!
//! ```
//! use curtail_io::batch::{Batch, Event, Flow, Unit, Work};
//! use curtail_core::dialects::ReadError;
//! use curtail_io::Source;
//!
//! struct Messages;
//!
//! impl Work for Messages {
//!     type Out = usize;
//!
//!     fn unit(&self, unit: &Unit<'_>, out: &mut usize) -> Result<(), ReadError> {
//!         let document = unit.parse()?;
//!         for (_, transcript) in unit.transcripts(&document)? {
//!             *out += transcript.messages.len();
//!         }
//!         Ok(())
//!     }
//! }
//!
//! let mut sum = 0;
//! let none: Vec<Source> = Vec::new();
//! Batch::default().run(none, &Messages, |event| {
//!     match event {
//!         Event::Done { out, .. } => sum += *out,
//!         Event::Failed(failure) => assert!(failure.record.is_some(), "curtail: {}", failure.error),
//!         _ => {}
//!     }
//!     Flow::Continue
//! });
//! assert_eq!(sum, 0);
//! ```
//!
//! A `records` file is cut into blocks of about half a megabyte at line ends; a small file is one block. Each block has an
//! `Out`, filled by all its units in order. A unit that fails is an [`Event::Failed`], after the `Done` of the units before
//! it in its block; [`OnError`] decides about the rest of its file. A command that reports broken units as findings
//! (invalid UTF-8 included) returns `Ok` from [`Work::unit`] and [`Work::garbled`] instead.

mod engine;
mod feed;
mod heads;
mod opening;
mod reader;
mod rescue;
mod worker;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

pub use heads::{readable_head, reason_of};
pub use opening::first_without_records;
pub use rescue::{Loss, Rescued, converted};

use crate::{BLOCK, ErrorKind, FileError, Limits, OpenTable, Packing, RowPlace, RowResult, Source, Stamp, Table};
use curtail_core::checks::REBUILT;
use curtail_core::dialects::{
    Dialect, Framing, ReadError, Reading, Rebuilt, rebuilt, rebuilt_around, refusal, unfolded,
};
use curtail_core::json::Document;
use curtail_core::places::{Locator, MadePart};
use curtail_core::transcript::Transcript;

/// How a batch is run.
#[derive(Debug, Clone, Default)]
pub struct Batch {
    /// Number of threads; 0 uses all cores.
    pub jobs: usize,
    /// Minimum number of records in progress, for work that waits for another program; `None` for work that computes.
    pub at_once: Option<usize>,
    /// How inputs are read, as far as the user specified it.
    pub input_options: InputOptions,
    /// How to handle a unit that fails.
    pub on_error: OnError,
    /// How to handle a log that is damaged.
    pub damage: Damage,
    /// Set from outside to end the batch after the tasks in progress.
    pub stop: Arc<AtomicBool>,
    /// Is told of the progress.
    pub progress: Option<Arc<dyn BatchProgress>>,
}

/// Is told how far a batch is, on any thread.
pub trait BatchProgress: std::fmt::Debug + Send + Sync {
    /// The file with this number was opened.
    fn begin(&self, number: usize, source: &Source);

    /// Bytes were read from the file, before decompression, and units were processed.
    fn advance(&self, number: usize, bytes: u64, units: usize);

    /// The file is finished.
    fn end(&self, number: usize);
}

/// How inputs are read. A field that is `None` is detected for each file.
#[derive(Debug, Clone, Default)]
pub struct InputOptions {
    /// How transcripts are laid out in a file.
    pub framing: Option<Framing>,
    /// The name of the dialect, for [`curtail_core::dialects::dialect_named`].
    pub dialect: Option<String>,
    /// The key under which records contain their messages; `None` for the usual keys.
    pub messages_key: Option<String>,
    /// Maximum bytes of a record, a log or a document after decompression; `None` for no limit.
    pub max_record: Option<usize>,
    /// Bytes to read at once, for results that are many times as large as their input; `None` for the usual size.
    pub block: Option<usize>,
    /// The column of a table that holds the transcripts; `None` to find it.
    pub column: Option<String>,
    /// Opens tables; `None` in a build that cannot.
    pub open_table: Option<OpenTable>,
}

impl InputOptions {
    fn limits(&self, stop: &Arc<AtomicBool>) -> Limits {
        Limits { block: self.block.unwrap_or(BLOCK), max_record: self.max_record, stop: Arc::clone(stop) }
    }

    /// How files of `framing` are read.
    ///
    /// # Errors
    /// No dialect has that name.
    pub fn reading(&self, framing: Framing) -> Result<Reading, FileError> {
        Reading::new(framing, self.dialect.as_deref(), self.messages_key.clone())
            .map_err(|error| FileError::new(ErrorKind::Usage, "", error.to_string()))
    }
}

/// How to handle a log of which some lines cannot be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Damage {
    /// It fails, as any other unit that cannot be read.
    #[default]
    Fail,
    /// What can be read is read, if the whole cannot. What cannot is reported.
    ReadAround,
    /// What can be read is all that there is: whatever is damaged is left out and reported.
    LeaveOut,
}

/// How to handle a unit that fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OnError {
    /// The rest of the file is not read.
    #[default]
    Fail,
    /// The record is dropped, and the rest of the file is read.
    Skip,
    /// The record is passed to [`Work::keep`], and the rest of the file is read.
    Keep,
    /// The reason is passed to [`Work::report`], and the rest of the file is read.
    Report,
}

/// An input that was opened, and how it is read.
#[derive(Debug, Clone)]
pub struct Opened {
    /// The input.
    pub source: Source,
    /// Its number among the inputs of the batch, from 0.
    pub number: usize,
    /// How it is compressed.
    pub packing: Packing,
    /// Its size, time and identity when it was opened, if it is a regular file.
    pub stamp: Option<Stamp>,
    /// How transcripts are laid out in it, and their dialect, if it is known.
    pub reading: Reading,
    /// The table whose rows are its transcripts, if it is one.
    pub table: Option<Arc<dyn Table>>,
    /// Whether its text was made from a log of patches or an export, so that places in it are not those of the file.
    pub rebuilt: bool,
    /// The records of its text, if it was made from an export.
    pub parts: Arc<[MadePart]>,
    /// Whether its text was converted from UTF-16.
    is_converted: bool,
    /// Why nothing can be read of it, if its encoding is not UTF-8.
    foreign_encoding: Option<&'static str>,
    /// What it is, if it is an export that is looked at and not cut.
    pub export: Option<&'static str>,
    /// Whether the rest of it is skipped.
    rest_skipped: Arc<AtomicBool>,
}

impl Opened {
    /// A text in memory, called `name`.
    #[must_use]
    pub fn in_memory(name: &str, reading: Reading) -> Self {
        Self::new(Source::in_memory(name), reading)
    }

    fn new(source: Source, reading: Reading) -> Self {
        Self {
            source,
            number: 0,
            packing: Packing::Plain,
            stamp: None,
            reading,
            table: None,
            rebuilt: false,
            parts: Arc::default(),
            is_converted: false,
            foreign_encoding: None,
            export: None,
            rest_skipped: Arc::default(),
        }
    }

    /// If `text`, all of the input, is a log of patches or an export that has to be unfolded: the document that comes of it,
    /// and how that is read.
    ///
    /// # Errors
    /// A patch does not fit the document before it, or a value of the export holds messages that cannot be read.
    pub fn rebuild(&self, text: &str) -> Result<Option<(Self, String)>, ReadError> {
        if let Some(export) = unfolded(text).filter(|_| !self.reading.named) {
            let read = (self.unfolded(export.format, export.parts), export.text);
            return export.faults.into_iter().next().map_or(Ok(Some(read)), Err);
        }
        let document = rebuilt(text).filter(|_| self.reading.framing == Framing::Lines).transpose()?;
        Ok(document.map(|document| (self.rebuilt(), document)))
    }

    /// As [`rebuild`](Self::rebuild), for a reader of what can be read.
    #[must_use]
    pub fn rebuild_around(&self, text: &str) -> Option<(Self, Rebuilt)> {
        if let Some(export) = unfolded(text).filter(|_| !self.reading.named) {
            let rebuilt = Rebuilt { text: export.text, faults: export.faults };
            return Some((self.unfolded(export.format, export.parts), rebuilt));
        }
        let document = rebuilt_around(text).filter(|_| self.reading.framing == Framing::Lines)?;
        Some((self.rebuilt(), document))
    }

    /// The same input, in the dialect of `text`. Records of a live input are read as they arrive, and the first ones may not
    /// show the dialect.
    fn sniffed(&self, text: &str) -> Self {
        let reading = Reading { dialect: self.reading.dialect_of_head(text), ..self.reading.clone() };
        Self { reading, ..self.clone() }
    }

    /// The same input, whose text is a document that was made from its patches.
    fn rebuilt(&self) -> Self {
        let reading = Reading { framing: Framing::Document, ..self.reading.clone() };
        Self { reading, rebuilt: true, ..self.clone() }
    }

    /// The same input, whose text is what an export of this format contains.
    fn unfolded(&self, format: &'static str, parts: Vec<MadePart>) -> Self {
        Self { export: Some(format), parts: parts.into(), ..self.rebuilt() }
    }

    /// Where something in its text is, in words, if the text was made from the file and stands nowhere in it.
    #[must_use]
    pub fn made(&self) -> Option<&'static str> {
        let made = if self.export.is_some() { "in what the export contains" } else { REBUILT };
        self.rebuilt.then_some(made)
    }

    /// An error in its text, which was made from the file. One at the beginning is about the file as a whole.
    #[must_use]
    pub fn error_in_made(&self, error: ReadError) -> FileError {
        let reason = match self.made().filter(|_| error.offset > 0) {
            Some(made) => format!("{} ({made})", error.what),
            None => error.what,
        };
        let place = MadePart::place_of(&self.parts, error.offset);
        FileError::new(ErrorKind::Content, &self.source.name, reason).at(place)
    }

    /// Whether the file is probably not a transcript: its name is doubtful, and its beginning, `text`, shows no message.
    fn is_unrelated(&self, text: &[u8]) -> bool {
        self.source.doubtful && !text.is_empty() && !self.reading.shows_messages(heads::valid_prefix(text))
    }

    fn skip_rest(&self) {
        self.rest_skipped.store(true, Ordering::Relaxed);
    }
}

/// The unit of work: a record, a row, or a whole file.
#[derive(Debug, Clone, Copy)]
pub struct Unit<'u> {
    /// The text, with its line break if it has one.
    pub text: &'u str,
    /// The number of its first line in the file, from 1; of a row, the number of the row.
    pub line: usize,
    /// The place of its first byte in the file, from 0.
    pub offset: usize,
    /// The file.
    pub opened: &'u Opened,
    /// Its place in a table, if it is a row.
    pub row: Option<RowPlace>,
    /// Whether it is damaged if several values are in it.
    pub is_one_value: bool,
}

impl<'u> Unit<'u> {
    /// Parses the text as JSON.
    ///
    /// # Errors
    /// The first byte that is not JSON, or that is in a second value where one is expected.
    pub fn parse(&self) -> Result<Document<'u>, ReadError> {
        self.parse_as(self.text)
    }

    /// The same for the text as the command changed it.
    ///
    /// # Errors
    /// As [`parse`](Self::parse).
    pub fn parse_as<'t>(&self, text: &'t str) -> Result<Document<'t>, ReadError> {
        let document = self.opened.reading.parse(text)?;
        let second = document.roots().nth(1).filter(|_| self.is_one_value).map(|value| value.span().start as usize);
        match second {
            Some(offset) => Err(ReadError { offset, what: String::from("a second value begins here") }),
            None => Ok(document),
        }
    }

    /// The transcripts of the document that [`Unit::parse`] returned, each with its dialect.
    ///
    /// # Errors
    /// A record without a list of messages, or messages of an unknown dialect or of more than one.
    pub fn transcripts<'a>(
        &self,
        document: &'a Document<'a>,
    ) -> Result<Vec<(&'static dyn Dialect, Transcript<'a>)>, ReadError> {
        self.opened.reading.transcripts(document)
    }

    /// The same for a command that writes them.
    ///
    /// # Errors
    /// As [`transcripts`](Self::transcripts), and a transcript is in a dialect that is only read.
    pub fn writable_transcripts<'a>(
        &self,
        document: &'a Document<'a>,
    ) -> Result<Vec<(&'static dyn Dialect, Transcript<'a>)>, ReadError> {
        self.refuse_export()?;
        self.opened.reading.writable_transcripts(document)
    }

    /// Refuses to write an export that is only looked at.
    ///
    /// # Errors
    /// It is one.
    pub fn refuse_export(&self) -> Result<(), ReadError> {
        match self.opened.export {
            Some(format) => Err(ReadError { offset: 0, what: refusal(format) }),
            None => Ok(()),
        }
    }

    /// Locates ascending offsets of the text in the file, in one pass. A row counts as one line, whatever its text contains; a
    /// record of an export is where it was read.
    #[must_use]
    pub fn locator(&self) -> Locator<'u> {
        match self.row {
            Some(_) => Locator::for_row(self.text.as_bytes(), self.line),
            None if self.opened.rebuilt => Locator::for_made(self.text.as_bytes(), &self.opened.parts),
            None => Locator::new(self.text.as_bytes(), self.line),
        }
    }
}

/// What a command does with every unit. Called on many threads at once, in no order.
pub trait Work: Sync {
    /// The result of a block; it begins as its default.
    type Out: Default + Send;

    /// Processes one unit. An error does not undo changes of `out`, so change it only when nothing can fail any more.
    ///
    /// # Errors
    /// What is wrong with the unit, with its place in the unit's text.
    fn unit(&self, unit: &Unit<'_>, out: &mut Self::Out) -> Result<(), ReadError>;

    /// Keeps a unit that failed unchanged, under [`OnError::Keep`].
    fn keep(&self, _record: &[u8], _out: &mut Self::Out) {}

    /// Writes the reason in place of a unit that failed, under [`OnError::Report`].
    fn report(&self, _error: &FileError, _out: &mut Self::Out) {}

    /// Handles a unit that is not UTF-8 from `read_error.offset` on; `unit` is the text before it.
    ///
    /// # Errors
    /// `read_error`, unless the command handles it.
    fn garbled(&self, _unit: &Unit<'_>, read_error: ReadError, _out: &mut Self::Out) -> Result<(), ReadError> {
        Err(read_error)
    }

    /// Notes that something of a damaged file is left out or converted: what the units are written to is no copy of it.
    fn lost(&self, _out: &mut Self::Out) {}

    /// Records the result of a row. The offset in [`RowResult::Text`] has no meaning yet: the command sets where the new text
    /// ends.
    fn row(&self, _place: RowPlace, _result: RowResult, _out: &mut Self::Out) {}

    /// Finishes a file whose whole result is in `out`, on the worker's thread, for example by compressing it.
    fn whole(&self, _opened: &Opened, _out: &mut Self::Out) {}

    /// Makes a folded `Out` ready for the next block; override it to reuse its buffers.
    fn reset(&self, out: &mut Self::Out) {
        *out = Self::Out::default();
    }
}

/// What happens in a batch, in the order of the input.
#[derive(Debug)]
pub enum Event<'e, Out> {
    /// A file was opened.
    Opened(&'e Arc<Opened>),
    /// A block of a file is done.
    Done {
        /// The file.
        opened: &'e Arc<Opened>,
        /// The result of the block.
        out: &'e mut Out,
        /// Whether the block is the whole file.
        whole: bool,
    },
    /// A unit failed, or a file could not be opened or read to its end.
    Failed(&'e Failure),
    /// A file that was found in a directory shows no messages and was passed over.
    PassedOver(&'e Arc<Opened>),
    /// The last event of a file.
    Closed {
        /// The file.
        opened: &'e Arc<Opened>,
        /// Whether it was read to its end.
        complete: bool,
    },
}

/// Something that failed.
#[derive(Debug)]
pub struct Failure {
    /// The error, with its place.
    pub error: FileError,
    /// The unit that failed, or the bytes that were left out, if any; `None` if the file itself could not be opened or read.
    pub record: Option<Vec<u8>>,
    /// Whether only this was lost of a damaged log, and the rest was read.
    pub is_loss: bool,
}

/// How the batch continues.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flow {
    /// The next event.
    Continue,
    /// The next file; the rest of this one is skipped.
    Leave,
    /// The batch ends.
    Stop,
}
