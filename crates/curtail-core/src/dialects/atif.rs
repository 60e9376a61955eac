//! The Agent Trajectory Interchange Format of Harbor: `steps`, each with a `source` and a `message`. A step of the agent holds
//! its tool calls and, under `observation`, their results.

use super::call_results::answer_in_order;
use super::{BY_ID, Dialect, DialectWriter, Fit, Format, Item, LogHabits, NO_RULES, Patch, Remaining, blocks};
use crate::json::{Json, Span, Text, Value, list, object};
use crate::transcript::{
    Content, Draft, DraftPart, DraftResult, Layout, Message, PairingRules, Part, ProviderRules, ResultPlace, Role,
    SlotKind, Usage,
};

/// The dialect `atif`.
pub(super) struct Atif;

impl Dialect for Atif {
    fn format(&self) -> &'static Format {
        &Format {
            name: "atif",
            signature: "`steps` of a record with `schema_version` and `agent`; each with `step_id`, `source`, \
                `message`, `tool_calls`, `observation.results`",
            pairing: PairingRules { results: ResultPlace::SameMessage, ..BY_ID },
            provider: ProviderRules { system_anywhere: true, ..NO_RULES },
            writer: Some(&Atif),
            log: &Atif,
            ..Format::PLAIN
        }
    }

    fn fit(&self, item: Value<'_>) -> Fit {
        let known = role_of(&item.word("source")).is_some();
        if !known || !item.has("step_id") || item.has("kind") {
            return Fit::No;
        }
        if item.has("message") || item.has("observation") { Fit::Certain } else { Fit::Possible }
    }

    fn fits_record(&self, record: Value<'_>) -> bool {
        record.has("steps") && record.has("schema_version") && record.has("agent")
    }

    fn read<'a>(&self, item: Value<'a>) -> Item<'a> {
        blocks::read_message(item, item.some_text("source"), role_of, |message| {
            message.parts.extend(blocks::text_beside(item, "reasoning_content", Content::Reasoning));
            message.parts.extend(blocks::plain_parts(item.get("message")));
            message.parts.extend(calls(item));
            observe(item, message);
        })
    }

    fn preamble<'a>(&self, record: Value<'a>) -> Vec<Text<'a>> {
        record.some("agent").map_or_else(Vec::new, |agent| blocks::preamble(agent, &["tool_definitions"]))
    }

    fn model<'a>(&self, item: Value<'a>) -> Option<Text<'a>> {
        let mut holders = [Some(item), item.some("agent")].into_iter().flatten();
        holders.find_map(|holder| holder.get_text("model_name").or_else(|| holder.get_text("model")))
    }
}

impl DialectWriter for Atif {
    fn result_key(&self, items: &[Value<'_>]) -> Option<&'static str> {
        let results = items.iter().flat_map(|step| results(*step));
        results.into_iter().find_map(|result| SOURCE_CALL.into_iter().find(|key| result.some(key).is_some()))
    }

    fn write_message(&self, draft: &Draft, anchor: Option<Value<'_>>) -> String {
        let source = match draft.role {
            Role::User => "user",
            Role::Assistant => "agent",
            Role::System | Role::Developer | Role::Tool => "system",
        };
        // `relink` numbers the steps that are written.
        let number = anchor.and_then(|anchor| anchor.get("step_id")).map_or("0", Value::raw);
        let text = draft.joined_text();
        let results = draft.parts.iter().filter(|part| !matches!(part, DraftPart::Text(_)));
        let results: Vec<String> = results.map(|part| self.write_part(part)).collect();
        let observed = (!results.is_empty()).then(|| object! { "results": list(&results) });
        object! { "step_id": Json(number), "source": source, "message": text, "observation": observed }.0
    }

    fn write_result(&self, result: &DraftResult) -> String {
        let key = result.key.unwrap_or(SOURCE_CALL[0]);
        object! { key: result.call_id(), "content": result.text }.0
    }

    fn prepend_parts(&self, message: Value<'_>, parts: &[String]) -> Option<Patch> {
        let observed = message.some("observation");
        let results = observed.and_then(|observed| observed.get("results")).filter(|results| results.is_array());
        if let Some(results) = results {
            return blocks::prepend_parts(results, parts, str::to_owned);
        }
        // One result instead of the list, or none.
        let results = observed.map(Value::raw).into_iter().chain(parts.iter().map(String::as_str));
        let text = object! { "results": list(results) }.0;
        match message.get("observation") {
            Some(observation) => Some(Patch { span: observation.span(), text }),
            None => {
                let end = message.members().last()?.span.end;
                Some(Patch { span: Span::new(end, end), text: format!(",\"observation\":{text}") })
            }
        }
    }

    /// Harbor refuses a trajectory whose steps are not numbered from 1, without a gap.
    fn relink(&self, layout: &Layout<'_>, remaining: &mut Remaining<'_>) -> Vec<Patch> {
        if remaining.written.is_empty() && remaining.kept.iter().all(|kept| *kept) {
            return Vec::new();
        }
        renumber(layout, remaining)
    }
}

/// Numbers the steps that are written from 1.
fn renumber(layout: &Layout<'_>, remaining: &mut Remaining<'_>) -> Vec<Patch> {
    let mut drafts = remaining.written.iter_mut().peekable();
    let mut patches = Vec::new();
    let mut number = 0_usize;
    for ((slot, step), stays) in layout.slotted_elements().zip(layout.stays(remaining.kept)) {
        let message = if let SlotKind::Message(index) = slot.kind { Some(index) } else { None };
        while let Some(draft) = drafts.next_if(|draft| message.is_some() && draft.next == message) {
            number += 1;
            set_number(&mut draft.text, number);
        }
        if stays {
            number += 1;
            let written = step
                .get("step_id")
                .filter(|written| written.raw().parse().is_ok_and(|written: usize| written != number));
            patches.extend(written.map(|written| Patch { span: written.span(), text: number.to_string() }));
        }
    }
    for (nth, draft) in drafts.enumerate() {
        set_number(&mut draft.text, number + 1 + nth);
    }
    patches
}

/// Sets the number of a step that `write_message` wrote.
fn set_number(step: &mut String, number: usize) {
    const HEAD: &str = "{\"step_id\":";
    let end = step.find(',').filter(|end| *end >= HEAD.len());
    if let Some(end) = end.filter(|_| step.starts_with(HEAD)) {
        step.replace_range(HEAD.len()..end, &number.to_string());
    }
}

impl LogHabits for Atif {
    fn set_aside(&self, record: Value<'_>) -> Option<String> {
        let count = record.some("subagent_trajectories").map_or(0, |embedded| embedded.items().count());
        let embedded = match count {
            0 => return None,
            1 => String::from("the trajectory of 1 sub-agent under `subagent_trajectories` is"),
            count => format!("the trajectories of {count} sub-agents under `subagent_trajectories` are"),
        };
        Some(embedded + " neither counted nor cut")
    }

    /// A step is one reply of the model.
    fn reply_id<'a>(&self, item: Value<'a>) -> Option<Text<'a>> {
        item.get("step_id").map(|number| Text::Json(number.raw()))
    }

