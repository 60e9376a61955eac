//! Gemini: `contents` of `parts` as the API has them, events of the Agent Development Kit (ADK) around them, and recordings
//! of the Gemini CLI, in which a call and its result are one record. Keys are in camel case or snake case.

use std::borrow::Cow;

use foldhash::HashSet;

use super::{
    BY_ID, Dialect, DialectWriter, Fit, Format, Item, LogHabits, NO_RULES, Patch, Remaining, blocks, gemini_cli,
    provenance, tree,
};
use crate::json::{Json, ObjectWriter, Text, Value, ValueKind, object};
use crate::transcript::{
    Content, Draft, DraftResult, Family, Layout, Links, Message, MessageKind, PairingRules, Part, PartOrigin,
    PartPlace, ProviderRules, ResultPlace, Rewrite, Role, ToolCall, ToolResult, Unknown, Usage,
};

/// The dialect `gemini`.
pub(super) struct Gemini;

impl Dialect for Gemini {
    fn format(&self) -> &'static Format {
        &Format {
            name: "gemini",
            signature: "`role`: `user` or `model` with `parts`; ADK events with `author`; \
                CLI records of `type`: `gemini` with `toolCalls`",
            pairing: PairingRules { results: ResultPlace::NextMessage, ids: false, ..BY_ID },
            provider: ProviderRules {
                provider: "gemini",
                first_speaker: Some(Role::User),
                results_together: true,
                call_signatures: &["thoughtSignature", "thought_signature"],
                ..NO_RULES
            },
            ..Format::PLAIN
        }
    }

    fn fit(&self, item: Value<'_>) -> Fit {
        if is_event(item) || is_exchange(item) || gemini_cli::is_header(item) {
            return Fit::Certain;
        }
        if item.get("parts").is_some_and(|list| list.items().any(is_part)) {
            return if item.has("uuid") { Fit::No } else { Fit::Certain };
        }
        gemini_cli::fit(item)
    }

    fn fits_record(&self, record: Value<'_>) -> bool {
        record.has("contents") || record.has("events") && record.has("app_name")
    }

    fn read<'a>(&self, item: Value<'a>) -> Item<'a> {
        if is_exchange(item) {
            return read_exchange(item);
        }
        if let Some(list) = gemini_cli::list_of(item) {
            return gemini_cli::read_list(list);
        }
        if gemini_cli::is_header(item) && !gemini_cli::is_passing(item) {
            return Item::Pinned;
        }
        if gemini_cli::is_metadata(item) {
            return Item::Metadata;
        }
        let content = match item.get("author") {
            Some(_) => item.some("content"),
            None => Some(item),
        };
        // An event without content only changes the session's state.
        let Some(content) = content else { return Item::Metadata };
        match role(item, content) {
            Ok(role) => Item::Message(read_content(role, item, content)),
            Err(unknown) => Item::Unknown(Unknown::Named(unknown)),
        }
    }

    fn connect<'a>(&self, items: &[Value<'a>], read: &mut [Item<'a>]) {
        if items.iter().any(|item| gemini_cli::is_record(*item)) {
            gemini_cli::mark(items, read);
        }
        if read.iter().any(lacks_id) {
            let shared = shared_ids(read);
            read.iter_mut().for_each(|item| forget_ids(item, &shared));
        }
    }

    fn preamble<'a>(&self, record: Value<'a>) -> Vec<Text<'a>> {
        let instruction = record.some("systemInstruction").or_else(|| record.some("system_instruction"));
        let said = instruction.map(|content| content.get("parts").unwrap_or(content));
        blocks::texts(said).into_iter().chain(blocks::preamble(record, &["tools"])).collect()
    }
}

