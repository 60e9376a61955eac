//! How the texts of a file are read: their framing, and a dialect that is detected once and then kept.

use super::assemble::assemble;
use super::detection::{Sniffed, best_reader, is_plain, is_written_as, sniff, unrecognized};
use super::framing::Framing;
use super::message_lists::names_messages;
use super::read_error::{ReadError, UnknownDialect, refuse_to_write};
use super::refusals::{nothing_read, refuse_hidden_calls, refuse_tiny_records};
use super::row::Row;
use super::rows::rows;
use super::{CODE, Dialect, known_dialect};
use crate::json::{Document, ParseErrorKind};
use crate::transcript::Transcript;

/// How the texts of a file are read.
///
/// ```
/// use curtail_core::dialects::{Dialect as _, Framing, Reading};
/// use curtail_core::transcript::Role;
///
/// let reading = Reading::new(Framing::Records, None, None)?;
/// let chat = r#"{"messages": [{"role": "user", "content": "Hello"}, {"role": "assistant", "content": "Hi"}]}"#;
/// let document = reading.parse(chat)?;
/// for (dialect, transcript) in reading.transcripts(&document)? {
///     assert_eq!(dialect.name(), "openai");
///     assert_eq!(transcript.messages.len(), 2);
///     assert_eq!(transcript.messages[0].role, Role::User);
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Reading {
    /// How transcripts are laid out in the file.
    pub framing: Framing,
    /// The dialect of the file, if the user named it or the first messages of the file decided it.
    pub dialect: Option<&'static dyn Dialect>,
    /// Whether the user named the dialect. All messages are then read in it.
    pub named: bool,
    /// The key under which records keep their messages, as keys joined by dots; `None` for the usual keys.
    pub messages_key: Option<String>,
}

impl std::fmt::Debug for Reading {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}, {}", self.framing.name(), self.dialect.map_or("dialect not detected yet", <dyn Dialect>::name))
    }
}

impl Reading {
    /// Reads `framing` in the dialect called `name`, or in the one that is detected from the messages.
    ///
    /// # Errors
    /// No dialect has that name.
    pub fn new(framing: Framing, name: Option<&str>, messages_key: Option<String>) -> Result<Self, UnknownDialect> {
        let dialect = name.map(known_dialect).transpose()?;
        Ok(Self { framing, dialect, named: dialect.is_some(), messages_key })
    }

