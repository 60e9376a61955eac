//! Gemini: `contents` of `parts` as the API has them, events of the Agent Development Kit (ADK) around them, and recordings
//! of the Gemini CLI, in which a call and its result are one record. Keys are in camel case or snake case.

use std::borrow::Cow;
use std::ops::Range;

use foldhash::{HashMap, HashSet};

use super::{
    BY_ID, Dialect, DialectWriter, Fit, Format, Item, LogHabits, NO_RULES, Patch, Remaining, SizeFigures, adk, blocks,
    provenance, tree,
};
use crate::json::{Json, ObjectWriter, Span, Text, Value, ValueKind, object, quote};
use crate::transcript::{
    Content, Draft, DraftResult, Family, Layout, Links, Message, MessageKind, PairingRules, Part, PartOrigin,
    PartPlace, ProviderRules, ResultPlace, Rewrite, Role, Standing, ToolCall, ToolResult, Unknown, Usage,
};

/// The dialect `gemini`.
pub(super) struct Gemini;

impl Dialect for Gemini {
    fn format(&self) -> &'static Format {
        &Format {
            name: "gemini",
            known: &["resultDisplay", "description"],
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
            writer: Some(&Gemini),
            log: &Gemini,
            ..Format::PLAIN
        }
    }

    fn fit(&self, item: Value<'_>) -> Fit {
        if adk::is_event(item) || is_exchange(item) || is_header(item) {
            return Fit::Certain;
        }
        if item.items_under("parts").any(is_part) {
            return if item.has("uuid") { Fit::No } else { Fit::Certain };
        }
        fit_record(item)
    }

    fn fits_record(&self, record: Value<'_>) -> bool {
        record.has("contents") || record.has("events") && record.has("app_name")
    }

    fn read<'a>(&self, item: Value<'a>) -> Item<'a> {
        if is_exchange(item) {
            return read_exchange(item);
        }
        if let Some(list) = list_of(item) {
            return read_list(list);
        }
        if is_header(item) && !is_passing(item) {
            return Item::Pinned;
        }
        if is_metadata(item) {
            return Item::Metadata;
        }
        if adk::is_piece(item) {
            return Item::Ahead;
        }
        if let Some(summary) = adk::summary(item) {
            return read_summary(item, summary);
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
        if items.iter().any(|item| is_record(*item)) {
            mark_records(items, read);
        }
        adk::connect(items, read);
        if read.iter().any(lacks_id) {
            let shared = shared_ids(read);
            read.iter_mut().for_each(|item| forget_ids(item, &shared));
        }
    }

    fn preamble<'a>(&self, record: Value<'a>) -> Vec<Text<'a>> {
        let instruction = record.some("systemInstruction").or_else(|| record.some("system_instruction"));
        let parts = instruction.map(|content| content.get("parts").unwrap_or(content));
        blocks::texts(parts).into_iter().chain(blocks::preamble(record, &["tools"])).collect()
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
        let record = |anchor: &Value<'_>| anchor.has("id") && is_record(*anchor);
        Some(tree::first_links("id", draft, Some(anchor.filter(record)?)))
    }

    fn name_drafts(&self, layout: &Layout<'_>, remaining: &mut Remaining<'_>) {
        tree::name_records("id", layout, remaining);
    }

    fn relink(&self, layout: &Layout<'_>, remaining: &mut Remaining<'_>) -> Vec<Patch> {
        self.name_drafts(layout, remaining);
        repoint_rewinds(layout, remaining.kept)
    }
}

impl LogHabits for Gemini {
    fn usage(&self, item: Value<'_>) -> Option<Usage> {
        let usage = item.some("usageMetadata").or_else(|| item.some("usage_metadata"));
        usage.map_or_else(|| usage_of_record(item), provenance::gemini_usage)
    }

