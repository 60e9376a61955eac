//! A file that is read as a whole, as transcripts or as a text, and to which a message may be added.

use std::path::{Path, PathBuf};

use curtail_core::dialects::{Dialect, Framing, ReadError, Reading, detect_framing, rebuilt, rebuilt_around};
use curtail_core::error::{INVALID_UTF8, TextPlace};
use curtail_core::json::Document;
use curtail_core::pipeline::{Chain, TextCutter};
use curtail_core::processors::{Plan, Prepend, Processor, ProcessorError, Reason, Traits, View, place_blocks};
use curtail_core::transcript::{DraftPart, Role, Transcript, front};
use curtail_io::batch::{InputOptions, Rescued, readable_head};
use curtail_io::{Blocks, Buffer, ErrorKind, FileError, Limits, Source};

/// A file that was read as a whole.
#[derive(Debug)]
pub(crate) struct WholeFile {
    pub(crate) name: String,
    text: String,
    /// How its transcripts are read; `None` for a text, such as a summary.
    reading: Option<Reading>,
    /// What could not be read of a damaged log.
    pub(crate) losses: Vec<FileError>,
}

/// Endings of files whose content is JSON.
const JSON_ENDINGS: &[&str] = &["json", "jsonl", "ndjson"];

impl WholeFile {
    /// Reads a file that may be a text.
    pub(crate) fn read(source: &Source, options: &InputOptions) -> Result<Self, FileError> {
        Self::of_bytes(source, contents(source, options)?, options)
    }

    /// Reads a log that is only looked at: what can be read of a damaged one.
    pub(crate) fn read_around(source: &Source, options: &InputOptions) -> Result<Self, FileError> {
        let bytes = contents(source, options)?;
        let head = readable_head(&bytes);
        let framing = options.framing.unwrap_or_else(|| detect_framing(&head, options.messages_key.as_deref()));
        let rescued = (framing != Framing::Document).then(|| Rescued::in_place(&bytes)).flatten();
        let Some(rescued) = rescued.filter(|rescued| !rescued.is_empty()) else {
            return Self::of_bytes(source, bytes, options);
        };
        let mut losses: Vec<FileError> = rescued.losses.iter().map(|loss| loss.error(&source.name)).collect();
        let text = String::from_utf8(rescued.text).unwrap_or_default();
        let text = match rebuilt_around(&text) {
            Some(chat) => {
                losses.extend(chat.faults.iter().map(|fault| located(&source.name, &text, fault)));
                chat.text
            }
            None => text,
        };
        Ok(Self { losses, ..Self::of_text(source.name.clone(), source.path.as_deref(), text, options)? })
    }

    fn of_bytes(source: &Source, bytes: Vec<u8>, options: &InputOptions) -> Result<Self, FileError> {
        let text =
            String::from_utf8(bytes).map_err(|_| FileError::new(ErrorKind::Content, &source.name, INVALID_UTF8))?;
        Self::of_text(source.name.clone(), source.path.as_deref(), text, options)
    }

    /// A text in memory, called `name`.
    pub(crate) fn in_memory(name: &str, text: String, options: &InputOptions) -> Result<Self, FileError> {
        Self::of_text(name.to_owned(), None, text, options)
    }

    fn of_text(name: String, path: Option<&Path>, text: String, options: &InputOptions) -> Result<Self, FileError> {
        if !is_json(path, &text) {
            return Ok(Self { name, text, reading: None, losses: Vec::new() });
        }
        let text = match rebuilt(&text) {
            Some(rebuilt) => rebuilt.map_err(|error| located(&name, &text, &error))?,
            None => text,
        };
        let framing = options.framing.unwrap_or_else(|| detect_framing(&text, options.messages_key.as_deref()));
        let mut reading = options.reading(framing)?;
        reading.dialect = reading.dialect.or_else(|| reading.dialect_of_head(&text));
        Ok(Self { name, text, reading: Some(reading), losses: Vec::new() })
    }

    /// Its text.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// How the file is read, if it is no text.
    pub(crate) const fn transcript_reading(&self) -> Option<&Reading> {
        self.reading.as_ref()
    }

    /// Whether it is a text, and no transcript.
    pub(crate) const fn is_text(&self) -> bool {
        self.reading.is_none()
    }

