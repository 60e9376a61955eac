//! Anthropic Messages: `role` and a `content` of blocks; `tool_use` answered by `tool_result` at the head of the next user
//! message, server tools answered inside the same message.

use super::{BY_ID, Dialect, DialectWriter, Fit, Format, Item, LogHabits, NO_RULES, Patch, blocks, roo};
use crate::json::{Text, Value, object};
use crate::transcript::{
    Content, Draft, DraftPart, DraftResult, Family, Leader, Message, PairingRules, Part, PartOrigin, ProviderRules,
    ResultPlace, Role, ToolCall, ToolResult, Usage,
};

/// The dialect `anthropic`.
pub(super) struct Anthropic;

impl Dialect for Anthropic {
    fn format(&self) -> &'static Format {
        &Format {
            name: "anthropic",
            known: &["stop_details"],
            signature: "`role` and `content` with blocks `tool_use`, `tool_result` with `tool_use_id`, \
                `thinking` or `server_tool_use`",
            pairing: PairingRules {
                results: ResultPlace::NextMessageFirst,
                unique_ids: true,
                failures_need_text: true,
                ..BY_ID
            },
            provider: RULES,
            writer: Some(&Anthropic),
            log: &Anthropic,
            ..Format::PLAIN
        }
    }

    fn fit(&self, item: Value<'_>) -> Fit {
        if roo::is_thought(item, roo::THINKER) {
            return Fit::Certain;
        }
        if !item.has("role") {
            return Fit::No;
        }
        if item.member_is("type", "message") && item.get("stop_reason").is_some() {
            return Fit::Certain;
        }
        match item.get("content") {
            Some(content) if roo::thinks(item, content) => Fit::Certain,
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

    fn read<'a>(&self, item: Value<'a>) -> Item<'a> {
        if roo::is_thought(item, roo::THINKER) {
            return roo::read_thought(item);
        }
        blocks::read_message(item, item.get_text("role"), blocks::speaker_of, |message| {
            message.id = item.get_text("id");
            message.parts = read_content(item.get("content"));
            if item.has_any(["ts", "modelInfo"]) {
                mark_unsigned(&mut message.parts);
            }
            let thought = blocks::text_beside(item, "reasoning_content", Content::Reasoning);
            message.parts.extend(thought.map(roo::unsigned));
            mark_compaction(message);
            // A message of the system can set nothing but the effort from there on.
            if message.role == Role::System && message.parts.is_empty() && item.has("output_config") {
                message.parts.push(blocks::whole(item, Content::Other));
            }
            if message.role == Role::User {
                mark_instructions(message);
            }
        })
    }

    fn connect<'a>(&self, items: &[Value<'a>], read: &mut [Item<'a>]) {
        roo::bind_thoughts(items, read);
    }

    fn model<'a>(&self, item: Value<'a>) -> Option<Text<'a>> {
        item.get_text("model")
    }
}

impl DialectWriter for Anthropic {
    fn write_message(&self, draft: &Draft, anchor: Option<Value<'_>>) -> String {
        // User messages contain results. Instructions from the application are written as user messages, before other
        // content.
        let role = blocks::speaker(draft);
        let message = match draft.parts.as_slice() {
            [DraftPart::Text(text)] => blocks::role_and_content(role, text),
            _ => object! { "role": role, "content": blocks::parts(self, draft) }.0,
        };
        match anchor.filter(|_| draft.superseded) {
            Some(subject) => roo::hide_with(subject, &message),
            None => message,
        }
    }

    fn write_result(&self, result: &DraftResult) -> String {
        let id = result.call_id();
        let text = &result.text;
        object! { "type": "tool_result", "tool_use_id": id, "content": text, "is_error": true }.0
    }

    fn prepend_parts(&self, message: Value<'_>, parts: &[String]) -> Option<Patch> {
        blocks::prepend_blocks(message.get("content"), parts)
    }
}

impl LogHabits for Anthropic {
    fn reply_id<'a>(&self, item: Value<'a>) -> Option<Text<'a>> {
        item.get_text("id").filter(|_| item.has("usage"))
    }

    fn usage(&self, item: Value<'_>) -> Option<Usage> {
        usage(item)
    }
}

/// Blocks that the application writes into a user message.
const INSTRUCTIONS: &[&str] = &["mid_conv_system", "tool_addition", "tool_removal"];

/// The constraints of the Messages API, for all dialects with its blocks.
pub(super) const RULES: ProviderRules = ProviderRules {
    provider: "anthropic",
    first_speaker: Some(Role::User),
    // The signature of redacted reasoning is its `data`.
    signatures: &["signature", "data"],
    system_anywhere: true,
    ..NO_RULES
};

