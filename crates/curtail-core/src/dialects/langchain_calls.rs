//! The calls of a message of LangChain, which stores each one up to five times: as a call, as a block of the content, in the
//! provider's format, as chunks, and in the raw reply. All copies are dropped with the call.

use std::borrow::Cow;

use foldhash::HashMap;

use super::{Item, blocks};
use crate::json::{Text, Value};
use crate::transcript::{Content, Family, Part, PartOrigin, PartPlace, ToolCall, ToolResult};

/// The calls of a message: those of `tool_calls` and `invalid_tool_calls`, and those that are only in other places.
pub(super) fn call_parts(body: Value<'_>) -> Vec<Part<'_>> {
    let mut stored = StoredCalls::default();
    let listed = body.items_under("tool_calls").chain(body.items_under("invalid_tool_calls"));
    listed.for_each(|value| stored.add(value));
    for value in elsewhere(body) {
        match names_of(value).next().and_then(|name| stored.find(&name)) {
            Some(call) => call.copies.push(value),
            None => stored.add(value),
        }
    }
    for (name, trace) in traces(body) {
        if let Some(call) = stored.find(&name) {
            call.copies.push(trace);
        }
    }
    let extra = body.get("additional_kwargs");
    let by_id = ["__openai_function_call_ids__", "__gemini_function_call_thought_signatures__"];
    for member in by_id.iter().filter_map(|key| extra?.get(key)).flat_map(Value::members) {
        if let Some(call) = stored.find(&CallName::Id(member.key.into_decoded())) {
            call.ids.push(member.value);
        }
    }
    stored.calls.into_iter().map(|call| call_part(body, call)).collect()
}

/// A call of a message.
struct StoredCall<'a> {
    /// The first place where it is written.
    value: Value<'a>,
    /// The others.
    copies: Vec<Value<'a>>,
    /// The provider's own ids and signatures of it, which stay with it whatever its arguments become.
    ids: Vec<Value<'a>>,
}

/// What a call is found by.
#[derive(PartialEq, Eq, Hash)]
enum CallName<'a> {
    Id(Cow<'a, str>),
    /// The name of its function: of one without an id, such as the legacy `function_call`.
    Function(Cow<'a, str>),
}

/// The calls of a message.
#[derive(Default)]
struct StoredCalls<'a> {
    calls: Vec<StoredCall<'a>>,
    /// Index of the first call with each id, and of the last of each function: each call overwrites the `function_call`.
    named: HashMap<CallName<'a>, usize>,
}

impl<'a> StoredCalls<'a> {
    fn add(&mut self, value: Value<'a>) {
        for name in names_of(value) {
            match name {
                CallName::Id(_) => _ = self.named.entry(name).or_insert(self.calls.len()),
                CallName::Function(_) => _ = self.named.insert(name, self.calls.len()),
            }
        }
        self.calls.push(StoredCall { value, copies: Vec::new(), ids: Vec::new() });
    }

    fn find(&mut self, name: &CallName<'a>) -> Option<&mut StoredCall<'a>> {
        self.calls.get_mut(*self.named.get(name)?)
    }
}

/// A call that is also a block of the content is read there, and any other after the content.
fn call_part<'a>(body: Value<'a>, StoredCall { value, copies, ids }: StoredCall<'a>) -> Part<'a> {
    let content = body.get("content").map_or(0, |content| content.span().end);
    let block = copies.iter().find(|copy| copy.span().end <= content && is_call(**copy));
    let read_at = block.map_or(content.max(value.span().start), |block| block.span().start);
    let inner = value.some("function").unwrap_or(value);
    let arguments = ["args", "arguments", "input", "action"].iter().find_map(|key| inner.some(key));
    let mut call = blocks::call(id_of(value), name_of(value), arguments);
    let kind = block.map_or(value, |block| *block);
    if let (Content::ToolCall(call), Some(family)) = (&mut call, kind_of_call(kind)) {
        call.family = family;
    }
    let place = PartPlace { copies, ..PartPlace::in_shell(value) };
    let mut part = Part::from_source(call, place).read_at(read_at);
    if let PartOrigin::Source(place) = &mut part.origin
        && !ids.is_empty()
    {
        place.further_mut().copies_cut.extend(ids);
    }
    part
}

/// Other places of calls. If `tool_calls` lacks a call, the first of these places that has it is read.
fn elsewhere(body: Value<'_>) -> impl Iterator<Item = Value<'_>> {
    let extra = body.get("additional_kwargs");
    let outputs = extra.into_iter().flat_map(|extra| extra.items_under("tool_outputs"));
    let blocks = body.items_under("content").chain(outputs).filter(|block| is_call(*block));
    let legacy = extra.and_then(|extra| extra.some("function_call"));
    blocks.chain(extra.into_iter().flat_map(|extra| extra.items_under("tool_calls"))).chain(legacy)
}

/// Copies of calls in places that are never read as calls, chunks and the raw reply, each with the id of its call.
fn traces(body: Value<'_>) -> impl Iterator<Item = (CallName<'_>, Value<'_>)> {
    let chunks = body.items_under("tool_call_chunks").map(|chunk| (chunk, "id"));
    let output = body.get("response_metadata").into_iter().flat_map(|reply| reply.items_under("output"));
    let named = chunks.chain(output.map(|item| (item, "call_id")));
    named.filter_map(|(trace, key)| Some((CallName::Id(trace.get_text(key)?.into_decoded()), trace)))
}

/// What a call is found by, its id first.
fn names_of(call: Value<'_>) -> impl Iterator<Item = CallName<'_>> {
    let id = id_of(call).map(|id| CallName::Id(id.into_decoded()));
    id.into_iter().chain(name_of(call).map(|name| CallName::Function(name.into_decoded())))
}

/// Blocks from Responses have an `id` of their own in addition to the id of the call.
fn id_of(call: Value<'_>) -> Option<Text<'_>> {
    call.get_text("call_id").or_else(|| call.get_text("id"))
}

fn name_of(call: Value<'_>) -> Option<Text<'_>> {
    let kind = || call.get_text("type").filter(|kind| kind.is("computer_call"));
    call.get("function").unwrap_or(call).get_text("name").or_else(kind)
}

/// Whether a block of the content is a call.
pub(super) fn is_call(block: Value<'_>) -> bool {
    kind_of_call(block).is_some()
}

/// The kind of call that a block of the content is. Other calls of Responses have no result in a message of a tool.
fn kind_of_call(block: Value<'_>) -> Option<Family> {
    match &*block.word("type") {
        "tool_use" | "tool_call" | "invalid_tool_call" | "function_call" => Some(Family::Function),
        "custom_tool_call" => Some(Family::Custom),
        "computer_call" => Some(Family::Computer),
        _ => None,
    }
}

/// Gives results the kind of the calls that they name: only the call says which it is.
pub(super) fn answer_by_kind(read: &mut [Item<'_>]) {
    let mut kinds: HashMap<String, Family> = HashMap::default();
    for part in read.iter_mut().filter_map(Item::message_mut).flat_map(|message| &mut message.parts) {
        match &mut part.content {
            Content::ToolCall(ToolCall {
                id: Some(id), family: family @ (Family::Custom | Family::Computer), ..
            }) => {
                kinds.insert(id.decode().into_owned(), *family);
            }
            Content::ToolResult(ToolResult { id: Some(id), family, .. }) if !kinds.is_empty() => {
                *family = kinds.get(&*id.decode()).copied().unwrap_or(*family);
            }
            _ => {}
        }
    }
}
