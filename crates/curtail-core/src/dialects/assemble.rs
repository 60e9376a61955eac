//! Turns the items of a row into a transcript: every byte ends up in a slot or in the separator before one.

use super::accounting::Accounting;
use super::row::Row;
use super::{Dialect, Item, answers, blocks, training, written};
use crate::json::{Span, Text, Value};
use crate::transcript::{
    Answers, Layout, Message, NonMessage, Origin, Slot, SlotKind, Strangers, Style, Transcript, bind_split_replies,
    supersede,
};

/// Reads a row as a transcript of `dialect`.
#[must_use]
pub fn assemble<'a>(dialect: &dyn Dialect, row: &Row<'a>) -> Transcript<'a> {
    let mut preamble: Vec<Text<'a>> = row.record.map_or_else(Vec::new, |record| dialect.preamble(record));
    preamble.extend(request_in(row).map_or_else(Vec::new, |request| dialect.preamble(request)));
    preamble.extend(dialect.instructions(&row.items));
    let beside = row.record.filter(|_| row.answers.branches.is_empty()).map_or_else(Vec::new, answers::beside);
    for answer in beside {
        if !preamble.contains(&answer) {
            preamble.push(answer);
        }
    }
    let mut builder = Builder {
        dialect,
        slots: Vec::with_capacity(row.items.len() + 2),
        messages: Vec::new(),
        count: 0,
        non_messages: Vec::new(),
        elements: Vec::with_capacity(row.items.len()),
        header: Vec::new(),
        at: row.span.start,
        ahead: Vec::new(),
        untrained: row.record.is_some_and(training::excludes_all),
        accounting: Accounting::default(),
    };
    builder.row(&row.items, row.style, row.span.start);
    let close = Span::new(builder.at, row.span.end);
    builder.slots.push(frame(close, close.start, row.style, false));
    builder.close_row();
    preamble.append(&mut builder.header);
    if let Some(closed) = answers::without_open_round(row, &builder.messages) {
        return assemble(dialect, &closed);
    }
    preamble.extend(answers::texts(dialect, &row.answers));
    bind_split_replies(&mut builder.messages);
    supersede(&mut builder.messages);
    let layout = Layout {
        source: row.source,
        span: row.span,
        record: row.record.map_or(row.span, Value::span),
        slots: builder.slots,
        template: builder.messages.first().and_then(Message::value),
        non_messages: builder.non_messages,
        elements: builder.elements,
        preamble,
        pairing_rules: dialect.pairing_rules(),
        context: dialect.provider_rules().context_place(),
        reread: dialect.format().reread,
        strangers: (!dialect.is_log() && written::may_meet_strangers(&builder.messages))
            .then_some(written::strangers as Strangers),
        answers: row.answers.clone(),
    };
    Transcript { layout, messages: builder.messages }
}

/// The request that a record contains, if the messages are in it and not in the record itself: a line of a batch.
fn request_in<'a>(row: &Row<'a>) -> Option<Value<'a>> {
    let record = row.record?;
    let holder = row.items.first()?.parent()?.parent().filter(|holder| holder.is_object())?;
    ["body", "params", "request", "modelInput"].iter().any(|key| record.get(key) == Some(holder)).then_some(holder)
}

/// What is judged of `transcript`: each answer with all that comes before it, or the transcript itself if it has no answers.
#[must_use]
pub fn along_branches<'a>(dialect: &dyn Dialect, transcript: Transcript<'a>) -> Vec<Transcript<'a>> {
    let layout = &transcript.layout;
    if layout.answers.branches.is_empty() {
        return vec![transcript];
    }
    let along = |branch: &Vec<Value<'a>>| {
        let items = layout.elements.iter().chain(branch).copied().collect();
        let row = Row {
            source: layout.source,
            span: layout.span,
            items,
            style: Style::List,
            record: None,
            answers: Answers::default(),
        };
        assemble(dialect, &row)
    };
    layout.answers.branches.iter().map(along).collect()
}

/// `span` begins with what separates it from the slot before it, up to `start`.
const fn frame(span: Span, start: u32, style: Style, fresh: bool) -> Slot {
    let separator = Span::new(span.start, start);
    let span = Span::new(start, span.end);
    Slot { separator, span, kind: SlotKind::Frame { style, fresh } }
}

struct Builder<'d, 'a> {
    dialect: &'d dyn Dialect,
    slots: Vec<Slot>,
    messages: Vec<Message<'a>>,
    /// The number of messages so far, also of those that are not in `messages` yet.
    count: usize,
    non_messages: Vec<NonMessage<'a>>,
    elements: Vec<Value<'a>>,
    /// Texts before the first message that a model may read.
    header: Vec<Text<'a>>,
    /// Offset of the first byte that no slot contains yet.
    at: u32,
    /// Indices of slots with metadata for the next message, which was not read yet.
    ahead: Vec<usize>,
    /// Whether the record excludes all its messages from training.
    untrained: bool,
    /// Finds what the parts of messages leave out.
    accounting: Accounting,
}

/// The messages of a row that are not with the others yet.
#[derive(Default)]
struct Pending {
    /// Index of the first item whose message may be one.
    taken: usize,
    /// Index of the last item that is one.
    last: Option<usize>,
}

/// The items of a row that name another by its index.
struct References {
    /// The index of the message that each item so far is; empty if no item names another.
    messages: Vec<Option<usize>>,
    /// Whether an item names another.
    exist: bool,
    /// Slots whose items are kept or dropped with another item, each with the index of that.
    slots: Vec<(usize, usize)>,
}

