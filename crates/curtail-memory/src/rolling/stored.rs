//! The lines of a log that a thread stores: messages, and the metadata between them.

use std::borrow::Cow;
use std::collections::HashSet;

use serde::{Deserialize, Serialize};

use super::RollingView;
use curtail_core::dialects::{Dialect, Item};
use curtail_core::digest::fnv1a_64;
use curtail_core::json::{Document, Text, Value};
use curtail_core::processors::{Change, Decision, Plan, Reason};
use curtail_core::transcript::{Layout, Message, Pairs, Part, SlotKind};

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
    let space_before = |value: &Value<'_>| {
        let start = std::mem::replace(&mut end, value.span().end as usize);
        &text[start..value.span().start as usize]
    };
    let leads = values.iter().map(space_before).collect();
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
    /// It contains this many messages and cannot be divided.
    Nested(usize),
}

/// The kind of each line. `values` are the values of the lines, or the elements of a list of them.
pub(super) fn line_kinds(values: &[Value<'_>], layout: &Layout<'_>) -> Vec<LineKind> {
    let starts: Vec<u32> = values.iter().map(|value| value.span().start).collect();
    let mut kinds = vec![LineKind::Pinned; values.len()];
    for slot in &layout.slots {
        let at = starts.partition_point(|start| *start <= slot.span.start);
        let Some(at) = at.checked_sub(1).filter(|_| !matches!(slot.kind, SlotKind::Frame { .. })) else { continue };
        kinds[at] = match (slot.kind, kinds[at]) {
            (SlotKind::Message(_), LineKind::Nested(count)) => LineKind::Nested(count + 1),
            (_, LineKind::Nested(count)) => LineKind::Nested(count),
            (kind, _) if slot.span != values[at].span() => {
                LineKind::Nested(usize::from(matches!(kind, SlotKind::Message(_))))
            }
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
            LineKind::Pinned | LineKind::Nested(_) => {}
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

/// The number of the first interaction that the thread stores, and the index of its first message. The interaction is `held`,
/// the first one in the window, or an earlier one if turns that were rolled back begin there and reach into the window.
pub(super) fn window_start(rolling: &RollingView, held: usize, messages: &[Message<'_>]) -> (usize, usize) {
    let start = |number| rolling.interaction(number).map_or(0, |interaction| interaction.start);
    // For each message: the first message with which it, or any message after it, is dropped.
    let mut firsts: Vec<usize> =
        messages.iter().map(|message| message.dropped_with.map_or(usize::MAX, |first| first as usize)).collect();
    for at in (1..firsts.len()).rev() {
        firsts[at - 1] = firsts[at - 1].min(firsts[at]);
    }
    let is_split = |number: &usize| firsts.get(start(*number)).is_some_and(|first| *first < start(*number));
    let number = (rolling.first..=held).rev().find(|number| !is_split(number)).unwrap_or(held);
    (number, start(number))
}

/// The plan that drops the messages before `start`, where the window begins, except for those that remain in force.
pub(super) fn plan_from(start: usize, messages: &[Message<'_>]) -> Plan {
    let mut plan = Plan::keep(messages.len());
    let awaiting = Pairs::from_messages(messages).awaiting_messages(messages);
    for (at, message) in messages.iter().enumerate() {
        let rolled_back =
            message.dropped_with.is_some_and(|first| matches!(plan.decisions[first as usize], Decision::Drop(_)));
        let is_boundary = message.is_boundary() && message.standing.is_read();
        let stays = message.role.instructs() || is_boundary || awaiting.contains(&at);
        if at < start && (rolled_back || !stays) {
            plan.decisions[at] = outside_window(message);
        }
    }
    plan
}

/// Drops a message before the window. Instructions within it remain in force, as messages of instructions do.
fn outside_window(message: &Message<'_>) -> Decision {
    let reason = Reason::Borrowed("before the window");
    if !message.parts.iter().any(Part::instructs) {
        return Decision::Drop(reason);
    }
    let others = message.parts.iter().enumerate().filter(|(_, part)| !part.instructs());
    Decision::Change(others.map(|(nth, _)| Change::Cut(nth)).collect(), reason)
}

/// Removes metadata that outlived its message and has since been replaced by a later line.
pub(super) fn drop_replaced(lines: &mut Vec<StoredLine>, values: &[Value<'_>], dialect: &dyn Dialect) {
    if lines.iter().any(|line| line.outlived) {
        let read = dialect.read_all(values);
        let mut stay = read.iter().map(|item| matches!(item, Item::Pinned | Item::Message(_)));
        lines.retain(|line| stay.next().unwrap_or(true) || !line.outlived);
    }
}

// Which lines of an input are new to a thread, and whether the lines that the thread has are unchanged.

/// What a thread has, as far as an input is compared with it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Had<'t> {
    pub(super) lines: &'t [StoredLine],
    /// Number of messages appended so far, of all roles.
    pub(super) taken: usize,
    /// Number of lines of metadata after the last message.
    pub(super) trailing: usize,
    /// Number of messages that were appended before digests of messages were stored.
    pub(super) undigested: usize,
    /// How often the thread has started over.
    pub(super) epoch: u32,
}

/// The message of an input with this number, from 1, differs from the one that the thread has.
pub(super) struct ChangedMessage(pub(super) usize);

/// Separates the new lines of an input from the known ones, line by line.
///
/// A message is recognized by its number if the caller says with which number the input begins, otherwise by its id. Three
/// marks are stored for a message: `ID DIGEST`, because some formats give one id to several messages; `@ID`; and `#NUMBER
/// DIGEST`.
pub(super) struct Intake<'t> {
    /// Whether a mark is stored.
    known: &'t dyn Fn(&str) -> bool,
    /// The thread before the input.
    had: Had<'t>,
    /// The lines that the thread stores.
    stored: HashSet<&'t str>,
    /// The number of messages at the beginning of the input that the thread has.
    skip: usize,
    /// The number of messages of the input so far.
    seen: usize,
    /// Whether the last message was known; at first, whether the first message of the input is.
    after_known: bool,
    /// Whether the last message was also the last one of the thread.
    at_end: bool,
    /// The number of lines of metadata after the thread's last message that the input has not repeated yet.
    trailing: usize,
    /// Whether any message of the input is known by its id and content, so that the input repeats a part of the thread.
    repeats: bool,
    /// The ids of the known messages so far.
    known_ids: HashSet<String>,
    /// The marks of the new messages.
    pub(super) marks: Vec<String>,
    /// The number of messages of the thread, with the new ones.
    pub(super) taken: usize,
    /// The number of lines of metadata after the last message of the thread.
    pub(super) behind: usize,
}

impl<'t> Intake<'t> {
    /// An intake of `messages`, the first `skip` of which the thread has. `known` returns whether a mark is stored.
    pub(super) fn new(known: &'t dyn Fn(&str) -> bool, had: Had<'t>, skip: usize, messages: &[Message<'_>]) -> Self {
        let mut intake = Self {
            known,
            had,
            stored: had.lines.iter().map(|line| line.json.as_str()).collect(),
            skip,
            seen: 0,
            after_known: false,
            at_end: false,
            trailing: had.trailing,
            repeats: false,
            known_ids: HashSet::new(),
            marks: Vec::new(),
            taken: had.taken,
            behind: had.trailing,
        };
        let mut are_known = messages.iter().map(|message| intake.is_known_by_id(message));
        let first = are_known.next().unwrap_or(false);
        let repeats = first || are_known.any(|known| known);
        (intake.after_known, intake.repeats) = (first || skip > 0, repeats);
        intake
    }

    /// A mark of this epoch.
    fn mark(&self, mark: &str) -> String {
        // If the thread has started over, earlier marks are void.
        if self.had.epoch == 0 { mark.to_owned() } else { format!("{}~{mark}", self.had.epoch) }
    }

    fn has(&self, mark: &str) -> bool {
        (self.known)(&self.mark(mark))
    }

    fn is_known_by_id(&self, message: &Message<'_>) -> bool {
        let id = message.id.as_ref().map(|id| id.decode());
        id.zip(message.value()).is_some_and(|(id, value)| self.has(&format!("{id} {}", digest(value))))
    }

    /// Reads the next line and returns whether it is new.
    ///
    /// # Errors
    /// [`ChangedMessage`] if it is a message that the thread has with other content.
    pub(super) fn is_new(
        &mut self,
        value: Value<'_>,
        kind: LineKind,
        messages: &[Message<'_>],
    ) -> Result<bool, ChangedMessage> {
        match kind {
            LineKind::Message(index) => self.is_new_message(value, &messages[index]),
            LineKind::Nested(count) => {
                self.seen += count;
                Ok(self.seen > self.skip && !self.stored.contains(value.raw()))
            }
            // Metadata of known messages is stored, or was dropped with them. After the last message of the thread it may be
            // new.
            LineKind::With(_) | LineKind::Pinned if self.after_known => {
                let repeated = !self.at_end || self.trailing > 0;
                self.trailing -= usize::from(self.at_end && repeated);
                self.behind += usize::from(!repeated);
                Ok(!repeated)
            }
            LineKind::With(_) | LineKind::Pinned => {
                let repeated = self.had.taken == 0 && self.stored.contains(value.raw());
                self.behind += usize::from(!repeated);
                Ok(!repeated)
            }
        }
    }

    /// Whether the end of the input is also the end of the thread.
    pub(super) fn is_at_end(&self) -> bool {
        !self.after_known || self.at_end
    }

    /// Whether the last message is known and other messages follow it in the thread.
    fn is_inside(&self) -> bool {
        self.after_known && !self.at_end && self.had.undigested < self.had.taken
    }

    fn is_new_message(&mut self, value: Value<'_>, message: &Message<'_>) -> Result<bool, ChangedMessage> {
        self.seen += 1;
        let had = self.had.taken;
        let digest = digest(value);
        let id = message.id.as_ref().map(|id| id.decode().into_owned());
        if self.seen <= self.skip {
            let number = had - self.skip + self.seen;
            if number > self.had.undigested && !self.has(&format!("#{number} {digest}")) {
                return Err(ChangedMessage(self.seen));
            }
            (self.after_known, self.at_end) = (true, number == had);
            self.known_ids.extend(id);
            return Ok(false);
        }
        if let Some(id) = id {
            let mark = self.mark(&format!("{id} {digest}"));
            if (self.known)(&mark) || self.marks.contains(&mark) {
                (self.after_known, self.at_end) = (true, self.has(&format!("#{had} {digest}")));
                self.known_ids.insert(id);
                return Ok(false);
            }
            // Some logs write one reply as several messages with the same id. A new one follows the others at the end of the
            // thread.
            let continues_reply = self.known_ids.contains(&id) && !self.is_inside();
            if self.repeats && self.has(&format!("@{id}")) && !continues_reply {
                return Err(ChangedMessage(self.seen));
            }
            let id = self.mark(&format!("@{id}"));
            self.marks.extend([mark, id]);
        }
        self.taken += 1;
        (self.after_known, self.behind) = (false, 0);
        self.marks.push(self.mark(&format!("#{} {digest}", self.taken)));
        Ok(true)
    }
}

/// The digest of a value without the white space between its tokens.
fn digest(value: Value<'_>) -> String {
    format!("{:016x}", fnv1a_64(Text::Json(value.raw()).decode().bytes()))
}
