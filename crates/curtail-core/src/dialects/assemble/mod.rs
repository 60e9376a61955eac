//! Turns the items of a row into a transcript: every byte ends up in a slot or in the separator before one.

mod preamble;
mod slots;

use std::sync::OnceLock;

use super::accounting::Accounting;
use super::row::Row;
use super::{Attached, Dialect, Item, answers, blocks, training, written};
use crate::json::{Text, Value};
use crate::transcript::{
    Answers, FormatRules, Layout, Message, NonMessage, Origin, Strangers, Style, Transcript, Unknown,
    bind_split_replies, supersede,
};
use preamble::preamble_and_replies;
use slots::Slots;

/// Reads a row as a transcript of `dialect`.
#[must_use]
pub fn assemble<'a>(dialect: &dyn Dialect, row: &Row<'a>) -> Transcript<'a> {
    let mut reader = RowReader::new(dialect, row);
    let mut messages = reader.read(row);
    if let Some(closed) = answers::without_open_round(row, &messages) {
        return assemble(dialect, &closed);
    }
    bind_split_replies(&mut messages);
    supersede(&mut messages);
    let (preamble, replies) = preamble_and_replies(dialect, row, &messages, reader.header);
    let layout = Layout {
        source: row.source,
        span: row.span,
        record: row.record.map_or(row.span, Value::span),
        record_value: row.record,
        slots: reader.slots.slots,
        template: messages.first().and_then(Message::value),
        non_messages: reader.non_messages,
        elements: reader.slots.elements,
        preamble,
        replies,
        rules: rules(dialect, &messages),
        answers: row.answers.clone(),
        links: OnceLock::new(),
        references: OnceLock::new(),
    };
    Transcript { layout, messages }
}

/// What the format of `dialect` says of these messages.
fn rules(dialect: &dyn Dialect, messages: &[Message<'_>]) -> FormatRules {
    let may_meet_strangers = !dialect.is_log() && written::may_meet_strangers(messages);
    FormatRules {
        pairing: dialect.pairing_rules(),
        context: dialect.provider_rules().context_place(),
        reread: dialect.format().reread,
        strangers: may_meet_strangers.then_some(written::strangers as Strangers),
    }
}

/// What is judged of `transcript`: each answer with all that comes before it, or the transcript itself if it has no answers.
#[must_use]
pub fn along_branches<'a>(dialect: &dyn Dialect, transcript: Transcript<'a>) -> Vec<Transcript<'a>> {
    let Layout { source, span, ref elements, ref answers, .. } = transcript.layout;
    if answers.branches.is_empty() {
        return vec![transcript];
    }
    let along = answers.branches.iter().map(|branch| {
        let items = elements.iter().chain(branch).copied().collect();
        assemble(dialect, &Row { source, span, items, style: Style::List, record: None, answers: Answers::default() })
    });
    along.collect()
}

/// Reads one row, with the rows inside it, and collects what is beside its messages.
struct RowReader<'d, 'a> {
    dialect: &'d dyn Dialect,
    /// Whether the record excludes all its messages from training.
    untrained: bool,
    /// Finds what the parts of messages leave out.
    accounting: Accounting,
    slots: Slots<'a>,
    non_messages: Vec<NonMessage<'a>>,
    /// Texts before the first message that a model may read.
    header: Vec<Text<'a>>,
    /// Texts that a model reads beside a message, each list with the index of the message.
    attached: Vec<(usize, Attached<'a>)>,
}

impl<'d, 'a> RowReader<'d, 'a> {
    fn new(dialect: &'d dyn Dialect, row: &Row<'a>) -> Self {
        Self {
            dialect,
            untrained: row.record.is_some_and(training::excludes_all),
            accounting: Accounting::default(),
            slots: Slots::with_capacity(row.items.len(), row.span.start),
            non_messages: Vec::new(),
            header: Vec::new(),
            attached: Vec::new(),
        }
    }

