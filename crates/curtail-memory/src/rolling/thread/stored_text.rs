//! The text of a thread, and the transcript in it.

use std::borrow::Cow;

use super::{Thread, ThreadError};
use crate::rolling::lines::{LineKind, StoredLine, bind_ahead, is_list, line_kinds, line_values};
use curtail_core::dialects::{self, Dialect, Framing, Reading};
use curtail_core::json::{Document, Span, Value};
use curtail_core::transcript::{Layout, Message, SlotKind, Transcript};

/// The transcript that the stored lines are.
pub(super) struct StoredTranscript<'a> {
    pub(super) dialect: &'static dyn Dialect,
    pub(super) layout: Layout<'a>,
    pub(super) messages: Vec<Message<'a>>,
    /// The value of each line.
    pub(super) values: Vec<Value<'a>>,
    /// What each line is in the transcript.
    pub(super) kinds: Vec<LineKind>,
}

impl Thread {
    /// The lines of the log that are stored.
    pub(super) fn log(&self) -> String {
        self.joined("")
    }

    /// The stored lines, with the separator before the first one, in case another line is written before it.
    pub(super) fn lines(&self) -> String {
        self.joined(self.lead())
    }

    /// The stored lines, with `lead` before the first one.
    fn joined(&self, lead: &str) -> String {
        let mut text = format!("{}{lead}", self.open);
        for (nth, line) in self.items.iter().enumerate() {
            text.push_str(if nth == 0 { "" } else { &line.lead });
            text.push_str(&line.json);
        }
        text + &self.close
    }

    /// The separator before the first line; empty if the log began with that line.
    pub(super) fn lead(&self) -> &str {
        self.items.first().filter(|_| self.dropped > 0).map_or("", |line| &line.lead)
    }

    /// The stored lines as a JSON list.
    pub(super) fn list(&self) -> String {
        let items: Vec<Cow<'_, str>> = self.items.iter().map(StoredLine::on_one_line).collect();
        format!("[{}]\n", items.join(","))
    }

    /// Reads a document of the stored lines.
    pub(super) fn read<'a>(&self, document: &'a Document<'a>) -> Result<StoredTranscript<'a>, ThreadError> {
        let dialect = self.dialect.as_deref().and_then(dialects::dialect_named);
        let framing = if is_list(document) { Framing::Document } else { Framing::Lines };
        let reading = Reading { framing, dialect, named: dialect.is_some(), messages_key: None };
        let mut read = reading.transcripts_or_none(document).map_err(|error| ThreadError::Stored(error.what))?;
        if framing == Framing::Lines && read.iter().all(|(_, transcript)| transcript.messages.is_empty()) {
            // A line that contains its messages is a record.
            let record = Reading { framing: Framing::Records, ..reading };
            read = record.transcripts_or_none(document).unwrap_or(read);
        }
        if read.len() > 1 {
            return Err(ThreadError::SeveralTranscripts(read.len()));
        }
        let first = read.into_iter().next();
        let (dialect, Transcript { mut layout, messages }) = first.ok_or(ThreadError::Empty)?;
        let values = line_values(document);
        bind_ahead(&self.items, &values, &mut layout);
        if framing == Framing::Lines {
            self.separate_first(&mut layout);
        }
        let kinds = line_kinds(&values, &layout);
        Ok(StoredTranscript { dialect, layout, messages, values, kinds })
    }

    /// Makes the white space before the first line its separator. As a part of the frame, it would always be written.
    fn separate_first(&self, layout: &mut Layout<'_>) {
        let open = self.open.len();
        let lead = self.lead().len();
        let (Ok(open), Ok(begin)) = (u32::try_from(open), u32::try_from(open + lead)) else { return };
        if let [frame, first, ..] = layout.slots.as_mut_slice()
            && matches!(frame.kind, SlotKind::Frame { .. })
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
