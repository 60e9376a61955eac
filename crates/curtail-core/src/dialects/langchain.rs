//! LangChain messages as LangChain serializes them: constructors (`lc`, `kwargs`), `{"type": "ai", "data": …}`, flat, or as it
//! takes them in a list, `["ai", "…"]`; and event streams of LangGraph, of which the last state is read.

use super::langchain_calls::{answer_by_kind, call_parts, is_call};
use super::openai::OpenAi;
use super::{Dialect, DialectWriter, Fit, Format, Item, LogHabits, anthropic, blocks, provenance};
use crate::json::{ObjectWriter, Text, Value, list, object, quote};
use crate::transcript::{Content, Draft, Family, Message, Part, PartPlace, Role, Unknown, Usage};

/// The dialect `langchain`.
pub(super) struct LangChain;

impl Dialect for LangChain {
    fn format(&self) -> &'static Format {
        &Format {
            name: "langchain",
            signature: "`lc` with `kwargs`; `type`: `human`, `ai` with `data` or `content`; \
                `tool` with `tool_call_id`; LangGraph events",
            writer: Some(&LangChain),
            log: &LangChain,
            ..Format::PLAIN
        }
    }

    fn fit(&self, item: Value<'_>) -> Fit {
        if item.is_array() {
            // A question and its answer may be such texts as well.
            let pair = if role_and_text(item).is_some() { Fit::Possible } else { Fit::No };
            return if is_event(item) { Fit::Certain } else { pair };
        }
        let Some(kind) = kind(item) else { return Fit::No };
        if is_dump(item) {
            return Fit::Certain;
        }
        let body = body(item);
        if item.has("role") || !body.has("content") {
            return Fit::No;
        }
        let is_own =
            ["human", "ai", "Human", "AI"].iter().any(|name| kind.starts_with(name)) || kind.ends_with("Chunk");
        match role_of(&kind, body) {
            Ok(_) if is_own => Fit::Certain,
            Ok(Some(Role::Tool)) if body.has("tool_call_id") && !item.has("uuid") => Fit::Certain,
            Ok(Some(Role::System)) if !item.has("uuid") && body.has("additional_kwargs") => Fit::Certain,
            Ok(Some(Role::System)) if !item.has("uuid") => Fit::Possible,
            _ => Fit::No,
        }
    }

    fn read<'a>(&self, item: Value<'a>) -> Item<'a> {
        if let Some((role, text)) = role_and_text(item) {
            let role = match role {
                Ok(role) => role,
                Err(unknown) => return Item::Unknown(Unknown::Named(unknown)),
            };
            let text = text.text().map(|said| blocks::rewritable(item, Content::Text(said), Some(text)));
            return blocks::message(role, item, None, text.into_iter().collect());
        }
        if item.is_array() {
            return Item::Pinned;
        }
        let Some(kind) = kind(item) else {
            // Beside pairs, a text may be written as OpenAI takes it; a message with calls makes the list OpenAI's.
            return if item.has("role") { OpenAi.read(item) } else { Item::Unknown(Unknown::NoType) };
        };
        let body = body(item);
        match role_of(&kind, body) {
            Ok(Some(role)) => {
                let mut message = Message::from_source(role, item);
                message.id = body.get_text("id");
                message.parts = read_parts(role, item, body);
                message.automatic = role == Role::User && is_summary(body);
                Item::Message(message)
            }
            Ok(None) => Item::Metadata,
            Err(unknown) => Item::Unknown(Unknown::Named(unknown)),
        }
    }

    fn connect<'a>(&self, items: &[Value<'a>], read: &mut [Item<'a>]) {
        answer_by_kind(read);
        let last = items.iter().zip(read).rev().find_map(|(item, read)| Some((state(*item)?, read)));
        if let Some((messages, read)) = last {
            *read = Item::Nested(messages.items().collect());
        }
    }

    fn model<'a>(&self, item: Value<'a>) -> Option<Text<'a>> {
        let reply = body(item).some("response_metadata");
        let named = reply.and_then(|reply| reply.get_text("model_name").or_else(|| reply.get_text("model")));
        named.or_else(|| blocks::model(item))
    }
}

