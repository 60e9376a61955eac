//! LangChain messages as LangChain serializes them: constructors (`lc`, `kwargs`), `{"type": "ai", "data": …}`, or flat;
//! and event streams of LangGraph, of which the last state is read.

mod calls;

use super::{Dialect, DialectWriter, Fit, Item, LogHabits, anthropic, blocks, usage};
use crate::json::{Text, Value, quote};
use crate::transcript::{
    Content, Draft, DraftPart, Family, Message, PairingRules, Part, PartPlace, ResultPlace, Role, ToolResult, Unknown,
    Usage,
};

/// The dialect `langchain`.
pub(super) struct LangChain;

impl Dialect for LangChain {
    fn name(&self) -> &'static str {
        "langchain"
    }

    fn signature(&self) -> &'static str {
        "`lc` with `kwargs`; `type`: `human`, `ai` with `data` or `content`; `tool` with `tool_call_id`; LangGraph events"
    }

    fn fit(&self, item: Value<'_>) -> Fit {
        if item.is_array() {
            return if is_event(item) { Fit::Certain } else { Fit::No };
        }
        let Some(kind) = kind(item) else { return Fit::No };
        if is_dump(item) {
            return Fit::Certain;
        }
        let body = body(item);
        if item.get("role").is_some() || body.get("content").is_none() {
            return Fit::No;
        }
        match role_of(&kind, body) {
            Ok(_) if kind.starts_with("human") || kind.starts_with("ai") || kind.ends_with("Chunk") => Fit::Certain,
            Ok(Some(Role::Tool)) if body.get("tool_call_id").is_some() && item.get("uuid").is_none() => Fit::Certain,
            Ok(Some(Role::System)) if item.get("uuid").is_none() && body.get("additional_kwargs").is_some() => {
                Fit::Certain
            }
            Ok(Some(Role::System)) if item.get("uuid").is_none() => Fit::Possible,
            _ => Fit::No,
        }
    }

    fn pairing_rules(&self) -> PairingRules {
        PairingRules { results: ResultPlace::RightAfter, unique_ids: false, ids: true, developer: false }
    }

    fn read<'a>(&self, item: Value<'a>) -> Item<'a> {
        if item.is_array() {
            return Item::Pinned;
        }
        let Some(kind) = kind(item) else { return Item::Unknown(Unknown::NoType) };
        let body = body(item);
        match role_of(&kind, body) {
            Ok(Some(role)) => Item::Message(read_message(role, item, body)),
            Ok(None) => Item::Metadata,
            Err(unknown) => Item::Unknown(Unknown::Named(unknown)),
        }
    }

    fn read_all<'a>(&self, items: &[Value<'a>]) -> Vec<Item<'a>> {
        let last = items.iter().rposition(|&item| state(item).is_some());
        let read = items.iter().enumerate().map(|(at, &item)| match state(item) {
            Some(messages) if last == Some(at) => Item::Nested(messages.items().collect()),
            _ => self.read(item),
        });
        read.collect()
    }
}

impl DialectWriter for LangChain {
    fn spell(&self, draft: &Draft, anchor: Option<Value<'_>>) -> String {
        let (kind, class) = match draft.role {
            Role::System | Role::Developer => ("system", "SystemMessage"),
            Role::User => ("human", "HumanMessage"),
            Role::Assistant => ("ai", "AIMessage"),
            Role::Tool => ("tool", "ToolMessage"),
        };
        let members = spell_members(draft);
        match anchor {
            Some(anchor) if anchor.get("kwargs").is_some() => {
                let class = quote(class);
                let mut path = anchor.get("id").map_or_else(Vec::new, |id| id.items().map(Value::raw).collect());
                path.pop();
                path.push(&class);
                let id = format!("[{}]", path.join(","));
                format!("{{\"lc\":1,\"type\":\"constructor\",\"id\":{id},\"kwargs\":{{{members}}}}}")
            }
            Some(anchor) if anchor.get("data").is_some() => {
                format!("{{\"type\":\"{kind}\",\"data\":{{{members},\"type\":\"{kind}\"}}}}")
            }
            _ => format!("{{\"type\":\"{kind}\",{members}}}"),
        }
    }
}

impl LogHabits for LangChain {
    fn usage(&self, item: Value<'_>) -> Option<Usage> {
        let body = body(item);
        let reply = || usage::chat(body.some("response_metadata")?.some("token_usage")?);
        body.some("usage_metadata").and_then(usage::langchain).or_else(reply)
    }

    fn model<'a>(&self, item: Value<'a>) -> Option<Text<'a>> {
        let reply = body(item).some("response_metadata");
        let named = reply.and_then(|reply| reply.get_text("model_name").or_else(|| reply.get_text("model")));
        named.or_else(|| blocks::model(item))
    }
}