    /// Gemini CLI shows the last total as the size of the conversation.
    fn size_figures<'a>(&self, item: Value<'a>) -> Option<SizeFigures<'a>> {
        let tokens = item.some("tokens").filter(|_| is_record(item))?;
        Some(SizeFigures::SoFar(blocks::numbers(tokens, &[])))
    }

    /// A reply that was written again repeats its usage.
    fn usages(&self, items: &[Value<'_>]) -> Vec<Option<Usage>> {
        let mut usages: Vec<Option<Usage>> = items.iter().map(|&item| self.usage(item)).collect();
        if items.iter().any(|item| is_record(*item)) {
            History::of(items).rewritten.iter().for_each(|(at, _)| usages[*at] = None);
        }
        usages
    }

    fn replaces_past(&self, item: Value<'_>) -> bool {
        list_of(item).is_some() || adk::summary(item).is_some()
    }

    fn kept_by(&self, compactions: &[usize], items: &[Value<'_>]) -> Vec<Vec<Range<usize>>> {
        compactions.iter().map(|&at| adk::kept_by(items[at], &items[..at])).collect()
    }

    fn is_replacement(&self, item: Value<'_>) -> bool {
        is_in_list(item)
    }

    fn replacement<'a>(&self, item: Value<'a>) -> Vec<Message<'a>> {
        let items = list_of(item).into_iter().flat_map(Value::items);
        items.filter_map(|item| self.read(item).into_message()).collect()
    }

    fn rollbacks(&self, items: &[Value<'_>]) -> Vec<(usize, usize)> {
        let rewinds = History::of(items).rewinds.into_iter();
        let of_records = rewinds.filter_map(|rewind| Some((rewind.event, *rewind.records.first()?)));
        of_records.chain(adk::rewinds(items)).collect()
    }
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
        let parts = value.get("parts").unwrap_or(value);
        message.parts.extend(blocks::content(Some(parts), plain));
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
    message.parts = thoughts(item);
    let list = content.some("parts").or_else(|| content.some("content"));
    message.parts.extend(blocks::content(list, plain).into_iter().map(with_place));
    message.call_rules.indivisible = only_first_is_signed(list);
    message.parts.extend(tool_calls(item));
    message.automatic = role == Role::User && is_record(item) && is_context(&message);
    message
}

/// The summary of a compaction: the model reads it as what it said itself.
fn read_summary<'a>(event: Value<'a>, summary: Value<'a>) -> Item<'a> {
    let role = role(event, summary).ok().filter(|_| summary.has("role")).unwrap_or(Role::Assistant);
    let list = summary.some("parts").unwrap_or(summary);
    let mut message = Message { parts: blocks::content(Some(list), plain), ..Message::from_source(role, event) };
    message.id = event.get_text("id");
    adk::begin(&mut message);
    Item::Message(message)
}

fn lacks_id(item: &Item<'_>) -> bool {
    let Item::Message(message) = item else { return false };
    let calls = message.calls().any(|(_, call)| call.id.is_none() && call.family == Family::Function);
    calls || message.results().any(|(_, result)| result.id.is_none() && result.family == Family::Function)
}

/// The ids that a call and a result have.
fn shared_ids<'a>(items: &[Item<'a>]) -> HashSet<Cow<'a, str>> {
    let mut called = HashSet::default();
    let mut answered = HashSet::default();
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
            Content::ToolCall(call) if !call.deferred => &mut call.id,
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
    // The time says what a compaction replaces, and in which order events are sent.
    let copied: Vec<&str> =
        ["invocation_id", "invocationId", "timestamp"].into_iter().filter(|key| anchor.has(key)).collect();
    let event = ObjectWriter::new().copied(Some(anchor), &copied).member("author", &author);
    event.member("content", &object! { "parts": parts, "role": role }).end().0
}

// The parts of a content: their kind, where their text may be rewritten, and whether they are signed.

/// Keys that make an object a part.
const KEYS: &[&str] = &[
    "text", "functionCall", "function_call", "functionResponse", "function_response", "inlineData", "inline_data",
    "fileData", "file_data", "executableCode", "executable_code", "codeExecutionResult", "code_execution_result",
    "thought", "thoughtSignature", "thought_signature",
];

