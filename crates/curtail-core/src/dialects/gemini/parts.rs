//! The parts of a content: their kind, where their text may be rewritten, and whether they are signed.

use crate::dialects::blocks;
use crate::json::{Text, Value, ValueKind, quote};
use crate::transcript::{Content, DraftPart, Family, Part, PartOrigin, PartPlace, Rewrite, ToolCall, ToolResult};

/// Keys that make an object a part.
const KEYS: &[&str] = &[
    "text",
    "functionCall",
    "function_call",
    "functionResponse",
    "function_response",
    "inlineData",
    "inline_data",
    "fileData",
    "file_data",
    "executableCode",
    "executable_code",
    "codeExecutionResult",
    "code_execution_result",
    "thought",
    "thoughtSignature",
    "thought_signature",
];

/// A result as the Python SDKs and the Agent Development Kit spell it.
pub(super) const SNAKE_RESULT: &str = "function_response";

/// Whether `part` is a part of Gemini: in other formats with `parts`, each part has a type.
pub(super) fn is_part(part: Value<'_>) -> bool {
    let typed = part.get("type").is_some() || part.get("part_kind").is_some() || part.get("kind").is_some();
    !typed && part.members().any(|member| KEYS.iter().any(|key| member.key.is(key)))
}

/// The member with the key `camel` or `snake`; `null` is the same as missing.
pub(super) fn either<'a>(value: Value<'a>, camel: &str, snake: &str) -> Option<Value<'a>> {
    value.some(camel).or_else(|| value.some(snake))
}

/// Reads a part.
pub(in crate::dialects) fn plain(part: Value<'_>) -> Content<'_> {
    if let Some(call) = either(part, "functionCall", "function_call") {
        return Content::ToolCall(read_call(call));
    }
    if let Some(response) = either(part, "functionResponse", "function_response") {
        return Content::ToolResult(read_result(response));
    }
    if let Some(code) = either(part, "executableCode", "executable_code") {
        return Content::ToolCall(read_code(code));
    }
    if let Some(result) = either(part, "codeExecutionResult", "code_execution_result") {
        return Content::ToolResult(read_code_result(result));
    }
    let text = part.text().or_else(|| part.get_text("text"));
    match text {
        Some(text) if part.get("thought").is_some_and(|thought| thought.raw() == "true") => Content::Reasoning(text),
        Some(text) => Content::Text(text),
        None if is_media(part) => Content::Media(Text::Json(part.raw())),
        // A signature alone.
        None if is_part(part) => Content::Other,
        None => blocks::unknown(part),
    }
}

fn is_media(part: Value<'_>) -> bool {
    either(part, "inlineData", "inline_data").or_else(|| either(part, "fileData", "file_data")).is_some()
}

fn read_call(call: Value<'_>) -> ToolCall<'_> {
    ToolCall {
        id: call.get_text("id"),
        name: call.get_text("name").unwrap_or(Text::Escaped("")),
        arguments: blocks::arguments(call.some("args")),
        family: Family::Function,
        hosted: false,
    }
}

/// The provider runs the code and writes the result into the same content.
fn read_code(code: Value<'_>) -> ToolCall<'_> {
    ToolCall {
        id: code.get_text("id"),
        name: Text::Owned(String::from("code_execution")),
        arguments: code.get_text("code").unwrap_or(Text::Escaped("")),
        family: Family::Server,
        hosted: true,
    }
}

fn read_result(response: Value<'_>) -> ToolResult<'_> {
    let (content, _) = answer(response.some("response"));
    ToolResult {
        id: response.get_text("id"),
        name: response.get_text("name"),
        content,
        media: response.get("parts").map_or(0, |parts| parts.items().filter(|&part| is_media(part)).count()),
        family: Family::Function,
        same_message: false,
    }
}

fn read_code_result(result: Value<'_>) -> ToolResult<'_> {
    ToolResult {
        id: result.get_text("id"),
        name: None,
        content: result.get_text("output").into_iter().collect(),
        media: 0,
        family: Family::Server,
        same_message: false,
    }
}

/// The text of a `response`, and where it may be rewritten. The response must remain an object; if its only member is a
/// text under a usual key, only that text is read.
pub(super) fn answer(response: Option<Value<'_>>) -> (Vec<Text<'_>>, Option<Rewrite>) {
    let Some(response) = response else { return (Vec::new(), None) };
    let mut members = response.members();
    if let (Some(only), None) = (members.next(), members.next())
        && ["output", "result", "error"].iter().any(|key| only.key.is(key))
        && let Some(text) = only.value.text()
    {
        return (vec![text], Some(Rewrite { span: only.value.span(), before: "", after: "" }));
    }
    let object = response.kind() == ValueKind::Object;
    let (before, after) = if object { ("{\"result\":", "}") } else { ("", "") };
    (blocks::texts(Some(response)), Some(Rewrite { span: response.span(), before, after }))
}

/// The same part, with the place where its result may be rewritten.
pub(in crate::dialects) fn with_place(mut part: Part<'_>) -> Part<'_> {
    if let PartOrigin::Source(place) = &mut part.origin
        && part.content.result().is_some()
    {
        let response = either(place.element, "functionResponse", "function_response");
        let code = either(place.element, "codeExecutionResult", "code_execution_result");
        *place =
            PartPlace { rewrite: answer(response.and_then(|response| response.some("response"))).1, ..place.clone() };
        if let Some(output) = code.and_then(|code| code.some("output")) {
            *place = place.clone().with_text(Some(output));
        }
    }
    part
}

/// Whether there are several parallel calls and only the first has a signature, which covers all of them.
pub(in crate::dialects) fn only_first_is_signed(parts: Option<Value<'_>>) -> bool {
    let calls = parts.into_iter().flat_map(Value::items).filter_map(|part| {
        let call = either(part, "functionCall", "function_call")?;
        Some([part, call].iter().any(|value| either(*value, "thoughtSignature", "thought_signature").is_some()))
    });
    let signed: Vec<bool> = calls.collect();
    signed.len() > 1 && signed[0] && signed[1..].iter().all(|signed| !signed)
}

/// Writes a part.
pub(in crate::dialects) fn spell(part: &DraftPart) -> String {
    match part {
        DraftPart::Text(text) => format!("{{\"text\":{}}}", quote(text)),
        DraftPart::Verbatim(raw) => raw.clone(),
        DraftPart::ToolResult { id, name, text, key, .. } => {
            let key = key.unwrap_or("functionResponse");
            let id = id.as_ref().map_or_else(String::new, |id| format!("\"id\":{},", quote(id)));
            let (name, text) = (quote(name), quote(text));
            format!("{{\"{key}\":{{{id}\"name\":{name},\"response\":{{\"error\":{text}}}}}}}")
        }
    }
}