fn spell_members(draft: &Draft) -> String {
    match draft.parts.as_slice() {
        [DraftPart::ToolResult { id, name, text, .. }] => format!(
            "\"content\":{},\"tool_call_id\":{},\"name\":{},\"status\":\"error\"",
            quote(text),
            quote(id.as_deref().unwrap_or_default()),
            quote(name)
        ),
        _ => format!("\"content\":{}", quote(&draft.joined_text())),
    }
}

/// The class of a message: the last element of a constructor's path, or the type.
fn kind(item: Value<'_>) -> Option<String> {
    let class = item.get("lc").and(item.get("id")).and_then(|path| path.items().last());
    let named = class.and_then(Value::text).or_else(|| item.get_text("type"))?;
    Some(named.decode().into_owned())
}

fn is_dump(item: Value<'_>) -> bool {
    item.get("lc").is_some() && item.get("kwargs").is_some_and(Value::is_object)
}

/// The place of a message's content.
fn body(item: Value<'_>) -> Value<'_> {
    let inner = if item.get("lc").is_some() { item.get("kwargs") } else { item.get("data") };
    inner.filter(|inner| inner.is_object()).unwrap_or(item)
}

/// The role of a class or type; `None` for a message that only removes another; or the unknown name.
fn role_of(kind: &str, body: Value<'_>) -> Result<Option<Role>, String> {
    let name = kind.strip_suffix("Chunk").unwrap_or(kind);
    let name = name.strip_suffix("Message").unwrap_or(name).to_ascii_lowercase();
    let role = body.get_text("role").map(|role| role.decode().into_owned());
    match (name.as_str(), role.as_deref()) {
        ("human", _) | ("chat", Some("user" | "human")) => Ok(Some(Role::User)),
        ("ai", _) | ("chat", Some("assistant" | "ai")) => Ok(Some(Role::Assistant)),
        ("system", _) | ("chat", Some("system")) => Ok(Some(Role::System)),
        ("developer", _) | ("chat", Some("developer")) => Ok(Some(Role::Developer)),
        ("tool" | "function", _) | ("chat", Some("tool")) => Ok(Some(Role::Tool)),
        ("remove", _) => Ok(None),
        _ => Err(kind.to_owned()),
    }
}

fn read_message<'a>(role: Role, item: Value<'a>, body: Value<'a>) -> Message<'a> {
    let mut message = Message::from_source(role, item);
    message.id = body.get_text("id");
    let content = body.get("content");
    if role == Role::Tool {
        message.parts =
            vec![Part::from_source(read_result(body, content), PartPlace::element(item).with_text(content))];
        return message;
    }
    message.parts = calls::reasoning(body);
    let said = content.map(|content| content.items().filter(|block| !calls::is_call(*block)).collect::<Vec<_>>());
    message.parts.extend(match (content, said) {
        (Some(list), Some(blocks)) if list.is_array() => blocks.into_iter().map(read_block).collect(),
        (text, _) => blocks::content(text, blocks::plain_block),
    });
    message.parts.extend(calls::call_parts(body));
    message
}

fn read_block(block: Value<'_>) -> Part<'_> {
    match block.get_text("type") {
        Some(kind) if kind.is("reasoning") || kind.is("thinking") || kind.is("redacted_thinking") => {
            let text = ["reasoning", "thinking", "text"].iter().find_map(|key| block.get_text(key));
            let signed = anthropic::is_signed(block) || block.get("extras").is_some_and(anthropic::is_signed);
            Part::from_source(Content::Reasoning(text.unwrap_or(Text::Escaped(""))), PartPlace::element(block))
                .bound_to_prefix(signed)
        }
        _ => blocks::part(block, blocks::plain_block(block)),
    }
}

fn read_result<'a>(body: Value<'a>, content: Option<Value<'a>>) -> Content<'a> {
    Content::ToolResult(ToolResult {
        id: body.get_text("tool_call_id"),
        name: body.get_text("name"),
        content: blocks::texts(content),
        media: blocks::count_media(content),
        family: Family::Function,
        same_message: false,
    })
}

/// An event of a LangGraph stream: its name and its content.
fn is_event(item: Value<'_>) -> bool {
    const STREAMS: &[&str] = &["values", "messages", "updates", "custom", "debug", "checkpoints", "tasks"];
    let mut steps = item.items();
    let name = steps.next().and_then(Value::text);
    name.is_some_and(|name| STREAMS.iter().any(|stream| name.is(stream))) && steps.next().is_some()
}

/// The messages of a `values` event, which contains the whole state. Other events of a stream repeat parts of it.
fn state(item: Value<'_>) -> Option<Value<'_>> {
    let mut steps = item.items();
    let values = steps.next().is_some_and(|name| name.is("values"));
    steps.next().filter(|_| values)?.get("messages").filter(|messages| messages.is_array())
}