    /// Reads `text` as JSON: one value for a document, one after another for lines and records.
    ///
    /// # Errors
    /// The first byte that is not JSON.
    pub fn parse<'a>(&self, text: &'a str) -> Result<Document<'a>, ReadError> {
        let read = match self.framing {
            Framing::Document => Document::parse(text),
            Framing::Lines => Document::parse_log(text),
            Framing::Records => Document::parse_all(text),
        };
        read.map_err(|error| match error.kind {
            ParseErrorKind::SecondValue => {
                let reason =
                    "a second value begins here, and a document is one value; `jq -c` writes each value on a line";
                ReadError { offset: error.offset, what: reason.to_owned() }
            }
            _ => error.into(),
        })
    }

    /// Reads the transcripts of `document`, each with its dialect.
    ///
    /// # Errors
    /// A record without a list of messages, messages that fit no dialect, or messages from more than one; items none of which
    /// is a message of the dialect.
    pub fn transcripts<'a>(
        &self,
        document: &'a Document<'a>,
    ) -> Result<Vec<(&'static dyn Dialect, Transcript<'a>)>, ReadError> {
        let transcripts = self.transcripts_or_none(document)?;
        let misread = transcripts.iter().find_map(|(dialect, transcript)| nothing_read(*dialect, transcript));
        misread.map_or(Ok(transcripts), Err)
    }

    /// Reads the transcripts of `document` for a command that writes them, each with its dialect.
    ///
    /// # Errors
    /// As [`transcripts`](Self::transcripts), and a transcript is in a dialect that is only read.
    pub fn writable_transcripts<'a>(
        &self,
        document: &'a Document<'a>,
    ) -> Result<Vec<(&'static dyn Dialect, Transcript<'a>)>, ReadError> {
        let transcripts = self.transcripts(document)?;
        for (dialect, transcript) in &transcripts {
            refuse_to_write(*dialect, transcript.layout.record.start as usize)?;
            refuse_hidden_calls(*dialect, &transcript.messages)?;
        }
        Ok(transcripts)
    }

    /// Reads the transcripts of `document`, each with its dialect, also those in which no item is a message.
    ///
    /// # Errors
    /// A record without a list of messages, messages that fit no dialect, or messages from more than one.
    pub fn transcripts_or_none<'a>(
        &self,
        document: &'a Document<'a>,
    ) -> Result<Vec<(&'static dyn Dialect, Transcript<'a>)>, ReadError> {
        if self.framing == Framing::Document {
            document.roots().next().map_or(Ok(()), refuse_tiny_records)?;
        }
        let rows = rows(document, self.framing, self.messages_key.as_deref())?;
        let transcripts = rows.iter().map(|row| {
            let dialect = self.dialect_of(row)?;
            dialect.refuse(&row.items)?;
            match document.incomplete_end() {
                Some(fault) if !dialect.is_log() => Err(ReadError::from(*fault)),
                _ => Ok((dialect, assemble(dialect, row))),
            }
        });
        transcripts.collect()
    }

    /// Reads the transcripts of `document` again, which were written in these `dialects`. If there are fewer now, the others
    /// are left out.
    ///
    /// # Errors
    /// A record without a list of messages.
    pub fn transcripts_as<'a>(
        &self,
        document: &'a Document<'a>,
        dialects: &[&'static dyn Dialect],
    ) -> Result<Vec<(&'static dyn Dialect, Transcript<'a>)>, ReadError> {
        let rows = rows(document, self.framing, self.messages_key.as_deref())?;
        Ok(rows.iter().zip(dialects).map(|(row, &dialect)| (dialect, assemble(dialect, row))).collect())
    }

    /// The dialect that the first transcripts of `head` decide, if any does.
    #[must_use]
    pub fn dialect_of_head(&self, head: &str) -> Option<&'static dyn Dialect> {
        match self.framing {
            Framing::Records => head.lines().find_map(|line| self.dialect_of_line(line)),
            // In a file with one transcript, the dialect is detected when the file is read.
            Framing::Lines | Framing::Document => None,
        }
    }

    fn dialect_of_line(&self, line: &str) -> Option<&'static dyn Dialect> {
        let document = self.parse(line).ok()?;
        let rows = rows(&document, self.framing, self.messages_key.as_deref()).ok()?;
        let mut telling = rows.iter().filter(|row| !is_plain(row));
        telling.find_map(|row| match sniff(&row.items, row.record) {
            Ok(Sniffed::Certain(dialect)) => Some(dialect),
            _ => None,
        })
    }

    /// Whether `text`, a file or its beginning, has anything of a transcript: a list of messages or a message. A text that is
    /// not JSON has if a key of one is in it.
    #[must_use]
    pub fn shows_messages(&self, text: &str) -> bool {
        match self.framing {
            Framing::Records => text.lines().any(|line| self.value_shows_messages(line)),
            Framing::Lines | Framing::Document => self.value_shows_messages(text),
        }
    }

    fn value_shows_messages(&self, text: &str) -> bool {
        let Ok(document) = self.parse(text) else { return names_messages(text) };
        let Ok(rows) = rows(&document, self.framing, self.messages_key.as_deref()) else { return false };
        rows.iter().any(|row| match sniff(&row.items, row.record) {
            Ok(Sniffed::Unrecognized(_)) => self.named && row.items.iter().any(|item| item.is_object()),
            _ => true,
        })
    }

    fn dialect_of(&self, row: &Row<'_>) -> Result<&'static dyn Dialect, ReadError> {
        match (self.dialect, self.named) {
            (Some(dialect), true) => return Ok(dialect),
            (dialect, _) if is_plain(row) => return Ok(dialect.unwrap_or_else(|| of_request(row))),
            (Some(dialect), false) if is_written_as(dialect, row) => return Ok(dialect),
            _ => {}
        }
        let items: Vec<_> = row.items.iter().chain(row.answers.branches.iter().flatten()).copied().collect();
        match (sniff(&items, row.record)?, self.dialect) {
            (Sniffed::Unrecognized(item), _) => Err(unrecognized(item)),
            (Sniffed::Certain(now), Some(before)) if now.name() != before.name() => Err(ReadError {
                offset: row.items.first().map_or(row.span.start, |item| item.span().start) as usize,
                what: format!(
                    "the file began as `{}`, this transcript is written as `{}`; pass --dialect NAME",
                    before.name(),
                    now.name()
                ),
            }),
            (Sniffed::Certain(dialect), _) => Ok(dialect),
            (Sniffed::Plain(_) | Sniffed::Empty, Some(dialect)) => Ok(dialect),
            (Sniffed::Plain(readers), None) => best_reader(&readers, row),
            (Sniffed::Empty, None) => Ok(CODE[0]),
        }
    }
}

/// The dialect of a chat of texts: the first one, unless the record around it is a request of another.
fn of_request(row: &Row<'_>) -> &'static dyn Dialect {
    let of_record = row.record.and_then(|record| CODE.iter().copied().find(|dialect| dialect.fits_request(record)));
    of_record.unwrap_or(CODE[0])
}
