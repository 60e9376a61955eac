//! How the texts of a file are read: their framing, and a dialect that is sniffed once and held to.

use super::ReadError;
use crate::dialects::{ALL, Dialect, Fit, Framing, Row, Sniffed, assemble, find, rows, sniff};
use crate::json::Document;
use crate::transcript::Transcript;

/// How the texts of a file are read.
#[derive(Clone)]
pub struct Reading {
    /// How transcripts lie in the file.
    pub framing: Framing,
    /// The dialect of the file, if the user or the file's first messages told it.
    pub dialect: Option<&'static dyn Dialect>,
    /// Whether the user named the dialect: then nothing that a message tells can contradict it.
    pub named: bool,
    /// Where records keep their messages, if not at a usual place.
    pub messages_key: Option<String>,
}

impl std::fmt::Debug for Reading {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}, {}", self.framing.name(), self.dialect.map_or("each its own dialect", Dialect::name))
    }
}

impl Reading {
    /// Reads `framing` in the dialect called `name`, or in whichever the messages tell.
    ///
    /// # Errors
    /// There is no such dialect: the words name those that there are.
    pub fn new(framing: Framing, name: Option<&str>, messages_key: Option<String>) -> Result<Self, String> {
        let dialect = name.map(|name| find(name).ok_or_else(|| unknown_dialect(name))).transpose()?;
        Ok(Self { framing, dialect, named: dialect.is_some(), messages_key })
    }

    /// Reads `text` as JSON: one value for a document, one after another for lines and records.
    ///
    /// # Errors
    /// The first byte that is no JSON.
    pub fn document<'a>(&self, text: &'a str) -> Result<Document<'a>, ReadError> {
        let read = match self.framing {
            Framing::Document => Document::read(text),
            Framing::Lines => Document::read_log(text),
            Framing::Records => Document::read_all(text),
        };
        read.map_err(ReadError::from)
    }

    /// Reads the transcripts of `document`, each with its dialect.
    ///
    /// # Errors
    /// A record without a list of messages, or messages that no dialect, or more than one, claims.
    pub fn transcripts<'a>(
        &self,
        document: &'a Document<'a>,
    ) -> Result<Vec<(&'static dyn Dialect, Transcript<'a>)>, ReadError> {
        let rows = rows(document, self.framing, self.messages_key.as_deref())
            .map_err(|(value, what)| ReadError { offset: value.span().start as usize, what })?;
        let read = |row: &Row<'a>| {
            let dialect = self.dialect_of(row)?;
            match document.torn() {
                Some(fault) if !dialect.is_log() => Err(ReadError::from(fault.clone())),
                _ => Ok((dialect, assemble(dialect, row))),
            }
        };
        rows.iter().map(read).collect()
    }

    /// The dialect that the first transcripts of `head` tell, if they do.
    pub(super) fn told(&self, head: &str) -> Option<&'static dyn Dialect> {
        let told = |text: &str| {
            let document = self.document(text).ok()?;
            let rows = rows(&document, self.framing, self.messages_key.as_deref()).ok()?;
            rows.iter().find_map(|row| match sniff(&row.items, row.record) {
                Sniffed::Told(dialect) => Some(dialect),
                _ => None,
            })
        };
        match self.framing {
            Framing::Records => head.lines().find_map(told),
            // The one transcript of the file tells when it is read.
            Framing::Lines | Framing::Document => None,
        }
    }

    fn dialect_of(&self, row: &Row<'_>) -> Result<&'static dyn Dialect, ReadError> {
        let wrong = |what| {
            let offset = row.items.first().map_or(row.span.start, |item| item.span().start);
            ReadError { offset: offset as usize, what }
        };
        match (self.dialect, self.named) {
            (Some(dialect), true) => return Ok(dialect),
            (Some(dialect), false) if is_spelt_as(dialect, row) => return Ok(dialect),
            _ => {}
        }
        match (sniff(&row.items, row.record), self.dialect) {
            (Sniffed::Told(now), Some(before)) if now.name() != before.name() => Err(wrong(format!(
                "the file began as `{}`, this transcript is spelt as `{}`; name one with --dialect",
                before.name(),
                now.name()
            ))),
            (Sniffed::Told(dialect), _) => Ok(dialect),
            (Sniffed::Plain(_) | Sniffed::Empty, Some(dialect)) | (Sniffed::Plain(dialect), None) => Ok(dialect),
            (Sniffed::Empty, None) => Ok(ALL[0]),
            (Sniffed::Unknown(offset, what), _) => Err(ReadError { offset: offset as usize, what }),
        }
    }
}

/// Words for a dialect that there is not.
fn unknown_dialect(name: &str) -> String {
    let names: Vec<&str> = ALL.iter().map(|dialect| dialect.name()).collect();
    let near = names.iter().map(|known| (strsim::jaro_winkler(known, name), known));
    let nearest = near.filter(|(similarity, _)| *similarity > 0.8).max_by(|a, b| a.0.total_cmp(&b.0));
    let hint = nearest.map_or_else(String::new, |(_, known)| format!(", did you mean `{known}`?"));
    format!("no dialect is called `{name}`{hint}; there are {}", names.join(", "))
}

/// Whether the items of `row` all fit `dialect`, and one fits no other: a twelfth of the work of asking all dialects.
fn is_spelt_as(dialect: &dyn Dialect, row: &Row<'_>) -> bool {
    let mut worst = Fit::Certain;
    let mut best = Fit::No;
    for &item in &row.items {
        let fit = dialect.fit(item);
        (worst, best) = (worst.min(fit), best.max(fit));
    }
    worst > Fit::No && best == Fit::Certain
}
