//! How transcripts are laid out in a text: a message per line, a transcript per line, or one document. It is guessed from the
//! first lines.

use super::message_lists::{has_messages, held_records};
use crate::json::{Document, ParseErrorKind, Value};

/// How transcripts are laid out in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Framing {
    /// A message or event per line: the file is one transcript.
    Lines,
    /// A transcript per line.
    Records,
    /// The file is one JSON value: a transcript or a list of transcripts.
    Document,
}

impl Framing {
    /// Its name, as `--framing` takes it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Lines => "lines",
            Self::Records => "records",
            Self::Document => "document",
        }
    }
}

/// Detects the framing of a text from its first values. `head` is the text, or a beginning of it that ends with a line.
#[must_use]
pub fn detect_framing(head: &str, messages_key: Option<&str>) -> Framing {
    by_head(head, messages_key).unwrap_or(Framing::Lines)
}

/// Detects the framing of a stream that may never end from its first lines alone: `head` ends with a line, and the next
/// line is not awaited. A list of messages, which may be a document, is taken as the first of many records; both are read
/// in the same way.
#[must_use]
pub fn framing_of_first(head: &str, messages_key: Option<&str>) -> Framing {
    match by_head(head, messages_key) {
        Some(Framing::Document) => {
            let document = lines_of(head).next().and_then(record_in);
            let list = document.as_ref().and_then(|document| document.roots().next()).filter(|root| root.is_array());
            let alone = list.is_some_and(|list| held_records(list, messages_key).is_none());
            if alone { Framing::Records } else { Framing::Document }
        }
        // Only broken lines: each one is reported.
        None => Framing::Records,
        Some(framing) => framing,
    }
}

/// The framing of the first line that is a record; `None` if there is none.
fn by_head(head: &str, messages_key: Option<&str>) -> Option<Framing> {
    let mut lines = lines_of(head);
    let Some(first) = lines.next() else { return Some(Framing::Lines) };
    match record_in(first) {
        Some(document) => Some(by_value(&document, lines.next().is_some(), messages_key)),
        None if !begins_damaged(head) => Some(Framing::Document),
        None => lines.take(16).find_map(record_in).map(|document| by_value(&document, true, messages_key)),
    }
}

/// Whether the first line of `head` is torn or no record, and `head` is a log all the same: the lines after it show how it is
/// read.
#[must_use]
pub fn begins_damaged(head: &str) -> bool {
    let Some(first) = lines_of(head).next() else { return false };
    match Document::parse_all(first) {
        Ok(document) => !is_record(&document),
        Err(fault) => fault.kind != ParseErrorKind::UnfinishedValue || is_torn(head, first),
    }
}

fn lines_of(head: &str) -> impl Iterator<Item = &str> {
    head.trim_start_matches('\u{feff}').lines().filter(|line| !line.trim().is_empty())
}

fn record_in(line: &str) -> Option<Document<'_>> {
    Document::parse_all(line).ok().filter(is_record)
}

/// Whether a line is an object or a list.
fn is_record(line: &Document<'_>) -> bool {
    line.roots().next().is_some_and(|root| root.is_object() || root.is_array())
}

/// Whether the `first` line of `head`, whose last value is unfinished, was torn, and does not go on in the next one.
fn is_torn(head: &str, first: &str) -> bool {
    let has_whole_value = Document::parse_first(first).is_ok();
    has_whole_value || another_record_begins_like(head, first) || stops_at_value(head)
}

/// Whether a later line is a record and begins like the first one, up to its first colon.
fn another_record_begins_like(head: &str, first: &str) -> bool {
    let Some(colon) = first.find(':') else { return false };
    let mut alike = lines_of(head).skip(1).filter(|line| line.starts_with(&first[..=colon]));
    alike.any(|line| record_in(line).is_some())
}

/// Whether the first value of `head` cannot go on at the start of a line that has an object or a list of its own, perhaps behind
/// something without quotes.
fn stops_at_value(head: &str) -> bool {
    let head = head.trim_start_matches('\u{feff}').trim_start();
    let Err(fault) = Document::parse_first(head) else { return false };
    let begins_line = head[..fault.offset].trim_end_matches([' ', '\t']).ends_with('\n');
    let line = head[fault.offset..].lines().next().unwrap_or_default();
    let value = line.find(['{', '[', '"']).map(|at| &line[at..]).filter(|value| !value.starts_with('"'));
    begins_line && value.is_some_and(|value| Document::parse_first(value).is_ok())
}

/// The framing of a file whose first line is `document`; `more` says whether others follow.
fn by_value(document: &Document<'_>, more: bool, messages_key: Option<&str>) -> Framing {
    let mut roots = document.roots();
    match roots.next() {
        Some(event) if is_event(event) => Framing::Lines,
        Some(list) if list.is_array() && (more || roots.next().is_some()) => Framing::Records,
        Some(list) if list.is_array() => Framing::Document,
        Some(record) if has_messages(record, messages_key) => Framing::Records,
        Some(root) if !more && held_records(root, messages_key).is_some() => Framing::Document,
        _ => Framing::Lines,
    }
}

/// Whether a list is an event of a stream: its name and its content, and perhaps before them the path of its graph.
fn is_event(list: Value<'_>) -> bool {
    let mut steps = list.items().peekable();
    steps.next_if(|path| path.is_array());
    steps.next().is_some_and(|name| name.text().is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_torn_line_before_records_is_a_part_of_a_log() {
        let [question, answer] = [r#"{"role":"user","content":"a"}"#, r#"{"role":"assistant","content":"b"}"#];
        let torn = format!("{{\"role\":\"user\",\"content\":\n{question}\n{answer}\n");
        assert_eq!(detect_framing(&torn, None), Framing::Lines);
        let whole = format!("[\n  {question},\n  {answer}\n]\n");
        assert_eq!(detect_framing(&whole, None), Framing::Document);
    }
}
