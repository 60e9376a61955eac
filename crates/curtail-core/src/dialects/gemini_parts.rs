//! The parts of a content: their kind, where their text may be rewritten, and whether they are signed.

use super::blocks;
use crate::json::{Text, Value, ValueKind};
use crate::transcript::{Content, Family, Part, PartOrigin, Rewrite, ToolCall, ToolResult};

/// Keys that make an object a part.
const KEYS: &[&str] = &[
    "text", "functionCall", "function_call", "functionResponse", "function_response", "inlineData", "inline_data",
    "fileData", "file_data", "executableCode", "executable_code", "codeExecutionResult", "code_execution_result",
    "thought", "thoughtSignature", "thought_signature",
];

/// A result as the Python SDKs and the Agent Development Kit write it.
pub(super) const SNAKE_RESULT: &str = "function_response";

/// Whether `part` is a part of Gemini: in other formats with `parts`, each part has a type.
pub(super) fn is_part(part: Value<'_>) -> bool {
    let typed = part.has("type") || part.has("part_kind") || part.has("kind");
    !typed && part.members().any(|member| KEYS.iter().any(|key| member.key.is(key)))
}

/// Reads a part.
pub(super) fn plain(part: Value<'_>) -> Content<'_> {
    if let Some(call) = blocks::either(part, "functionCall", "function_call") {
        return blocks::call(call.get_text("id"), call.get_text("name"), call.some("args"));
    }
    if let Some(response) = blocks::either(part, "functionResponse", "function_response") {
        return read_result(response);
    }
    if let Some(code) = blocks::either(part, "executableCode", "executable_code") {
        return read_code(code);
    }
    if let Some(result) = blocks::either(part, "codeExecutionResult", "code_execution_result") {
        return read_code_result(result);
    }
    if let Some(call) = of_hosted_tool(part, "toolCall", "tool_call") {
        return blocks::hosted(blocks::call(call.get_text("id"), tool_type(call), call.some("args")));
    }
    if let Some(response) = of_hosted_tool(part, "toolResponse", "tool_response") {
        let content = blocks::texts(response.some("response"));
        return blocks::hosted(Content::ToolResult(ToolResult::new(response.get_text("id"), None, content)));
    }
    let text = part.text().or_else(|| part.get_text("text"));
    match text {
        Some(text) if part.is_true("thought") => Content::Reasoning(text),
        Some(text) => Content::Text(text),
        None if is_media(part) => Content::Media(Text::Json(part.raw())),
        // A signature alone.
        None if is_part(part) => Content::Other,
        None => blocks::unknown(part),
    }
}

/// Whether a part is an image, audio or a file.
pub(super) fn is_media(part: Value<'_>) -> bool {
    blocks::either(part, "inlineData", "inline_data")
        .or_else(|| blocks::either(part, "fileData", "file_data"))
        .is_some()
}

/// The provider runs the code and writes the result into the same content.
fn read_code(code: Value<'_>) -> Content<'_> {
    let name = Text::Owned(String::from("code_execution"));
    blocks::hosted(Content::ToolCall(ToolCall::new(code.get_text("id"), name, code.text_or_empty("code"))))
}

/// A call of a tool that the provider runs beside those of the program, or its answer.
fn of_hosted_tool<'a>(part: Value<'a>, camel: &str, snake: &str) -> Option<Value<'a>> {
    blocks::either(part, camel, snake).filter(|tool| tool_type(*tool).is_some())
}

fn tool_type(tool: Value<'_>) -> Option<Text<'_>> {
    blocks::either(tool, "toolType", "tool_type")?.text()
}

fn read_result(response: Value<'_>) -> Content<'_> {
    let (content, _) = answer(response.some("response"));
    blocks::result_of(response.get_text("id"), response.get_text("name"), content, media_of(response))
}

/// The number of media in a response, which Gemini 3 reads from its `parts`.
pub(super) fn media_of(response: Value<'_>) -> usize {
    response.items_under("parts").filter(|&part| is_media(part)).count()
}

fn read_code_result(result: Value<'_>) -> Content<'_> {
    let output = result.get_text("output").into_iter().collect();
    let result = ToolResult::new(result.get_text("id"), None, output);
    Content::ToolResult(ToolResult { family: Family::Server, ..result })
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
        return (vec![text], Some(Rewrite::of_text(only.value)));
    }
    let object = response.kind() == ValueKind::Object;
    let around = if object { &["{\"result\":", "}"] } else { &["", ""] };
    (blocks::texts(Some(response)), Some(Rewrite { span: response.span(), around }))
}

/// The parts of a content: a text, a part, or a list of them.
pub(super) fn read(content: Option<Value<'_>>) -> Vec<Part<'_>> {
    match content {
        Some(part) if part.is_object() => vec![with_place(blocks::part(part, plain(part)))],
        list => blocks::content(list, plain).into_iter().map(with_place).collect(),
    }
}

/// The same part, with the place where its result may be rewritten.
fn with_place(mut part: Part<'_>) -> Part<'_> {
    if let PartOrigin::Source(place) = &mut part.origin
        && part.content.result().is_some()
    {
        let response = blocks::either(place.element, "functionResponse", "function_response");
        let code = blocks::either(place.element, "codeExecutionResult", "code_execution_result");
        place.rewrite = match code.and_then(|code| code.some("output")) {
            Some(output) => Some(Rewrite::of_text(output)),
            // Media in it would stay.
            None => response
                .filter(|response| media_of(*response) == 0)
                .and_then(|response| answer(response.some("response")).1),
        };
    }
    part
}

/// Whether there are several parallel calls and only the first has a signature, which covers all of them.
pub(super) fn only_first_is_signed(parts: Option<Value<'_>>) -> bool {
    let calls = parts.into_iter().flat_map(Value::items).filter_map(|part| {
        let call = blocks::either(part, "functionCall", "function_call")?;
        Some([part, call].iter().any(|value| blocks::either(*value, "thoughtSignature", "thought_signature").is_some()))
    });
    let signed: Vec<bool> = calls.collect();
    signed.len() > 1 && signed[0] && signed[1..].iter().all(|signed| !signed)
}
