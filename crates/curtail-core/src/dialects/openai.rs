//! OpenAI chat completions: `role` and `content`, `tool_calls` answered by messages with role `tool`; and the legacy
//! `function_call` answered by role `function`, without ids.

use foldhash::HashSet;

use super::{BY_ID, Dialect, DialectWriter, Fit, Format, Item, LogHabits, NO_RULES, blocks, provenance, simple};
use crate::json::{Document, Text, Value, ValueKind, list, object, quote};
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
            known: &["extra", "action", "thought", "is_demo"],
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
            Some(content) if content.items().any(|block| !is_chat_block(block) && !blocks::thinks_in_list(block)) => {
                Fit::No
            }
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
        let [role, id, calls] = item.get_each(["role", "id", "tool_calls"]);
        let Some(role) = role.and_then(Value::text) else { return Item::Unknown(Unknown::NoRole) };
        let Some(role) = simple::role_of(&role.decode()) else {
            return Item::Unknown(Unknown::Named(role.decode().into_owned()));
        };
        let mut message = Message::from_chat(role, item);
        message.id = id.and_then(Value::text).filter(|_| role != Role::Tool);
        message.parts = match role {
            // The result is the whole message: a call in it, as in a damaged log, cannot be kept without the result.
            Role::Tool => result_parts(item),
            _ => {
                // Most messages have a text or a call, or both, and a text of many small messages is held in memory.
                let mut parts = Vec::with_capacity(1 + usize::from(calls.is_some()));
                add_said(&mut parts, item);
                parts.extend(call_parts(item));
                parts.shrink_to_fit();
                parts
            }
        };
        message.call_rules.indivisible = calls.is_some_and(only_first_is_signed);
        Item::Message(message)
    }

    fn connect<'a>(&self, items: &[Value<'a>], read: &mut [Item<'a>]) {
        if are_paired_by_place(items) {
            read.iter_mut().filter_map(Item::message_mut).for_each(forget_ids);
        }
        answer_custom_calls(read);
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
            let keys = RESULT_IDS.into_iter().chain([TOOL_CALL_IDS, TAU2_ID]);
            keys.into_iter().find(|key| item.some(key).is_some())
        });
        if are_paired_by_place(items) {
            return Some(BY_PLACE);
        }
        named.into_iter().next().or_else(|| {
            // Without a result, the calls tell that it is a transcript of tau2-bench.
            let mut calls = items.iter().filter_map(|item| item.some("tool_calls")).flat_map(Value::items);
            calls.any(|call| call.some("requestor").is_some()).then_some(TAU2_ID)
        })
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
            (Some(id), Some(key)) if RESULT_IDS.contains(&key) => object! { "role": "tool", key: id, "content": text },
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

/// The keys of calls in a message, and of the id in a result, as the API and programs write them.
const CALLS: [&str; 2] = ["tool_calls", "toolCalls"];
const RESULT_IDS: [&str; 4] = ["tool_call_id", "toolCallId", "tool_use_id", "call_id"];

/// What stands where results name no call.
const BY_PLACE: &str = "content";

/// The key under which SWE-agent lists the ids of the calls that a message answers.
const TOOL_CALL_IDS: &str = "tool_call_ids";

fn is_chat_block(block: Value<'_>) -> bool {
    matches!(&*block.word("type"), "text" | "refusal") || blocks::is_media(block)
}

/// Adds what a message says.
fn add_said<'a>(parts: &mut Vec<Part<'a>>, item: Value<'a>) {
    // Ollama, Agno and datasets write lists of media beside the content.
    let [content, refusal, media @ ..] = item.get_each(["content", "refusal", "audio", "images", "videos", "audios"]);
    parts.extend(thought(item));
    parts.extend(blocks::content(content, read_block));
    parts.extend(refusal.and_then(|refusal| Some(blocks::whole(refusal, Content::Text(refusal.text()?)))));
    // What the model said aloud.
    let spoken = media[0].filter(|audio| audio.is_object());
    let spoken = spoken.and_then(|audio| Some(blocks::whole(audio, Content::Text(audio.get_text("transcript")?))));
    parts.extend(spoken);
    for medium in media.into_iter().flatten().flat_map(Value::items) {
        parts.push(blocks::in_shell(medium, Content::Media(Text::Json(medium.raw()))));
    }
}

