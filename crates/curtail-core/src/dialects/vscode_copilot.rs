//! Chats of Copilot in VS Code: `requests`, each with the user's `message` and the `response` to it, as the editor showed it. What
//! the model wrote and read are the rounds in `result.metadata`; where they are, the response is a copy. Chats are only read: the
//! editor sends what it renders anew, so there is nothing that a cut could make shorter.

use std::borrow::Cow;

use foldhash::HashMap;

use super::{BY_ID, Dialect, Fit, Format, Item, NO_RULES, blocks, provenance};
use crate::json::{Text, Value};
use crate::steps;
use crate::transcript::{Content, Message, PairingRules, Part, ProviderRules, ResultPlace, Role, Unknown};

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
        if metadata_of(item).is_some() {
            return read_round(item);
        }
        if item.is_array() {
            return blocks::message(Role::Assistant, item, None, item.items().flat_map(read_part).collect());
        }
        if item.is_object() || item.text().is_some() {
            // The editor asks as well, such as when a command in a terminal has ended.
            let is_asked = request_of(item).is_some_and(|request| request.is_true("isSystemInitiated"));
            let parts = text_parts(item);
            return Item::Message(Message { parts, automatic: is_asked, ..Message::from_source(Role::User, item) });
        }
        Item::Unknown(Unknown::NoRole)
    }

    fn connect<'a>(&self, items: &[Value<'a>], read: &mut [Item<'a>]) {
        let Some(metadata) = items.iter().find_map(|item| metadata_of(*item)) else { return };
        let results = metadata.some("toolCallResults").into_iter().flat_map(Value::members);
        let results: HashMap<Cow<'_, str>, Value<'_>> =
            results.map(|member| (member.key.into_decoded(), member.value)).collect();
        for message in read.iter_mut().filter_map(Item::message_mut) {
            for part in std::mem::take(&mut message.parts) {
                let result = result_of_round(&part, &results);
                message.parts.push(part);
                message.parts.extend(result);
            }
        }
    }

    fn model<'a>(&self, item: Value<'a>) -> Option<Text<'a>> {
        request_of(item)?.get_text("modelId")
    }

    fn time(&self, item: Value<'_>) -> Option<String> {
        request_of(item)?.get("timestamp").and_then(provenance::written_time)
    }
}

/// The message of the user and the rounds of a request, or else the response, in the order in which they are written. A response
/// without parts has not begun.
fn messages(request: Value<'_>) -> Vec<Value<'_>> {
    let [message, response, result] = request.get_each(["message", "response", "result"]);
    let metadata = result.and_then(|result| result.some("metadata"));
    let mut rounds: Vec<Value<'_>> = metadata.into_iter().flat_map(|data| data.items_under("toolCallRounds")).collect();
    // Rounds of some versions say no more than which model thought.
    if !rounds.iter().any(|round| is_written(*round)) {
        rounds.clear();
    }
    let response = response.filter(|response| rounds.is_empty() && response.items().next().is_some());
    let mut messages: Vec<Value<'_>> = message.into_iter().chain(response).chain(rounds).collect();
    messages.sort_by_key(|message| message.span().start);
    messages
}

/// Whether a round has what the model wrote.
fn is_written(round: Value<'_>) -> bool {
    round.some_text("response").is_some() || round.items_under("toolCalls").next().is_some()
}

/// What Copilot keeps of a request, if `item` is a round of it.
fn metadata_of(item: Value<'_>) -> Option<Value<'_>> {
    item.parent()?.parent().filter(|metadata| metadata.has("toolCallRounds"))
}

fn request_of(item: Value<'_>) -> Option<Value<'_>> {
    std::iter::successors(Some(item), |value| value.parent()).find(|value| value.has("requestId"))
}

/// A round: what the model thought, wrote and called.
fn read_round(round: Value<'_>) -> Item<'_> {
    let mut parts: Vec<Part<'_>> =
        round.some("thinking").into_iter().flat_map(|thinking| thoughts(thinking, "text")).collect();
    parts.extend(blocks::plain_parts(round.get("response").filter(|_| round.some_text("response").is_some())));
    let calls = round.items_under("toolCalls");
    parts.extend(calls.map(|call| blocks::whole(call, blocks::call_in(call, ["id", "name", "arguments"]))));
    if parts.is_empty() { Item::Metadata } else { blocks::message(Role::Assistant, round, None, parts) }
}

/// The result of a call of a round; an empty one if Copilot kept none, as of a request that was canceled.
fn result_of_round<'a>(part: &Part<'a>, results: &HashMap<Cow<'_, str>, Value<'a>>) -> Option<Part<'a>> {
    let Content::ToolCall(call) = &part.content else { return None };
    let found = results.get(&call.id.as_ref()?.decode());
    let content: Vec<Value<'_>> = found.into_iter().flat_map(|found| found.items_under("content")).collect();
    let values: Vec<Value<'_>> = content.iter().filter_map(|block| block.some("value")).collect();
    let media = content.len() - values.len();
    let texts = values.into_iter().map(|value| value.text().unwrap_or_else(|| rendered(value))).collect();
    let result = blocks::result_of(call.id.clone(), Some(call.name.clone()), texts, media);
    Some(blocks::whole(part.place()?.element, result))
}

/// The text of a tree that Copilot rendered: that of its leaves.
fn rendered(tree: Value<'_>) -> Text<'_> {
    let mut text = String::new();
    let mut open: Vec<Value<'_>> = tree.some("node").into_iter().collect();
    while let Some(node) = open.pop() {
        steps::count(1);
        if node.is_true("lineBreakBefore") && !text.is_empty() {
            text.push('\n');
        }
        text.extend(node.get_text("text").map(Text::into_decoded));
        let behind = open.len();
        open.extend(node.items_under("children"));
        open[behind..].reverse();
    }
    Text::Owned(text)
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
        Some("thinking") => return thoughts(part, "value"),
        // The name of a file or a symbol in the middle of a sentence.
        Some("inlineReference") => reference(part).map_or(Content::Other, Content::Text),
        Some("toolInvocationSerialized") => return read_tool(part),
        // What the editor shows: progress, edits, questions.
        Some(_) => Content::Other,
    };
    vec![blocks::whole(part, content)]
}

/// What a model thought: a text under `key`, or a list of them.
fn thoughts<'a>(part: Value<'a>, key: &str) -> Vec<Part<'a>> {
    let thoughts = part.get_text(key).into_iter().chain(part.items_under(key).filter_map(Value::text));
    let written = thoughts.filter(|thought| thought.len_bound() > 0);
    written.map(|thought| blocks::whole(part, Content::Reasoning(thought))).collect()
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
