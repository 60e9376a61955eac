//! OpenAI Responses items: `message`, `reasoning`, and several families of calls, each with its own `…_output`, joined by
//! `call_id` (also spelled `callId`).

use foldhash::HashSet;

use super::{BY_ID, Dialect, DialectWriter, Fit, Format, Item, LogHabits, NO_RULES, blocks};
use crate::json::{Json, Text, Value, list, object, or_null};
use crate::transcript::{
    Binding, Content, Draft, DraftPart, DraftResult, Family, Leader, Message, PairingRules, Part, PartPlace,
    ProviderRules, ResultPlace, Role, ToolCall, ToolResult, Unknown,
};

/// The dialect `responses`.
pub(super) struct Responses;

/// Item types that are calls: name, family, and whether the provider runs them, so that no result is needed.
const CALLS: &[(&str, Family, bool)] = &[
    ("function_call", Family::Function, false),
    ("custom_tool_call", Family::Custom, false),
    ("computer_call", Family::Computer, false),
    ("shell_call", Family::Shell, false),
    // Answered by `local_shell_call_output`; Codex and older histories answer with `function_call_output`.
    ("local_shell_call", Family::LocalShell, false),
    ("apply_patch_call", Family::ApplyPatch, false),
    ("tool_search_call", Family::ToolSearch, false),
    ("program", Family::Program, false),
    ("multi_agent_call", Family::Agent, false),
    ("mcp_approval_request", Family::Approval, false),
    ("web_search_call", Family::Server, true),
    ("file_search_call", Family::Server, true),
    ("code_interpreter_call", Family::Server, true),
    ("image_generation_call", Family::Server, true),
    ("mcp_call", Family::Server, true),
    // OpenAI's Agents SDK for JavaScript writes the calls of all hosted tools so.
    ("hosted_tool_call", Family::Server, true),
];

/// The output of a function in OpenAI's Agents SDK for JavaScript, which writes `callId`.
const FOR_JAVASCRIPT: &str = "function_call_result";

/// Item types that are results, and the family they answer.
const RESULTS: &[(&str, Family)] = &[
    ("function_call_output", Family::Function),
    ("custom_tool_call_output", Family::Custom),
    ("computer_call_output", Family::Computer),
    ("shell_call_output", Family::Shell),
    ("local_shell_call_output", Family::LocalShell),
    ("apply_patch_call_output", Family::ApplyPatch),
    ("tool_search_output", Family::ToolSearch),
    ("program_output", Family::Program),
    ("multi_agent_call_output", Family::Agent),
    ("mcp_approval_response", Family::Approval),
    (FOR_JAVASCRIPT, Family::Function),
    ("computer_call_result", Family::Computer),
];

impl Dialect for Responses {
    fn format(&self) -> &'static Format {
        &Format {
            name: "responses",
            known: &["result", "revised_prompt"],
            signature: "`type`: `message`, `reasoning`, `function_call` and other calls, each with `…_output`, \
                joined by `call_id`",
            pairing: PairingRules { results: ResultPlace::Anywhere, developer: true, ..BY_ID },
            provider: ProviderRules { provider: "responses", server_state: true, ..NO_RULES },
            has_flat_items: true,
            reread: Some(bind_reasoning_again),
            writer: Some(&Responses),
            log: &Responses,
            ..Format::PLAIN
        }
    }

    fn fit(&self, item: Value<'_>) -> Fit {
        let kind = item.word("type");
        if is_call(&kind).is_some() || is_result(&kind).is_some() {
            let named = item.has_any(["call_id", "callId", "id", "name", "approval_request_id"]);
            let named = named && !is_interaction(item);
            return if named && !item.has("payload") { Fit::Certain } else { Fit::No };
        }
        match &*kind {
            // Other logs contain the same item.
            "reasoning" if item.has("summary") && !item.has("role") => Fit::Possible,
            // Logs of pi write the summary itself.
            "compaction" if item.has("summary") => Fit::No,
            "mcp_list_tools" | "item_reference" | "compaction" | "compaction_trigger" | "additional_tools" => {
                Fit::Certain
            }
            "agent_message" if item.has("recipient") => Fit::Certain,
            "message" if item.items_under("content").any(is_own_block) => Fit::Certain,
            "message" if item.has("role") && item.get("stop_reason").is_none() => Fit::Possible,
            _ => Fit::No,
        }
    }

    /// The short form of messages is that of chats; what is beside the `input` is not.
    fn fits_request(&self, record: Value<'_>) -> bool {
        let beside =
            ["instructions", "previous_response_id", "max_output_tokens", "store", "truncation", "conversation"];
        record.get("input").is_some_and(Value::is_array) && record.get("messages").is_none() && record.has_any(beside)
    }

    fn read<'a>(&self, item: Value<'a>) -> Item<'a> {
        read_item(item, item)
    }

    fn connect<'a>(&self, items: &[Value<'a>], read: &mut [Item<'a>]) {
        defer(items, read);
        bind_reasoning(read);
    }

    fn preamble<'a>(&self, record: Value<'a>) -> Vec<Text<'a>> {
        blocks::preamble(record, &["instructions", "tools"])
    }
}