impl DialectWriter for Gemini {
    fn result_key(&self, items: &[Value<'_>]) -> Option<&'static str> {
        let contents =
            items.iter().map(|item| item.some("content").filter(|content| content.is_object()).unwrap_or(*item));
        let parts = contents.filter_map(|content| content.some("parts")).flat_map(Value::items);
        let has = |part: Value<'_>, camel: &str, snake: &str| {
            part.some(camel).map(|_| false).or(part.some(snake).map(|_| true))
        };
        let mut spellings = parts.filter_map(|part| {
            has(part, "functionResponse", SNAKE_RESULT).or_else(|| has(part, "functionCall", "function_call"))
        });
        spellings.next().filter(|snake| *snake).map(|_| SNAKE_RESULT)
    }

    fn write_message(&self, draft: &Draft, anchor: Option<Value<'_>>) -> String {
        let parts = blocks::parts(self, draft);
        let model = draft.role == Role::Assistant;
        let role = if model { "model" } else { "user" };
        match anchor {
            Some(anchor) if anchor.has("author") => event(anchor, role, &parts),
            Some(anchor) if !anchor.has("role") && anchor.has("type") => {
                let kind = if model { "gemini" } else { "user" };
                // Gemini CLI passes over a line without an id when it resumes a recording.
                let id = draft.links.as_ref().map(|links| links.id.to_string());
                object! { "id": id, "type": kind, "content": parts }.0
            }
            _ => object! { "role": role, "parts": parts }.0,
        }
    }

    fn write_text(&self, text: &str) -> String {
        object! { "text": text }.0
    }

    fn write_result(&self, DraftResult { id, name, text, key, .. }: &DraftResult) -> String {
        let key = key.unwrap_or("functionResponse");
        object! { key: object! { "id": id, "name": name, "response": object! { "error": text } } }.0
    }

    fn prepend_parts(&self, message: Value<'_>, parts: &[String]) -> Option<Patch> {
        let content = message.some("content").filter(|content| content.is_object()).unwrap_or(message);
        let list = content.get("parts").or_else(|| content.get("content"))?;
        blocks::prepend_parts(list, parts, |json| object! { "text": Json(json) }.0)
    }

    fn links(&self, draft: &Draft, anchor: Option<Value<'_>>) -> Option<Links> {
        let record = |anchor: &Value<'_>| anchor.has("id") && gemini_cli::is_record(*anchor);
        Some(tree::first_links("id", draft, Some(anchor.filter(record)?)))
    }

    fn name_drafts(&self, layout: &Layout<'_>, remaining: &mut Remaining<'_>) {
        tree::name_records("id", layout, remaining);
    }

    fn relink(&self, layout: &Layout<'_>, remaining: &mut Remaining<'_>) -> Vec<Patch> {
        self.name_drafts(layout, remaining);
        gemini_cli::relink(layout, remaining.kept)
    }
}

impl LogHabits for Gemini {
    fn usage(&self, item: Value<'_>) -> Option<Usage> {
        let figures = item.some("usageMetadata").or_else(|| item.some("usage_metadata"));
        figures.map_or_else(|| gemini_cli::usage(item), provenance::gemini_usage)
    }

    /// A reply that was written again says its figures again.
    fn usages(&self, items: &[Value<'_>]) -> Vec<Option<Usage>> {
        let mut usages: Vec<Option<Usage>> = items.iter().map(|&item| self.usage(item)).collect();
        if items.iter().any(|item| gemini_cli::is_record(*item)) {
            gemini_cli::History::of(items).rewritten.iter().for_each(|(at, _)| usages[*at] = None);
        }
        usages
    }

    fn replaces_past(&self, item: Value<'_>) -> bool {
        gemini_cli::list_of(item).is_some()
    }

    fn is_replacement(&self, item: Value<'_>) -> bool {
        gemini_cli::is_in_list(item)
    }

    fn replacement<'a>(&self, item: Value<'a>) -> Vec<Message<'a>> {
        let items = gemini_cli::list_of(item).into_iter().flat_map(Value::items);
        items.filter_map(|item| self.read(item).into_message()).collect()
    }

