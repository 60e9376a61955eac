//! Bedrock Converse: `role` and `content` blocks without a type, each named by its key; `toolUse` answered by `toolResult` in
//! the next user message.

use super::{Dialect, DialectWriter, Fit, Item, LogHabits, Patch, blocks};
use crate::json::{Json, Text, Value, list, object};
use crate::transcript::{
    Content, Draft, DraftPart, Family, IdFormat, Message, PairingRules, Part, PartPlace, ProviderRules, ResultPlace,
    Rewrite, Role, ToolCall, ToolResult, Turns, Unknown,
};

/// The dialect `bedrock`.
pub(super) struct Bedrock;

/// Keys that name a block.
const BLOCKS: &[&str] = &[
    "text",
    "toolUse",
    "toolResult",
    "reasoningContent",
    "image",
    "document",
    "video",
    "audio",
    "cachePoint",
    "guardContent",
    "citationsContent",
    "searchResult",
];

impl Dialect for Bedrock {
    fn name(&self) -> &'static str {
        "bedrock"
    }

    fn signature(&self) -> &'static str {
        "`role` and `content` blocks without `type`: `text`, `toolUse`, `toolResult` with `toolUseId`, `reasoningContent`"
    }

    fn fit(&self, item: Value<'_>) -> Fit {
        let Some(blocks) = item.get("content").filter(|_| item.has("role")) else { return Fit::No };
        let mut blocks = blocks.items().peekable();
        let fits = blocks.peek().is_some() && blocks.all(is_block);
        if fits { Fit::Certain } else { Fit::No }
    }

    fn pairing_rules(&self) -> PairingRules {
        PairingRules { results: ResultPlace::NextMessage, unique_ids: false, ids: true, developer: false }
    }

    fn provider_rules(&self) -> ProviderRules {
        ProviderRules {
            provider: "bedrock",
            first_speaker: Some(Role::User),
            turns: Turns::Alternate,
            system_beside: true,
            ids: Some(IdFormat { symbols: "_.:-", longest: 64 }),
            ..ProviderRules::default()
        }
    }

    fn read<'a>(&self, item: Value<'a>) -> Item<'a> {
        let Some(role) = item.get_text("role") else { return Item::Unknown(Unknown::NoRole) };
        let Some(role) = blocks::speaker_of(&role.decode()) else {
            return Item::Unknown(Unknown::Named(role.decode().into_owned()));
        };
        let mut message = Message::from_source(role, item);
        message.parts = match item.get("content") {
            Some(list) if list.is_array() => list.items().map(read_block).collect(),
            said => blocks::content(said, blocks::plain_block),
        };
        Item::Message(message)
    }

    fn preamble<'a>(&self, record: Value<'a>) -> Vec<Text<'a>> {
        blocks::preamble(record, &["system", "toolConfig"])
    }
}

impl DialectWriter for Bedrock {
    fn write_message(&self, draft: &Draft, _anchor: Option<Value<'_>>) -> String {
        let role = if draft.role == Role::Assistant { "assistant" } else { "user" };
        let blocks = list(draft.parts.iter().map(|part| self.write_part(part)));
        object! { "role": role, "content": blocks }.0
    }

    fn write_part(&self, part: &DraftPart) -> String {
        match part {
            DraftPart::Text(text) => object! { "text": text }.0,
            DraftPart::Verbatim(raw) => raw.clone(),
            DraftPart::ToolResult { id, text, .. } => {
                let (id, content) = (id.as_deref().unwrap_or_default(), list([object! { "text": text }.0]));
                object! { "toolResult": object! { "toolUseId": id, "content": content, "status": "error" } }.0
            }
        }
    }

    fn prepend_parts(&self, message: Value<'_>, parts: &[String]) -> Option<Patch> {
        blocks::prepend_parts(message.get("content")?, parts, |json| object! { "text": Json(json) }.0)
    }
}

impl LogHabits for Bedrock {
    fn model<'a>(&self, item: Value<'a>) -> Option<Text<'a>> {
        item.get_text("modelId").filter(names_model).or_else(|| blocks::model(item))
    }
}

