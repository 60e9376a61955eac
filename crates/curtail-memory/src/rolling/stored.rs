//! The lines of a log that a thread stores: messages, and the metadata beside them.

use std::borrow::Cow;
use std::collections::HashSet;

use serde::{Deserialize, Serialize};

use crate::rolling::RollingView;
use curtail_core::dialects::{Dialect, Item};
use curtail_core::json::{Document, Text, Value};
use curtail_core::processors::{Change, Decision, Plan, Reason};
use curtail_core::transcript::{Layout, Message, Part, SlotKind};

/// A line: a message as JSON, or metadata, and its time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct StoredLine {
    pub(super) json: String,
    pub(super) ts: String,
    /// The white space before it, if another line is before it.
    #[serde(default = "line_break", skip_serializing_if = "is_line_break")]
    pub(super) lead: String,
    /// Whether it was kept although a later message is no longer held: instructions, a boundary, or metadata that outlived
    /// its message, as the last state line of its kind does.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) outlived: bool,
    /// Whether it is metadata of the message after it. Once no message is left before it, it looks like a header.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) ahead: bool,
}

impl StoredLine {
    /// A line of `value`, byte for byte.
    pub(super) fn of_value(value: Value<'_>, lead: String, ts: String) -> Self {
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

/// What stands between two lines and behind the last one, unless the log has something else there.
pub(super) fn line_break() -> String {
    String::from("\n")
}

pub(super) fn is_line_break(space: &str) -> bool {
    space == "\n"
}

/// The white space before each of `values`, which follow each other in `text`, and behind the last one.
pub(super) fn spaces<'t>(text: &'t str, values: &[Value<'_>]) -> (Vec<&'t str>, &'t str) {
    let mut end = 0;
    let before = |value: &Value<'_>| {
        let start = std::mem::replace(&mut end, value.span().end as usize);
        &text[start..value.span().start as usize]
    };
    let leads = values.iter().map(before).collect();
    let rest = &text[end..];
    (leads, &rest[..rest.len() - rest.trim_start().len()])
}

/// What a line is in the transcript that was read from it and the lines around it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LineKind {
    /// The message with this index.
    Message(usize),
    /// Metadata that is kept or dropped with the message that has this index.
    With(usize),
    /// A header, or metadata that is always kept.
    Pinned,
    /// It contains this many messages and cannot be divided.
    Nested(usize),
}

/// The kind of each line, given as the values of the lines, or as the elements of their list.
pub(super) fn line_kinds(values: &[Value<'_>], layout: &Layout<'_>) -> Vec<LineKind> {
    let starts: Vec<u32> = values.iter().map(|value| value.span().start).collect();
    let mut kinds = vec![LineKind::Pinned; values.len()];
    for slot in &layout.slots {
        let at = starts.partition_point(|start| *start <= slot.span.start);
        let Some(at) = at.checked_sub(1).filter(|_| !matches!(slot.what, SlotKind::Frame { .. })) else { continue };
        kinds[at] = match (slot.what, kinds[at]) {
            (SlotKind::Message(_), LineKind::Nested(count)) => LineKind::Nested(count + 1),
            (_, LineKind::Nested(count)) => LineKind::Nested(count),
            (what, _) if slot.span != values[at].span() => {
                LineKind::Nested(usize::from(matches!(what, SlotKind::Message(_))))
            }
            (SlotKind::Message(index), _) => LineKind::Message(index),
            (SlotKind::With(index), _) => LineKind::With(index),
            _ => LineKind::Pinned,
        };
    }
    kinds
}

/// Notes which of `lines` belong to the message after them.
pub(super) fn note_ahead(lines: &mut [StoredLine], kinds: &[LineKind]) {
    let mut next = None;
    for (line, kind) in lines.iter_mut().zip(kinds).rev() {
        match *kind {
            LineKind::Message(index) => next = Some(index),
            LineKind::With(index) => line.ahead = next == Some(index),
            LineKind::Pinned | LineKind::Nested(_) => {}
        }
    }
}

/// Binds the lines that belong to the message after them to it, although no message is left before them.
pub(super) fn bind_ahead(lines: &[StoredLine], values: &[Value<'_>], layout: &mut Layout<'_>) {
    let ahead: HashSet<u32> =
        lines.iter().zip(values).filter(|(line, _)| line.ahead).map(|(_, value)| value.span().start).collect();
    let mut next = None;
    for slot in layout.slots.iter_mut().rev() {
        match slot.what {
            SlotKind::Message(index) => next = Some(index),
            SlotKind::Pinned if ahead.contains(&slot.span.start) => {
                slot.what = next.map_or(slot.what, SlotKind::With);
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

/// The number of the first interaction that the thread stores, and its first message: that of `held`, the first one in the
/// window, or an earlier one if turns that were rolled back begin there and reach into the window.
pub(super) fn window_start(rolling: &RollingView, held: usize, messages: &[Message<'_>]) -> (usize, usize) {
    let start = |number| rolling.interaction(number).map_or(0, |interaction| interaction.start);
    // For each message: the first one with which it or any after it is dropped.
    let mut firsts: Vec<usize> = messages.iter().map(|message| message.dropped_with.unwrap_or(usize::MAX)).collect();
    for at in (1..firsts.len()).rev() {
        firsts[at - 1] = firsts[at - 1].min(firsts[at]);
    }
    let reaches = |number: &usize| firsts.get(start(*number)).is_some_and(|first| *first < start(*number));
    let number = (rolling.first..=held).rev().find(|number| !reaches(number)).unwrap_or(held);
    (number, start(number))
}

/// What stays in the thread when its window begins with the message `start`: the window, and what remains in force.
pub(super) fn plan_from(start: usize, messages: &[Message<'_>]) -> Plan {
    let mut plan = Plan::keep(messages.len());
    for (at, message) in messages.iter().enumerate() {
        let rolled_back = message.dropped_with.is_some_and(|first| matches!(plan.decisions[first], Decision::Drop(_)));
        let stays = message.role.instructs() || message.boundary && message.standing.is_read();
        if at < start && (rolled_back || !stays) {
            plan.decisions[at] = outside_window(message);
        }
    }
    plan
}

/// Instructions beside other parts remain in force, as messages of instructions do.
fn outside_window(message: &Message<'_>) -> Decision {
    let reason = Reason::Borrowed("before the window");
    if !message.parts.iter().any(Part::instructs) {
        return Decision::Drop(reason);
    }
    let others = message.parts.iter().enumerate().filter(|(_, part)| !part.instructs());
    Decision::Change(others.map(|(nth, _)| Change::Cut(nth)).collect(), reason)
}

/// Removes metadata that outlived its message and that a later line replaces by now.
pub(super) fn drop_replaced(lines: &mut Vec<StoredLine>, values: &[Value<'_>], dialect: &dyn Dialect) {
    if lines.iter().any(|line| line.outlived) {
        let read = dialect.read_all(values);
        let mut stay = read.iter().map(|item| matches!(item, Item::Pinned | Item::Message(_)));
        lines.retain(|line| stay.next().unwrap_or(true) || !line.outlived);
    }
}