    fn rollbacks(&self, items: &[Value<'_>]) -> Vec<(usize, usize)> {
        let rewinds = gemini_cli::History::of(items).rewinds.into_iter();
        rewinds.filter_map(|rewind| Some((rewind.event, *rewind.records.first()?))).collect()
    }
}

/// An event of the Agent Development Kit.
fn is_event(item: Value<'_>) -> bool {
    let invocation = item.get("invocation_id").or_else(|| item.get("invocationId"));
    let content = item.get("content").and_then(|content| content.get("parts"));
    item.has("author") && (invocation.is_some() || content.is_some())
}

/// A turn of an evaluation of the Agent Development Kit: the question, the tools used, and the last answer.
fn is_exchange(item: Value<'_>) -> bool {
    item.get("user_content").or_else(|| item.get("userContent")).is_some_and(Value::is_object)
        || item.has("query") && (item.has("expected_tool_use") || item.has("reference"))
}

/// The turn is one user message: it cannot be divided, and its tool calls are only expected ones.
fn read_exchange(item: Value<'_>) -> Item<'_> {
    let mut message = Message { kind: MessageKind::Exchange, ..Message::from_source(Role::User, item) };
    let keys = ["query", "user_content", "userContent", "reference", "final_response", "finalResponse"];
    for value in keys.iter().filter_map(|key| item.some(key)) {
        let said = value.get("parts").unwrap_or(value);
        message.parts.extend(blocks::content(Some(said), plain));
    }
    let uses = ["expected_tool_use", "intermediate_data", "intermediateData"].iter().filter_map(|key| item.some(key));
    message.parts.extend(uses.map(|uses| blocks::whole(uses, Content::Other)));
    Item::Message(message)
}

/// The role, or an unknown role. A content without a role belongs to the user, an event without one to its author.
fn role(item: Value<'_>, content: Value<'_>) -> Result<Role, String> {
    let named = content.get_text("role").or_else(|| item.get_text("type")).or_else(|| item.get_text("author"));
    let Some(named) = named else { return Ok(Role::User) };
    match &*named.decode() {
        "user" => Ok(Role::User),
        "model" | "gemini" | "assistant" => Ok(Role::Assistant),
        "system" => Ok(Role::System),
        "function" | "tool" => Ok(Role::Tool),
        _ if !content.has("role") && item.has("author") => Ok(Role::Assistant),
        other => Err(other.to_owned()),
    }
}

fn read_content<'a>(role: Role, item: Value<'a>, content: Value<'a>) -> Message<'a> {
    let mut message = Message::from_source(role, item);
    message.id = item.get_text("id");
    message.parts = gemini_cli::thoughts(item);
    let list = content.some("parts").or_else(|| content.some("content"));
    message.parts.extend(blocks::content(list, plain).into_iter().map(with_place));
    message.call_rules.indivisible = only_first_is_signed(list);
    message.parts.extend(gemini_cli::tool_calls(item));
    message.automatic = role == Role::User && gemini_cli::is_record(item) && gemini_cli::is_context(&message);
    message
}

fn lacks_id(item: &Item<'_>) -> bool {
    let Item::Message(message) = item else { return false };
    let calls = message.calls().any(|(_, call)| call.id.is_none() && call.family == Family::Function);
    calls || message.results().any(|(_, result)| result.id.is_none() && result.family == Family::Function)
}

/// The ids that a call and a result have.
fn shared_ids<'a>(items: &[Item<'a>]) -> HashSet<Cow<'a, str>> {
    let (mut called, mut answered) = (HashSet::default(), HashSet::default());
    for item in items {
        let Item::Message(message) = item else { continue };
        called.extend(message.calls().filter_map(|(_, call)| call.id.clone()).map(Text::into_decoded));
        answered.extend(message.results().filter_map(|(_, result)| result.id.clone()).map(Text::into_decoded));
    }
    called.retain(|id| answered.contains(id));
    called
}