impl DialectWriter for LangChain {
    fn write_message(&self, draft: &Draft, anchor: Option<Value<'_>>) -> String {
        let (kind, class) = match draft.role {
            Role::System | Role::Developer => ("system", "SystemMessage"),
            Role::User => ("human", "HumanMessage"),
            Role::Assistant => ("ai", "AIMessage"),
            Role::Tool => ("tool", "ToolMessage"),
        };
        match anchor {
            Some(anchor) if anchor.has("kwargs") => {
                let class = quote(class);
                let mut path = anchor.get("id").map_or_else(Vec::new, |id| id.items().map(Value::raw).collect());
                path.pop();
                path.push(&class);
                let members = write_members(ObjectWriter::new(), draft).end();
                object! { "lc": 1, "type": "constructor", "id": list(path), "kwargs": members }.0
            }
            Some(anchor) if anchor.has("data") => {
                let data = write_members(ObjectWriter::new(), draft).member("type", kind).end();
                object! { "type": kind, "data": data }.0
            }
            Some(anchor) if anchor.has("role") && !anchor.has("type") => OpenAi.write_message(draft, Some(anchor)),
            Some(anchor) if anchor.is_array() => list([quote(kind), quote(&draft.joined_text())]).0,
            _ => {
                let is_class = anchor.is_some_and(|anchor| anchor.word("type").ends_with("Message"));
                write_members(ObjectWriter::new().member("type", if is_class { class } else { kind }), draft).end().0
            }
        }
    }
}

impl LogHabits for LangChain {
    fn usage(&self, item: Value<'_>) -> Option<Usage> {
        let body = body(item);
        let usage = body.some("usage_metadata").and_then(provenance::langchain_usage);
        usage.or_else(|| provenance::chat_usage(body.some("response_metadata")?.some("token_usage")?))
    }
}

fn write_members(message: ObjectWriter, draft: &Draft) -> ObjectWriter {
    match draft.only_result() {
        Some(result) => {
            let message = match result.family {
                Family::Custom => {
                    message.member("content", &list([object! { "type": CUSTOM_OUTPUT, "output": &result.text }.0]))
                }
                _ => message.member("content", &result.text),
            };
            let message = message.member("tool_call_id", result.call_id());
            message.member("name", &result.name).member("status", "error")
        }
        None => message.member("content", &draft.joined_text()),
    }
}

/// The class of a message: the last element of a constructor's path, or the type.
fn kind(item: Value<'_>) -> Option<String> {
    let class = item.get("lc").and(item.get("id")).and_then(|path| path.items().last());
    let named = class.and_then(Value::text).or_else(|| item.get_text("type"))?;
    Some(named.decode().into_owned())
}

fn is_dump(item: Value<'_>) -> bool {
    item.has("lc") && item.get("kwargs").is_some_and(Value::is_object)
}

