//! OpenAI chat completions: `role` and `content`, `tool_calls` answered by messages with role `tool`; and the legacy
//! `function_call` answered by role `function`, without ids.

use super::{BY_ID, Dialect, DialectWriter, Fit, Format, Item, LogHabits, NO_RULES, blocks, provenance};
use crate::json::{Document, Text, Value, list, object, quote};
use crate::transcript::{
    Content, Draft, DraftResult, Family, Message, PairingRules, Part, PartPlace, ProviderRules, ResultPlace, Role,
    ToolCall, Unknown, Usage,
};

/// The dialect `openai`.
pub(super) struct OpenAi;

impl Dialect for OpenAi {
    fn format(&self) -> &'static Format {
        &Format {
            name: "openai",
            signature: "`role` and `content`; `tool_calls`, role `tool` with `tool_call_id`; legacy `function_call`, \
                role `function`",
            pairing: PairingRules { results: ResultPlace::RightAfter, developer: true, ..BY_ID },
            provider: ProviderRules { provider: "openai", ..NO_RULES },
            writer: Some(&OpenAi),
            log: &OpenAi,
            ..Format::PLAIN
        }
    }

    fn fit(&self, item: Value<'_>) -> Fit {
        let [role, content] = item.get_each(["role", "content"]);
        let Some(role) = role.and_then(Value::text) else { return Fit::No };
        let marks = ["tool_calls", "tool_call_id", "tool_call_ids", "function_call", "refusal", "reasoning_content"];
        if role.is("function") || item.has_any(marks) {
            return Fit::Certain;
        }
        match content {
            Some(content) if content.items().any(|block| !is_chat_block(block)) => Fit::No,
            Some(_) => Fit::Possible,
            None => Fit::No,
        }
    }

    fn read<'a>(&self, item: Value<'a>) -> Item<'a> {
        if item.is_array() {
            // The Berkeley Function Calling Leaderboard stores a list of messages per turn, and rows of verifiers one of the
            // prompt and one of the completion.
            return Item::Nested(item.items().collect());
        }
        let Some(role) = item.get_text("role") else { return Item::Unknown(Unknown::NoRole) };
        let Some(role) = role_of(&role) else { return Item::Unknown(Unknown::Named(role.decode().into_owned())) };
        let mut message = Message::from_chat(role, item);
        message.id = item.get_text("id").filter(|_| role != Role::Tool);
        message.parts = match role {
            // The result is the whole message: a call in it, as in a damaged log, cannot be kept without the result.
            Role::Tool => result_parts(item),
            _ => said_parts(item).into_iter().chain(call_parts(item)).collect(),
        };
        message.call_rules.indivisible = only_first_is_signed(item);
        Item::Message(message)
    }

    fn connect<'a>(&self, items: &[Value<'a>], read: &mut [Item<'a>]) {
        if are_paired_by_place(items) {
            read.iter_mut().filter_map(Item::message_mut).for_each(forget_ids);
        }
    }

    fn time(&self, item: Value<'_>) -> Option<String> {
        provenance::time(item).or_else(|| provenance::written_time(item.some("extra")?.get("timestamp")?))
    }

    fn model<'a>(&self, item: Value<'a>) -> Option<Text<'a>> {
        blocks::model(item).or_else(|| response(item)?.get_text("model"))
    }
}

