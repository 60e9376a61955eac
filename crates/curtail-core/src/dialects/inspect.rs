//! Samples of `inspect_ai`: messages in OpenAI's format, except that a call has the name of its tool as text under
//! `function`, and a result repeats that name. Reasoning and tools of the provider are blocks of the content.

use super::{Dialect, DialectWriter, Fit, Item, LogHabits, blocks, events, provenance};
use crate::json::{Text, Value, object};
use crate::transcript::{
    Content, Draft, DraftPart, Family, Message, PairingRules, Part, PartPlace, ResultPlace, Role, ToolCall, ToolResult,
    Unknown, Usage,
};

/// The dialect `inspect`.
pub(super) struct Inspect;

impl Dialect for Inspect {
    fn name(&self) -> &'static str {
        "inspect"
    }

    fn signature(&self) -> &'static str {
        "`role` and `content` with `source`: `input` or `generate`; `tool_calls` and role `tool` with `function`: a plain name"
    }

    fn has_marks(&self) -> bool {
        true
    }

    fn fit(&self, item: Value<'_>) -> Fit {
        if is_own(item) {
            return Fit::Marked;
        }
        let known = item.get_text("role").is_some_and(|role| blocks::role_of(&role.decode()).is_some());
        let plain = |content: Value<'_>| {
            content.text().is_some()
                || content.is_array()
                    && content.items().all(|block| block.get("type").is_some_and(|kind| kind.is("text")))
        };
        if known && item.get("content").is_some_and(plain) { Fit::Possible } else { Fit::No }
    }

    fn fits_record(&self, record: Value<'_>) -> bool {
        record.has("epoch") && record.has("target")
    }

    fn pairing_rules(&self) -> PairingRules {
        PairingRules { results: ResultPlace::RightAfter, unique_ids: false, ids: true, developer: false }
    }

    fn read<'a>(&self, item: Value<'a>) -> Item<'a> {
        let Some(role) = item.get_text("role") else { return Item::Unknown(Unknown::NoRole) };
        let Some(role) = blocks::role_of(&role.decode()) else {
            return Item::Unknown(Unknown::role(role.decode().into_owned()));
        };
        let mut message = Message::from_source(role, item);
        message.id = item.get_text("id");
        message.parts = match role {
            // The result is the whole message: a call in it, as in a damaged log, cannot be kept without the result.
            Role::Tool => vec![read_result(item)],
            _ => said(item).into_iter().chain(calls(item)).collect(),
        };
        Item::Message(message)
    }
}

impl DialectWriter for Inspect {
    fn write_message(&self, draft: &Draft, _anchor: Option<Value<'_>>) -> String {
        if let [DraftPart::ToolResult { id, name, text, .. }] = draft.parts.as_slice() {
            let id = id.as_deref().unwrap_or_default();
            return object! { "role": "tool", "tool_call_id": id, "function": name, "content": text }.0;
        }
        let role = if draft.role == Role::Developer { Role::System } else { draft.role };
        blocks::role_and_content(role.name(), &draft.joined_text())
    }
}

impl LogHabits for Inspect {
    fn model<'a>(&self, item: Value<'a>) -> Option<Text<'a>> {
        let replied = || item.some("output")?.get_text("model");
        let evaluated = || item.some("eval")?.get_text("model");
        blocks::model(item).or_else(replied).or_else(evaluated)
    }

    /// The figures are in the events of the sample, which name the message of each reply; in older logs they do not.
    fn usages(&self, items: &[Value<'_>]) -> Vec<Option<Usage>> {
        let replies = replies(items);
        let own = |nth: usize, item: Value<'_>| {
            let named =
                |reply: &ModelReply<'_>| item.get_text("id").is_some_and(|id| reply.message.as_ref() == Some(&id));
            replies.iter().find(|reply| named(reply)).or(replies.get(nth).filter(|reply| reply.message.is_none()))
        };
        let is_reply = |item: &Value<'_>| item.get("role").is_some_and(|role| role.is("assistant"));
        // Without names, the replies are those messages, in order, if there are as many.
        let in_order = items.iter().filter(|item| is_reply(item)).count() == replies.len();
        let mut nth = 0;
        let usages = items.iter().map(|item| {
            if !is_reply(item) {
                return None;
            }
            nth += 1;
            own(if in_order { nth - 1 } else { usize::MAX }, *item).map(|reply| reply.usage)
        });
        usages.collect()
    }
}

/// A reply of the model among the events of a sample.
struct ModelReply<'a> {
    /// The id of its message.
    message: Option<Text<'a>>,
    usage: Usage,
}

