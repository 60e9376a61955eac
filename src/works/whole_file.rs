//! A file that is read as a whole: as transcripts, or as a text such as a summary.

use std::path::Path;

use curtail_core::dialects::{Dialect, Framing, ReadError, Reading, Rebuilt, detect_framing};
use curtail_core::json::{Document, Value};
use curtail_core::places::{INVALID_UTF8, TextPlace};
use curtail_core::transcript::Transcript;
use curtail_io::batch::{Damage, InputOptions, Opened, Rescued, converted, readable_head};
use curtail_io::{Blocks, Buffer, ErrorKind, FileError, Limits, Packing, Source};

/// A file that was read as a whole.
#[derive(Debug)]
pub(crate) struct WholeFile {
    pub(crate) name: String,
    text: String,
    /// How its transcripts are read; `None` for a text.
    opened: Option<Opened>,
    /// What could not be read as it is written.
    pub(crate) losses: Vec<FileError>,
}

/// Endings of files whose content is JSON.
const JSON_ENDINGS: &[&str] = &["json", "jsonl", "ndjson"];

impl WholeFile {
    /// Reads a file that may be a text.
    pub(crate) fn read(source: &Source, options: &InputOptions) -> Result<Self, FileError> {
        let (text, loss) = decoded(&source.name, contents(source, options)?)?;
        let file = Self::of_text(source.name.clone(), source.path.as_deref(), text, options, Damage::Fail)?;
        Ok(Self { losses: loss.into_iter().collect(), ..file })
    }

    /// Reads a log that is only looked at: what can be read of a damaged one.
    pub(crate) fn read_around(source: &Source, options: &InputOptions) -> Result<Self, FileError> {
        let bytes = contents(source, options)?;
        let head = readable_head(&bytes);
        let framing = options.framing.unwrap_or_else(|| detect_framing(&head, options.messages_key.as_deref()));
        let rescued = (framing != Framing::Document).then(|| Rescued::in_place(&bytes)).flatten();
        let (text, mut losses) = match rescued.filter(|rescued| !rescued.is_empty()) {
            Some(Rescued { text, losses, .. }) => {
                let losses: Vec<FileError> = losses.iter().map(|loss| loss.error(&source.name)).collect();
                (utf8(&source.name, text)?, losses)
            }
            None => decoded(&source.name, bytes).map(|(text, loss)| (text, loss.into_iter().collect()))?,
        };
        let file = Self::of_text(source.name.clone(), source.path.as_deref(), text, options, Damage::ReadAround)?;
        losses.extend(file.losses);
        Ok(Self { losses, ..file })
    }

    /// A text in memory, called `name`.
    pub(crate) fn in_memory(name: &str, text: String, options: &InputOptions) -> Result<Self, FileError> {
        Self::of_text(name.to_owned(), None, text, options, Damage::Fail)
    }

    fn of_text(
        name: String,
        path: Option<&Path>,
        text: String,
        options: &InputOptions,
        damage: Damage,
    ) -> Result<Self, FileError> {
        if !is_json(path, &text) {
            return Ok(Self { name, text, opened: None, losses: Vec::new() });
        }
        let framing = options.framing.unwrap_or_else(|| detect_framing(&text, options.messages_key.as_deref()));
        let mut reading = options.reading(framing)?;
        reading.dialect = reading.dialect.or_else(|| reading.dialect_of_head(&text));
        let opened = Opened::in_memory(&name, reading);
        let rebuilt = match damage {
            Damage::Fail => {
                let rebuilt = opened.rebuild(&text).map_err(|error| located(&name, &text, &error))?;
                rebuilt.map(|(opened, text)| (opened, Rebuilt { text, faults: Vec::new() }))
            }
            Damage::ReadAround | Damage::LeaveOut => opened.rebuild_around(&text),
        };
        let Some((opened, rebuilt)) = rebuilt else {
            return Ok(Self { name, text, opened: Some(opened), losses: Vec::new() });
        };
        let losses = rebuilt.faults.iter().map(|fault| located(&name, &text, fault)).collect();
        Ok(Self { name, text: rebuilt.text, opened: Some(opened), losses })
    }

    /// Its text.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// How its transcripts are read; `None` for a text.
    pub(crate) fn reading(&self) -> Option<&Reading> {
        self.opened.as_ref().map(|opened| &opened.reading)
    }