impl DialectWriter for OpenAi {
    fn result_key(&self, items: &[Value<'_>]) -> Option<&'static str> {
        let results = items.iter().filter(|item| item.member_is("role", "tool"));
        let named = results.filter_map(|item| {
            ["tool_call_id", TOOL_CALL_IDS, TAU2_ID].into_iter().find(|key| item.some(key).is_some())
        });
        if are_paired_by_place(items) {
            return Some(BY_PLACE);
        }
        // Without a result, the calls tell that it is a transcript of tau2-bench.
        let calls = || items.iter().filter_map(|item| item.some("tool_calls")).flat_map(Value::items);
        let of_tau2 = || calls().any(|call| call.some("requestor").is_some()).then_some(TAU2_ID);
        named.into_iter().next().or_else(of_tau2)
    }

    fn write_message(&self, draft: &Draft, _anchor: Option<Value<'_>>) -> String {
        let Some(DraftResult { id, name, text, key, .. }) = draft.only_result() else {
            return blocks::role_and_content(draft.role.name(), &draft.joined_text());
        };
        let result = match (id, *key) {
            (_, Some(BY_PLACE)) => object! { "role": "tool", "content": text },
            (Some(id), Some(TAU2_ID)) => object! { TAU2_ID: id, "role": "tool", "content": text },
            (Some(id), Some(TOOL_CALL_IDS)) => {
                object! { "role": "tool", TOOL_CALL_IDS: list([quote(id)]), "content": text }
            }
            (Some(id), _) => object! { "role": "tool", "tool_call_id": id, "content": text },
            (None, _) => object! { "role": "function", "name": name, "content": text },
        };
        result.0
    }
}

impl LogHabits for OpenAi {
    fn usage(&self, item: Value<'_>) -> Option<Usage> {
        provenance::chat_usage(item.some("usage").or_else(|| response(item)?.some("usage"))?)
    }

    fn provider(&self, item: Value<'_>) -> Option<&'static str> {
        let model = response(item)?.get_text("model")?.decode().into_owned();
        model.starts_with("deepseek").then_some("deepseek")
    }
}

/// The key under which tau2-bench writes the id of a result's call.
const TAU2_ID: &str = "id";

/// What stands where results name no call.
const BY_PLACE: &str = "content";

/// The key under which SWE-agent lists the ids of the calls that a message answers.
const TOOL_CALL_IDS: &str = "tool_call_ids";

fn is_chat_block(block: Value<'_>) -> bool {
    matches!(&*block.word("type"), "text" | "refusal") || blocks::is_media(block)
}

fn role_of(role: &Text<'_>) -> Option<Role> {
    match &*role.decode() {
        "developer" => Some(Role::Developer),
        "function" => Some(Role::Tool),
        name => blocks::role_of(name),
    }
}

fn said_parts(item: Value<'_>) -> Vec<Part<'_>> {
    let mut parts: Vec<Part<'_>> = thought(item).into_iter().collect();
    parts.extend(blocks::plain_parts(item.get("content")));
    parts.extend(blocks::text_beside(item, "refusal", Content::Text));
    parts
}

/// The reply of the provider, which mini-swe-agent keeps beside a message.
fn response(item: Value<'_>) -> Option<Value<'_>> {
    item.some("extra")?.some("response")
}

/// `reasoning_content`, which routers call `reasoning`. If a message has both, they are the same. The model reads them before
/// anything else in the message.
fn thought(item: Value<'_>) -> Option<Part<'_>> {
    let [content, reasoning, blocks, details] =
        item.get_each(["reasoning_content", "reasoning", "thinking_blocks", "reasoning_details"]);
    let signed = [blocks, details].into_iter().flatten().filter(|list| is_claudes(*list));
    let texts = [content, reasoning].into_iter().flatten().filter(|value| value.text().is_some());
    let mut places = texts.chain(signed.clone());
    let first = places.next()?;
    let text = first.text().unwrap_or(Text::Escaped(""));
    let place = PartPlace { copies: places.collect(), ..PartPlace::element(first) };
    let part = Part::from_source(Content::Reasoning(text), place).bound_to_prefix(signed.count() > 0);
    Some(part.read_at(item.span().start + 1))
}

/// Whether a router's list of reasoning details contains signed reasoning of Claude. A detail without a known format is Claude's.
fn is_claudes(list: Value<'_>) -> bool {
    let claude = |thought: &Value<'_>| {
        thought.get_text("format").is_none_or(|format| {
            let format = format.decode();
            format == "unknown" || format.starts_with("anthropic")
        })
    };
    list.items().filter(claude).any(|thought| ["signature", "data"].iter().any(|key| thought.some_text(key).is_some()))
}

/// Whether only the first of several calls is signed, as in Gemini's OpenAI-compatible format.
fn only_first_is_signed(item: Value<'_>) -> bool {
    let mut calls = item.items_under("tool_calls").map(|call| {
        let extra = call.some("extra_content").and_then(|extra| extra.some("google"));
        extra.is_some_and(|google| google.some("thought_signature").is_some())
    });
    calls.next() == Some(true) && calls.next() == Some(false) && !calls.any(|signed| signed)
}

fn call_parts(item: Value<'_>) -> Vec<Part<'_>> {
    let calls = item.items_under("tool_calls");
    let mut parts: Vec<Part<'_>> =
        calls.map(|call| blocks::in_shell(call, read_call(call, Family::Function))).collect();
    if let Some(call) = item.some("function_call").filter(|call| call.is_object()) {
        parts.push(blocks::whole(call, read_call(call, Family::Positional)));
    }
    parts
}

/// Whether calls are JSON inside strings, as verifiers writes them, and results name no call: the results after a message
/// answer its calls in order.
fn are_paired_by_place(items: &[Value<'_>]) -> bool {
    let mut results = items.iter().filter(|item| item.member_is("role", "tool"));
    let mut lists = items.iter().filter_map(|item| item.some("tool_calls"));
    lists.any(|list| list.items().any(|call| call.text().is_some()))
        && results.all(|result| result.some("tool_call_id").is_none())
}

fn forget_ids(message: &mut Message<'_>) {
    for part in &mut message.parts {
        match &mut part.content {
            Content::ToolCall(call) => (call.id, call.family) = (None, Family::Positional),
            Content::ToolResult(result) => (result.id, result.family) = (None, Family::Positional),
            _ => {}
        }
    }
}

/// A call that is JSON inside a string. `None` if it is none.
fn read_written_call<'a>(written: &str, family: Family) -> Option<Content<'a>> {
    let document = Document::parse(written).ok()?;
    let call = document.roots().next().filter(|call| call.is_object())?;
    let inner = call.some("function").unwrap_or(call);
    let owned = |text: Text<'_>| Text::Owned(text.into_decoded().into_owned());
    let name = inner.get_text("name").map_or(Text::Escaped(""), owned);
    let call = ToolCall::new(call.get_text("id").map(owned), name, owned(blocks::arguments(inner.get("arguments"))));
    Some(Content::ToolCall(ToolCall { family, ..call }))
}

/// A call in the format of the API (under `function` or `custom`), or with its name and arguments beside the id, as
/// tau2-bench writes it.
fn read_call(call: Value<'_>, family: Family) -> Content<'_> {
    if let Some(read) = call.text().and_then(|written| read_written_call(&written.decode(), family)) {
        return read;
    }
    let inner = call.some("function").or_else(|| call.some("custom")).unwrap_or(call);
    let arguments = inner.some("arguments").or_else(|| inner.get("input"));
    let call = ToolCall::new(call.get_text("id"), inner.text_or_empty("name"), blocks::arguments(arguments));
    Content::ToolCall(ToolCall { family, ..call })
}

/// The result in a `tool` or `function` message. SWE-agent writes a list of ids: one part for each.
fn result_parts(item: Value<'_>) -> Vec<Part<'_>> {
    let listed = item.items_under("tool_call_ids");
    let mut parts: Vec<Part<'_>> = Vec::new();
    for id in listed {
        let content = item.get("content").filter(|_| parts.is_empty());
        parts.push(blocks::rewritable(id, read_result(item, id.text(), content), content));
    }
    if parts.is_empty() {
        let legacy = item.member_is("role", "function");
        // tau2-bench writes the id of the call under `id`.
        let id = item.get_text("tool_call_id").or_else(|| item.get_text("id").filter(|_| !legacy));
        let content = item.get("content");
        parts.push(blocks::rewritable(item, read_result(item, id, content), content));
    }
    parts
}

fn read_result<'a>(item: Value<'a>, id: Option<Text<'a>>, content: Option<Value<'a>>) -> Content<'a> {
    let mut result = blocks::result(id, item.get_text("name"), content);
    if let (Content::ToolResult(result), true) = (&mut result, item.member_is("role", "function")) {
        result.family = Family::Positional;
    }
    result
}