fn replies<'a>(items: &[Value<'a>]) -> Vec<ModelReply<'a>> {
    let sample = items.first().and_then(|item| item.parent()?.parent());
    let events = sample.and_then(|sample| sample.some("events").or_else(|| sample.some("transcript")?.some("events")));
    let replies = events.into_iter().flat_map(Value::items).filter_map(|event| {
        let output = event.get("event").filter(|kind| kind.is("model")).and_then(|_| event.some("output"))?;
        let usage = provenance::inspect_usage(output.some("usage")?)?;
        let message = output.get("choices").and_then(|choices| choices.items().next()?.some("message")?.get_text("id"));
        Some(ModelReply { message, usage })
    });
    replies.collect()
}

/// Whether a message has members that only `inspect_ai` writes.
fn is_own(item: Value<'_>) -> bool {
    if item.get_text("role").is_none() {
        return false;
    }
    let names = |holder: Value<'_>| holder.get_text("function").is_some();
    let sourced = item.get("source").is_some_and(|source| source.is("input") || source.is("generate"));
    sourced
        || item.get("tool_calls").is_some_and(|calls| calls.items().any(names))
        || item.get("role").is_some_and(|role| role.is("tool")) && names(item)
        || item.get("content").is_some_and(|content| content.items().any(is_own_block))
}

fn is_own_block(block: Value<'_>) -> bool {
    let Some(kind) = block.get_text("type") else { return false };
    match &*kind.decode() {
        "reasoning" => block.get_text("reasoning").is_some(),
        "tool_use" => block.has("tool_type"),
        _ => false,
    }
}

fn said(item: Value<'_>) -> Vec<Part<'_>> {
    // In older logs, the reasoning is beside the content.
    let beside = item.some("reasoning").filter(|thought| thought.text().is_some());
    let mut parts: Vec<Part<'_>> = Vec::new();
    if let Some(thought) = beside {
        let text = thought.text().unwrap_or(Text::Escaped(""));
        parts.push(Part::from_source(Content::Reasoning(text), PartPlace::element(thought)));
    }
    let claude = item.get_text("model").is_none_or(|model| model.decode().contains("claude"));
    match item.get("content") {
        Some(list) if list.is_array() => parts.extend(list.items().flat_map(|block| read_block(block, claude))),
        content => parts.extend(blocks::content(content, blocks::plain_block)),
    }
    parts
}

/// The calls of a message. They are read after the content, wherever they are.
fn calls(item: Value<'_>) -> impl Iterator<Item = Part<'_>> {
    let calls = item.get("tool_calls").into_iter().flat_map(Value::items);
    let after = item.get("content").map_or(0, |content| content.span().end);
    calls.map(move |call| {
        let content = events::call(call.get_text("id"), call.get_text("function"), call.get("arguments"));
        Part::from_source(content, PartPlace::in_shell(call)).read_at(after.max(call.span().start))
    })
}

fn read_block(block: Value<'_>, claude: bool) -> Vec<Part<'_>> {
    match block.get_text("type").as_ref().map(Text::decode).as_deref() {
        Some("reasoning") => {
            let redacted = block.get("redacted").is_some_and(|flag| flag.raw() == "true");
            // Redacted reasoning is encrypted; only its summary can be read.
            let text = block.get_text(if redacted { "summary" } else { "reasoning" }).unwrap_or(Text::Escaped(""));
            let signed = redacted || block.get_text("signature").is_some_and(|signature| signature.len_bound() > 0);
            let part = Part::from_source(Content::Reasoning(text), PartPlace::element(block));
            vec![part.bound_to_prefix(claude && signed)]
        }
        Some("tool_use") => tool_use(block),
        _ => vec![blocks::part(block, blocks::plain_block(block))],
    }
}

/// A tool that the provider ran: the call and its result are one block.
fn tool_use(block: Value<'_>) -> Vec<Part<'_>> {
    let (id, name) = (block.get_text("id"), block.get_text("name"));
    let call = Content::ToolCall(ToolCall {
        id: id.clone(),
        name: name.clone().unwrap_or(Text::Escaped("")),
        arguments: blocks::arguments(block.get("arguments")),
        family: Family::Server,
        hosted: true,
    });
    let content = blocks::texts(block.some("result"));
    let result =
        Content::ToolResult(ToolResult { id, name, content, media: 0, family: Family::Server, same_message: true });
    [call, result].map(|content| Part::from_source(content, PartPlace::element(block))).into()
}

/// The result of a tool. If the tool failed, the model reads the error.
fn read_result(item: Value<'_>) -> Part<'_> {
    let content = item.get("content");
    let mut result = events::result(item.get_text("tool_call_id"), item.get_text("function"), content);
    if let (Content::ToolResult(result), Some(error)) = (&mut result, item.some("error"))
        && result.content.iter().all(Text::is_blank)
    {
        result.content.extend(error.get_text("message"));
    }
    let place = PartPlace::element(item);
    let place = match content {
        Some(list) if list.is_array() => place.with_text_in(list, "[{\"type\":\"text\",\"text\":", "}]"),
        content => place.with_text(content.filter(|content| content.text().is_some())),
    };
    Part::from_source(result, place)
}
