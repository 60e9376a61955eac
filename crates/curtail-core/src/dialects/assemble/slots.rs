//! The slots of a transcript: every byte of it ends up in one, or in the separator before one.

use crate::json::{Span, Value};
use crate::transcript::{Slot, SlotKind, Style};

/// The slots of a transcript up to an item of it.
#[derive(Default)]
pub(super) struct Slots<'a> {
    pub(super) slots: Vec<Slot>,
    /// The values of all slots except frames.
    pub(super) elements: Vec<Value<'a>>,
    /// How many of them are messages.
    pub(super) messages: usize,
    /// Offset of the first byte that no slot contains yet.
    end: u32,
    /// Indices of slots with metadata for the next message.
    ahead: Vec<usize>,
}

impl<'a> Slots<'a> {
    /// No slots, of a transcript that begins at `start` and has about `items` items.
    pub(super) fn with_capacity(items: usize, start: u32) -> Self {
        let slots = Vec::with_capacity(items + 2);
        Self { slots, elements: Vec::with_capacity(items), end: start, ..Self::default() }
    }

    /// Adds the frame of a row from where it begins up to its first item.
    pub(super) fn open(&mut self, begin: u32, first: u32, style: Style) {
        self.add(begin, first, SlotKind::Frame { style, fresh: true });
    }

    /// Adds the frame of a row behind its last item, up to `end`.
    pub(super) fn close(&mut self, end: u32, around: Style) {
        self.add(self.end, end, SlotKind::Frame { style: around, fresh: false });
    }

    /// Adds a message, and returns its index.
    pub(super) fn add_message(&mut self, value: Value<'a>) -> usize {
        let index = self.messages;
        self.messages += 1;
        self.bind_ahead(index);
        self.add_element(value, SlotKind::Message(index));
        index
    }

    /// Adds metadata that is kept or dropped with the last message. Before the first message, it is a header and always kept.
    pub(super) fn add_metadata(&mut self, value: Value<'a>) {
        self.add_element(value, self.last_message().map_or(SlotKind::Pinned, SlotKind::With));
    }

    /// Adds metadata that is kept or dropped with the next message, or with the last one if none follows.
    pub(super) fn add_ahead(&mut self, value: Value<'a>) {
        self.ahead.push(self.slots.len());
        self.add_element(value, SlotKind::Pinned);
    }

    /// Adds an item that is always kept.
    pub(super) fn pin(&mut self, value: Value<'a>) {
        self.add_element(value, SlotKind::Pinned);
    }

    /// Ends the items: no message follows.
    pub(super) fn finish(&mut self) {
        if let Some(last) = self.last_message() {
            self.bind_ahead(last);
        }
    }

    pub(super) const fn last_message(&self) -> Option<usize> {
        self.messages.checked_sub(1)
    }

    /// The index of the message that `value` is, if it was added as one.
    pub(super) fn message_of(&self, value: Value<'a>) -> Option<usize> {
        let slot = self.slots.binary_search_by_key(&value.span(), |slot| slot.span).ok()?;
        if let SlotKind::Message(index) = self.slots[slot].kind { Some(index) } else { None }
    }

    /// Makes what a slot contains be kept or dropped with a message.
    pub(super) fn bind(&mut self, slot: usize, message: usize) {
        self.slots[slot].kind = SlotKind::With(message);
    }

    fn bind_ahead(&mut self, message: usize) {
        for slot in self.ahead.drain(..) {
            self.slots[slot].kind = SlotKind::With(message);
        }
    }

    fn add_element(&mut self, value: Value<'a>, kind: SlotKind) {
        let span = value.span();
        self.elements.push(value);
        self.add(span.start, span.end, kind);
    }

    /// Adds the slot from `start` to `end`; what is before `start` and in no slot yet separates it from the last one.
    fn add(&mut self, start: u32, end: u32, kind: SlotKind) {
        self.slots.push(Slot { separator: Span::new(self.end, start), span: Span::new(start, end), kind });
        self.end = end;
    }
}
