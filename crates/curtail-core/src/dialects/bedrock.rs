//! Bedrock Converse: `role` and `content` blocks without a type, each named by its key; `toolUse` answered by `toolResult` in
//! the next user message.

use super::{BY_ID, Dialect, DialectWriter, Fit, Format, Item, NO_RULES, Patch, blocks};
use crate::json::{Json, Text, Value, list, object};
use crate::transcript::{
    Content, Draft, DraftResult, PairingRules, Part, PartPlace, ProviderRules, ResultPlace, Role, Turns,
};

/// The dialect `bedrock`.
pub(super) struct Bedrock;

/// Keys that name a block.
const BLOCKS: &[&str] = &[
    "text", "toolUse", "toolResult", "reasoningContent", "image", "document", "video", "audio", "cachePoint",
    "guardContent", "citationsContent", "searchResult",
];

impl Dialect for Bedrock {
    fn format(&self) -> &'static Format {
        &Format {
            name: "bedrock",
            signature: "`role` and `content` blocks without `type`: `text`, `toolUse`, `toolResult` with `toolUseId`, \
                `reasoningContent`",
            pairing: PairingRules { results: ResultPlace::NextMessage, failures_need_text: true, ..BY_ID },
            provider: ProviderRules {
                provider: "bedrock",
                first_speaker: Some(Role::User),
                turns: Turns::Alternate,
                system_beside: true,
                ..NO_RULES
            },
            writer: Some(&Bedrock),
            ..Format::PLAIN
        }
    }

    fn fit(&self, item: Value<'_>) -> Fit {
        let Some(blocks) = item.get("content").filter(|_| item.has("role")) else { return Fit::No };
        let mut blocks = blocks.items().peekable();
        let fits = blocks.peek().is_some() && blocks.all(is_block);
        if fits { Fit::Certain } else { Fit::No }
    }

    fn read<'a>(&self, item: Value<'a>) -> Item<'a> {
        blocks::read_message(item, item.get_text("role"), blocks::speaker_of, |message| {
            message.parts = blocks::text_or_parts(item.get("content"), read_block);
        })
    }

    fn preamble<'a>(&self, record: Value<'a>) -> Vec<Text<'a>> {
        blocks::preamble(record, &["system", "toolConfig"])
    }

    fn model<'a>(&self, item: Value<'a>) -> Option<Text<'a>> {
        item.get_text("modelId").filter(names_model).or_else(|| blocks::model(item))
    }
}

impl DialectWriter for Bedrock {
    fn write_message(&self, draft: &Draft, _anchor: Option<Value<'_>>) -> String {
        object! { "role": blocks::speaker(draft), "content": blocks::parts(self, draft) }.0
    }

    fn write_text(&self, text: &str) -> String {
        object! { "text": text }.0
    }

    fn write_result(&self, result: &DraftResult) -> String {
        let id = result.call_id();
        let content = list([self.write_text(&result.text)]);
        object! { "toolResult": object! { "toolUseId": id, "content": content, "status": "error" } }.0
    }

    fn prepend_parts(&self, message: Value<'_>, parts: &[String]) -> Option<Patch> {
        blocks::prepend_parts(message.get("content")?, parts, |json| object! { "text": Json(json) }.0)
    }
}

/// Whether the id of a request names its model. The ARN of a resource of the caller, such as an application's inference
/// profile or a provisioned model, does not.
fn names_model(id: &Text<'_>) -> bool {
    let id = id.decode();
    !id.starts_with("arn:") || id.contains(":foundation-model/") || id.contains(":inference-profile/")
}

/// A block has no type; one of its keys identifies it.
fn is_block(block: Value<'_>) -> bool {
    !block.has("type") && block.members().any(|member| BLOCKS.iter().any(|key| member.key.is(key)))
}

fn read_block(block: Value<'_>) -> Part<'_> {
    // A table fills members that are absent with null, and a program may add some of its own.
    let filled = || block.members().filter(|member| member.value.raw() != "null");
    let known = filled().find(|member| member.key.is_one_of(BLOCKS));
    let Some(member) = known.or_else(|| filled().next()) else { return blocks::whole(block, Content::Other) };
    let value = member.value;
    let content = match &*member.key.decode() {
        "text" => return blocks::part(block, blocks::plain_block(block)),
        "toolUse" => read_call(value),
        "toolResult" => return read_result(block, value),
        "reasoningContent" => {
            let text = value.get("reasoningText").and_then(|inner| inner.get_text("text"));
            Content::Reasoning(text.unwrap_or(Text::Escaped("")))
        }
        "citationsContent" | "searchResult" => Content::Text(cited(value)),
        // A text that a guardrail checks.
        "guardContent" => value
            .get("text")
            .and_then(|text| text.get_text("text"))
            .map_or_else(|| blocks::unknown(block), Content::Text),
        "image" | "document" | "video" | "audio" => Content::Media(Text::Json(block.raw())),
        "cachePoint" => Content::Other,
        _ => blocks::unknown(block),
    };
    let bound = matches!(content, Content::Reasoning(_)) && is_signed(value);
    blocks::whole(block, content).bound_to_prefix(bound)
}

/// Whether Claude's reasoning is signed.
fn is_signed(thought: Value<'_>) -> bool {
    let signature = thought.get("reasoningText").and_then(|inner| inner.some_text("signature"));
    signature.is_some() || thought.has("redactedContent")
}

fn read_call(call: Value<'_>) -> Content<'_> {
    let content = blocks::call_in(call, ["toolUseId", "name", "input"]);
    if is_servers(call) { blocks::hosted(content) } else { content }
}

/// Whether the provider runs the tool: `server_tool_use`, `web_search_tool_result` and the like.
fn is_servers(block: Value<'_>) -> bool {
    block.get_text("type").is_some_and(|kind| !kind.is("tool_use") && !kind.is("tool_result"))
}

fn read_result<'a>(block: Value<'a>, result: Value<'a>) -> Part<'a> {
    let texts: Vec<Text<'a>> = result.items_under("content").filter_map(answer_text).collect();
    let media = result.items_under("content").count() - texts.len();
    let answer = blocks::result_of(result.get_text("toolUseId"), None, texts, media);
    match result.get("content") {
        _ if is_servers(result) => blocks::whole(block, blocks::hosted(answer)),
        Some(list) => Part::from_source(answer, PartPlace::element(block).with_text_in(list, &["[{\"text\":", "}]"])),
        None => blocks::whole(block, answer),
    }
}

fn answer_text(block: Value<'_>) -> Option<Text<'_>> {
    block.get_text("text").or_else(|| block.some("json").map(|json| Text::Json(json.raw())))
}

fn cited(value: Value<'_>) -> Text<'_> {
    let texts = value.items_under("content").filter_map(|block| block.get_text("text"));
    Text::Owned(texts.map(|text| text.decode().into_owned()).collect())
}