/// Block types that only this dialect has.
fn is_own_block(block: Value<'_>) -> bool {
    let Some(kind) = block.get_text("type") else { return false };
    let kind = kind.decode();
    matches!(&*kind, "tool_use" | "redacted_thinking")
        || (kind == "thinking" && !blocks::thinks_in_list(block))
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
        if !place.element.member_is("type", "compaction") {
            continue;
        }
        place.rewrite = None;
        let summary = place.element.get_text("content");
        if summary.is_none() && place.element.get_text("encrypted_content").is_none() {
            continue;
        }
        part.content = summary.map_or(Content::Other, Content::Text);
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
            // Roo Code writes down what models of other providers thought.
            Content::Reasoning(_) if block.member_is("type", "reasoning") => place.further_mut().unsigned = true,
            Content::Reasoning(_) => place.prefix_bound = is_signed(block),
            Content::Other => place.prefix_bound = block.member_is("type", "fallback"),
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

/// Cline keeps what models of every provider thought in blocks of this API: most of them sign nothing.
fn mark_unsigned(parts: &mut [Part<'_>]) {
    for part in parts.iter_mut().filter(|part| matches!(part.content, Content::Reasoning(_))) {
        if let PartOrigin::Source(place) = &mut part.origin
            && !place.prefix_bound
        {
            place.further_mut().unsigned = true;
        }
    }
}

/// Whether a block has a signature that is not empty.
pub(super) fn is_signed(block: Value<'_>) -> bool {
    RULES.signatures.iter().any(|key| block.some_text(key).is_some())
}

/// Reads a content block.
pub(super) fn read_block(block: Value<'_>) -> Content<'_> {
    let Some(kind) = block.get_text("type") else { return blocks::plain_block(block) };
    let kind = kind.decode();
    match &*kind {
        "thinking" => Content::Reasoning(block.text_or_empty("thinking")),
        "reasoning" if block.has("text") => Content::Reasoning(block.text_or_empty("text")),
        "redacted_thinking" => Content::Reasoning(Text::Escaped("")),
        "text" => blocks::plain_block(block),
        "mid_conv_system" => block
            .get("content")
            .map_or(Content::Other, |content| Content::Text(blocks::joined(blocks::texts(Some(content))))),
        // What a search of the application found: where, and what it says there.
        "search_result" => {
            let place = ["title", "source"].into_iter().filter_map(|key| block.get_text(key));
            Content::Text(blocks::joined(place.chain(blocks::texts(block.get("content")))))
        }
        kind if kind.ends_with("tool_use") => read_call(block, family(kind)),
        kind if kind.ends_with("tool_result") => read_result(block, family(kind)),
        _ => blocks::plain_block(block),
    }
}

/// `tool_use` and `tool_result` belong to the caller's tools, `mcp_tool_use` and `mcp_tool_result` to those of a remote MCP
/// server; every other prefix (`server_`, `web_search_`, …) belongs to the provider's.
fn family(kind: &str) -> Family {
    match kind {
        "tool_use" | "tool_result" => Family::Function,
        "mcp_tool_use" | "mcp_tool_result" => Family::Mcp,
        _ => Family::Server,
    }
}

fn read_call(block: Value<'_>, family: Family) -> Content<'_> {
    let arguments = blocks::arguments(block.get("input"));
    let call = ToolCall::new(block.get_text("id"), block.text_or_empty("name"), arguments);
    Content::ToolCall(ToolCall { family, hosted: family != Family::Function, ..call })
}

fn read_result(block: Value<'_>, family: Family) -> Content<'_> {
    let content = block.get("content");
    let result = ToolResult::new(block.get_text("tool_use_id"), None, blocks::texts(content));
    let media = blocks::count_media(content);
    let same_message = family != Family::Function;
    Content::ToolResult(ToolResult { media, family, same_message, ..result })
}

/// The usage of a reply. Its `input_tokens` exclude the tokens that were read from or written to the cache.
pub(super) fn usage(reply: Value<'_>) -> Option<Usage> {
    let usage = reply.some("usage")?;
    let cache_read = usage.number("cache_read_input_tokens");
    let cache_write = usage.number("cache_creation_input_tokens");
    let split = usage.some("cache_creation");
    Some(Usage {
        input: usage.number("input_tokens") + cache_read + cache_write,
        cache_read,
        cache_write,
        cache_write_long: split.map_or(0, |split| split.number("ephemeral_1h_input_tokens")),
        output: usage.number("output_tokens"),
    })
}
