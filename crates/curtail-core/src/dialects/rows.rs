//! The rows of a text in a framing: where each transcript is, or why a record has none.

use super::foreign::format_of_item;
use super::framing::Framing;
use super::message_lists::{EMPTY_SPANS, LIST_KEYS, find_list, held_records, is_span, two_lists};
use super::read_error::ReadError;
use super::row::Row;
use super::{answers, described};
use crate::json::{Document, Span, Value};
use crate::transcript::{Answers, Style};

/// The transcripts of a text of this framing: one for `lines`, one for a record, one or many for a document.
///
/// # Errors
/// A record contains no list of messages.
pub fn rows<'a>(
    document: &'a Document<'a>,
    framing: Framing,
    messages_key: Option<&str>,
) -> Result<Vec<Row<'a>>, ReadError> {
    let mut roots = document.roots();
    let everything = Span::new(0, end_of(document));
    if framing == Framing::Lines {
        let row = Row {
            source: document.text(),
            span: everything,
            items: roots.collect(),
            style: Style::Lines,
            record: None,
            answers: Answers::default(),
        };
        return Ok(vec![row]);
    }
    let first = roots.next();
    let held = first.filter(|_| framing == Framing::Document).and_then(|root| held_records(root, messages_key));
    let records: Vec<Value<'a>> = match held {
        Some(records) => records,
        // An interrupted write may leave two records on a line.
        None => first.into_iter().chain(roots).collect(),
    };
    records.into_iter().map(|record| row(record, messages_key)).collect()
}

/// Offsets fit, because the text of a document is shorter than 4 GiB.
fn end_of(document: &Document<'_>) -> u32 {
    u32::try_from(document.text().len()).unwrap_or(u32::MAX)
}

/// The row of a record, which may be a list of messages itself.
fn row<'a>(record: Value<'a>, messages_key: Option<&str>) -> Result<Row<'a>, ReadError> {
    let unnamed = messages_key.is_none();
    if let Some(row) = answers::row(record).filter(|_| unnamed) {
        return Ok(row);
    }
    if record.is_array() {
        return Ok(Row::of_list(record, None));
    }
    if let Some(list) = find_list(record, messages_key) {
        return Ok(Row::of_list(list, Some(record)));
    }
    if let Some([prompt, completion]) = two_lists(record).filter(|_| unnamed) {
        let span = Span::new(prompt.span().start, completion.span().end);
        return Ok(Row { span, items: vec![prompt, completion], ..Row::of_list(prompt, Some(record)) });
    }
    // Questions without an answer, as TRL keeps them.
    let list = answers::prompt_alone(record).filter(|_| unnamed).ok_or_else(|| no_messages(record, messages_key))?;
    Ok(Row::of_list(list, Some(record)))
}

/// The error for a record without a list of messages.
fn no_messages(record: Value<'_>, messages_key: Option<&str>) -> ReadError {
    let reason = if let Some(key) = messages_key {
        format!("no list of messages under `{key}`; check --messages-key")
    } else if let Some(foreign) = format_of_item(record) {
        foreign.refusal()
    } else if is_span(record) {
        EMPTY_SPANS.to_owned()
    } else {
        let keys = LIST_KEYS.join(", ");
        match described::places_of_user().as_slice() {
            [] => format!("no list of messages in this object (looked under {keys}); pass --messages-key KEY"),
            places => format!(
                "no list of messages in this object: none at `{}`, where `list` of a description says, and none under {keys}",
                places.join("`, `")
            ),
        }
    };
    ReadError { offset: record.span().start as usize, what: reason }
}