impl DialectWriter for Responses {
    fn result_key(&self, items: &[Value<'_>]) -> Option<&'static str> {
        let named = items.iter().find_map(|item| CALL_IDS.into_iter().find(|key| item.some(key).is_some()));
        named.filter(|key| *key != CALL_IDS[0])
    }

    fn write_message(&self, draft: &Draft, _anchor: Option<Value<'_>>) -> String {
        write_item(draft)
    }
}

impl LogHabits for Responses {
    /// What the server has of the earlier responses comes before the items, whatever is cut of them.
    fn set_aside(&self, record: Value<'_>) -> Option<String> {
        record.some("previous_response_id").map(|_| {
            String::from(
                "the request continues what the server stored (`previous_response_id`): nothing of that was cut, and the \
                 provider advises against pruning such a conversation by hand",
            )
        })
    }
}

fn is_call(kind: &str) -> Option<(Family, bool)> {
    CALLS.iter().find(|call| call.0 == kind).map(|call| (call.1, call.2))
}

fn is_result(kind: &str) -> Option<Family> {
    RESULTS.iter().find(|result| result.0 == kind).map(|result| result.1)
}

/// Whether a call is a step of the Gemini API: its arguments are an object, and its id is the one that results name.
fn is_interaction(item: Value<'_>) -> bool {
    let call = item.member_is("type", "function_call");
    call && item.some("id").is_some() && item.get("arguments").is_some_and(Value::is_object) && call_id(item).is_none()
}

fn is_own_block(block: Value<'_>) -> bool {
    matches!(&*block.word("type"), "input_text" | "output_text" | "input_image")
}

/// Reads `item` as a message whose bytes are `whole`: the item itself, or an envelope around it.
pub(super) fn read_item<'a>(item: Value<'a>, whole: Value<'a>) -> Item<'a> {
    let kind = item.get_text("type").map_or("message".into(), Text::into_decoded);
    let kind = &*kind;
    let (role, parts) = if let Some((family, hosted)) = is_call(kind) {
        (Role::Assistant, call_parts(item, whole, read_call(item, kind, family, hosted)))
    } else if let Some(family) = is_result(kind) {
        let text = item.get("output").filter(|_| !matches!(family, Family::Computer | Family::Shell));
        (Role::Tool, vec![blocks::rewritable(whole, read_result(item, family), text)])
    } else {
        match kind {
            "message" => {
                let named = item.word("role");
                let Some(role) = role_of(&named) else { return Item::Unknown(Unknown::role(named.into_owned())) };
                (role, blocks::plain_parts(item.get("content")))
            }
            "agent_message" => (addressed(item), blocks::plain_parts(item.get("content"))),
            // Definitions of tools that are added during a conversation: counted, never rewritten.
            "additional_tools" => {
                let tools = item.get("tools").into_iter();
                let parts = tools.map(|tools| blocks::whole(tools, Content::Text(Text::Json(tools.raw()))));
                (Role::Developer, parts.collect())
            }
            "reasoning" => (Role::Assistant, vec![blocks::whole(whole, read_reasoning(item))]),
            // The text of a compaction is encrypted.
            "compaction" | "context_compaction" => {
                let parts = vec![blocks::whole(whole, Content::Other)];
                return blocks::boundary(Role::Assistant, whole, item.get_text("id"), parts);
            }
            "mcp_list_tools" | "item_reference" => return Item::Metadata,
            "compaction_trigger" => return Item::Pinned,
            other => return Item::Unknown(Unknown::Named(other.to_owned())),
        }
    };
    blocks::message(role, whole, item.get_text("id"), parts)
}

/// The role of a message between agents: a message to this agent is read as a user message.
fn addressed(item: Value<'_>) -> Role {
    let mut blocks = item.items_under("content");
    let has_output = blocks.any(|block| block.member_is("type", "output_text"));
    if has_output { Role::Assistant } else { Role::User }
}

/// The id of the program that makes this call.
fn caller(item: Value<'_>) -> Option<Value<'_>> {
    item.some("caller")?.get("caller_id")
}

fn role_of(role: &str) -> Option<Role> {
    match role {
        "developer" => Some(Role::Developer),
        name => blocks::speaker_of(name),
    }
}

/// How the id of a call is spelled.
const CALL_IDS: [&str; 2] = ["call_id", "callId"];

fn call_id(item: Value<'_>) -> Option<Text<'_>> {
    CALL_IDS.iter().find_map(|key| item.get_text(key))
}

/// A list in which a server answers its call: its key, that of the text in an element, and the JSON around a text in its place.
struct AnswerList {
    key: &'static str,
    text: &'static str,
    around: &'static [&'static str; 2],
}

const ANSWER_LISTS: [AnswerList; 2] = [
    AnswerList { key: "outputs", text: "logs", around: &["[{\"type\":\"logs\",\"logs\":", "}]"] },
    AnswerList { key: "results", text: "text", around: &["[{\"text\":", "}]"] },
];

/// What a server answered to its call in the same item: a text, an error, or the texts in a list.
fn read_answer<'a>(item: Value<'a>, whole: Value<'a>, call: &ToolCall<'a>) -> Option<Part<'a>> {
    let result = ToolResult::new(call.id.clone(), Some(call.name.clone()), Vec::new());
    let mut result = ToolResult { family: call.family, ..result };
    if let Some(said) = item.some("output").filter(|said| said.text().is_some()).or_else(|| item.some("error")) {
        result.content = blocks::texts(said.get("content").or(Some(said)));
        return Some(blocks::rewritable(whole, Content::ToolResult(result), Some(said)));
    }
    let place = ANSWER_LISTS.iter().find_map(|list| {
        let elements = item.get(list.key)?;
        result.content = elements.items().filter_map(|element| element.get_text(list.text)).collect();
        let place = PartPlace::element(whole).with_text_in(elements, list.around);
        (!result.content.is_empty()).then_some(place)
    })?;
    Some(Part::from_source(Content::ToolResult(result), place))
}

/// A call, and what a server said to it, if the item has that as well.
fn call_parts<'a>(item: Value<'a>, whole: Value<'a>, call: ToolCall<'a>) -> Vec<Part<'a>> {
    let has_answer = call.hosted && call.id.is_some();
    let result = has_answer.then(|| read_answer(item, whole, &call)).flatten();
    let mut place = PartPlace::element(whole);
    place.set_leader(caller(item).map(Leader::Program));
    std::iter::once(Part::from_source(Content::ToolCall(call), place)).chain(result).collect()
}