    /// A step has a number, not an id of the provider.
    fn provider_ids<'a>(&self, _item: Value<'a>) -> Vec<Text<'a>> {
        Vec::new()
    }

    fn usage(&self, item: Value<'_>) -> Option<Usage> {
        let counts = item.some("metrics").filter(|metrics| metrics.some("prompt_tokens").is_some())?;
        Some(Usage {
            input: counts.number("prompt_tokens"),
            cache_read: counts.number("cached_tokens"),
            cache_write: counts.some("extra").map_or(0, |extra| extra.number("cache_creation_input_tokens")),
            output: counts.number("completion_tokens"),
            ..Usage::default()
        })
    }
}

fn role_of(source: &str) -> Option<Role> {
    match source {
        "system" => Some(Role::System),
        "user" => Some(Role::User),
        "agent" => Some(Role::Assistant),
        _ => None,
    }
}

fn calls(step: Value<'_>) -> impl Iterator<Item = Part<'_>> {
    let calls = step.items_under("tool_calls");
    calls.map(|call| {
        let id = call.get_text("tool_call_id").or_else(|| call.get_text("id"));
        let name = call.get_text("function_name").or_else(|| call.get_text("name"));
        blocks::in_shell(call, blocks::call(id, name, call.get("arguments")))
    })
}

/// The results of a step; some programs write one result instead of a list.
fn results(step: Value<'_>) -> Vec<Value<'_>> {
    let Some(observed) = step.some("observation") else { return Vec::new() };
    match observed.some("results") {
        Some(results) => results.items().collect(),
        None => vec![observed],
    }
}

/// The keys by which a result names its call.
const SOURCE_CALL: [&str; 2] = ["source_call_id", "tool_call_id"];

fn source_call(result: Value<'_>) -> Option<Text<'_>> {
    SOURCE_CALL.iter().find_map(|key| result.get_text(key))
}

/// Reads the observation of a step: results that name their call, and other texts of the environment.
fn observe<'a>(step: Value<'a>, message: &mut Message<'a>) {
    let (named, nameless): (Vec<_>, Vec<_>) =
        results(step).into_iter().partition(|result| source_call(*result).is_some());
    let has_text = message.parts.iter().any(|part| part.content.has_text());
    if message.role != Role::Assistant && !has_text && named.len() + nameless.len() > 0 {
        // An observation of the program is not an instruction.
        message.role = if nameless.is_empty() { Role::Tool } else { Role::User };
        message.automatic = true;
        message.parts.clear();
    }
    message.parts.extend(named.into_iter().map(|result| answer(result, source_call(result))));
    if message.calls().any(|(_, call)| call.id.is_some()) {
        message.parts.extend(nameless.into_iter().map(|result| answer(result, None)));
        return answer_in_order(message);
    }
    for observation in nameless {
        match observation.get("content") {
            Some(content) if message.role == Role::Assistant => {
                message.attached.extend(blocks::texts(Some(content)));
                message.attached_media += blocks::count_media(Some(content));
            }
            Some(content) => message.parts.extend(blocks::plain_parts(Some(content))),
            None => {}
        }
    }
}

fn answer<'a>(result: Value<'a>, id: Option<Text<'a>>) -> Part<'a> {
    let content = result.get("content");
    blocks::result_part(result, blocks::result(id, None, content), blocks::text_or_list(content))
}
