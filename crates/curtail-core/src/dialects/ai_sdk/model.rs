//! `ModelMessage`: the messages that the AI SDK passes to a provider.

use crate::dialects::blocks;
use crate::json::{Text, Value};
use crate::transcript::{Content, Family, Part, PartPlace, Rewrite, ToolCall, ToolResult};

/// Whether no other dialect has this part.
pub(super) fn is_own_part(part: Value<'_>) -> bool {
    let Some(kind) = part.get_text("type") else { return false };
    match &*kind.decode() {
        "tool-call" | "tool-result" => part.get("toolCallId").is_some(),
        "tool-approval-request" | "tool-approval-response" => part.get("approvalId").is_some(),
        "reasoning" => part.get("text").is_some(),
        "image" => part.get("image").is_some(),
        "file" => part.get("mediaType").is_some() && part.get("data").is_some(),
        _ => false,
    }
}

/// Reads the content of a message: a string, or parts.
pub(super) fn read_content(content: Option<Value<'_>>) -> Vec<Part<'_>> {
    match content {
        Some(list) if list.is_array() => list.items().map(|part| read_part(list, part)).collect(),
        said => blocks::content(said, blocks::plain_block),
    }
}

fn read_part<'a>(list: Value<'a>, part: Value<'a>) -> Part<'a> {
    let kind = part.get_text("type").map(|kind| kind.decode().into_owned());
    let content = match kind.as_deref() {
        Some("tool-call") => Content::ToolCall(read_call(part)),
        Some("tool-result") => return read_result(part),
        Some("tool-approval-request") => Content::ToolCall(read_request(list, part)),
        Some("tool-approval-response") => return read_response(part),
        Some("reasoning") => Content::Reasoning(part.get_text("text").unwrap_or(Text::Escaped(""))),
        Some("reasoning-file") => Content::Reasoning(Text::Escaped("")),
        _ => return blocks::part(part, blocks::plain_block(part)),
    };
    let bound = matches!(content, Content::Reasoning(_)) && is_signed_by_claude(part);
    Part::from_source(content, PartPlace::element(part)).bound_to_prefix(bound)
}

/// Whether the provider options contain the signature of Claude's reasoning.
pub(super) fn is_signed_by_claude(part: Value<'_>) -> bool {
    let options = ["providerOptions", "providerMetadata"].iter().filter_map(|key| part.get(key));
    let mut claude =
        options.flat_map(|options| ["anthropic", "bedrock"].map(|provider| options.get(provider))).flatten();
    // Version 4 of the SDK writes the signature beside the text.
    part.get("signature").is_some()
        || claude.any(|proof| proof.some("signature").is_some() || proof.some("redactedData").is_some())
}

fn read_call(part: Value<'_>) -> ToolCall<'_> {
    ToolCall {
        id: part.get_text("toolCallId"),
        name: part.get_text("toolName").unwrap_or(Text::Escaped("")),
        // Version 4 of the SDK calls them `args`.
        arguments: blocks::arguments(part.get("input").or_else(|| part.get("args"))),
        family: Family::Function,
        hosted: part.get("providerExecuted").is_some_and(|flag| flag.raw() == "true"),
    }
}

/// An approval request has the id of its call, so both are dropped together.
fn read_request<'a>(list: Value<'a>, part: Value<'a>) -> ToolCall<'a> {
    let about = part.get_text("toolCallId").map(|id| id.decode().into_owned());
    let is_it = |other: &Value<'_>| other.get("toolName").is_some() && same_id(*other, about.as_deref());
    let call = list.items().find(is_it);
    ToolCall {
        id: part.get_text("approvalId"),
        name: call.and_then(|call| call.get_text("toolName")).unwrap_or(Text::Escaped("")),
        arguments: Text::Escaped(""),
        family: Family::Approval,
        hosted: false,
    }
}

fn same_id(part: Value<'_>, id: Option<&str>) -> bool {
    id.is_some_and(|id| part.get("toolCallId").is_some_and(|own| own.is(id)))
}

fn read_response(part: Value<'_>) -> Part<'_> {
    let reason = part.get("reason");
    let answer = ToolResult {
        id: part.get_text("approvalId"),
        name: None,
        content: reason.and_then(Value::text).into_iter().collect(),
        media: 0,
        family: Family::Approval,
        same_message: false,
    };
    Part::from_source(Content::ToolResult(answer), PartPlace::element(part).with_text(reason))
}

fn read_result(part: Value<'_>) -> Part<'_> {
    // Version 4 of the SDK has a plain `result`.
    let (content, media, rewrite) = match part.get("output") {
        Some(output) => read_output(output),
        None => (blocks::texts(part.get("result")), 0, part.get("result").map(plainly)),
    };
    let answer = ToolResult {
        id: part.get_text("toolCallId"),
        name: part.get_text("toolName"),
        content,
        media,
        family: Family::Function,
        same_message: false,
    };
    Part::from_source(Content::ToolResult(answer), PartPlace { rewrite, ..PartPlace::element(part) })
}

fn plainly(value: Value<'_>) -> Rewrite {
    Rewrite { span: value.span(), before: "", after: "" }
}

/// `{"type": …, "value": …}`: a text, a JSON value, or a list of texts and files.
fn read_output(output: Value<'_>) -> (Vec<Text<'_>>, usize, Option<Rewrite>) {
    let value = output.get("value").or_else(|| output.get("reason"));
    if let Some(text) = value.and_then(Value::text) {
        return (vec![text], 0, value.map(plainly));
    }
    let rewrite = Rewrite { span: output.span(), before: "{\"type\":\"text\",\"value\":", after: "}" };
    if !output.get("type").is_some_and(|kind| kind.is("content")) {
        let json = value.map(|value| Text::Json(value.raw()));
        return (json.into_iter().collect(), 0, Some(rewrite));
    }
    let texts: Vec<Text<'_>> =
        value.into_iter().flat_map(Value::items).filter_map(|block| block.get_text("text")).collect();
    let media = value.map_or(0, |list| list.items().count() - texts.len());
    (texts, media, Some(rewrite))
}