fn read_call<'a>(item: Value<'a>, kind: &str, family: Family, hosted: bool) -> ToolCall<'a> {
    let keys = ["arguments", "input", "action", "actions", "operation", "code", "queries"];
    let container = item.has("action") && item.has("output");
    ToolCall {
        id: if family == Family::Approval {
            item.get_text("id")
        } else {
            // The item id of a hosted call, which has no other, distinguishes it from calls that are answered by position.
            call_id(item).or_else(|| item.get_text("id").filter(|_| hosted))
        },
        name: item.get_text("name").unwrap_or_else(|| Text::Owned(kind.to_owned())),
        arguments: blocks::arguments(keys.iter().find_map(|key| item.some(key))),
        family,
        hosted: hosted || container || is_hosted_elsewhere(item),
        deferred: family == Family::Approval,
        waits: family == Family::Approval,
        written: None,
    }
}

/// A shell in the provider's container, or a tool search that the provider ran, needs no output from the caller.
fn is_hosted_elsewhere(item: Value<'_>) -> bool {
    let container = item.some("environment").is_some_and(|place| place.member_is("type", "container_reference"));
    container || item.member_is("execution", "server")
}

/// Calls and results of a response that runs in the background are stored while it goes on. A run that waits for a person names
/// its calls under `interruptions`.
fn defer(items: &[Value<'_>], read: &mut [Item<'_>]) {
    let record = blocks::record_of(items);
    let interruptions = record.into_iter().flat_map(|record| record.items_under("interruptions"));
    let waiting = interruptions.filter_map(|item| {
        let call = ["rawItem", "raw_item"].into_iter().find_map(|key| item.some(key)).unwrap_or(item);
        call_id(call).map(|id| id.decode().into_owned())
    });
    let waiting: HashSet<String> = waiting.collect();
    for (item, read) in items.iter().zip(read) {
        let goes_on = item.member_is("status", "in_progress") || item.member_is("status", "queued");
        for part in read.message_mut().into_iter().flat_map(|message| &mut message.parts) {
            match &mut part.content {
                Content::ToolCall(call)
                    if goes_on || call.id.as_ref().is_some_and(|id| waiting.contains(&*id.decode())) =>
                {
                    call.wait();
                }
                Content::ToolResult(result) => result.interim = goes_on,
                _ => {}
            }
        }
    }
}

