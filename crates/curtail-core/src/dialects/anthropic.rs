//! Anthropic Messages: `role` and a `content` of blocks; `tool_use` answered by `tool_result` at the head of the next user
//! message, server tools answered inside the same message.

use super::{Dialect, DialectWriter, Fit, Item, LogHabits, Patch, blocks};
use crate::json::{Json, Text, Value, list, object};
use crate::transcript::{
    Content, Draft, DraftPart, Family, IdFormat, Leader, Message, PairingRules, Part, PartOrigin, PartPlace,
    ProviderRules, ResultPlace, Role, ToolCall, ToolResult, Turns, Unknown, Usage,
};

/// The dialect `anthropic`.
pub(super) struct Anthropic;

impl Dialect for Anthropic {
    fn name(&self) -> &'static str {
        "anthropic"
    }

    fn signature(&self) -> &'static str {
        "`role` and `content` with blocks `tool_use`, `tool_result` with `tool_use_id`, `thinking` or `server_tool_use`"
    }

    fn fit(&self, item: Value<'_>) -> Fit {
        if !item.has("role") {
            return Fit::No;
        }
        if item.get("type").is_some_and(|kind| kind.is("message")) && item.get("stop_reason").is_some() {
            return Fit::Certain;
        }
        match item.get("content") {
            // Messages of Goose have a time beside them, and some of the same blocks.
            Some(content) if content.items().any(is_own_block) => {
                if item.has("created") {
                    Fit::Possible
                } else {
                    Fit::Certain
                }
            }
            Some(content) if content.items().any(|block| !block.has("type")) => Fit::No,
            Some(_) if !item.has("tool_calls") => Fit::Possible,
            _ => Fit::No,
        }
    }

    fn pairing_rules(&self) -> PairingRules {
        PairingRules { results: ResultPlace::NextMessageFirst, unique_ids: true, ids: true, developer: false }
    }

    fn provider_rules(&self) -> ProviderRules {
        RULES
    }

    fn read<'a>(&self, item: Value<'a>) -> Item<'a> {
        let Some(role) = item.get_text("role") else { return Item::Unknown(Unknown::NoRole) };
        let Some(role) = blocks::speaker_of(&role.decode()) else {
            return Item::Unknown(Unknown::Named(role.decode().into_owned()));
        };
        let mut message = Message::from_source(role, item);
        message.id = item.get_text("id");
        message.parts = read_content(item.get("content"));
        mark_compaction(&mut message);
        // A message of the system can set nothing but the effort from there on.
        if role == Role::System && message.parts.is_empty() && item.has("output_config") {
            message.parts.push(Part::from_source(Content::Other, PartPlace::element(item)));
        }
        if role == Role::User {
            mark_instructions(&mut message);
        }
        Item::Message(message)
    }
}

impl DialectWriter for Anthropic {
    fn write_message(&self, draft: &Draft, _anchor: Option<Value<'_>>) -> String {
        // User messages contain results. Instructions from the application are written as user messages, before other
        // content.
        let role = if draft.role == Role::Assistant { "assistant" } else { "user" };
        if let [DraftPart::Text(text)] = draft.parts.as_slice() {
            return blocks::role_and_content(role, text);
        }
        let blocks = list(draft.parts.iter().map(|part| self.write_part(part)));
        object! { "role": role, "content": blocks }.0
    }

    fn write_part(&self, part: &DraftPart) -> String {
        write_block(part)
    }

    fn prepend_parts(&self, message: Value<'_>, parts: &[String]) -> Option<Patch> {
        blocks::prepend_parts(message.get("content")?, parts, |json| object! { "type": "text", "text": Json(json) }.0)
    }
}

impl LogHabits for Anthropic {
    fn reply_id<'a>(&self, item: Value<'a>) -> Option<Text<'a>> {
        item.get_text("id").filter(|_| item.has("usage"))
    }

    fn usage(&self, item: Value<'_>) -> Option<Usage> {
        usage(item)
    }

    fn model<'a>(&self, item: Value<'a>) -> Option<Text<'a>> {
        item.get_text("model")
    }
}

/// Blocks that the application writes into a user message.
const INSTRUCTIONS: &[&str] = &["mid_conv_system", "tool_addition", "tool_removal"];

/// The constraints of the Messages API, for all dialects with its blocks.
pub(super) const RULES: ProviderRules = ProviderRules {
    provider: "anthropic",
    log: false,
    first_speaker: Some(Role::User),
    system_beside: false,
    turns: Turns::Free,
    results_together: false,
    server_state: false,
    // The signature of redacted reasoning is its `data`.
    signatures: &["signature", "data"],
    call_signatures: &[],
    system_anywhere: true,
    ids: Some(IdFormat { symbols: "_-", longest: usize::MAX }),
};

/// Writes a part as a content block.
pub(super) fn write_block(part: &DraftPart) -> String {
    match part {
        DraftPart::Text(text) => blocks::text_block(text),
        DraftPart::Verbatim(raw) => raw.clone(),
        DraftPart::ToolResult { id, text, .. } => {
            let id = id.as_deref().unwrap_or_default();
            object! { "type": "tool_result", "tool_use_id": id, "content": text, "is_error": true }.0
        }
    }
}

/// Block types that only this dialect has.
fn is_own_block(block: Value<'_>) -> bool {
    let Some(kind) = block.get_text("type") else { return false };
    let kind = kind.decode();
    matches!(&*kind, "tool_use" | "thinking" | "redacted_thinking")
        || kind.ends_with("_tool_use")
        || (kind.ends_with("tool_result") && block.has("tool_use_id"))
        || (kind == "image" && block.has("source"))
}