/// A block of the API, or a thought as Mistral, Kimi and others write it.
pub(super) fn read_block(block: Value<'_>) -> Content<'_> {
    match block.get_text("type") {
        Some(kind) if THOUGHTS.iter().any(|name| kind.is(name)) => {
            let thought = THOUGHTS.iter().chain(&["text", "content"]).find_map(|key| block.some(key));
            Content::Reasoning(blocks::joined(blocks::texts(thought)))
        }
        _ => blocks::plain_block(block),
    }
}

/// The types of blocks that are thoughts, and the members with their texts.
const THOUGHTS: &[&str] = &["thinking", "think", "reasoning"];

/// The reply of the provider, which mini-swe-agent keeps beside a message.
fn response(item: Value<'_>) -> Option<Value<'_>> {
    item.some("extra")?.some("response")
}

/// `reasoning_content`, which routers call `reasoning`, and the lists of thoughts beside it. If a message has several of them, they
/// are the same. The model reads them before anything else in the message.
pub(super) fn thought(item: Value<'_>) -> Option<Part<'_>> {
    let [content, reasoning, thinking, blocks, details] =
        item.get_each(["reasoning_content", "reasoning", "thinking", "thinking_blocks", "reasoning_details"]);
    let lists = [blocks, details].into_iter().flatten().filter(|list| list.items().next().is_some());
    let is_signed = lists.clone().any(is_claudes);
    let texts = [content, reasoning, thinking].into_iter().flatten().filter(|value| value.text().is_some());
    let mut places: Vec<Value<'_>> = texts.chain(lists).collect();
    // Some write a member without a text beside the one with the text.
    places.sort_by_key(|place| place.is(""));
    let first = places.first().copied()?;
    let text = first.text().unwrap_or_else(|| thought_in(first));
    let place = PartPlace { copies: places.into_iter().skip(1).collect(), ..PartPlace::element(first) };
    let part = Part::from_source(Content::Reasoning(text), place).bound_to_prefix(is_signed);
    Some(part.read_at(item.span().start + 1))
}

/// The text of a list of thoughts.
fn thought_in(list: Value<'_>) -> Text<'_> {
    const KEYS: [&str; 3] = ["text", "thinking", "summary"];
    blocks::joined(list.items().filter_map(|thought| KEYS.iter().find_map(|key| thought.some_text(key))))
}

/// Whether a router's list of reasoning details contains signed reasoning of Claude. A detail without a known format is Claude's.
fn is_claudes(list: Value<'_>) -> bool {
    let mut signed =
        list.items().filter(|thought| ["signature", "data"].iter().any(|key| thought.some_text(key).is_some()));
    signed.any(|thought| {
        thought.get_text("format").is_none_or(|format| {
            let format = format.decode();
            format == "unknown" || format.starts_with("anthropic")
        })
    })
}

/// Whether only the first of several calls is signed, as in Gemini's OpenAI-compatible format.
fn only_first_is_signed(calls: Value<'_>) -> bool {
    let mut signed = calls.items().map(|call| {
        let extra = call.some("extra_content").and_then(|extra| extra.some("google"));
        extra.is_some_and(|google| google.some("thought_signature").is_some())
    });
    signed.next() == Some(true) && signed.next() == Some(false) && !signed.any(|is_signed| is_signed)
}

fn call_parts(item: Value<'_>) -> impl Iterator<Item = Part<'_>> {
    let [calls, others, legacy] = item.get_each([CALLS[0], CALLS[1], "function_call"]);
    let calls = [calls, others].into_iter().flatten().flat_map(Value::items);
    let legacy = legacy.filter(|call| call.is_object());
    let legacy = legacy.map(|call| blocks::whole(call, read_call(call, Family::Positional)));
    calls.map(|call| blocks::in_shell(call, read_call(call, Family::Function))).chain(legacy)
}

/// Whether calls have no ids, and results name no call: the results after a message answer its calls in order. So it is where
/// calls are JSON inside strings, as verifiers writes them, and in what chat templates and Ollama take: arguments are objects, or
/// results say the tool's name. A history for the API that lost its ids has neither.
fn are_paired_by_place(items: &[Value<'_>]) -> bool {
    let calls = || items.iter().flat_map(|item| CALLS.iter().flat_map(|key| item.items_under(key)));
    let results = || items.iter().filter(|item| is_result(&item.word("role")));
    calls().next().is_some()
        && calls().all(|call| call.text().is_some() || call.some_text("id").is_none())
        && results().all(|result| !result.has_any(RESULT_IDS))
        && (calls().any(is_of_template) || results().any(|result| names_tool(*result)))
}

/// Whether a role is that of a result, and not of the legacy one.
fn is_result(role: &str) -> bool {
    simple::role_of(role) == Some(Role::Tool) && !is_function(role)
}

/// Whether a call is written as chat templates take it.
fn is_of_template(call: Value<'_>) -> bool {
    let inner = call.some("function").unwrap_or(call);
    call.text().is_some() || inner.get("arguments").is_some_and(Value::is_object)
}

/// Whether a result names its tool, or has the role of an environment.
fn names_tool(result: Value<'_>) -> bool {
    result.has_any(["tool_name", "name"]) || !result.word("role").eq_ignore_ascii_case("tool")
}

/// Gives results the family of the calls of custom tools that they name: only the call says which kind it is.
fn answer_custom_calls(read: &mut [Item<'_>]) {
    let mut custom: HashSet<String> = HashSet::default();
    for part in read.iter_mut().filter_map(Item::message_mut).flat_map(|message| &mut message.parts) {
        match &mut part.content {
            Content::ToolCall(call) if call.family == Family::Custom => {
                custom.extend(call.id.as_ref().map(|id| id.decode().into_owned()));
            }
            Content::ToolResult(result)
                if !custom.is_empty() && result.id.as_ref().is_some_and(|id| custom.contains(&*id.decode())) =>
            {
                result.family = Family::Custom;
            }
            _ => {}
        }
    }
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
    let name = inner.get_text("name").map_or(Text::Escaped(""), Text::into_static);
    let arguments = blocks::arguments(inner.get("arguments")).into_static();
    let call = ToolCall::new(call.get_text("id").map(Text::into_static), name, arguments);
    Some(Content::ToolCall(ToolCall { family, ..call }))
}

/// A call in the format of the API (under `function` or `custom`), or with its name and arguments beside the id, as
/// tau2-bench writes it.
fn read_call(call: Value<'_>, family: Family) -> Content<'_> {
    if let Some(read) = call.text().and_then(|written| read_written_call(&written.decode(), family)) {
        return read;
    }
    let [id, function, custom] = call.get_each(["id", "function", "custom"]);
    let [function, custom] = [function, custom].map(not_null);
    let family = if custom.is_some() { Family::Custom } else { family };
    let [name, arguments, input] = function.or(custom).unwrap_or(call).get_each(["name", "arguments", "input"]);
    let arguments = blocks::arguments(not_null(arguments).or(input));
    let name = name.and_then(Value::text).unwrap_or(Text::Escaped(""));
    Content::ToolCall(ToolCall { family, ..ToolCall::new(id.and_then(Value::text), name, arguments) })
}

/// The result in a `tool` or `function` message. SWE-agent writes a list of ids: one part for each. Others write one message for
/// all results of a round.
fn result_parts(item: Value<'_>) -> Vec<Part<'_>> {
    let grouped = grouped_results(item);
    if !grouped.is_empty() {
        return grouped;
    }
    let [role, content, ids, names @ ..] = item.get_each(["role", "content", TOOL_CALL_IDS, "name", "tool_name"]);
    let is_legacy = role.and_then(Value::text).is_some_and(|role| is_function(&role.decode()));
    let name = names.into_iter().flatten().find_map(Value::text);
    let result = |id, content| read_result(id, name.clone(), content, is_legacy);
    let mut parts: Vec<Part<'_>> = Vec::with_capacity(1);
    for id in ids.into_iter().flat_map(Value::items) {
        let content = content.filter(|_| parts.is_empty());
        parts.push(blocks::rewritable(id, result(id.text(), content), content));
    }
    if parts.is_empty() {
        // tau2-bench writes the id of the call under `id`.
        let id = named_id(item).or_else(|| item.get_text("id").filter(|_| !is_legacy));
        parts.push(blocks::rewritable(item, result(id, content), content));
    }
    parts
}

/// Whether a result with this role answers the legacy `function_call`.
const fn is_function(role: &str) -> bool {
    role.eq_ignore_ascii_case("function")
}

/// The results in a message that lists them, each with the id of its call, under `tool_calls` as Agno does, or as blocks of its
/// content. Agno repeats their texts in its content.
fn grouped_results(item: Value<'_>) -> Vec<Part<'_>> {
    const LISTS: [&str; 5] = ["tool_calls", "toolCalls", "tool_results", "results", "content"];
    let mut lists = item.get_each(LISTS).into_iter().flatten();
    let list =
        lists.find(|list| list.items().next().is_some() && list.items().all(|result| named_id(result).is_some()));
    let Some(list) = list else { return Vec::new() };
    let mut parts: Vec<Part<'_>> = list.items().map(read_grouped).collect();
    let texts: Vec<Value<'_>> = item.items_under("content").filter(|text| text.text().is_some()).collect();
    if texts.len() == parts.len() {
        parts.iter_mut().zip(texts).for_each(|(part, text)| part.add_copy(text));
    }
    parts
}

fn read_grouped(result: Value<'_>) -> Part<'_> {
    let content = ["content", "result", "output"].iter().find_map(|key| result.get(key));
    let name = result.get_text("tool_name").or_else(|| result.get_text("name"));
    blocks::rewritable(result, blocks::result(named_id(result), name, content), content)
}

/// The id of a call as a result names it.
fn named_id(result: Value<'_>) -> Option<Text<'_>> {
    RESULT_IDS.iter().find_map(|key| result.get_text(key))
}

/// A result; of a legacy function, it answers the call before it.
fn read_result<'a>(
    id: Option<Text<'a>>,
    name: Option<Text<'a>>,
    content: Option<Value<'a>>,
    is_legacy: bool,
) -> Content<'a> {
    let mut result = blocks::result(id, name, content);
    if let (Content::ToolResult(result), true) = (&mut result, is_legacy) {
        result.family = Family::Positional;
    }
    result
}

fn not_null(value: Option<Value<'_>>) -> Option<Value<'_>> {
    value.filter(|value| value.kind() != ValueKind::Null)
}