    /// The transcripts of `document`, which is the text as JSON.
    pub(crate) fn transcripts<'a>(
        &self,
        reading: &Reading,
        document: &'a Document<'a>,
    ) -> Result<Vec<(&'static dyn Dialect, Transcript<'a>)>, FileError> {
        reading.transcripts(document).map_err(|error| located(&self.name, &self.text, &error))
    }

    /// The text as JSON.
    pub(crate) fn parse<'t>(&'t self, reading: &Reading) -> Result<Document<'t>, FileError> {
        reading.parse(&self.text).map_err(|error| located(&self.name, &self.text, &error))
    }

    /// How the file is read as transcripts, which a text is not.
    pub(crate) fn reading(&self) -> Result<&Reading, FileError> {
        let what = "no transcript; BEFORE is JSON or JSON Lines, and only AFTER may be a text";
        self.reading.as_ref().ok_or_else(|| FileError::new(ErrorKind::Content, &self.name, what))
    }
}

/// All bytes of a file.
fn contents(source: &Source, options: &InputOptions) -> Result<Vec<u8>, FileError> {
    let limits = Limits { max_record: options.max_record, ..Limits::default() };
    let mut buffer = Buffer::default();
    Blocks::open(source, &limits)?.rest(&mut buffer, &|_| None)?;
    Ok(buffer.to_vec())
}

/// Adds a message with a text behind the instructions and the last compaction, where a model reads it first.
#[derive(Clone)]
struct GivenBack(String);

impl Processor for GivenBack {
    fn name(&self) -> &'static str {
        "give-back"
    }

    fn traits(&self) -> Traits {
        Traits { writes: true, ..Traits::default() }
    }

    fn decide(&self, view: &View<'_, '_>) -> Result<Plan, ProcessorError> {
        let mut plan = Plan::keep(view.messages.len());
        if !self.0.is_empty() && !view.messages.is_empty() {
            let part = Prepend::Draft(DraftPart::Text(self.0.clone()));
            place_blocks(
                &mut plan,
                view,
                front(view.messages),
                Role::User,
                vec![part],
                Reason::Borrowed("what was lost"),
            );
        }
        Ok(plan)
    }
}

impl WholeFile {
    /// The file, with a message that says `text`.
    pub(crate) fn with_message(&self, text: &str) -> Result<String, FileError> {
        let Some(reading) = &self.reading else {
            let what = "a text has no messages; pass --as text, or name a transcript as AFTER";
            return Err(FileError::new(ErrorKind::Usage, &self.name, what));
        };
        let cutter = TextCutter { chain: Chain::default().then(GivenBack(text.to_owned())), ..TextCutter::default() };
        let mut out = String::new();
        cutter
            .cut(reading, &self.text, &mut out)
            .map_err(|error| FileError::new(ErrorKind::Content, &self.name, error.to_string()))?;
        Ok(out)
    }
}

/// Whether a file contains JSON: its name says so, or its first line is a value.
fn is_json(path: Option<&Path>, text: &str) -> bool {
    let ending = path.and_then(Path::extension).map(|ending| ending.to_string_lossy().to_lowercase());
    let begins = text.trim_start_matches(['\u{feff}', ' ', '\n', '\r', '\t']);
    let is_value =
        || Document::parse_all(begins.lines().next().unwrap_or_default()).is_ok() || Document::parse(begins).is_ok();
    ending.is_some_and(|ending| JSON_ENDINGS.contains(&ending.as_str()) || ending == "gz" || ending == "zst")
        || begins.starts_with(['{', '[']) && is_value()
}

pub(crate) fn located(name: &str, text: &str, error: &ReadError) -> FileError {
    let place = TextPlace::locate(text.as_bytes(), error.offset, 1);
    FileError::new(ErrorKind::Content, name, error.what.clone()).at(place)
}

/// The file below `folder` that belongs to a file of the other folder: with the same name, or that of a text.
pub(crate) fn counterpart(folder: &Path, relative: &Path) -> Option<PathBuf> {
    let same = folder.join(relative);
    let others = ["jsonl", "json", "md", "txt"].iter().map(|ending| same.with_extension(ending));
    std::iter::once(same.clone()).chain(others).find(|path| path.is_file())
}
