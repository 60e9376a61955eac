//! What is beside the messages of a transcript: what a model reads before them, and what comes behind them.

use foldhash::HashSet;

use crate::dialects::row::Row;
use crate::dialects::{Dialect, answers, replies};
use crate::json::{Text, Value};
use crate::transcript::{Content, Message, Part, Role};

/// The instructions and tool definitions of `row` outside its `messages`, with those in the `header` of items before the first
/// message; and the replies outside of them.
pub(super) fn preamble_and_replies<'a>(
    dialect: &dyn Dialect,
    row: &Row<'a>,
    messages: &[Message<'a>],
    header: Vec<Text<'a>>,
) -> (Vec<Text<'a>>, Vec<Text<'a>>) {
    let records = row.record.into_iter().chain(request_in(row));
    let mut preamble: Vec<Text<'a>> = records.flat_map(|record| dialect.preamble(record)).collect();
    preamble.extend(dialect.instructions(&row.items));
    let mut replies = row.record.filter(|_| row.answers.branches.is_empty()).map_or_else(Vec::new, replies::beside);
    // Some formats name them among what is beside the messages.
    let mut named: HashSet<Text<'a>> = replies.iter().cloned().collect();
    preamble.retain(|text| !named.remove(text));
    // The messages may end with them.
    let last = messages.last().filter(|last| last.role == Role::Assistant);
    let parts = last.into_iter().flat_map(|last| &last.parts);
    let mut known: HashSet<Text<'a>> = parts.filter_map(answer_in).cloned().collect();
    known.extend(row.items.last().into_iter().flat_map(|last| replies::said_by_model(*last)));
    replies.retain(|reply| known.insert(reply.clone()));
    preamble.extend(header);
    replies.extend(answers::texts(dialect, &row.answers));
    (preamble, replies)
}

/// What a part can have of an answer: a text, or the arguments of a call.
fn answer_in<'p, 'a>(part: &'p Part<'a>) -> Option<&'p Text<'a>> {
    match &part.content {
        Content::Text(text) => Some(text),
        Content::ToolCall(call) => Some(&call.arguments),
        _ => None,
    }
}

/// The request that a record contains, if the messages are in it and not in the record itself: a line of a batch, or the input of
/// answers that are compared.
fn request_in<'a>(row: &Row<'a>) -> Option<Value<'a>> {
    let record = row.record?;
    let holder = row.items.first()?.parent()?.parent().filter(|holder| holder.is_object())?;
    let keys = ["body", "params", "request", "modelInput", "input"];
    keys.iter().any(|key| record.get(key) == Some(holder)).then_some(holder)
}
