//! The calls of a message. LangChain stores each one up to five times: as a call, as a block of the content, in the
//! provider's format, as chunks, and in the raw reply. All copies are dropped with the call.

use crate::dialects::blocks;
use crate::json::{Text, Value};
use crate::transcript::{Content, Family, Part, PartPlace, ToolCall};

/// Whether a block of the content is a call.
pub(super) fn is_call(block: Value<'_>) -> bool {
    const TYPES: &[&str] = &["tool_use", "tool_call", "function_call"];
    block.get_text("type").is_some_and(|kind| TYPES.iter().any(|name| kind.is(name)))
}

/// The calls of a message: those of `tool_calls` and `invalid_tool_calls`, and those that are only in other places.
pub(super) fn call_parts<'a>(body: Value<'a>) -> Vec<Part<'a>> {
    let mut calls: Vec<(Value<'a>, Vec<Value<'a>>)> = Vec::new();
    for value in own(body) {
        calls.push((value, Vec::new()));
    }
    for value in elsewhere(body) {
        match calls.iter_mut().find(|(first, _)| same_call(*first, value)) {
            Some((_, copies)) => copies.push(value),
            None => calls.push((value, Vec::new())),
        }
    }
    for nth in 0..calls.len() {
        let call = calls[nth].0;
        if !calls[..nth].iter().any(|(earlier, _)| same_call(*earlier, call)) {
            calls[nth].1.extend(traces(body, call));
        }
    }
    let content = body.get("content").map_or(0, |content| content.span().end);
    let part = |(first, copies): (Value<'a>, Vec<Value<'a>>)| {
        // A call that is also a block of the content is read there, and any other after the content.
        let block = copies.iter().find(|copy| copy.span().end <= content && is_call(**copy));
        let read_at = block.map_or(content.max(first.span().start), |block| block.span().start);
        part(first, copies).read_at(read_at)
    };
    calls.into_iter().map(part).collect()
}

fn list<'a>(holder: Option<Value<'a>>, key: &str) -> impl Iterator<Item = Value<'a>> {
    holder.and_then(|holder| holder.get(key)).into_iter().flat_map(Value::items)
}

fn own(body: Value<'_>) -> impl Iterator<Item = Value<'_>> {
    list(Some(body), "tool_calls").chain(list(Some(body), "invalid_tool_calls"))
}

/// Other places of calls. If `tool_calls` lacks a call, the first of these places that has it is read.
fn elsewhere(body: Value<'_>) -> impl Iterator<Item = Value<'_>> {
    let extra = body.get("additional_kwargs");
    let blocks = list(Some(body), "content").filter(|block| is_call(*block));
    let legacy = extra.and_then(|extra| extra.some("function_call"));
    blocks.chain(list(extra, "tool_calls")).chain(legacy)
}

/// Copies of a call in places that are never read as calls: chunks, the provider's ids, and the raw reply.
fn traces<'a>(body: Value<'a>, call: Value<'a>) -> Vec<Value<'a>> {
    let Some(id) = id_of(call) else { return Vec::new() };
    let id = id.decode();
    let chunks = list(Some(body), "tool_call_chunks").filter(|chunk| chunk.get("id").is_some_and(|own| own.is(&id)));
    let output = list(body.get("response_metadata"), "output");
    let raw = output.filter(|item| item.get("call_id").is_some_and(|own| own.is(&id)));
    let ids = body.get("additional_kwargs").and_then(|extra| extra.get("__openai_function_call_ids__"));
    let named = ids.into_iter().flat_map(Value::members).filter(|member| member.key.is(&id)).map(|member| member.value);
    chunks.chain(raw).chain(named).collect()
}

/// Blocks from Responses have an `id` of their own in addition to the id of the call.
fn id_of(call: Value<'_>) -> Option<Text<'_>> {
    call.get_text("call_id").or_else(|| call.get_text("id"))
}

fn name_of(call: Value<'_>) -> Option<Text<'_>> {
    call.get("function").unwrap_or(call).get_text("name")
}

/// Calls without an id, such as the legacy `function_call`, are identified by name.
fn same_call(one: Value<'_>, other: Value<'_>) -> bool {
    match (id_of(one), id_of(other)) {
        (Some(one), Some(other)) => one.decode() == other.decode(),
        (_, None) => name_of(one).zip(name_of(other)).is_some_and(|(one, other)| one.decode() == other.decode()),
        (None, Some(_)) => false,
    }
}

fn part<'a>(call: Value<'a>, copies: Vec<Value<'a>>) -> Part<'a> {
    let inner = call.get("function").unwrap_or(call);
    let arguments = ["args", "arguments", "input"].iter().find_map(|key| inner.some(key));
    let content = Content::ToolCall(ToolCall {
        id: id_of(call),
        name: name_of(call).unwrap_or(Text::Escaped("")),
        arguments: blocks::arguments(arguments),
        family: Family::Function,
        hosted: false,
    });
    Part::from_source(content, PartPlace { copies, ..PartPlace::in_shell(call) })
}

/// The reasoning, if the content does not contain it: a summary in blocks, or a text.
pub(super) fn reasoning(body: Value<'_>) -> Vec<Part<'_>> {
    let Some(extra) = body.get("additional_kwargs") else { return Vec::new() };
    let thought = extra.some("reasoning").or_else(|| extra.some("reasoning_content"));
    let Some(thought) = thought else { return Vec::new() };
    let blocks = thought.get("summary").into_iter().flat_map(Value::items);
    let text = thought.text().unwrap_or_else(|| {
        let texts: Vec<String> =
            blocks.filter_map(|block| block.get_text("text")).map(|text| text.decode().into_owned()).collect();
        Text::Owned(texts.join("\n"))
    });
    vec![Part::from_source(Content::Reasoning(text), PartPlace::element(thought))]
}
