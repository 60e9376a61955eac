//! Chats of Copilot in VS Code: `requests`, each with the user's `message` and the `response` to it. They are only read: the
//! editor writes no messages as a model reads them, so there is nothing to send that a cut could make shorter.

use super::{BY_ID, Dialect, Fit, Format, Item, NO_RULES, blocks, provenance};
use crate::json::{Text, Value};
use crate::transcript::{Content, PairingRules, Part, ProviderRules, ResultPlace, Role, Unknown};

/// The dialect `vscode-copilot`.
pub(super) struct VsCodeCopilot;

impl Dialect for VsCodeCopilot {
    fn format(&self) -> &'static Format {
        &Format {
            name: "vscode-copilot",
            signature: "`requests` with `requestId`, `message` and `response`; or lines `kind` and `v`, `k`",
            pairing: PairingRules { results: ResultPlace::SameMessage, ..BY_ID },
            provider: ProviderRules { system_beside: true, ..NO_RULES },
            ..Format::PLAIN
        }
    }

    fn fit(&self, item: Value<'_>) -> Fit {
        // Records of other logs have an id of their request and a type.
        let [id, message, response, kind] = item.get_each(["requestId", "message", "response", "type"]);
        if id.is_some() && kind.is_none() && message.or(response).is_some() { Fit::Certain } else { Fit::No }
    }

    fn fits_record(&self, record: Value<'_>) -> bool {
        record.get("requests").is_some_and(Value::is_array)
    }

    fn read<'a>(&self, item: Value<'a>) -> Item<'a> {
        if item.get("requestId").is_some() {
            return Item::Nested(messages(item));
        }
        if item.is_array() {
            return blocks::message(Role::Assistant, item, None, item.items().flat_map(read_part).collect());
        }
        if item.is_object() || item.text().is_some() {
            return blocks::message(Role::User, item, None, text_parts(item));
        }
        Item::Unknown(Unknown::NoRole)
    }

    fn model<'a>(&self, item: Value<'a>) -> Option<Text<'a>> {
        item.parent()?.get_text("modelId")
    }

    fn time(&self, item: Value<'_>) -> Option<String> {
        item.parent()?.get("timestamp").and_then(provenance::written_time)
    }
}

/// The message of the user and the response of a request, in the order in which they are written. A response without parts has
/// not begun.
fn messages(request: Value<'_>) -> Vec<Value<'_>> {
    let [message, response] = request.get_each(["message", "response"]);
    let response = response.filter(|response| response.items().next().is_some());
    let mut messages: Vec<Value<'_>> = message.into_iter().chain(response).collect();
    messages.sort_by_key(|message| message.span().start);
    messages
}

/// What the user typed: a text, or the texts of its parts.
fn text_parts(message: Value<'_>) -> Vec<Part<'_>> {
    match message.get_text("text") {
        Some(text) => vec![blocks::rewritable(message, Content::Text(text), message.get("text"))],
        None if message.is_object() => blocks::plain_parts(message.get("parts")),
        None => blocks::plain_parts(Some(message)),
    }
}

/// The parts of a piece of a response. Markdown has no kind.
fn read_part(part: Value<'_>) -> Vec<Part<'_>> {
    let content = match part.get_text("kind").as_ref().map(Text::decode).as_deref() {
        None | Some("markdownContent" | "markdownVuln") => {
            let spoken = part.get_text("value").or_else(|| part.some("content")?.get_text("value"));
            spoken.map_or_else(|| blocks::unknown(part), Content::Text)
        }
        Some("thinking") => {
            let thoughts = part.get_text("value").into_iter().chain(part.items_under("value").filter_map(Value::text));
            let written = thoughts.filter(|thought| thought.len_bound() > 0);
            return written.map(|thought| blocks::whole(part, Content::Reasoning(thought))).collect();
        }
        // The name of a file or a symbol in the middle of a sentence.
        Some("inlineReference") => reference(part).map_or(Content::Other, Content::Text),
        Some("toolInvocationSerialized") => return read_tool(part),
        // What the editor shows: progress, edits, questions.
        Some(_) => Content::Other,
    };
    vec![blocks::whole(part, content)]
}

/// What the editor shows of a reference: its name, that of the symbol, or the last step of the path of the file.
fn reference(part: Value<'_>) -> Option<Text<'_>> {
    let target = part.some("inlineReference");
    let name = part.get_text("name").or_else(|| target?.get_text("name"));
    name.or_else(|| {
        let path = target?.get_text("path").or_else(|| target?.some("uri")?.get_text("path"))?;
        Some(Text::Owned(path.decode().rsplit('/').next()?.to_owned()))
    })
}

/// A call, and its result once it is complete. The editor keeps what a tool returned for some tools only.
fn read_tool(part: Value<'_>) -> Vec<Part<'_>> {
    let [id, tool] = ["toolCallId", "toolId"].map(|key| part.get_text(key));
    let [details, specific] = ["resultDetails", "toolSpecificData"].map(|key| part.some(key));
    let call = blocks::call(id.clone(), tool.clone(), arguments(details, specific));
    let mut parts = vec![blocks::whole(part, call)];
    if details.is_some() || part.is_true("isComplete") {
        parts.push(blocks::whole(part, blocks::result_of(id, tool, output(details, specific), 0)));
    }
    parts
}

/// What a tool was given: the input of its result, what the model wrote, or the command for a terminal.
fn arguments<'a>(details: Option<Value<'a>>, specific: Option<Value<'a>>) -> Option<Value<'a>> {
    let input = details.and_then(|details| details.some("input")).or_else(|| specific?.some("rawInput"));
    input.or_else(|| specific?.some("commandLine"))
}

/// What a tool returned, as far as it is there: a list of texts and files, the output of a terminal, or the answer of another
/// agent.
fn output<'a>(details: Option<Value<'a>>, specific: Option<Value<'a>>) -> Vec<Text<'a>> {
    match details.map(|details| details.get("output").unwrap_or(details)).or_else(|| answer(specific?)) {
        Some(list) if list.is_array() => {
            list.items().map(|block| block.get_text("value").unwrap_or(Text::Json(block.raw()))).collect()
        }
        found => blocks::texts(found),
    }
}

/// The output of a terminal, or the answer of another agent.
fn answer(specific: Value<'_>) -> Option<Value<'_>> {
    let output = specific.some("terminalCommandOutput").and_then(|output| output.get("text"));
    output.or_else(|| specific.some("result"))
}
