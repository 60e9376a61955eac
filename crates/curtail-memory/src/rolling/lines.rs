//! The lines of a log that a thread stores: messages, and the metadata between them.

use std::borrow::Cow;
use std::collections::HashSet;
use std::ops::Range;

use serde::{Deserialize, Serialize};

use curtail_core::json::{Document, Text, Value};
use curtail_core::transcript::{Layout, SlotKind};

/// A line: a message as JSON, or metadata, and its time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct StoredLine {
    pub(super) json: String,
    pub(super) ts: String,
    /// The white space between the line before and this one.
    #[serde(default = "line_break", skip_serializing_if = "is_line_break")]
    pub(super) lead: String,
    /// Whether it was kept although messages after it were dropped: instructions, a boundary, or metadata that outlives its
    /// message, as the last state line of its kind does.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) outlived: bool,
    /// Whether it is metadata of the message after it. Without this flag, it would be read as a header once no message is left
    /// before it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) ahead: bool,
}

impl StoredLine {
    /// A line of `value`, byte for byte.
    pub(super) fn from_value(value: Value<'_>, lead: String, ts: String) -> Self {
        Self { json: value.raw().to_owned(), ts, lead, outlived: false, ahead: false }
    }

    /// Its value without line breaks.
    pub(super) fn on_one_line(&self) -> Cow<'_, str> {
        match self.json.contains('\n') {
            true => Cow::Owned(Text::Json(&self.json).decode().into_owned()),
            false => Cow::Borrowed(&self.json),
        }
    }
}

/// The separator between lines and after the last one, unless the log has another one.
pub(super) fn line_break() -> String {
    String::from("\n")
}

pub(super) fn is_line_break(space: &str) -> bool {
    space == "\n"
}

/// The white space before each of `values`, which follow each other in `text`, and the white space after the last one.
pub(super) fn spaces<'t>(text: &'t str, values: &[Value<'_>]) -> (Vec<&'t str>, &'t str) {
    let mut end = 0;
    let mut leads = Vec::with_capacity(values.len());
    for value in values {
        leads.push(&text[end..value.span().start as usize]);
        end = value.span().end as usize;
    }
    let rest = &text[end..];
    (leads, &rest[..rest.len() - rest.trim_start().len()])
}

/// What a line is within the transcript that was read from it and the lines around it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LineKind {
    /// The message with this index.
    Message(usize),
    /// Metadata that is kept or dropped with the message with this index.
    With(usize),
    /// A header, or metadata that is always kept.
    Pinned,
    /// It contains `count` messages, the first of which has the index `first`, and cannot be divided.
    Nested { first: usize, count: usize },
}

impl LineKind {
    /// The indices of the messages in the line.
    pub(super) const fn messages(self) -> Range<usize> {
        match self {
            Self::Message(index) => index..index + 1,
            Self::Nested { first, count } => first..first + count,
            Self::With(_) | Self::Pinned => 0..0,
        }
    }

    /// A line that cannot be divided, with one more slot in it.
    const fn and(self, slot: SlotKind) -> Self {
        match (self.messages(), slot) {
            (messages, SlotKind::Message(_)) if messages.start < messages.end => {
                Self::Nested { first: messages.start, count: messages.end - messages.start + 1 }
            }
            (_, SlotKind::Message(index)) => Self::Nested { first: index, count: 1 },
            _ => self,
        }
    }
}

/// The kind of each line. `values` are the values of the lines, or the elements of a list of them.
pub(super) fn line_kinds(values: &[Value<'_>], layout: &Layout<'_>) -> Vec<LineKind> {
    let starts: Vec<u32> = values.iter().map(|value| value.span().start).collect();
    let mut kinds = vec![LineKind::Pinned; values.len()];
    for slot in &layout.slots {
        let at = starts.partition_point(|start| *start <= slot.span.start);
        let Some(at) = at.checked_sub(1).filter(|_| !matches!(slot.kind, SlotKind::Frame { .. })) else { continue };
        kinds[at] = match (slot.kind, kinds[at]) {
            (kind, nested @ LineKind::Nested { .. }) => nested.and(kind),
            (kind, _) if slot.span != values[at].span() => LineKind::Nested { first: 0, count: 0 }.and(kind),
            (SlotKind::Message(index), _) => LineKind::Message(index),
            (SlotKind::With(index), _) => LineKind::With(index),
            _ => LineKind::Pinned,
        };
    }
    kinds
}

/// Marks the lines that are metadata of the message after them.
pub(super) fn mark_ahead(lines: &mut [StoredLine], kinds: &[LineKind]) {
    let mut next = None;
    for (line, kind) in lines.iter_mut().zip(kinds).rev() {
        match *kind {
            LineKind::Message(index) => next = Some(index),
            LineKind::With(index) => line.ahead = next == Some(index),
            LineKind::Pinned | LineKind::Nested { .. } => {}
        }
    }
}

/// Binds marked lines to the message after them, even if no message is left before them.
pub(super) fn bind_ahead(lines: &[StoredLine], values: &[Value<'_>], layout: &mut Layout<'_>) {
    let ahead: HashSet<u32> =
        lines.iter().zip(values).filter(|(line, _)| line.ahead).map(|(_, value)| value.span().start).collect();
    let mut next = None;
    for slot in layout.slots.iter_mut().rev() {
        match slot.kind {
            SlotKind::Message(index) => next = Some(index),
            SlotKind::Pinned if ahead.contains(&slot.span.start) => {
                slot.kind = next.map_or(slot.kind, SlotKind::With);
            }
            _ => {}
        }
    }
}

/// Whether `document` is a list of lines.
pub(super) fn is_list(document: &Document<'_>) -> bool {
    let mut roots = document.roots();
    let list = roots.next().filter(|list| list.is_array() && list.items().all(Value::is_object));
    list.is_some() && roots.next().is_none()
}

/// The values of the lines in `document`: one after another, or in a list.
pub(super) fn line_values<'a>(document: &'a Document<'a>) -> Vec<Value<'a>> {
    let list = document.roots().next().filter(|_| is_list(document));
    list.map_or_else(|| document.roots().collect(), |list| list.items().collect())
}
