//! Calls that are written as JSON in a string, and results that answer them by position, sometimes several in one message.

use super::{blocks, written};
use crate::json::{Document, Text, Value};
use crate::transcript::{Content, Message, Part, PartOrigin, Role, ToolCall, ToolResult};

/// Reads the calls in `content`, a text or the calls themselves; all of them are kept or dropped with `element`.
pub(super) fn read_calls<'a>(content: Option<Value<'a>>, element: Value<'a>) -> Vec<Part<'a>> {
    let calls = match content {
        Some(content) if content.text().is_none() => each(content).map(|call| owned(call)).collect(),
        Some(content) => spelled(&content.text().map(Text::into_decoded).unwrap_or_default()),
        None => vec![call(String::new(), String::new())],
    };
    calls.into_iter().map(|call| blocks::whole(element, Content::ToolCall(call))).collect()
}

/// `{"name": …, "arguments": …}`, a list of these, or a text that names the function in a tag.
fn spelled<'a>(text: &str) -> Vec<ToolCall<'a>> {
    match Document::parse(text) {
        Ok(document) => {
            let calls: Vec<ToolCall<'a>> = document.roots().flat_map(each).map(owned).collect();
            if calls.is_empty() { vec![call(String::new(), text.to_owned())] } else { calls }
        }
        Err(_) => vec![call(tagged(text).to_owned(), text.to_owned())],
    }
}

fn each(value: Value<'_>) -> impl Iterator<Item = Value<'_>> {
    let alone = (!value.is_array()).then_some(value);
    value.items().chain(alone)
}

fn owned<'a>(value: Value<'_>) -> ToolCall<'a> {
    let inner = value.get("function").filter(|inner| inner.is_object()).unwrap_or(value);
    let arguments = blocks::arguments(inner.get("arguments").or_else(|| inner.get("parameters")));
    call(inner.word("name").into_owned(), arguments.decode().into_owned())
}

fn call<'a>(name: String, arguments: String) -> ToolCall<'a> {
    ToolCall::new(None, Text::Owned(name), Text::Owned(arguments))
}

/// The name in `<function=NAME>`.
fn tagged(text: &str) -> &str {
    let rest = text.split_once("<function=").map_or("", |(_, rest)| rest);
    rest.split_once('>').map_or("", |(name, _)| name)
}

/// Reads a message that answers a call.
pub(super) fn read_result<'a>(item: Value<'a>, content: Option<Value<'a>>) -> Part<'a> {
    blocks::rewritable(item, Content::ToolResult(ToolResult::new(None, None, blocks::texts(content))), content)
}

/// A message that answers several calls contains a result for each of them, and the first result has the whole text. Such
/// calls are kept or dropped together.
pub(super) fn share_answers(messages: &mut [&mut Message<'_>]) {
    let mut open = None;
    for at in 0..messages.len() {
        let calls = messages[at].calls().filter(|(_, call)| call.written.is_none()).count();
        let next_answers = messages.get(at + 1).is_some_and(|next| next.role == Role::Tool);
        match (messages[at].role, open.take()) {
            (Role::Tool, Some((asked, calls))) if !next_answers => share(messages, asked, at, calls),
            (Role::Assistant, _) if calls > 1 => open = Some((at, calls)),
            _ => {}
        }
    }
}

/// As [`share_answers`], after an edit: a message that had one neighbor may have another.
///
/// ```text
///                       before   after the user's message was dropped
/// 0 model  calls a, b
/// 1 tool   result       a, b     a
/// 2 user   "…"
/// 3 tool   result       nothing  b
/// ```
pub(super) fn share_again(messages: &mut [Message<'_>]) {
    let mut answers_text = false;
    for message in messages.iter_mut() {
        if message.role == Role::Tool && !answers_text {
            let mut results = 0;
            message.parts.retain(|part| {
                results += usize::from(part.content.result().is_some());
                results <= 1 || !is_shared(part)
            });
        }
        if message.role != Role::Tool {
            answers_text = written::is_written(message);
        }
        if answers_text {
            continue;
        }
        let element = message.parts.iter().find(|part| part.content.call().is_some()).and_then(Part::place);
        let whole = element.map(|place| place.element) == message.value();
        message.call_rules.indivisible = message.calls().count() > 1 && whole;
    }
    share_answers(&mut messages.iter_mut().collect::<Vec<_>>());
}

/// Whether the part is a result that only says that another one answers its call, too.
fn is_shared(part: &Part<'_>) -> bool {
    matches!(part.origin, PartOrigin::Source(_))
        && part.content.result().is_some_and(|result| result.content.is_empty())
}

fn share(messages: &mut [&mut Message<'_>], asked: usize, answered: usize, calls: usize) {
    messages[asked].call_rules.indivisible = true;
    if let Some(element) = messages[answered].parts.first().and_then(Part::place).map(|place| place.element) {
        let more =
            (1..calls).map(|_| blocks::whole(element, Content::ToolResult(ToolResult::new(None, None, Vec::new()))));
        messages[answered].parts.extend(more);
    }
}