impl References {
    fn new(items: &[Item<'_>]) -> Self {
        let exist = items.iter().any(|item| match item {
            Item::With(_) => true,
            Item::Message(message) => message.dropped_with.is_some(),
            _ => false,
        });
        Self { messages: Vec::new(), exist, slots: Vec::new() }
    }

    /// Notes the next item; if it is a message, it is the one with this index.
    fn note(&mut self, item: &Item<'_>, message: usize) {
        if self.exist {
            self.messages.push(matches!(item, Item::Message(_)).then_some(message));
        }
    }

    /// The index of the message that an item is; `None` if it is none, or was not noted yet.
    fn message_at(&self, item: usize) -> Option<usize> {
        self.messages.get(item).copied().flatten()
    }
}

impl<'a> Builder<'_, 'a> {
    /// The items of a row, of which the text around them begins at `begin`.
    fn row(&mut self, values: &[Value<'a>], style: Style, begin: u32) {
        let mut items = self.dialect.read_all(values);
        if let Some(first) = values.first() {
            let start = first.span().start;
            self.slots.push(frame(Span::new(self.at, start), begin, style, true));
            self.at = start;
        }
        let mut references = References::new(&items);
        // The messages stay where they are until the end of the row, where the list of items becomes that of the messages.
        let mut pending = Pending::default();
        for (at, &value) in values.iter().enumerate() {
            references.note(&items[at], self.count);
            if let Item::Message(message) = &mut items[at] {
                let with = message.dropped_with.and_then(|item| references.message_at(item as usize));
                message.dropped_with = with.and_then(|index| u32::try_from(index).ok());
                self.message(value, message);
                pending.last = Some(at);
                continue;
            }
            match std::mem::replace(&mut items[at], Item::Metadata) {
                Item::Nested(inner) => {
                    self.take(&mut items[pending.taken..at]);
                    pending = Pending { taken: at, last: None };
                    self.nested(value, &inner, style);
                }
                item => {
                    if let Item::With(other) = item {
                        references.slots.push((self.slots.len(), other));
                    }
                    let texts = self.non_message(value, item);
                    let before = pending.last.and_then(|at| items[at].message_mut());
                    match before.or(self.messages.last_mut()) {
                        Some(message) => message.attached.extend(texts),
                        None => self.header.extend(texts),
                    }
                }
            }
        }
        self.take_all(items);
        for &(slot, item) in &references.slots {
            if let Some(message) = references.message_at(item) {
                self.slots[slot].kind = SlotKind::With(message);
            }
        }
    }

    /// Moves the messages of `items` to the others.
    fn take(&mut self, items: &mut [Item<'a>]) {
        let taken = items.iter_mut().filter_map(|item| std::mem::replace(item, Item::Metadata).into_message());
        self.messages.extend(taken);
    }

    /// The same for the rest of a row. If these are the first messages, they stay where they are in memory.
    fn take_all(&mut self, items: Vec<Item<'a>>) {
        let messages = items.into_iter().filter_map(Item::into_message);
        if self.messages.is_empty() {
            self.messages = messages.collect();
        } else {
            self.messages.extend(messages);
        }
    }

    /// A row inside an element: the bytes around it become frames.
    fn nested(&mut self, value: Value<'a>, inner: &[Value<'a>], around: Style) {
        if inner.is_empty() {
            return self.slot(value, SlotKind::Pinned);
        }
        self.row(inner, Style::List, value.span().start);
        let end = value.span().end;
        self.slots.push(frame(Span::new(self.at, end), self.at, around, false));
        self.at = end;
    }

    fn message(&mut self, value: Value<'a>, message: &mut Message<'a>) {
        let index = self.count;
        if let Origin::Source(source) = &mut message.origin {
            (source.index, source.value) = (index, value);
        }
        message.untrained = self.untrained || training::excludes(value);
        if message.parts.is_empty() && message.attached.is_empty() {
            let unread = blocks::content_of(value);
            message.parts.extend(unread.map(|content| blocks::whole(content, blocks::unknown(content))));
        }
        for slot in self.ahead.drain(..) {
            self.slots[slot].kind = SlotKind::With(index);
        }
        self.accounting.complete(self.dialect, value, message);
        self.slot(value, SlotKind::Message(index));
        self.count += 1;
    }

    /// Adds an item that is no message, and returns the texts in it that a model may read. Items before the first message are a
    /// header and always kept.
    fn non_message(&mut self, value: Value<'a>, item: Item<'a>) -> Vec<Text<'a>> {
        if matches!(item, Item::Ahead) {
            self.ahead.push(self.slots.len());
        }
        if matches!(item, Item::Ahead | Item::Pinned) {
            self.slot(value, SlotKind::Pinned);
            return Vec::new();
        }
        let (unknown, mut texts) = match item {
            Item::Unknown(unknown) => (Some(unknown), Vec::new()),
            Item::Attached(texts) if self.count > 0 => (None, texts),
            _ => (None, Vec::new()),
        };
        let unread = unknown.as_ref().and_then(|_| self.dialect.unread(value));
        texts.extend(unread.clone());
        self.non_messages.push(NonMessage { value, unknown, after: self.count, unread });
        self.slot(value, self.count.checked_sub(1).map_or(SlotKind::Pinned, SlotKind::With));
        texts
    }

    fn slot(&mut self, value: Value<'a>, kind: SlotKind) {
        let span = value.span();
        self.elements.push(value);
        self.slots.push(Slot { separator: Span::new(self.at, span.start), span, kind });
        self.at = span.end;
    }

    /// Binds metadata for a next message to the last message, if the row ends without one.
    fn close_row(&mut self) {
        if let Some(last) = self.count.checked_sub(1) {
            for slot in self.ahead.drain(..) {
                self.slots[slot].kind = SlotKind::With(last);
            }
        }
    }
}