/// If some calls or results have no id, the others whose id is not `shared` are matched by position and name, too.
fn forget_ids(item: &mut Item<'_>, shared: &HashSet<Cow<'_, str>>) {
    let Item::Message(message) = item else { return };
    for part in &mut message.parts {
        let id = match &mut part.content {
            Content::ToolCall(call) => &mut call.id,
            Content::ToolResult(result) => &mut result.id,
            _ => continue,
        };
        if id.as_ref().is_some_and(|id| !shared.contains(&*id.decode())) {
            *id = None;
        }
    }
}

/// Writes an event in the session of `anchor`.
fn event(anchor: Value<'_>, role: &str, parts: &Json) -> String {
    let author = anchor.get_text("author").filter(|author| !author.is("user"));
    let author =
        if role == "user" { String::from("user") } else { author.map_or("model".into(), |a| a.decode().into()) };
    let invocation = ["invocation_id", "invocationId"].into_iter().find(|key| anchor.has(key));
    let event = ObjectWriter::new().copied(Some(anchor), invocation.as_slice()).member("author", &author);
    event.member("content", &object! { "parts": parts, "role": role }).end().0
}

// The parts of a content: their kind, where their text may be rewritten, and whether they are signed.

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

/// A result as the Python SDKs and the Agent Development Kit write it.
const SNAKE_RESULT: &str = "function_response";

/// Whether `part` is a part of Gemini: in other formats with `parts`, each part has a type.
fn is_part(part: Value<'_>) -> bool {
    let typed = part.has("type") || part.has("part_kind") || part.has("kind");
    !typed && part.members().any(|member| KEYS.iter().any(|key| member.key.is(key)))
}

/// The member with the key `camel` or `snake`; `null` is the same as missing.
pub(super) fn either<'a>(value: Value<'a>, camel: &str, snake: &str) -> Option<Value<'a>> {
    value.some(camel).or_else(|| value.some(snake))
}

/// Reads a part.
pub(super) fn plain(part: Value<'_>) -> Content<'_> {
    if let Some(call) = either(part, "functionCall", "function_call") {
        return blocks::call(call.get_text("id"), call.get_text("name"), call.some("args"));
    }
    if let Some(response) = either(part, "functionResponse", "function_response") {
        return read_result(response);
    }
    if let Some(code) = either(part, "executableCode", "executable_code") {
        return read_code(code);
    }
    if let Some(result) = either(part, "codeExecutionResult", "code_execution_result") {
        return read_code_result(result);
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

fn is_media(part: Value<'_>) -> bool {
    either(part, "inlineData", "inline_data").or_else(|| either(part, "fileData", "file_data")).is_some()
}

/// The provider runs the code and writes the result into the same content.
fn read_code(code: Value<'_>) -> Content<'_> {
    Content::ToolCall(ToolCall {
        id: code.get_text("id"),
        name: Text::Owned(String::from("code_execution")),
        arguments: code.text_or_empty("code"),
        family: Family::Server,
        hosted: true,
    })
}

fn read_result(response: Value<'_>) -> Content<'_> {
    let (content, _) = answer(response.some("response"));
    let media = response.items_under("parts").filter(|&part| is_media(part)).count();
    blocks::result_of(response.get_text("id"), response.get_text("name"), content, media)
}

fn read_code_result(result: Value<'_>) -> Content<'_> {
    Content::ToolResult(ToolResult {
        id: result.get_text("id"),
        name: None,
        content: result.get_text("output").into_iter().collect(),
        media: 0,
        family: Family::Server,
        same_message: false,
    })
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
pub(super) fn with_place(mut part: Part<'_>) -> Part<'_> {
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
pub(super) fn only_first_is_signed(parts: Option<Value<'_>>) -> bool {
    let calls = parts.into_iter().flat_map(Value::items).filter_map(|part| {
        let call = either(part, "functionCall", "function_call")?;
        Some([part, call].iter().any(|value| either(*value, "thoughtSignature", "thought_signature").is_some()))
    });
    let signed: Vec<bool> = calls.collect();
    signed.len() > 1 && signed[0] && signed[1..].iter().all(|signed| !signed)
}
