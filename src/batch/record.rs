//! One text through the rooms: bytes in, transcripts read, cut and written.

use crate::dialects::{ALL, Dialect, Fit, Framing, Row, Sniffed, assemble, rows, sniff};
use crate::edit::{Explained, apply, explain};
use crate::json::{Document, Fault};
use crate::pipeline::Chain;
use crate::transcript::Transcript;

/// What is wrong with a text, and where in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trouble {
    /// Byte offset in the text.
    pub offset: usize,
    /// What is wrong and what would be right.
    pub what: String,
}

impl From<Fault> for Trouble {
    fn from(fault: Fault) -> Self {
        Self { offset: fault.offset, what: fault.what.to_owned() }
    }
}

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
    /// Reads `text` as JSON: one value for a document, one after another for lines and records.
    ///
    /// # Errors
    /// The first byte that is no JSON.
    pub fn document<'a>(&self, text: &'a str) -> Result<Document<'a>, Trouble> {
        let read = match self.framing {
            Framing::Document => Document::read(text),
            Framing::Lines => Document::read_log(text),
            Framing::Records => Document::read_all(text),
        };
        read.map_err(Trouble::from)
    }

    /// Reads the transcripts of `document`, each with its dialect.
    ///
    /// # Errors
    /// A record without a list of messages, or messages that no dialect, or more than one, claims.
    pub fn transcripts<'a>(
        &self,
        document: &'a Document<'a>,
    ) -> Result<Vec<(&'static dyn Dialect, Transcript<'a>)>, Trouble> {
        let rows = rows(document, self.framing, self.messages_key.as_deref())
            .map_err(|(value, what)| Trouble { offset: value.span().start as usize, what })?;
        let read = |row: &Row<'a>| {
            let dialect = self.dialect_of(row)?;
            match document.torn() {
                Some(fault) if !dialect.is_log() => Err(Trouble::from(fault.clone())),
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

    fn dialect_of(&self, row: &Row<'_>) -> Result<&'static dyn Dialect, Trouble> {
        let wrong = |what| {
            let offset = row.items.first().map_or(row.span.start, |item| item.span().start);
            Trouble { offset: offset as usize, what }
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
            (Sniffed::Unknown(what), _) => Err(wrong(what)),
        }
    }
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

/// Cuts texts with a chain of processors.
pub struct Cutter {
    /// What is done to every transcript.
    pub chain: Chain,
    /// Whether decisions are put into words.
    pub explain: bool,
}

/// What became of a text.
#[derive(Debug, Default)]
pub struct Cut {
    /// The text as it is now; nothing if it stays as it was.
    pub text: Option<String>,
    /// The decisions in words, with the level of the stage that made each.
    pub explained: Vec<(String, Explained)>,
    /// What the user should know.
    pub notes: Vec<String>,
}

impl Cutter {
    /// Cuts every transcript of `text`, which is read as `reading` says.
    ///
    /// # Errors
    /// What is no JSON, no transcript, or cannot be done, with its place.
    pub fn cut(&self, reading: &Reading, text: &str) -> Result<Cut, Trouble> {
        let document = reading.document(text)?;
        let mut cut = Cut::default();
        if document.torn().is_some() {
            cut.notes.push(String::from("the last line is torn; it stays as it is and counts for nothing"));
        }
        let mut out = String::new();
        let mut at = 0;
        for (dialect, mut transcript) in reading.transcripts(&document)? {
            let run = self.run(&mut transcript, &mut cut)?;
            if run.changed {
                out.push_str(&text[at..transcript.span.start as usize]);
                apply(&transcript, dialect, &run.messages, &mut out);
                at = transcript.span.end as usize;
            }
            cut.notes.extend(run.notes);
        }
        if at > 0 {
            out.push_str(&text[at..]);
            cut.text = Some(out);
        }
        Ok(cut)
    }

    fn run<'a>(&self, transcript: &mut Transcript<'a>, cut: &mut Cut) -> Result<crate::pipeline::Run<'a>, Trouble> {
        let start = transcript.span.start as usize;
        let run = self.chain.run(transcript, |stage, messages, plan| {
            if self.explain {
                let words = explain(messages, plan);
                cut.explained.extend(words.into_iter().map(|word| (stage.level.clone(), word)));
            }
        });
        run.map_err(|what| Trouble { offset: start, what })
    }
}
