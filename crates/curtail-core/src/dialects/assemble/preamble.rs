//! What is beside the messages of a transcript: what a model reads before them, and what comes behind them.

use foldhash::HashSet;

use crate::dialects::replies::{self, Reply};
use crate::dialects::row::Row;
use crate::dialects::{Dialect, answers};
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
    let record = row.record.filter(|_| row.answers.branches.is_empty());
    let mut reply = record.map_or_else(Reply::default, replies::reply_of);
    // Some formats name them among what is beside the messages.
    let mut named: HashSet<Text<'a>> = reply.answer.iter().cloned().collect();
    preamble.retain(|text| !named.remove(text));
    // The messages may end with them.
    let last = messages.iter().rev().take_while(|message| message.role == Role::Assistant);
    let parts = last.clone().take(1).flat_map(|last| &last.parts);
    let mut known: HashSet<Text<'a>> = parts.filter_map(answer_in).cloned().collect();
    known.extend(row.items.last().into_iter().flat_map(|last| replies::reply_of_item(*last).answer));
    reply.answer.retain(|text| known.insert(text.clone()));
    let thoughts: HashSet<&Text<'a>> = last.flat_map(|last| &last.parts).filter_map(reasoning_in).collect();
    reply.reasoning.retain(|text| !thoughts.contains(text));
    let mut replies = reply.reasoning;
    replies.extend(reply.answer);
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

fn reasoning_in<'p, 'a>(part: &'p Part<'a>) -> Option<&'p Text<'a>> {
    if let Content::Reasoning(text) = &part.content { Some(text) } else { None }
}

/// The request that a record contains, if the messages are in it and not in the record itself: a line of a batch, or the input of
/// answers that are compared.
fn request_in<'a>(row: &Row<'a>) -> Option<Value<'a>> {
    let record = row.record?;
    let holder = row.items.first()?.parent()?.parent().filter(|holder| holder.is_object())?;
    let keys = ["body", "params", "request", "modelInput", "input"];
    keys.iter().any(|key| record.get(key) == Some(holder)).then_some(holder)
}