/// Whether the id of a request names its model. The ARN of a resource of the caller, such as an application's inference
/// profile or a provisioned model, does not.
fn names_model(id: &Text<'_>) -> bool {
    let id = id.decode();
    !id.starts_with("arn:") || id.contains(":foundation-model/") || id.contains(":inference-profile/")
}

/// A block has no type; the key of its only member identifies it.
fn is_block(block: Value<'_>) -> bool {
    !block.has("type") && block.members().any(|member| BLOCKS.iter().any(|key| member.key.is(key)))
}

fn read_block(block: Value<'_>) -> Part<'_> {
    // A table fills members that are absent with null.
    let Some(member) = block.members().find(|member| member.value.raw() != "null") else {
        return Part::from_source(Content::Other, PartPlace::element(block));
    };
    let value = member.value;
    let content = match &*member.key.decode() {
        "text" => return blocks::part(block, blocks::plain_block(block)),
        "toolUse" => Content::ToolCall(read_call(value)),
        "toolResult" => return read_result(block, value),
        "reasoningContent" => Content::Reasoning(reasoning(value)),
        "citationsContent" => Content::Text(cited(value)),
        "searchResult" => Content::Text(cited(value)),
        "guardContent" => guarded(value).map_or_else(|| blocks::unknown(block), Content::Text),
        "image" | "document" | "video" | "audio" => Content::Media(Text::Json(block.raw())),
        "cachePoint" => Content::Other,
        _ => blocks::unknown(block),
    };
    let bound = matches!(content, Content::Reasoning(_)) && is_signed(value);
    Part::from_source(content, PartPlace::element(block)).bound_to_prefix(bound)
}

/// Whether Claude's reasoning is signed.
fn is_signed(thought: Value<'_>) -> bool {
    let signature = thought.get("reasoningText").and_then(|inner| inner.get_text("signature"));
    signature.is_some_and(|signature| signature.len_bound() > 0) || thought.has("redactedContent")
}

fn read_call(call: Value<'_>) -> ToolCall<'_> {
    let hosted = is_servers(call);
    ToolCall {
        id: call.get_text("toolUseId"),
        name: call.get_text("name").unwrap_or(Text::Escaped("")),
        arguments: blocks::arguments(call.get("input")),
        family: if hosted { Family::Server } else { Family::Function },
        hosted,
    }
}

/// Whether the provider runs the tool: `server_tool_use`, `web_search_tool_result` and the like.
fn is_servers(block: Value<'_>) -> bool {
    block.get_text("type").is_some_and(|kind| !kind.is("tool_use") && !kind.is("tool_result"))
}

fn read_result<'a>(block: Value<'a>, result: Value<'a>) -> Part<'a> {
    let content = result.get("content");
    let hosted = is_servers(result);
    let answer = ToolResult {
        id: result.get_text("toolUseId"),
        name: None,
        content: content.into_iter().flat_map(Value::items).filter_map(answer_text).collect(),
        media: content.map_or(0, |content| content.items().filter(|block| answer_text(*block).is_none()).count()),
        family: if hosted { Family::Server } else { Family::Function },
        same_message: hosted,
    };
    let rewrite =
        content.filter(|_| !hosted).map(|list| Rewrite { span: list.span(), before: "[{\"text\":", after: "}]" });
    Part::from_source(Content::ToolResult(answer), PartPlace { rewrite, ..PartPlace::element(block) })
}

fn answer_text(block: Value<'_>) -> Option<Text<'_>> {
    block.get_text("text").or_else(|| block.some("json").map(|json| Text::Json(json.raw())))
}

fn reasoning(value: Value<'_>) -> Text<'_> {
    value.get("reasoningText").and_then(|inner| inner.get_text("text")).unwrap_or(Text::Escaped(""))
}

/// A text that a guardrail checks.
fn guarded(value: Value<'_>) -> Option<Text<'_>> {
    value.get("text")?.get_text("text")
}

fn cited(value: Value<'_>) -> Text<'_> {
    let texts = value.get("content").into_iter().flat_map(Value::items).filter_map(|block| block.get_text("text"));
    Text::Owned(texts.map(|text| text.decode().into_owned()).collect())
}