    /// Reads all of `row`, and returns its messages.
    fn read(&mut self, row: &Row<'a>) -> Vec<Message<'a>> {
        let mut messages = self.read_items(&row.items, row.style, row.span.start);
        self.slots.close(row.span.end, row.style);
        self.slots.finish();
        // Those of rows inside it are behind the others.
        messages.sort_unstable_by_key(Message::source_index);
        for (index, Attached { texts, media }) in self.attached.drain(..) {
            messages[index].attached.extend(texts);
            messages[index].attached_media += media;
        }
        messages
    }

    /// Reads the items of a row that begins at `begin`. Returns its messages, and behind them those of the rows inside it: the
    /// list of items becomes that of the messages, so that none is moved.
    fn read_items(&mut self, values: &[Value<'a>], style: Style, begin: u32) -> Vec<Message<'a>> {
        let mut items = self.dialect.read_all(values);
        if let Some(first) = values.first() {
            self.slots.open(begin, first.span().start, style);
        }
        let mut inside = Vec::new();
        // Slots that are kept or dropped with another item, each with the index of that.
        let mut bound = Vec::new();
        for (&value, item) in values.iter().zip(&mut items) {
            match item {
                Item::Message(message) => {
                    let leader = message.dropped_with.and_then(|at| self.slots.message_of(*values.get(at as usize)?));
                    message.dropped_with = leader.and_then(|index| u32::try_from(index).ok());
                    self.add_message(value, message);
                }
                Item::Nested(inner) if inner.is_empty() => self.slots.pin(value),
                Item::Nested(inner) => {
                    inside.extend(self.read_items(inner, Style::List, value.span().start));
                    self.slots.close(value.span().end, style);
                }
                Item::Pinned => self.slots.pin(value),
                Item::Ahead => self.slots.add_ahead(value),
                Item::Metadata => self.add_metadata(value),
                Item::Attached(attached) => {
                    let last = self.slots.last_message();
                    self.attached.extend(last.map(|index| (index, std::mem::take(attached))));
                    self.add_metadata(value);
                }
                Item::With(other) => {
                    bound.push((self.slots.slots.len(), *other));
                    self.add_metadata(value);
                }
                Item::Unknown(unknown) => self.add_unknown(value, std::mem::replace(unknown, Unknown::NoRole)),
            }
        }
        for (slot, other) in bound {
            if let Some(message) = values.get(other).and_then(|other| self.slots.message_of(*other)) {
                self.slots.bind(slot, message);
            }
        }
        let mut messages: Vec<Message<'a>> = items.into_iter().filter_map(Item::into_message).collect();
        messages.extend(inside);
        messages
    }

    /// Adds a message, and completes what the dialect read of it.
    fn add_message(&mut self, value: Value<'a>, message: &mut Message<'a>) {
        let index = self.slots.add_message(value);
        if let Origin::Source(source) = &mut message.origin {
            (source.index, source.value) = (index, value);
        }
        message.untrained = self.untrained || training::excludes(value);
        if message.parts.is_empty() && message.attached.is_empty() {
            let unread = blocks::content_of(value);
            message.parts.extend(unread.map(|content| blocks::whole(content, blocks::unknown(content))));
        }
        self.accounting.complete(self.dialect, value, message);
    }

    /// Adds known metadata.
    fn add_metadata(&mut self, value: Value<'a>) {
        self.non_messages.push(NonMessage { value, unknown: None, after: self.slots.messages, unread: None });
        self.slots.add_metadata(value);
    }

    /// Adds an item that the dialect does not recognize.
    fn add_unknown(&mut self, value: Value<'a>, unknown: Unknown) {
        let unread = self.dialect.unread(value);
        match self.slots.last_message() {
            Some(index) => self.attached.extend(unread.clone().map(|text| (index, vec![text].into()))),
            None => self.header.extend(unread.clone()),
        }
        self.non_messages.push(NonMessage { value, unknown: Some(unknown), after: self.slots.messages, unread });
        self.slots.add_metadata(value);
    }
}
