//! `UIMessage`: the messages that the AI SDK displays. A tool part has a state; in the later states it contains the result.

use super::model::is_signed_by_claude;
use crate::dialects::{Fit, blocks};
use crate::json::{Span, Text, Value};
use crate::transcript::{Content, Family, Part, PartPlace, Rewrite, ToolCall, ToolResult};

/// How well a list of `parts` fits.
pub(super) fn fit(parts: Value<'_>) -> Fit {
    if parts.items().any(|part| part.get_text("type").is_none()) {
        Fit::No
    } else if parts.items().any(is_own_part) {
        Fit::Certain
    } else {
        Fit::Possible
    }
}

/// Whether a part is of a type that a `UIMessage` has.
fn is_own_part(part: Value<'_>) -> bool {
    let kind = part.get_text("type").map(|kind| kind.decode().into_owned()).unwrap_or_default();
    match &*kind {
        "text" => part.get("text").is_some(),
        "reasoning" => part.get("text").is_some() || part.get("reasoning").is_some(),
        "file" => part.get("url").is_some() || part.get("data").is_some(),
        "step-start" | "dynamic-tool" | "tool-invocation" | "source" | "source-url" | "source-document" => true,
        kind => kind.starts_with("tool-") || kind.starts_with("data-"),
    }
}

/// Reads a part. A tool part is a call and, in the later states, also its result; both have the same bytes.
pub(super) fn read_part(part: Value<'_>) -> Vec<Part<'_>> {
    let kind = part.get_text("type").map(|kind| kind.decode().into_owned()).unwrap_or_default();
    if let Some(tool) = part.get("toolInvocation") {
        let name = tool.get_text("toolName").unwrap_or(Text::Escaped(""));
        return read_tool(part, tool, name);
    }
    let named = kind.strip_prefix("tool-").map(|name| Text::Owned(name.to_owned()));
    if kind == "dynamic-tool" || named.is_some() && part.get("toolCallId").is_some() {
        let name = part.get_text("toolName").or(named).unwrap_or(Text::Escaped(""));
        return read_tool(part, part, name);
    }
    match &*kind {
        "reasoning" => {
            // Version 4 of the SDK writes the text under `reasoning`.
            let text = part.get_text("text").or_else(|| part.get_text("reasoning")).unwrap_or(Text::Escaped(""));
            let thought = Part::from_source(Content::Reasoning(text), PartPlace::element(part));
            vec![thought.bound_to_prefix(is_signed_by_claude(part))]
        }
        "text" => vec![blocks::part(part, blocks::plain_block(part))],
        "file" => vec![Part::from_source(Content::Media(Text::Json(part.raw())), PartPlace::element(part))],
        // Marks, sources and data of the page, which are not sent to the model.
        "step-start" | "source" | "source-url" | "source-document" => {
            vec![Part::from_source(Content::Other, PartPlace::element(part))]
        }
        kind if kind.starts_with("data-") => vec![Part::from_source(Content::Other, PartPlace::element(part))],
        _ => vec![Part::from_source(blocks::unknown(part), PartPlace::element(part))],
    }
}

/// `part` is the element and `tool` the object with the state: the part itself, or one of its members in version 4 of the
/// SDK.
fn read_tool<'a>(part: Value<'a>, tool: Value<'a>, name: Text<'a>) -> Vec<Part<'a>> {
    let result = result_of(tool);
    let id = tool.get_text("toolCallId");
    let call = ToolCall {
        id: id.clone(),
        name: name.clone(),
        arguments: blocks::arguments(tool.some("input").or_else(|| tool.some("args"))),
        family: Family::Function,
        hosted: tool.get("providerExecuted").is_some_and(|flag| flag.raw() == "true"),
    };
    let open = if result.is_none() { room_for_result(tool) } else { None };
    let mut parts =
        vec![Part::from_source(Content::ToolCall(call), PartPlace { rewrite: open, ..PartPlace::element(part) })];
    if let Some(said) = result {
        let content = blocks::texts(said);
        let answer =
            ToolResult { id, name: Some(name), content, media: 0, family: Family::Function, same_message: false };
        parts.push(Part::from_source(Content::ToolResult(answer), PartPlace::element(part).with_text(said)));
    }
    parts
}

/// What the tool answered, if it did. A call that the user denied has no answer.
#[expect(clippy::option_option, reason = "no result, a result without text, and a result with one are three things")]
fn result_of(tool: Value<'_>) -> Option<Option<Value<'_>>> {
    match &*tool.get_text("state")?.decode() {
        "output-available" => Some(tool.get("output")),
        "result" => Some(tool.get("result")),
        "output-error" => Some(tool.get("errorText")),
        "output-denied" => Some(None),
        _ => None,
    }
}

/// Where the result of an open call is inserted: its state becomes an error, followed by the text. A call without a state
/// gets both in front of its members.
fn room_for_result(tool: Value<'_>) -> Option<Rewrite> {
    let is_version_4 = tool.get("args").is_some();
    if let Some(state) = tool.get("state") {
        let before = if is_version_4 { "\"result\",\"result\":" } else { "\"output-error\",\"errorText\":" };
        return Some(Rewrite { span: state.span(), before, after: "" });
    }
    let front = tool.span().start + 1;
    let before = match is_version_4 {
        true => "\"state\":\"result\",\"result\":",
        false => "\"state\":\"output-error\",\"errorText\":",
    };
    tool.members().next().map(|_| Rewrite { span: Span::new(front, front), before, after: "," })
}
