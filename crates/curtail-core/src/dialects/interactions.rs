//! Interactions of the Gemini API: `steps` of a reply, or `input` of a request. Every step is a message: what was said, a
//! thought, a call, or a result.

use super::responses::{bind_reasoning, bind_reasoning_again};
use super::{BY_ID, Dialect, DialectWriter, Fit, Format, Item, LogHabits, NO_RULES, blocks, provenance};
use crate::json::{Text, Value, list, object};
use crate::transcript::{
    Content, Draft, DraftPart, DraftResult, PairingRules, Part, ProviderRules, ResultPlace, Role, Usage,
};

/// The dialect `gemini-interactions`.
pub(super) struct Interactions;

impl Dialect for Interactions {
    fn format(&self) -> &'static Format {
        &Format {
            name: "gemini-interactions",
            signature: "`type`: `user_input`, `model_output`, `thought`, `function_call` with `id`, \
                `function_result` with `call_id`",
            pairing: PairingRules { results: ResultPlace::Anywhere, ..BY_ID },
            provider: ProviderRules { system_beside: true, ..NO_RULES },
            has_flat_items: true,
            reread: Some(bind_reasoning_again),
            writer: Some(&Interactions),
            log: &Interactions,
            ..Format::PLAIN
        }
    }

    fn fit(&self, item: Value<'_>) -> Fit {
        if item.has("role") || item.has("payload") {
            return Fit::No;
        }
        if is_step(item, &item.word("type")) { Fit::Certain } else { Fit::No }
    }

    fn fits_record(&self, record: Value<'_>) -> bool {
        record.member_is("object", "interaction")
    }

    fn read<'a>(&self, item: Value<'a>) -> Item<'a> {
        let kind = item.word("type");
        let (role, parts) = match &*kind {
            "user_input" => (Role::User, blocks::plain_parts(item.get("content"))),
            "model_output" => (Role::Assistant, blocks::plain_parts(item.get("content"))),
            "thought" => (Role::Assistant, vec![thought(item)]),
            "function_call" => {
                let call = blocks::call_in(item, ["id", "name", "arguments"]);
                (Role::Assistant, vec![blocks::whole(item, call)])
            }
            "function_result" => (Role::Tool, vec![result(item)]),
            kind if is_hosted(kind) => (Role::Assistant, vec![hosted(item, kind)]),
            _ => return blocks::unknown_kind(kind),
        };
        blocks::message(role, item, None, parts)
    }

    fn connect<'a>(&self, items: &[Value<'a>], read: &mut [Item<'a>]) {
        bind_reasoning(read);
        // The server has the steps before the first one.
        let stateful = blocks::record_of(items).is_some_and(|record| record.some("previous_interaction_id").is_some());
        if stateful {
            read.iter_mut().filter_map(Item::message_mut).for_each(|message| message.call_rules.unasked = true);
        }
    }

    fn preamble<'a>(&self, record: Value<'a>) -> Vec<Text<'a>> {
        blocks::preamble(record, &["system_instruction", "tools"])
    }
}

impl DialectWriter for Interactions {
    fn write_message(&self, draft: &Draft, _anchor: Option<Value<'_>>) -> String {
        if let [part @ (DraftPart::ToolResult(_) | DraftPart::Verbatim(_))] = draft.parts.as_slice() {
            return self.write_part(part);
        }
        let kind = if draft.role == Role::Assistant { "model_output" } else { "user_input" };
        object! { "type": kind, "content": list([blocks::text_block(&draft.joined_text())]) }.0
    }

    fn write_result(&self, result: &DraftResult) -> String {
        let DraftResult { name, text, .. } = result;
        let id = result.call_id();
        object! { "type": "function_result", "call_id": id, "name": name, "result": text, "is_error": true }.0
    }
}

impl LogHabits for Interactions {
    /// What the server has of the earlier interactions comes before the steps, whatever is cut of them.
    fn set_aside(&self, record: Value<'_>) -> Option<String> {
        record.some("previous_interaction_id").map(|_| {
            String::from(
                "the interaction continues what the server stored (`previous_interaction_id`): nothing of that was cut",
            )
        })
    }

    /// The usage is that of the whole reply.
    fn usages(&self, items: &[Value<'_>]) -> Vec<Option<Usage>> {
        let mut usages: Vec<Option<Usage>> = items.iter().map(|_| None).collect();
        if let (Some(last), Some(record)) = (usages.last_mut(), blocks::record_of(items)) {
            *last = record.some("usage").and_then(usage);
        }
        usages
    }
}

fn usage(usage: Value<'_>) -> Option<Usage> {
    let input = usage.number("total_input_tokens") + usage.number("total_tool_use_tokens");
    let output = usage.number("total_output_tokens") + usage.number("total_thought_tokens");
    provenance::counted(input, [usage.number("total_cached_tokens"), 0], output)
}

/// Tools that the provider runs: each has a step for the call and one for the result.
const HOSTED: &[&str] = &[
    "google_search", "google_maps", "url_context", "code_execution", "file_search", "retrieval", "processing",
    "tool_search", "mcp_server_tool",
];

fn is_hosted(kind: &str) -> bool {
    let tool = kind.strip_suffix("_call").or_else(|| kind.strip_suffix("_result"));
    tool.is_some_and(|tool| HOSTED.contains(&tool))
}

/// Whether an item is a step. A call of the Responses API has its arguments as text, and a `call_id`.
fn is_step(item: Value<'_>, kind: &str) -> bool {
    match kind {
        "user_input" | "model_output" => item.some("content").is_some(),
        "function_call" => {
            let named = item.some("id").is_some() && item.has("name");
            named && item.some("arguments").is_some_and(Value::is_object) && !names_call(item)
        }
        "function_result" => item.some("call_id").is_some() && item.has("result"),
        "thought" => item.has("signature") || item.has("summary"),
        // The Responses API names its search of tools in the same way.
        kind if is_hosted(kind) && !kind.starts_with("tool_search") => true,
        _ => false,
    }
}

fn names_call(item: Value<'_>) -> bool {
    item.some("call_id").or_else(|| item.some("callId")).is_some()
}

/// A thought: its summary can be read. The signature must be sent back as it was received, with the step after it.
fn thought(item: Value<'_>) -> Part<'_> {
    blocks::whole(item, Content::Reasoning(blocks::joined(blocks::texts(item.some("summary")))))
}

fn result(item: Value<'_>) -> Part<'_> {
    let content = item.get("result");
    let result = blocks::result(item.get_text("call_id"), item.get_text("name"), content);
    blocks::rewritable(item, result, content)
}

/// A call of a tool that the provider runs, or its result, which is of a fixed form.
fn hosted<'a>(item: Value<'a>, kind: &str) -> Part<'a> {
    let content = match kind.strip_suffix("_call") {
        Some(tool) => {
            let name = item.get_text("name").unwrap_or_else(|| Text::Owned(tool.to_owned()));
            blocks::call(item.get_text("id"), Some(name), item.get("arguments"))
        }
        None => blocks::result(item.get_text("call_id"), item.get_text("name"), item.get("result")),
    };
    let mut part = blocks::whole(item, blocks::hosted(content));
    // The result is a step of its own.
    if let Content::ToolResult(result) = &mut part.content {
        result.same_message = false;
    }
    part
}
