//! Turns decisions into bytes: `open ++ (separator ++ message)* ++ close`. Kept messages are copied from the source byte for byte;
//! only the parts that a decision names are replaced.
//!
//! Every slot brings its own separator, except that the first element written in a row has none. For example, if the first
//! of three messages is dropped and a draft `D` is inserted before the third:
//!
//! ```text
//! slots     frame `[`   0 `A`   1 `, B`   2 `, C`   frame `]`
//! decision              drop    keep      keep, after D
//! output    [           .       B         , D , C   ]
//! ```
//!
//! `B` is written without its separator, because the row is still empty. `D` has no slot and borrows the separator that the
//! row uses elsewhere. A row that loses all elements keeps its frames: `[]`.

use super::drafting::Drafting;
use super::patches::copy_patched;
use crate::dialects::{Dialect, Patch, Remaining, Written};
use crate::figures::FigureEdits;
use crate::json::{Span, Value};
use crate::transcript::{Layout, Message, MessageSource, Origin, Slot, SlotKind, Style};

/// Writes `messages`, the result of editing the messages of a transcript with this `layout`, to `out`, as [`Editor::write`] does.
pub fn apply(
    layout: &Layout<'_>,
    dialect: &dyn Dialect,
    messages: &[Message<'_>],
    figures: &FigureEdits,
    out: &mut String,
) {
    Editor::new(layout, dialect).write(messages, figures, out);
}

/// Writes what edits made of a transcript: once, or once for each of many windows.
pub struct Editor<'e, 'a> {
    layout: &'e Layout<'a>,
    dialect: &'e dyn Dialect,
    /// The slot of each message.
    of_message: Vec<usize>,
    /// The slots without a message, in order.
    others: Vec<usize>,
}

impl<'e, 'a> Editor<'e, 'a> {
    /// For a transcript with this `layout`.
    #[must_use]
    pub fn new(layout: &'e Layout<'a>, dialect: &'e dyn Dialect) -> Self {
        let messages = layout.slots.iter().filter(|slot| matches!(slot.kind, SlotKind::Message(_)));
        let mut of_message = vec![0; messages.count()];
        let mut others = Vec::new();
        for (at, slot) in layout.slots.iter().enumerate() {
            match slot.kind {
                SlotKind::Message(index) => of_message[index] = at,
                _ => others.push(at),
            }
        }
        Self { layout, dialect, of_message, others }
    }

    /// Writes `messages` to `out`, with the `figures` that this makes wrong corrected. A transcript in a format that is only read is
    /// written as it is.
    ///
    /// Everything that is kept is copied from the source byte for byte; only patches replace bytes.
    pub fn write(&self, messages: &[Message<'_>], figures: &FigureEdits, out: &mut String) {
        let Self { layout, dialect, .. } = *self;
        let Some(drafting) = Drafting::new(layout, dialect, messages) else {
            out.push_str(layout.span.slice(layout.source));
            return;
        };
        let mut kept = vec![false; self.of_message.len()];
        let mut in_place = vec![false; self.of_message.len()];
        for message in messages {
            if let Some(index) = message.source_index() {
                kept[index] = true;
                in_place[index] = matches!(message.origin, Origin::Source(_));
            }
        }
        let mut patches: Vec<Patch> = messages.iter().flat_map(|message| drafting.patches(message)).collect();
        let mut left = Remaining { kept: &kept, written: drafting.written(messages) };
        patches.extend(drafting.writer.relink(layout, &mut left));
        let drafts = messages.iter().filter(|message| message.is_draft());
        for (message, written) in drafts.zip(&mut left.written).filter(|(_, written)| written.draft.links.is_some()) {
            written.text = drafting.write_message(message, &written.draft);
        }
        patches.extend_from_slice(&figures.patches);
        patches.sort_by_key(|patch| patch.span);
        let mut writer = Writer {
            editor: self,
            layout,
            patches: &patches,
            out,
            row: Row { style: Style::Lines, fresh: false, drafted: false },
            kept: &in_place,
            gone: &figures.gone,
            next: 0,
            last: None,
            written: left.written.into_iter(),
            rolled_back: false,
        };
        for message in messages {
            writer.message(message);
        }
        writer.advance(layout.slots.len());
    }
}

/// Sets the ids of the drafts among `messages` that have none, as they would be if `messages` were written now.
///
/// Without it, an id would depend on stages that come after the one that wrote the draft.
pub fn name_drafts(layout: &Layout<'_>, dialect: &dyn Dialect, messages: &mut [Message<'_>]) {
    if !messages.iter().any(|message| matches!(message.origin, Origin::Draft { id: None, .. })) {
        return;
    }
    let Some(drafting) = Drafting::new(layout, dialect, messages) else { return };
    let kept = layout.kept(messages);
    let mut left = Remaining { kept: &kept, written: drafting.written(messages) };
    drafting.writer.name_drafts(layout, &mut left);
    let drafts = messages.iter_mut().filter(|message| message.is_draft());
    for (message, written) in drafts.zip(left.written) {
        if let Origin::Draft { id, .. } = &mut message.origin {
            *id = written.id;
        }
    }
}

/// The message that a slot has, or is kept or dropped with.
const fn message_of(slot: &Slot) -> Option<usize> {
    match slot.kind {
        SlotKind::Message(index) | SlotKind::With(index) => Some(index),
        SlotKind::Frame { .. } | SlotKind::Pinned => None,
    }
}

/// Writes the slots of a transcript and its drafts, in order.
struct Writer<'w, 'a> {
    editor: &'w Editor<'w, 'a>,
    layout: &'w Layout<'a>,
    /// What is replaced in copies, in the order of the source.
    patches: &'w [Patch],
    out: &'w mut String,
    row: Row,
    /// For each message, whether it stays at its place.
    kept: &'w [bool],
    /// The slots of metadata that are left out although their messages are kept, in ascending order.
    gone: &'w [usize],
    /// The first slot that is neither written nor skipped yet.
    next: usize,
    /// The slot that was written last.
    last: Option<usize>,
    /// The drafts that are not written yet, in order.
    written: std::vec::IntoIter<Written>,
    /// Whether the last message is one that a later event rolls back.
    rolled_back: bool,
}

/// The row of elements that is being written.
struct Row {
    style: Style,
    /// Whether none of its elements is written yet.
    fresh: bool,
    /// Whether a message without a slot was written after the last element.
    drafted: bool,
}

impl Writer<'_, '_> {
    fn message(&mut self, message: &Message<'_>) {
        match message.origin {
            Origin::Source(MessageSource { index, .. }) => {
                self.advance(self.editor.of_message[index]);
                self.slot(self.next);
                let standing = message.standing;
                self.rolled_back = standing.is_rolled_back() || message.is_in_compaction() && !standing.is_read();
            }
            Origin::Moved(MessageSource { index, .. }) => {
                self.flush_before();
                self.separate();
                self.copy(self.layout.slots[self.editor.of_message[index]].span);
            }
            Origin::Draft { anchor, .. } => {
                self.reach(anchor.value);
                self.close(anchor.value);
                if message.standing.is_read() && std::mem::take(&mut self.rolled_back) {
                    self.flush_events();
                }
                self.flush_before();
                self.separate();
                self.out.push_str(&self.written.next().map_or_else(String::new, |written| written.text));
            }
        }
    }

    /// Writes or skips the slots before the slot `end`. Those of messages there are skipped without a look at them: what stays
    /// at its place is written in order.
    fn advance(&mut self, end: usize) {
        let others = &self.editor.others;
        let first = others.partition_point(|slot| *slot < self.next);
        for &slot in others[first..].iter().take_while(|slot| **slot < end) {
            self.slot(slot);
        }
        self.next = self.next.max(end);
    }

    /// Writes or skips the slots before the message at `anchor`.
    fn reach(&mut self, anchor: Option<Value<'_>>) {
        let slots = &self.layout.slots;
        let start = anchor.map_or(0, |anchor| anchor.span().start);
        let mut at = slots.partition_point(|slot| slot.span.start < start);
        if let Some(&Slot { kind: SlotKind::Message(index), .. }) = slots.get(at) {
            at -= slots[..at].iter().rev().take_while(|slot| slot.kind == SlotKind::With(index)).count();
        }
        self.advance(at);
    }

    /// Writes or skips the rest of the element `anchor`, if the writer is in a list inside it.
    fn close(&mut self, anchor: Option<Value<'_>>) {
        let Some(anchor) = anchor.map(Value::span) else { return };
        while let Some(slot) = self.layout.slots.get(self.next)
            && slot.span.start > anchor.start
            && slot.span.end <= anchor.end
        {
            self.slot(self.next);
        }
    }

    /// Writes the metadata of the messages before this place, so that a new message can follow.
    fn flush_before(&mut self) {
        let written = self.last.and_then(|last| self.layout.slots[..=last].iter().rev().find_map(message_of));
        while self.layout.slots.get(self.next).is_some_and(|slot| !self.follows_new(slot.kind, written)) {
            self.slot(self.next);
        }
    }

    /// Whether a slot of this kind comes after a new message, if `written` is the last message before that.
    fn follows_new(&self, kind: SlotKind, written: Option<usize>) -> bool {
        match kind {
            SlotKind::Message(_) => true,
            SlotKind::With(index) => written.is_none_or(|written| index > written),
            // The first frame opens the transcript. Any other opens or closes a list inside an element, which the new message is
            // not part of.
            SlotKind::Frame { .. } => self.next > 0,
            SlotKind::Pinned => false,
        }
    }

    /// Writes the events that roll back the messages before this place, also those after dropped messages: a new message before
    /// such an event would be rolled back. Metadata of the next message is not such an event.
    fn flush_events(&mut self) {
        let rest = self.layout.slots.get(self.next..).unwrap_or_default();
        let next = rest.iter().enumerate().find_map(|(nth, slot)| match slot.kind {
            SlotKind::Message(index) if self.kept[index] => Some((nth, index)),
            _ => None,
        });
        let (count, next) = next.unwrap_or((rest.len(), usize::MAX));
        let last = rest[..count].iter().rposition(|slot| match slot.kind {
            SlotKind::With(index) => self.kept[index] && index < next,
            kind => kind == SlotKind::Pinned,
        });
        let end = self.next + last.map_or(0, |last| last + 1);
        while self.next < end {
            self.slot(self.next);
        }
    }

    /// Writes or skips the slot `at`.
    fn slot(&mut self, at: usize) {
        self.next = at + 1;
        let slot = self.layout.slots[at];
        match slot.kind {
            SlotKind::Frame { style, fresh } => self.frame(at, slot, style, fresh),
            SlotKind::Pinned | SlotKind::With(_) if self.gone.binary_search(&at).is_ok() => {}
            SlotKind::Pinned => self.element(at, slot),
            SlotKind::Message(index) | SlotKind::With(index) if self.kept[index] => self.element(at, slot),
            SlotKind::Message(_) | SlotKind::With(_) => {}
        }
    }

    /// Writes a part of the text around the elements of a row. One that opens a list inside an element begins the element.
    fn frame(&mut self, at: usize, slot: Slot, style: Style, fresh: bool) {
        // A row of lines without elements is written without its empty line and without an incomplete one: a log with
        // nothing else could not be read again.
        let last = !fresh && self.next == self.layout.slots.len();
        let empty_lines = last && self.row.fresh && self.row.style == Style::Lines;
        if fresh && at > 0 {
            self.separator(at, slot);
        }
        if !empty_lines {
            self.copy(slot.span);
        }
        self.row = Row { style, fresh, ..self.row };
    }

    /// Writes a slot after its separator.
    fn element(&mut self, at: usize, slot: Slot) {
        self.separator(at, slot);
        self.copy(slot.span);
        self.last = Some(at);
    }

    /// Writes the separator before a slot. The first slot of a row has none. A separator that no longer separates, because the
    /// element between two values was dropped, is replaced.
    fn separator(&mut self, at: usize, slot: Slot) {
        let separator = slot.separator.slice(self.layout.source);
        // The first slot is a frame, so another is before this one.
        let before = at.saturating_sub(1);
        let follows = self.last == Some(before) || matches!(self.layout.slots[before].kind, SlotKind::Frame { .. });
        let drafted = std::mem::take(&mut self.row.drafted);
        let fits = match self.row.style {
            Style::Lines => follows && !drafted || separator.contains('\n'),
            Style::List => separator.contains(','),
        };
        if std::mem::take(&mut self.row.fresh) {
            // The first element of a row has no separator.
        } else if fits {
            self.out.push_str(separator);
        } else {
            self.out.push_str(self.own_separator());
        }
    }

    /// Begins a message without a slot.
    fn separate(&mut self) {
        self.row.drafted = true;
        if !std::mem::take(&mut self.row.fresh) {
            self.out.push_str(self.own_separator());
        }
    }

    /// Copies bytes of the source, with the patches inside them.
    fn copy(&mut self, span: Span) {
        copy_patched(self.layout.source, span.start as usize..span.end as usize, self.patches, self.out);
    }

    /// A separator in the style of this row.
    fn own_separator(&self) -> &'static str {
        let mark = if self.row.style == Style::Lines { '\n' } else { ',' };
        let mut separators = self.layout.slots.iter().map(|slot| slot.separator.slice(self.layout.source));
        match (self.row.style, separators.find(|separator| separator.contains(mark))) {
            (Style::Lines, Some(separator)) if separator.contains('\r') => "\r\n",
            (Style::Lines, _) => "\n",
            (Style::List, Some(separator)) if separator.starts_with(", ") => ", ",
            (Style::List, _) => ",",
        }
    }
}