fn read_result(item: Value<'_>, family: Family) -> Content<'_> {
    let output = ["output", "result", "tools", "approve"].iter().find_map(|key| item.some(key));
    let id = match family {
        Family::Approval => item.get_text("approval_request_id"),
        // By its definition, the output of a local shell has the id of the call under this key.
        Family::LocalShell => call_id(item).or_else(|| item.get_text("id")),
        _ => call_id(item),
    };
    let mut result = ToolResult { family, ..ToolResult::new(id, None, Vec::new()) };
    result.add_answer(output);
    Content::ToolResult(result)
}

pub(super) fn read_reasoning(item: Value<'_>) -> Content<'_> {
    let blocks = ["content", "summary"].iter().flat_map(|key| item.items_under(key));
    Content::Reasoning(blocks::joined(blocks.filter_map(|block| block.get_text("text"))))
}

/// Reasoning must be kept with the item after it; metadata between them does not matter, and a compaction does.
pub(super) fn bind_reasoning(items: &mut [Item<'_>]) {
    let mut next_is_theirs = false;
    for item in items.iter_mut().rev() {
        if let Item::Nested(_) = item {
            // A history that replaces what precedes it.
            next_is_theirs = false;
        } else if let Item::Message(message) = item {
            let thought = message.parts.iter().all(|part| matches!(part.content, Content::Reasoning(_)));
            let bound = thought && !message.parts.is_empty() && next_is_theirs;
            message.binding = if bound { Binding::Reasoning } else { Binding::None };
            next_is_theirs = message.role == Role::Assistant && !message.is_boundary();
        }
    }
}

/// As [`bind_reasoning`], after an edit: reasoning may stand before another item than it did.
pub(super) fn bind_reasoning_again(messages: &mut [Message<'_>]) {
    for at in 1..messages.len() {
        let next = &messages[at];
        let is_theirs = next.role == Role::Assistant && !next.is_boundary() && next.thread == messages[at - 1].thread;
        if is_theirs && messages[at - 1].is_reasoning() {
            messages[at - 1].binding = Binding::Reasoning;
        }
    }
}

/// Writes a draft as an item.
pub(super) fn write_item(draft: &Draft) -> String {
    match draft.parts.as_slice() {
        [DraftPart::ToolResult(result)] => write_result(result),
        [DraftPart::Verbatim(raw)] => raw.clone(),
        _ => object! { "type": "message", "role": draft.role.name(), "content": draft.joined_text() }.0,
    }
}

fn write_result(DraftResult { id, name, text, family, key }: &DraftResult) -> String {
    let kind = RESULTS.iter().find(|result| result.1 == *family).map_or("function_call_output", |result| result.0);
    let key = key.unwrap_or(CALL_IDS[0]);
    let id = or_null(id.as_deref());
    let item = match family {
        Family::Approval => {
            object! { "type": kind, "approval_request_id": id, "approve": false, "reason": text }
        }
        Family::Shell => {
            let outcome = object! { "type": "timeout" };
            let output = list([object! { "stdout": "", "stderr": text, "outcome": outcome }.0]);
            object! { "type": kind, key: id, "output": output }
        }
        Family::Function if key == CALL_IDS[1] => {
            object! { "type": FOR_JAVASCRIPT, "name": name, key: id, "status": "completed", "output": text }
        }
        Family::ToolSearch => object! { "type": kind, key: id, "tools": Json("[]"), "status": "incomplete" },
        Family::ApplyPatch => object! { "type": kind, key: id, "status": "failed", "output": text },
        _ => object! { "type": kind, key: id, "output": text },
    };
    item.0
}