    /// What it is, if it is an export that is looked at and not cut.
    pub(crate) fn export(&self) -> Option<&'static str> {
        self.opened.as_ref().and_then(|opened| opened.export)
    }

    /// How its transcripts are read.
    ///
    /// # Errors
    /// It is a text.
    pub(crate) fn transcript_reading(&self) -> Result<&Reading, FileError> {
        let what = "no transcript; BEFORE is JSON or JSON Lines, and only AFTER may be a text";
        self.reading().ok_or_else(|| FileError::new(ErrorKind::Content, &self.name, what))
    }

    /// The transcripts of `document`, which is the text as JSON.
    pub(crate) fn transcripts<'a>(
        &self,
        reading: &Reading,
        document: &'a Document<'a>,
    ) -> Result<Vec<(&'static dyn Dialect, Transcript<'a>)>, FileError> {
        reading.transcripts(document).map_err(|error| self.error(error))
    }

    /// The text as JSON.
    pub(crate) fn parse<'t>(&'t self, reading: &Reading) -> Result<Document<'t>, FileError> {
        reading.parse(&self.text).map_err(|error| self.error(error))
    }

    /// An error in its text, with its place in the file.
    pub(crate) fn error(&self, error: ReadError) -> FileError {
        match self.opened.as_ref().filter(|opened| opened.rebuilt) {
            Some(opened) => opened.error_in_made(error),
            None => located(&self.name, &self.text, &error),
        }
    }
}

/// The text of a file, whether it is compressed or UTF-16.
pub(crate) fn text_of(source: &Source, options: &InputOptions) -> Result<String, FileError> {
    decoded(&source.name, contents(source, options)?).map(|(text, _)| text)
}

/// All bytes of a file, decompressed.
fn contents(source: &Source, options: &InputOptions) -> Result<Vec<u8>, FileError> {
    let limits = Limits { max_record: options.max_record, ..Limits::default() };
    let mut buffer = Buffer::default();
    Blocks::open(source, &limits)?.rest(&mut buffer, &|_| None)?;
    Ok(buffer.to_vec())
}

/// The text of `bytes`, and what is said of it if it was UTF-16.
fn decoded(name: &str, bytes: Vec<u8>) -> Result<(String, Option<FileError>), FileError> {
    match converted(&bytes) {
        Some((text, loss)) => Ok((text, Some(loss.error(name)))),
        None => utf8(name, bytes).map(|text| (text, None)),
    }
}

/// The text of `bytes`, which are not UTF-16.
fn utf8(name: &str, bytes: Vec<u8>) -> Result<String, FileError> {
    String::from_utf8(bytes).map_err(|error| {
        let place = TextPlace::locate(error.as_bytes(), error.utf8_error().valid_up_to(), 1);
        FileError::new(ErrorKind::Content, name, format!("{INVALID_UTF8}; convert the file to UTF-8")).at(place)
    })
}

/// Whether a file contains transcripts: its name says so, or its first line is an item or a list of items.
fn is_json(path: Option<&Path>, text: &str) -> bool {
    let name = path.and_then(Packing::bare_name).map(Path::new);
    let ending = name.and_then(Path::extension).map(|ending| ending.to_string_lossy().to_lowercase());
    if ending.is_some_and(|ending| JSON_ENDINGS.contains(&ending.as_str())) {
        return true;
    }
    let text = text.trim_start_matches(['\u{feff}', ' ', '\n', '\r', '\t']);
    let first_line = text.lines().next().unwrap_or_default();
    text.starts_with(['{', '[']) && (is_items(Document::parse_all(first_line)) || is_items(Document::parse(text)))
}

/// Whether JSON is an item or several, such as messages, or lists of these. A list of numbers may be a reference in a text.
fn is_items<E>(document: Result<Document<'_>, E>) -> bool {
    document.is_ok_and(|document| document.roots().all(|root| is_item(root) && root.items().all(is_item)))
}

fn is_item(value: Value<'_>) -> bool {
    value.is_object() || value.is_array()
}

fn located(name: &str, text: &str, error: &ReadError) -> FileError {
    let place = TextPlace::locate(text.as_bytes(), error.offset, 1);
    FileError::new(ErrorKind::Content, name, error.what.clone()).at(place)
}
