//! Gemini: `contents` of `parts` as the API has them, events of the Agent Development Kit (ADK) around them, and recordings
//! of the Gemini CLI, in which a call and its result are one record. Keys are in camel case or snake case.

use std::borrow::Cow;

use foldhash::HashSet;

use super::gemini_history::{History, is_context, list_of, mark_records, read_list, repoint_rewinds};
use super::gemini_parts::{self, SNAKE_RESULT, is_part, only_first_is_signed, plain};
use super::gemini_records::{
    fit_record, is_header, is_metadata, is_passing, is_record, thoughts, tool_calls, usage_of_record,
};
use super::gemini_twins::unite_results;
use super::{
    BY_ID, Dialect, DialectWriter, Fit, Format, HistoryChange, Item, LogHabits, NO_RULES, Patch, Remaining,
    SizeFigures, adk, adk_events, adk_history, blocks, provenance, tree,
};
use crate::json::{Json, ObjectWriter, Text, Value, object};
use crate::transcript::{
    Content, Draft, DraftResult, Family, Layout, Links, Message, MessageKind, PairingRules, Part, ProviderRules,
    ResultPlace, Role, Unknown, Usage,
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
        let fit = if item.items_under("parts").any(is_part) { Fit::Certain } else { fit_of_bare(item) };
        match fit {
            Fit::No => fit_record(item),
            _ if item.has("uuid") => Fit::No,
            fit => fit,
        }
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
        if adk_events::is_piece(item) {
            return Item::Ahead;
        }
        if let Some(summary) = adk_events::summary(item) {
            return read_summary(item, summary);
        }
        let content = if item.has("author") { item.some("content") } else { Some(item) };
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
            unite_results(read);
        }
        adk::connect(items, read);
        if read.iter().any(lacks_id) {
            let shared = shared_ids(read);
            read.iter_mut().for_each(|item| forget_ids(item, &shared));
        }
    }

    fn preamble<'a>(&self, record: Value<'a>) -> Vec<Text<'a>> {
        let instruction = blocks::either(record, "systemInstruction", "system_instruction");
        let parts = instruction.map(|content| content.get("parts").unwrap_or(content));
        blocks::texts(parts).into_iter().chain(blocks::preamble(record, &["tools"])).collect()
    }
}

impl DialectWriter for Gemini {
    fn result_key(&self, items: &[Value<'_>]) -> Option<&'static str> {
        let contents =
            items.iter().map(|item| item.some("content").filter(|content| content.is_object()).unwrap_or(*item));
        let parts = contents.filter_map(|content| content.some("parts")).flat_map(Value::items);
        let keys = ["functionResponse", SNAKE_RESULT, "functionCall", "function_call"];
        let mut written = parts.filter_map(|part| keys.into_iter().find(|key| part.has(key)));
        written.next().filter(|key| key.contains('_')).map(|_| SNAKE_RESULT)
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
        let record = anchor.filter(|anchor| anchor.has("id") && is_record(*anchor))?;
        Some(tree::first_links("id", draft, Some(record)))
    }

    fn name_drafts(&self, layout: &Layout<'_>, remaining: &mut Remaining<'_>) {
        tree::name_records(|item| item.get_text("id"), layout, remaining);
    }

    fn relink(&self, layout: &Layout<'_>, remaining: &mut Remaining<'_>) -> Vec<Patch> {
        self.name_drafts(layout, remaining);
        repoint_rewinds(layout, remaining.kept)
    }
}

impl LogHabits for Gemini {
    fn usage(&self, item: Value<'_>) -> Option<Usage> {
        let usage = blocks::either(item, "usageMetadata", "usage_metadata");
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

    fn replacement<'a>(&self, item: Value<'a>) -> Vec<Message<'a>> {
        let items = list_of(item).into_iter().flat_map(Value::items);
        items.filter_map(|item| self.read(item).into_message()).collect()
    }

    fn history(&self, items: &[Value<'_>]) -> Vec<HistoryChange> {
        let lists = HistoryChange::compactions(items.len(), |at| list_of(items[at]).map(|_| Vec::new()));
        let rewinds = History::of(items).rewinds.into_iter();
        // The first record in the log: one of an earlier message can be written again behind it.
        let rewinds =
            rewinds.filter_map(|rewind| Some(HistoryChange::rollback(rewind.event, rewind.records.into_iter().min()?)));
        HistoryChange::in_order([rewinds.collect(), lists, adk_history::history(items)].concat())
    }
}

/// How well a content fits whose parts are written as the Python SDK takes them: as texts, or one without a list. Messages of a
/// chat may have such a member beside what they say.
fn fit_of_bare(item: Value<'_>) -> Fit {
    let [role, parts] = item.get_each(["role", "parts"]);
    let (Some(role), None, Some(parts)) = (role, item.some("content"), parts) else { return Fit::No };
    let has_parts = parts.items().next().is_some();
    let are_texts = parts.text().is_some() || has_parts && parts.items().all(|part| part.text().is_some());
    if parts.is_object() && is_part(parts) {
        Fit::Certain
    } else if are_texts && (role.is("user") || role.is("model")) {
        Fit::Possible
    } else {
        Fit::No
    }
}

/// A turn of an evaluation of the Agent Development Kit: the question, the tools used, and the last answer.
fn is_exchange(item: Value<'_>) -> bool {
    blocks::either(item, "userContent", "user_content").is_some_and(Value::is_object)
        || item.has("query") && (item.has("expected_tool_use") || item.has("reference"))
}

/// The turn is one user message: it cannot be divided, and its tool calls are only expected ones.
fn read_exchange(item: Value<'_>) -> Item<'_> {
    let mut message = Message { kind: MessageKind::Exchange, ..Message::from_source(Role::User, item) };
    let asked = ["query", "user_content", "userContent"].into_iter().flat_map(|key| side(item, key));
    let answers = ["reference", "final_response", "finalResponse"].into_iter().flat_map(|key| side(item, key));
    message.parts = asked.chain(answers.map(|part| part.said_by(Role::Assistant))).collect();
    let uses = ["expected_tool_use", "intermediate_data", "intermediateData"].iter().filter_map(|key| item.some(key));
    message.parts.extend(uses.map(|uses| blocks::whole(uses, Content::Other)));
    Item::Message(message)
}

/// What one side of a turn says, under `key`.
fn side<'a>(item: Value<'a>, key: &str) -> Vec<Part<'a>> {
    item.some(key).map_or_else(Vec::new, |value| blocks::content(Some(value.get("parts").unwrap_or(value)), plain))
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
    message.parts.extend(gemini_parts::read(list));
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
    adk::mark_boundary(&mut message);
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