/// A result as the Python SDKs and the Agent Development Kit write it.
const SNAKE_RESULT: &str = "function_response";

/// Whether `part` is a part of Gemini: in other formats with `parts`, each part has a type.
fn is_part(part: Value<'_>) -> bool {
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
    blocks::either(part, "inlineData", "inline_data")
        .or_else(|| blocks::either(part, "fileData", "file_data"))
        .is_some()
}

/// The provider runs the code and writes the result into the same content.
fn read_code(code: Value<'_>) -> Content<'_> {
    let name = Text::Owned(String::from("code_execution"));
    blocks::hosted(Content::ToolCall(ToolCall::new(code.get_text("id"), name, code.text_or_empty("code"))))
}

fn read_result(response: Value<'_>) -> Content<'_> {
    let (content, _) = answer(response.some("response"));
    let media = response.items_under("parts").filter(|&part| is_media(part)).count();
    blocks::result_of(response.get_text("id"), response.get_text("name"), content, media)
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

/// The same part, with the place where its result may be rewritten.
pub(super) fn with_place(mut part: Part<'_>) -> Part<'_> {
    if let PartOrigin::Source(place) = &mut part.origin
        && part.content.result().is_some()
    {
        let response = blocks::either(place.element, "functionResponse", "function_response");
        let code = blocks::either(place.element, "codeExecutionResult", "code_execution_result");
        place.rewrite = match code.and_then(|code| code.some("output")) {
            Some(output) => Some(Rewrite::of_text(output)),
            None => answer(response.and_then(|response| response.some("response"))).1,
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

// Recordings of the Gemini CLI: what only they have, and how the program loads them.
//
// Headers and updates of them, thoughts beside the content, and `toolCalls`, each a call with its result.

/// Whether a line is the header of a recording, or an update of it. What has an id is a message, except a rewind.
fn is_header(item: Value<'_>) -> bool {
    let [session, project, set, rewind, id] = item.get_each(["sessionId", "projectHash", "$set", "$rewindTo", "id"]);
    let header = session.is_some() && project.is_some() || set.is_some_and(Value::is_object);
    rewind.is_some() || header && id.is_none_or(|id| id.text().is_none())
}

/// Whether a line says nothing but when the recording changed, so that a later one says it again.
fn is_passing(item: Value<'_>) -> bool {
    let mut set = item.get("$set").into_iter().flat_map(Value::members);
    item.get("$rewindTo").is_some() || item.get("$set").is_some() && set.all(|member| member.key.is("lastUpdated"))
}

/// Whether an item is a line of a recording, and no content of the API or event.
fn is_record(item: Value<'_>) -> bool {
    let [kind, role, author] = item.get_each(["type", "role", "author"]);
    kind.is_some() && role.is_none() && author.is_none() || is_header(item)
}

/// Whether a record is metadata: a header, or a notice for the user.
fn is_metadata(item: Value<'_>) -> bool {
    const NOTICES: &[&str] = &["info", "warning", "error"];
    let notice = NOTICES.contains(&&*item.word("type"));
    is_header(item) || notice && item.get("role").is_none()
}

/// How well a single record fits.
fn fit_record(item: Value<'_>) -> Fit {
    let enveloped = ["role", "message", "uuid", "payload", "data"].iter().any(|key| item.get(key).is_some());
    if enveloped || item.get("content").is_none() {
        return Fit::No;
    }
    match &*item.word("type") {
        "gemini" => Fit::Certain,
        "user" | "info" | "warning" | "error" if item.get("timestamp").is_some() => Fit::Possible,
        _ => Fit::No,
    }
}

/// The usage of a reply. The input includes cached tokens.
fn usage_of_record(item: Value<'_>) -> Option<Usage> {
    let tokens = item.some("tokens")?;
    let input = tokens.number("input");
    let output = tokens.number("output") + tokens.number("thoughts");
    (input > 0).then(|| Usage { input, cache_read: tokens.number("cached"), output, ..Usage::default() })
}

/// The thoughts beside the content.
fn thoughts(item: Value<'_>) -> Vec<Part<'_>> {
    let thoughts = item.items_under("thoughts");
    thoughts.map(|thought| blocks::in_shell(thought, Content::Reasoning(thought_text(thought)))).collect()
}

fn thought_text(thought: Value<'_>) -> Text<'_> {
    match (thought.get_text("subject"), thought.get_text("description")) {
        (Some(subject), Some(description)) => Text::Owned(format!("{}\n{}", subject.decode(), description.decode())),
        (only, None) | (None, only) => only.unwrap_or(Text::Escaped("")),
    }
}

/// A call for each record, and a result if there is one; both have the same bytes.
fn tool_calls(item: Value<'_>) -> Vec<Part<'_>> {
    let records = item.items_under("toolCalls");
    records.flat_map(|record| std::iter::once(read_call(record)).chain(read_recorded_result(record))).collect()
}

fn read_call(record: Value<'_>) -> Part<'_> {
    let call = blocks::call(record.get_text("id"), record.get_text("name"), record.some("args"));
    Part::from_source(call, PartPlace { rewrite: room_for_result(record), ..PartPlace::in_shell(record) })
}

/// Where the result of an open call is inserted: the CLI reads a string as the output.
fn room_for_result(record: Value<'_>) -> Option<Rewrite> {
    if let Some(result) = record.get("result") {
        return result_of(record).is_none().then(|| Rewrite::of_text(result));
    }
    let end = record.members().last()?.span.end;
    Some(Rewrite { span: Span::new(end, end), around: &[",\"result\":", ""] })
}

fn result_of(record: Value<'_>) -> Option<Value<'_>> {
    record.some("result").filter(|result| !result.is_array() || result.items().next().is_some())
}

fn read_recorded_result(record: Value<'_>) -> Option<Part<'_>> {
    let result = result_of(record)?;
    let (content, rewrite) = read_answer(result);
    let media = result.items().filter(|&part| matches!(plain(part), Content::Media(_))).count();
    let answer = blocks::result_of(record.get_text("id"), record.get_text("name"), content, media);
    Some(Part::from_source(answer, PartPlace { rewrite, ..PartPlace::in_shell(record) }))
}

/// A string, or parts. The text of a single response may be rewritten.
fn read_answer(result: Value<'_>) -> (Vec<Text<'_>>, Option<Rewrite>) {
    let responses: Vec<Value<'_>> =
        result.items().filter_map(|part| blocks::either(part, "functionResponse", "function_response")).collect();
    if let ([only], 1) = (responses.as_slice(), result.items().count()) {
        return answer(only.some("response"));
    }
    let texts = result.items().filter_map(|part| part.get_text("text"));
    let answers = responses.iter().flat_map(|response| answer(response.some("response")).0).chain(texts);
    let content = if result.is_array() { answers.collect() } else { blocks::texts(Some(result)) };
    (content, Some(Rewrite::of_text(result)))
}

// A later record of an id is the message's last state, `$set.messages` replaces everything, `$rewindTo` rolls back a message and
// all after it, and a result that stands twice is one.

/// A message, or a notice, in the order of the program.
struct Entry<'a> {
    id: Text<'a>,
    /// Index of its last record.
    item: usize,
}

/// What became of the records of a recording.
#[derive(Default)]
struct History {
    /// Records of which a later one is the last state: the index of each, and of the last.
    rewritten: Vec<(usize, usize)>,
    /// The events that roll something back.
    rewinds: Vec<Rewind>,
    /// The newest list that replaces everything before it.
    boundary: Option<usize>,
}

/// An event that rolls back records.
struct Rewind {
    /// Index of the event.
    event: usize,
    /// Indices of the last records of what it rolls back, in order; may be empty.
    records: Vec<usize>,
    /// Whether it reaches into the list that replaced everything before it.
    reaches_into_list: bool,
}

impl History {
    /// Plays the records as the program does.
    fn of(items: &[Value<'_>]) -> Self {
        let mut history = Self::default();
        let mut order: Vec<Entry<'_>> = Vec::new();
        for (at, item) in items.iter().enumerate() {
            if let Some(target) = target_of(*item) {
                let found = order.iter().position(|entry| Some(&entry.id) == target.text().as_ref());
                let reaches_into_list = found.is_none() && history.boundary.is_some();
                let records = order.split_off(found.unwrap_or(0)).into_iter().map(|entry| entry.item).collect();
                history.rewinds.push(Rewind { event: at, records, reaches_into_list });
            } else if list_of(*item).is_some() {
                order.clear();
                history.boundary = Some(at);
            } else if let Some(id) = id_of(*item) {
                if begins_list(*item) {
                    order.clear();
                }
                history.write(&mut order, id, at);
            }
        }
        let last = |mut item: usize, newer: &HashMap<usize, usize>| {
            while let Some(next) = newer.get(&item) {
                item = *next;
            }
            item
        };
        let newer: HashMap<usize, usize> = history.rewritten.iter().copied().collect();
        history.rewritten.iter_mut().for_each(|(_, item)| *item = last(*item, &newer));
        history
    }

    /// A record replaces the one before it of the same id, at its place. Most replace the newest one.
    fn write<'a>(&mut self, order: &mut Vec<Entry<'a>>, id: Text<'a>, at: usize) {
        match order.iter_mut().rev().find(|entry| entry.id == id) {
            Some(entry) => self.rewritten.push((std::mem::replace(&mut entry.item, at), at)),
            None => order.push(Entry { id, item: at }),
        }
    }
}

/// The messages of a `$set` line that replaces everything before it.
fn list_of(item: Value<'_>) -> Option<Value<'_>> {
    let list = item.get("$set")?.get("messages").filter(|list| list.is_array())?;
    (is_header(item) && target_of(item).is_none()).then_some(list)
}

/// The id that a `$rewindTo` line names.
fn target_of(item: Value<'_>) -> Option<Value<'_>> {
    item.get("$rewindTo").filter(|target| target.text().is_some())
}

fn id_of(item: Value<'_>) -> Option<Text<'_>> {
    let [id, role, author] = item.get_each(["id", "role", "author"]);
    id?.text().filter(|_| role.is_none() && author.is_none() && item.get("type").is_some())
}

/// Whether `item` is the first element of the list of a `$set` line.
fn begins_list(item: Value<'_>) -> bool {
    is_in_list(item) && item.parent().and_then(|list| list.items().next()) == Some(item)
}

/// Reads a `$set` line with messages as a list of them.
fn read_list(list: Value<'_>) -> Item<'_> {
    if list.items().next().is_none() { Item::Pinned } else { Item::Nested(list.items().collect()) }
}

/// A list that a later one replaced.
fn boundary(item: Value<'_>) -> Item<'_> {
    let mut message = blocks::notice(item, None, vec![blocks::whole(item, Content::Other)]);
    message.set_boundary();
    Item::Message(message)
}

/// The `$set` line of whose list `item` is an element.
fn line_around(item: Value<'_>) -> Option<Value<'_>> {
    item.parent()?.parent()?.parent().filter(|line| list_of(*line).is_some())
}

/// Whether `item` is an element of the list of a `$set` line.
fn is_in_list(item: Value<'_>) -> bool {
    line_around(item).is_some()
}

/// Marks what the program does not read any more, and unites the results that stand twice.
fn mark_records<'a>(items: &[Value<'a>], read: &mut [Item<'a>]) {
    if let Some(line) = items.first().and_then(|item| line_around(*item)) {
        let lines: Vec<Value<'a>> = line.roots_after().collect();
        let until = lines.iter().position(|line| list_of(*line).is_some()).unwrap_or(lines.len());
        let all: Vec<Value<'a>> = items.iter().chain(&lines[..until]).copied().collect();
        blocks::put_in_compaction(read);
        stand(&History::of(&all), read, true);
    } else {
        let history = History::of(items);
        stand(&history, read, false);
        if let Some(last) = history.boundary {
            replace(items, &mut read[..last]);
        }
    }
    unite_results(read);
}

/// What stands before the newest list is superseded, earlier lists included.
fn replace<'a>(items: &[Value<'a>], read: &mut [Item<'a>]) {
    for (item, read) in items.iter().zip(read) {
        if list_of(*item).is_some() {
            *read = boundary(*item);
        }
        if let Item::Message(message) = read
            && message.standing == Standing::Live
        {
            message.standing = Standing::Superseded;
        }
    }
}

/// Marks the records that were rewritten or rolled back; `inner` if further lines follow those that were read.
fn stand(history: &History, read: &mut [Item<'_>], inner: bool) {
    for rewind in &history.rewinds {
        roll_back(rewind, read, inner);
    }
    for &(at, last) in &history.rewritten {
        if last < read.len() {
            read[at] = Item::With(last);
        } else if let Some(Item::Message(message)) = read.get_mut(at) {
            message.standing = Standing::Superseded;
        }
    }
}

/// What was rolled back is kept or dropped with the first of it, and so is the event: without its target, it would roll back
/// everything. An event that reaches into a list stays, and names another target if that one goes.
fn roll_back(rewind: &Rewind, read: &mut [Item<'_>], inner: bool) {
    let rewound = || rewind.records.iter().copied().filter(|at| *at < read.len());
    let Some(first) = rewound().find(|at| matches!(read[*at], Item::Message(_))) else {
        if let (Some(event), true) = (read.get_mut(rewind.event), rewind.reaches_into_list) {
            *event = Item::Pinned;
        }
        return;
    };
    let records: Vec<usize> = rewound().collect();
    for at in records {
        if let Item::Message(message) = &mut read[at] {
            message.dropped_with = u32::try_from(first).ok().filter(|_| at > first && !rewind.reaches_into_list);
            message.roll_back(Standing::RolledBack);
        } else if at < first {
            read[at] = Item::With(first);
        }
    }
    if !inner {
        read[rewind.event] = if rewind.reaches_into_list { Item::Pinned } else { Item::With(first) };
    }
}

/// Where a result was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct ReadAt {
    /// Index of its item.
    item: usize,
    part: usize,
}

/// The program writes the results of a message twice: beside the calls, and as the line of the user that it sends. The line is
/// what a model reads; after a resume, the list of messages may hold it twice.
fn unite_results<'a>(read: &mut [Item<'a>]) {
    let mut places = Places::default();
    for at in 0..read.len() {
        let Item::Message(message) = &read[at] else { continue };
        let results = message.results().filter_map(|(nth, result)| Some((nth, result.id.clone()?.into_decoded())));
        let results: Vec<(usize, Cow<'a, str>)> = results.collect();
        let calls: Vec<Cow<'a, str>> =
            message.calls().filter_map(|(_, call)| Some(call.id.clone()?.into_decoded())).collect();
        for id in &calls {
            places.in_lines.remove(id);
            places.beside.remove(id);
        }

        if !calls.is_empty() {
            places.beside.extend(results.into_iter().map(|(part, id)| (id, ReadAt { item: at, part })));
        } else if !results.is_empty() {
            read_line(read, at, results, &mut places);
        }
    }
    // A line of the user has them.
    places.moved.sort_unstable();
    for place in places.moved.into_iter().rev() {
        if let Item::Message(message) = &mut read[place.item] {
            message.parts.remove(place.part);
        }
    }
}

/// Where results were read, by the id of the call.
#[derive(Default)]
struct Places<'a> {
    /// Beside their calls.
    beside: HashMap<Cow<'a, str>, ReadAt>,
    /// In lines of the user.
    in_lines: HashMap<Cow<'a, str>, ReadAt>,
    /// Those beside a call that a line of the user repeats.
    moved: Vec<ReadAt>,
}

/// Reads a line with results: the ones of an earlier line, or ones that stand beside their calls as well.
fn read_line<'a>(read: &mut [Item<'a>], at: usize, results: Vec<(usize, Cow<'a, str>)>, places: &mut Places<'a>) {
    let in_lines = &mut places.in_lines;
    let first = results.first().and_then(|(_, id)| in_lines.get(id)).map(|place| place.item);
    let repeats = |id: &Cow<'a, str>| in_lines.get(id).is_some_and(|place| Some(place.item) == first);
    let only = matches!(&read[at], Item::Message(message) if message.parts.len() == results.len());
    if only && first.is_some() && results.iter().all(|(_, id)| repeats(id)) {
        for (part, id) in &results {
            let Some(copy) = part_of(read, ReadAt { item: at, part: *part }) else { continue };
            if let Some(&place) = in_lines.get(id) {
                add_twin(read, place, &copy, true);
            }
        }
        read[at] = first.map_or(Item::Metadata, Item::With);
        return;
    }
    for (part, id) in results {
        let line = ReadAt { item: at, part };
        if let Some(place) = places.beside.remove(&id)
            && let Some(copy) = part_of(read, place)
        {
            add_twin(read, line, &copy, false);
            places.moved.push(place);
        }
        in_lines.insert(id, line);
    }
}

fn part_of<'a>(read: &[Item<'a>], place: ReadAt) -> Option<Part<'a>> {
    let Item::Message(message) = read.get(place.item)? else { return None };
    message.parts.get(place.part).cloned()
}

/// Makes `copy` change with the part at `place`, and go with it if `goes`. A copy that says something else stays as it is.
fn add_twin<'a>(read: &mut [Item<'a>], place: ReadAt, copy: &Part<'a>, goes: bool) {
    let Some(Item::Message(message)) = read.get_mut(place.item) else { return };
    let part = &mut message.parts[place.part];
    let text = |part: &Part<'a>| -> Option<Vec<String>> {
        Some(part.content.result()?.content.iter().map(|text| text.decode().into_owned()).collect())
    };
    let same = text(part) == text(copy);
    if let (PartOrigin::Source(first), Some(other)) = (&mut part.origin, copy.place()) {
        first.further_mut().repeats.extend(other.rewrite.filter(|_| same));
        if goes {
            first.further_mut().copies_cut.push(other.element);
        }
    }
}

/// Gives every event another target that is written, if the one that it names is not: the first that was rolled back with it.
/// So does an event that named nothing and rolled back everything, if what it names is written. Where nothing of that is
/// written, nothing is to be rolled back.
fn repoint_rewinds(layout: &Layout<'_>, kept: &[bool]) -> Vec<Patch> {
    let items = &layout.elements;
    if !items.iter().any(|item| target_of(*item).is_some()) {
        return Vec::new();
    }
    let stays = layout.stays(kept);
    let kept = items.iter().zip(&stays).filter(|(_, stays)| **stays);
    let written: HashSet<Cow<'_, str>> = kept.filter_map(|(item, _)| Some(id_of(*item)?.into_decoded())).collect();
    let patch = |Rewind { event, records, .. }: Rewind| {
        let first = *records.first()?;
        let target = target_of(items[event])?;
        let known = id_of(items[first]) == target.text();
        let holds = if known { stays[first] } else { !written.contains(&target.text()?.into_decoded()) };
        if holds || !stays[event] {
            return None;
        }
        let next = records.iter().find(|at| stays[**at]).and_then(|at| id_of(items[*at]));
        Some(match next {
            Some(id) => Patch { span: target.span(), text: quote(&id.decode()) },
            None => Patch { span: items[event].span(), text: String::from("{\"$set\":{}}") },
        })
    };
    History::of(items).rewinds.into_iter().filter_map(patch).collect()
}

/// Whether the program wrote the message for the user: the context of the session.
fn is_context(message: &Message<'_>) -> bool {
    blocks::first_text(message).is_some_and(|text| text.decode().trim_start().starts_with("<session_context>"))
}