/// Marks the instructions of the application in a message of the user: text for the model, and tools that are added or
/// removed. If the message contains nothing else, it is one of the application.
fn mark_instructions(message: &mut Message<'_>) {
    for part in &mut message.parts {
        let PartOrigin::Source(place) = &mut part.origin else { continue };
        let kind = place.element.get_text("type");
        place.instructs = kind.is_some_and(|kind| INSTRUCTIONS.contains(&&*kind.decode()));
    }
    message.instructs_alone();
}

/// A message with a compaction block is a boundary: the API drops everything before the block. The summary is counted and
/// never rewritten. A block without content is a compaction that failed: the API ignores it.
pub(super) fn mark_compaction(message: &mut Message<'_>) {
    let mut is_boundary = false;
    for part in &mut message.parts {
        let PartOrigin::Source(place) = &mut part.origin else { continue };
        if !place.element.get("type").is_some_and(|kind| kind.is("compaction")) {
            continue;
        }
        place.rewrite = None;
        let holds = |key: &str| place.element.get_text(key).is_some();
        if !holds("content") && !holds("encrypted_content") {
            continue;
        }
        part.content = place.element.get_text("content").map_or(Content::Other, Content::Text);
        is_boundary = true;
    }
    if is_boundary {
        message.set_boundary();
    }
}

/// Reads the content of a message. Signed reasoning is bound to everything before it, and so is the block between the
/// reasoning of two models.
pub(super) fn read_content(content: Option<Value<'_>>) -> Vec<Part<'_>> {
    let mut parts = blocks::content(content, read_block);
    for part in &mut parts {
        let PartOrigin::Source(place) = &mut part.origin else { continue };
        let block = place.element;
        match &part.content {
            Content::Reasoning(_) => place.prefix_bound = is_signed(block),
            Content::Other => place.prefix_bound = block.get("type").is_some_and(|kind| kind.is("fallback")),
            // A call that a program at the provider makes names that program.
            Content::ToolCall(_) => {
                let program = block.some("caller").and_then(|caller| caller.get("tool_id"));
                place.set_leader(program.map(Leader::Program));
            }
            _ => {}
        }
    }
    parts
}

/// Whether a block has a signature that is not empty.
pub(super) fn is_signed(block: Value<'_>) -> bool {
    RULES.signatures.iter().any(|key| block.get_text(key).is_some_and(|text| text.len_bound() > 0))
}

/// Reads a content block.
pub(super) fn read_block(block: Value<'_>) -> Content<'_> {
    let Some(kind) = block.get_text("type") else { return blocks::plain_block(block) };
    let kind = kind.decode();
    match &*kind {
        "thinking" => Content::Reasoning(block.get_text("thinking").unwrap_or(Text::Escaped(""))),
        "redacted_thinking" => Content::Reasoning(Text::Escaped("")),
        "text" => blocks::plain_block(block),
        "mid_conv_system" => block.get("content").map_or(Content::Other, |said| {
            let texts: Vec<String> = blocks::texts(Some(said)).iter().map(|text| text.decode().into_owned()).collect();
            Content::Text(Text::Owned(texts.join("\n")))
        }),
        "search_result" => Content::Text(Text::Owned(found(block))),
        kind if kind.ends_with("tool_use") => read_call(block, family(kind)),
        kind if kind.ends_with("tool_result") => read_result(block, family(kind)),
        _ => blocks::plain_block(block),
    }
}

/// What a search of the application found: where, and what it says there.
fn found(block: Value<'_>) -> String {
    let place = ["title", "source"].into_iter().filter_map(|key| block.get_text(key));
    let texts: Vec<String> =
        place.chain(blocks::texts(block.get("content"))).map(|text| text.decode().into_owned()).collect();
    texts.join("\n")
}

/// `tool_use` and `tool_result` belong to the caller's tools; every other prefix (`server_`, `mcp_`, `web_search_`, …) to
/// the provider's.
fn family(kind: &str) -> Family {
    match kind {
        "tool_use" | "tool_result" => Family::Function,
        "mcp_tool_use" | "mcp_tool_result" => Family::Mcp,
        _ => Family::Server,
    }
}

fn read_call(block: Value<'_>, family: Family) -> Content<'_> {
    Content::ToolCall(ToolCall {
        id: block.get_text("id"),
        name: block.get_text("name").unwrap_or(Text::Escaped("")),
        arguments: blocks::arguments(block.get("input")),
        family,
        hosted: family != Family::Function,
    })
}

fn read_result(block: Value<'_>, family: Family) -> Content<'_> {
    let content = block.get("content");
    Content::ToolResult(ToolResult {
        id: block.get_text("tool_use_id"),
        name: None,
        content: blocks::texts(content),
        media: blocks::count_media(content),
        family,
        same_message: family != Family::Function,
    })
}

/// The usage of a reply. Its `input_tokens` exclude the tokens that were read from or written to the cache.
pub(super) fn usage(reply: Value<'_>) -> Option<Usage> {
    let figures = reply.some("usage")?;
    let number = |key: &str| blocks::number(figures, key);
    let (cache_read, cache_write) = (number("cache_read_input_tokens"), number("cache_creation_input_tokens"));
    let split = figures.some("cache_creation");
    Some(Usage {
        input: number("input_tokens") + cache_read + cache_write,
        cache_read,
        cache_write,
        cache_write_long: split.map_or(0, |split| blocks::number(split, "ephemeral_1h_input_tokens")),
        output: number("output_tokens"),
    })
}
