//! One text through the rooms: bytes in, transcripts read, cut and written.

use crate::dialects::{ALL, Dialect, Framing, Row, Sniffed, assemble, find, rows, sniff};
use crate::edit::{Explained, apply, explain};
use crate::json::Document;
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

/// How texts are read.
#[derive(Debug, Clone)]
pub struct Reading {
    /// How transcripts lie in the text.
    pub framing: Framing,
    /// The dialect by name; sniffed if there is none.
    pub dialect: Option<String>,
    /// Where records keep their messages, if not at a usual place.
    pub messages_key: Option<String>,
}

impl Reading {
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
        rows.iter().map(|row| self.dialect_of(row).map(|dialect| (dialect, assemble(dialect, row)))).collect()
    }

    fn dialect_of(&self, row: &Row<'_>) -> Result<&'static dyn Dialect, Trouble> {
        if let Some(dialect) = self.dialect.as_deref().and_then(find) {
            return Ok(dialect);
        }
        match sniff(&row.items) {
            Sniffed::Told(dialect) | Sniffed::Plain(dialect) => Ok(dialect),
            Sniffed::Empty => Ok(ALL[0]),
            Sniffed::Unknown(what) => {
                let offset = row.items.first().map_or(row.span.start, |item| item.span().start);
                Err(Trouble { offset: offset as usize, what })
            }
        }
    }
}

/// Cuts texts with a chain of processors.
pub struct Cutter {
    /// How texts are read.
    pub reading: Reading,
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
    /// Cuts every transcript of `text`.
    ///
    /// # Errors
    /// What is no JSON, no transcript, or cannot be done, with its place.
    pub fn cut(&self, text: &str) -> Result<Cut, Trouble> {
        let read = match self.reading.framing {
            Framing::Document => Document::read(text),
            Framing::Lines => Document::read_log(text),
            Framing::Records => Document::read_all(text),
        };
        let document = read.map_err(|fault| Trouble { offset: fault.offset, what: fault.what.to_owned() })?;
        let mut cut = Cut::default();
        if document.torn().is_some() {
            cut.notes.push(String::from("the last line is torn; it stays as it is and counts for nothing"));
        }
        let mut out = String::new();
        let mut at = 0;
        for (dialect, mut transcript) in self.reading.transcripts(&document)? {
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