/// The place of a message's content.
fn body(item: Value<'_>) -> Value<'_> {
    let inner = if item.has("lc") { item.get("kwargs") } else { item.get("data") };
    inner.filter(|inner| inner.is_object()).unwrap_or(item)
}

/// Whether LangChain wrote a message in place of those before it.
fn is_summary(body: Value<'_>) -> bool {
    body.get("additional_kwargs").is_some_and(|extra| extra.member_is("lc_source", "summarization"))
}

/// The role of a class or type; `None` for a message that only removes another; or the unknown name.
fn role_of(kind: &str, body: Value<'_>) -> Result<Option<Role>, String> {
    let name = kind.strip_suffix("Chunk").unwrap_or(kind);
    let name = name.strip_suffix("Message").unwrap_or(name).to_ascii_lowercase();
    match (name.as_str(), &*body.word("role")) {
        ("human", _) | ("chat", "user" | "human") => Ok(Some(Role::User)),
        ("ai", _) | ("chat", "assistant" | "ai") => Ok(Some(Role::Assistant)),
        ("system", _) | ("chat", "system") => Ok(Some(Role::System)),
        ("developer", _) | ("chat", "developer") => Ok(Some(Role::Developer)),
        ("tool" | "function", _) | ("chat", "tool") => Ok(Some(Role::Tool)),
        ("remove", _) => Ok(None),
        _ => Err(kind.to_owned()),
    }
}

/// The role and the text of a message that is written as a pair of them; or the name in place of a role, if it is one that
/// LangChain takes and that is no message by itself.
pub(super) fn role_and_text(item: Value<'_>) -> Option<(Result<Role, String>, Value<'_>)> {
    let mut pair = item.items();
    let (name, text) = pair.next().zip(pair.next())?;
    let role = match &*name.text()?.decode() {
        "human" | "user" => Ok(Role::User),
        "ai" | "assistant" => Ok(Role::Assistant),
        "system" => Ok(Role::System),
        "developer" => Ok(Role::Developer),
        name @ ("placeholder" | "tool" | "function") => Err(name.to_owned()),
        _ => return None,
    };
    (text.text().is_some() && pair.next().is_none()).then_some((role, text))
}

/// The block that the output of a custom tool is.
const CUSTOM_OUTPUT: &str = "custom_tool_call_output";
/// JSON around the text of such a block.
const AROUND_CUSTOM_OUTPUT: &[&str; 2] = &["[{\"type\":\"custom_tool_call_output\",\"output\":", "}]"];

fn read_parts<'a>(role: Role, item: Value<'a>, body: Value<'a>) -> Vec<Part<'a>> {
    let content = body.get("content");
    if role == Role::Tool {
        let id = body.get_text("tool_call_id");
        let name = body.get_text("name");
        // The output of a custom tool stays such a block: LangChain sends any other as that of a function.
        let custom = content.filter(|content| content.items().any(|block| block.member_is("type", CUSTOM_OUTPUT)));
        return vec![match custom {
            Some(list) => {
                let outputs =
                    list.items().filter_map(|block| block.get_text("output").or_else(|| block.get_text("text")));
                let result = blocks::result_of(id, name, outputs.collect(), blocks::count_media(content));
                Part::from_source(result, PartPlace::element(item).with_text_in(list, AROUND_CUSTOM_OUTPUT))
            }
            None => blocks::rewritable(item, blocks::result(id, name, content), content),
        }];
    }
    let mut parts = match content {
        Some(list) if list.is_array() => list.items().filter(|block| !is_call(*block)).map(read_block).collect(),
        text => blocks::plain_parts(text),
    };
    add_reasoning(body, &mut parts);
    parts.extend(call_parts(body));
    parts
}

fn read_block(block: Value<'_>) -> Part<'_> {
    match &*block.word("type") {
        "reasoning" | "thinking" | "redacted_thinking" => {
            let text = ["reasoning", "thinking", "text"].iter().find_map(|key| block.get_text(key));
            let signed = anthropic::is_signed(block) || block.get("extras").is_some_and(anthropic::is_signed);
            let text = text.unwrap_or_else(|| summary(block));
            blocks::whole(block, Content::Reasoning(text)).bound_to_prefix(signed)
        }
        // Of Bedrock: `reasoning_content` in Python, `reasoningText` in JavaScript.
        "reasoning_content" => {
            let inner =
                ["reasoning_content", "reasoningContent", "reasoningText"].iter().find_map(|key| block.some(key));
            let inner = inner.unwrap_or(block);
            let signed = anthropic::is_signed(inner) || inner.has_any(["redacted_content", "redactedContent"]);
            blocks::whole(block, Content::Reasoning(inner.text_or_empty("text"))).bound_to_prefix(signed)
        }
        "server_tool_call" => blocks::whole(block, blocks::hosted(blocks::call_in(block, ["id", "name", "args"]))),
        "server_tool_result" => {
            let result = blocks::result(block.get_text("tool_call_id"), None, block.get("output"));
            blocks::whole(block, blocks::hosted(result))
        }
        // The provider's own blocks.
        _ => blocks::part(block, anthropic::read_block(block)),
    }
}

/// An event of a LangGraph stream: its name and its content, and before them, in a stream with subgraphs, the path of the graph.
fn is_event(item: Value<'_>) -> bool {
    const STREAMS: &[&str] = &["values", "messages", "updates", "custom", "debug", "checkpoints", "tasks"];
    let mut steps = item.items().skip_while(|step| step.is_array());
    let name = steps.next().and_then(Value::text);
    name.is_some_and(|name| STREAMS.iter().any(|stream| name.is(stream))) && steps.next().is_some()
}

/// The messages of a `values` event of the outermost graph, which contains the whole state. Other events of a stream repeat parts
/// of it.
fn state(item: Value<'_>) -> Option<Value<'_>> {
    let mut steps = item.items().skip_while(|step| step.is_array() && step.items().next().is_none());
    let values = steps.next().is_some_and(|name| name.is("values"));
    steps.next().filter(|_| values)?.get("messages").filter(|messages| messages.is_array())
}

/// Adds the reasoning beside the content, a text or a summary in blocks. It is a copy if the content contains the same.
fn add_reasoning<'a>(body: Value<'a>, parts: &mut Vec<Part<'a>>) {
    let extra = body.get("additional_kwargs");
    let beside = extra.and_then(|extra| extra.some("reasoning").or_else(|| extra.some("reasoning_content")));
    let Some(beside) = beside else { return };
    let text = beside.text().unwrap_or_else(|| summary(beside));
    let in_content: Vec<Text<'a>> = parts.iter().filter_map(|part| thought_of(part).cloned()).collect();
    let is_copy = !in_content.is_empty() && blocks::joined(in_content).decode() == text.decode();
    match parts.iter_mut().find(|part| is_copy && thought_of(part).is_some()) {
        Some(part) => part.add_copy(beside),
        None => parts.insert(0, blocks::whole(beside, Content::Reasoning(text))),
    }
}

fn thought_of<'p, 'a>(part: &'p Part<'a>) -> Option<&'p Text<'a>> {
    if let Content::Reasoning(text) = &part.content { Some(text) } else { None }
}

fn summary(thought: Value<'_>) -> Text<'_> {
    blocks::joined(thought.items_under("summary").filter_map(|block| block.get_text("text")))
}
