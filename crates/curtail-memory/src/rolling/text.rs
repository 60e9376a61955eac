//! The text of a thread, and the transcript in it.

use std::borrow::Cow;

use super::error::ThreadError;
use super::stored::{StoredLine, bind_ahead, is_list, line_values};
use super::thread::Thread;
use curtail_core::dialects::{self, Dialect, Framing, Reading};
use curtail_core::json::{Document, Span};
use curtail_core::transcript::{SlotKind, Transcript};

impl Thread {
    /// The lines of the log that are stored.
    pub(super) fn log(&self) -> String {
        self.joined("")
    }

    /// The stored lines, with what stood before the first one. It is the separator of that line, in case that another is
    /// written before it.
    pub(super) fn lines(&self) -> String {
        self.joined(self.lead())
    }

    fn joined(&self, lead: &str) -> String {
        let mut text = format!("{}{lead}", self.open);
        for (nth, line) in self.items.iter().enumerate() {
            text.push_str(if nth == 0 { "" } else { &line.lead });
            text.push_str(&line.json);
        }
        text + &self.close
    }

    /// What stood before the first line; nothing if the log began with it.
    fn lead(&self) -> &str {
        self.items.first().filter(|_| self.dropped > 0).map_or("", |line| &line.lead)
    }

    pub(super) fn list(&self) -> String {
        let items: Vec<Cow<'_, str>> = self.items.iter().map(StoredLine::on_one_line).collect();
        format!("[{}]\n", items.join(","))
    }

    pub(super) fn transcript<'a>(
        &self,
        document: &'a Document<'a>,
    ) -> Result<(&'static dyn Dialect, Transcript<'a>), ThreadError> {
        let dialect = self.dialect.as_deref().and_then(dialects::dialect_named);
        let framing = if is_list(document) { Framing::Document } else { Framing::Lines };
        let reading = Reading { framing, dialect, named: dialect.is_some(), messages_key: None };
        let read = reading.transcripts_or_none(document).map_err(|error| ThreadError::Stored(error.what))?;
        let first = read.into_iter().next();
        let (dialect, mut transcript) = first.ok_or(ThreadError::Empty)?;
        bind_ahead(&self.items, &line_values(document), &mut transcript.layout);
        if framing == Framing::Lines {
            self.separate_first(&mut transcript);
        }
        Ok((dialect, transcript))
    }

    /// Makes what stood before the first line its separator. It would be part of the frame, and written in any case.
    fn separate_first(&self, transcript: &mut Transcript<'_>) {
        let (open, lead) = (self.open.len(), self.lead().len());
        let (Ok(open), Ok(begin)) = (u32::try_from(open), u32::try_from(open + lead)) else { return };
        if let [frame, first, ..] = transcript.layout.slots.as_mut_slice()
            && matches!(frame.what, SlotKind::Frame { .. })
            && frame.span == Span::new(0, begin)
            && first.span.start == begin
        {
            frame.span = Span::new(0, open);
            first.separator = Span::new(open, begin);
        }
    }
}

pub(super) fn document(text: &str) -> Result<Document<'_>, ThreadError> {
    Document::parse_all(text).map_err(|fault| ThreadError::Stored(fault.to_string()))
}
