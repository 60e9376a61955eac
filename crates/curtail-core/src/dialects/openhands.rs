//! Events of `OpenHands`: version 1, which the agent SDK writes (`kind` is the type of an event), and version 0 (`action`
//! and `observation`). A condensation names the events that the model no longer reads.

use std::collections::HashSet;
use std::ops::RangeInclusive;

use super::blocks::number;
use super::{
    BY_ID, Dialect, DialectWriter, Fit, Format, Item, LogHabits, NO_RULES, Patch, Remaining, Written, anthropic,
    blocks, openhands_version0,
};
use crate::json::{ObjectWriter, Text, Value, list, object};
use crate::transcript::{
    Content, Draft, Layout, Leader, Message, PairingRules, Part, PartOrigin, PartPlace, ProviderRules, ResultPlace,
    Role, SlotKind, Standing, Unknown, Usage,
};

/// The dialect `openhands`.
pub(super) struct OpenHands;

impl Dialect for OpenHands {
    fn format(&self) -> &'static Format {
        &Format {
            name: "openhands",
            signature: "`source` and `kind`: `MessageEvent`, `ActionEvent`, `ObservationEvent`; \
                or `source` and `action` with `args`, `observation` with `cause`",
            pairing: PairingRules { results: ResultPlace::Anywhere, ..BY_ID },
            // The program updates its instructions when its tools change.
            provider: ProviderRules { log: true, system_anywhere: true, ..NO_RULES },
            is_log: true,
            ..Format::PLAIN
        }
    }

    fn fit(&self, item: Value<'_>) -> Fit {
        const SOURCES: &[&str] = &["user", "agent", "environment", "hook"];
        if item.has("role") || !item.get("source").is_some_and(|source| SOURCES.iter().any(|s| source.is(s))) {
            return Fit::No;
        }
        fit_version1(item).max(openhands_version0::fit(item))
    }

    fn read<'a>(&self, item: Value<'a>) -> Item<'a> {
        if item.is_array() {
            // Older outputs of version 0 contain pairs of action and observation.
            return Item::Nested(item.items().collect());
        }
        match item.get_text("kind") {
            Some(kind) => read_event(item, &kind.decode()),
            None => openhands_version0::read_event(item),
        }
    }

    fn connect<'a>(&self, items: &[Value<'a>], read: &mut [Item<'a>]) {
        join_signed(items, read);
        mark(items, read);
    }
}

impl DialectWriter for OpenHands {
    fn write_message(&self, draft: &Draft, anchor: Option<Value<'_>>) -> String {
        let before = anchor.filter(|anchor| !anchor.has("kind") && !anchor.is_array());
        match before {
            Some(anchor) => openhands_version0::write_message(draft, anchor),
            None => write_event(draft, anchor),
        }
    }

    fn relink(&self, layout: &Layout<'_>, remaining: &mut Remaining<'_>) -> Vec<Patch> {
        forget_drafts(layout, &mut remaining.written);
        renumber(layout, remaining.kept)
    }
}

impl LogHabits for OpenHands {
    fn reply_id<'a>(&self, item: Value<'a>) -> Option<Text<'a>> {
        reply_id(item).or_else(|| openhands_version0::reply_id(item))
    }

    fn usage(&self, item: Value<'_>) -> Option<Usage> {
        openhands_version0::usage(item)
    }

    fn usages(&self, items: &[Value<'_>]) -> Vec<Option<Usage>> {
        usages(items)
    }

    fn model<'a>(&self, item: Value<'a>) -> Option<Text<'a>> {
        openhands_version0::model(item).or_else(|| model_of_state(item)).or_else(|| model(item))
    }

    fn replaces_past(&self, item: Value<'_>) -> bool {
        Condensation::from_event(item).is_some()
    }

    fn kept_by(&self, compaction: Value<'_>, before: &[Value<'_>]) -> Vec<usize> {
        let Some(condensation) = Condensation::from_event(compaction) else { return Vec::new() };
        let forgotten = forgotten(before, condensation);
        (0..before.len()).filter(|&at| !forgotten[at]).collect()
    }
}

// Events of version 1: one class an event, named by `kind`. A reply with parallel calls is one event per call, with one
// `llm_response_id`.

/// Kinds of events that the model reads.
const READ: &[&str] = &[
    "SystemPromptEvent",
    "SystemPromptUpdateEvent",
    "MessageEvent",
    "ActionEvent",
    "ObservationEvent",
    "UserRejectObservation",
    "AgentErrorEvent",
    "Condensation",
    "CondensationSummaryEvent",
];

/// The model that an update of the state names, in the whole state or in its agent.
fn model_of_state(event: Value<'_>) -> Option<Text<'_>> {
    let value = event.get("kind").filter(|kind| kind.is("ConversationStateUpdateEvent")).and(event.some("value"))?;
    value.some("agent").unwrap_or(value).some("llm")?.get_text("model")
}

/// Kinds of events that are not messages.
const METADATA: &[&str] = &[
    "CondensationRequest",
    "ConversationStateUpdateEvent",
    "ConversationErrorEvent",
    "LLMCompletionLogEvent",
    "TokenEvent",
    "PauseEvent",
    "InterruptEvent",
    "HookExecutionEvent",
    "StreamingDeltaEvent",
    "ACPToolCallEvent",
    "ServerErrorEvent",
    "UserActionEvent",
];

/// How well an event fits by itself.
fn fit_version1(event: Value<'_>) -> Fit {
    let kind = event.word("kind");
    if READ.contains(&&*kind) || METADATA.contains(&&*kind) {
        Fit::Certain
    } else if event.get_text("kind").is_some() && event.has("id") && event.has("timestamp") {
        Fit::Possible
    } else {
        Fit::No
    }
}

/// The provider's id of the reply that an event is part of.
fn reply_id(event: Value<'_>) -> Option<Text<'_>> {
    event.get_text("llm_response_id").filter(|_| matches!(&*event.word("kind"), "ActionEvent" | "MessageEvent"))
}

/// Reads an event.
fn read_event<'a>(event: Value<'a>, kind: &str) -> Item<'a> {
    match kind {
        "SystemPromptEvent" | "SystemPromptUpdateEvent" => read_prompt(event),
        "MessageEvent" => read_message(event),
        "ActionEvent" => read_action(event),
        "ObservationEvent" => read_observation(event),
        "UserRejectObservation" => read_result(event, event.get("rejection_reason")),
        "AgentErrorEvent" => read_result(event, event.get("error")),
        "Condensation" => {
            Condensation::from_event(event).map_or(Item::Metadata, |condensation| condensation.summary(event))
        }
        "CondensationSummaryEvent" => Item::Message(blocks::notice(event, None, blocks::said(event.get("summary")))),
        kind if METADATA.contains(&kind) => Item::Metadata,
        kind => Item::Unknown(Unknown::kind(kind.to_owned())),
    }
}

/// The instructions, and the tools that the provider is given beside them.
fn read_prompt(event: Value<'_>) -> Item<'_> {
    let mut message = Message::from_source(Role::System, event);
    message.id = event.get_text("id");
    if let Some(text) = event.get("system_prompt").and_then(|prompt| prompt.get("text")) {
        message.parts.extend(whole_text(event, text));
    }
    if let Some(context) = event.some("dynamic_context") {
        message.parts.push(blocks::part(context, blocks::plain_block(context)));
    }
    message.attached = blocks::texts(event.some("tools"));
    Item::Message(message)
}

/// A text that cannot be cut without the rest of its event.
fn whole_text<'a>(event: Value<'a>, text: Value<'a>) -> Option<Part<'a>> {
    let place = PartPlace::element(event).with_text(Some(text));
    text.text().map(|said| Part::from_source(Content::Text(said), place).read_at(event.span().end))
}

fn read_message(event: Value<'_>) -> Item<'_> {
    let Some(said) = event.get("llm_message") else { return Item::Unknown(Unknown::NoMessage) };
    blocks::read_message(event, said.some_text("role"), blocks::speaker_of, |message| {
        message.id = reply_id(event).or_else(|| event.get_text("id"));
        message.parts = thoughts(said);
        message.parts.extend(blocks::said(said.get("content")));
        message.parts.extend(blocks::said(event.some("extended_content")));
        // A hook or the program itself can send a text that the model reads as a user message.
        message.automatic = message.role == Role::User && !event.member_is("source", "user");
    })
}

/// The event is the call, so neither it nor the text before it can be cut alone.
fn read_action(event: Value<'_>) -> Item<'_> {
    let mut parts = thoughts(event);
    let said = event.items_under("thought").filter_map(|block| block.get("text"));
    parts.extend(said.filter_map(|text| whole_text(event, text)));
    let call = event.some("tool_call");
    let arguments = call.and_then(|call| call.get("arguments")).or_else(|| event.some("action"));
    let name = event.get_text("tool_name").or_else(|| call?.get_text("name"));
    let id = event.get_text("tool_call_id").or_else(|| call?.get_text("id"));
    let call = blocks::whole(event, blocks::call(id, name, arguments));
    parts.push(call.read_at(event.span().end));
    let id = reply_id(event).or_else(|| event.get_text("id"));
    blocks::message(Role::Assistant, event, id, parts)
}

/// The thoughts of a reply, which the model reads before anything else in it. `reasoning_content` and the router's
/// `reasoning_details` repeat the blocks of the provider.
fn thoughts(reply: Value<'_>) -> Vec<Part<'_>> {
    let blocks = reply.items_under("thinking_blocks");
    let mut parts: Vec<Part<'_>> = blocks
        .zip(reply.span().start + 1..)
        .map(|(block, read_at)| {
            let thought = block.text_or_empty("thinking");
            let part = blocks::whole(block, Content::Reasoning(thought));
            part.bound_to_prefix(anthropic::is_signed(block)).read_at(read_at)
        })
        .collect();
    if let Some(item) = reply.some("responses_reasoning_item") {
        let summary = blocks::texts(item.some("summary")).into_iter().next().unwrap_or(Text::Escaped(""));
        parts.push(blocks::whole(item, Content::Reasoning(summary)));
    }
    for value in ["reasoning_content", "reasoning_details"].iter().filter_map(|key| reply.some(key)) {
        match parts.first_mut() {
            Some(part) => part.add_copy(value),
            None => {
                let text = value.text().unwrap_or(Text::Escaped(""));
                parts.push(blocks::whole(value, Content::Reasoning(text)));
            }
        }
    }
    parts
}

/// The result of a tool, with the text that the program adds to it for the model.
fn read_observation(event: Value<'_>) -> Item<'_> {
    let observation = event.get("observation");
    let content = observation.map(|observation| observation.some("content").unwrap_or(observation));
    let mut item = read_result(event, content);
    if let (Item::Message(message), Some(added)) = (&mut item, event.some("extended_content")) {
        for part in &mut message.parts {
            if let Content::ToolResult(result) = &mut part.content {
                result.content.extend(blocks::texts(Some(added)));
            }
            part.add_copy(added);
        }
    }
    item
}

fn read_result<'a>(event: Value<'a>, content: Option<Value<'a>>) -> Item<'a> {
    let result = blocks::result(event.get_text("tool_call_id"), event.get_text("tool_name"), content);
    let part = blocks::result_part(event, result, blocks::text_or_list(content));
    blocks::message(Role::Tool, event, event.get_text("id"), vec![part])
}

/// An event without id: `OpenHands` assigns one when it reads the log.
fn write_event(draft: &Draft, anchor: Option<Value<'_>>) -> String {
    let event = ObjectWriter::new().copied(anchor, &["timestamp"]);
    if let Some(result) = draft.only_result() {
        let event = event.member("source", "agent").member("tool_name", &result.name);
        let event = event.member("tool_call_id", result.call_id()).member("error", &result.text);
        return event.member("kind", "AgentErrorEvent").end().0;
    }
    let (source, role) = match draft.role {
        Role::User | Role::Tool => ("user", "user"),
        Role::Assistant => ("agent", "assistant"),
        Role::System | Role::Developer => ("agent", "system"),
    };
    let said = object! { "role": role, "content": list([blocks::text_block(&draft.joined_text())]) };
    event.member("source", source).member("llm_message", &said).member("kind", "MessageEvent").end().0
}

/// Joins the parallel calls of a reply with signed thoughts: the event of the first call contains the thoughts.
fn join_signed<'a>(items: &[Value<'a>], read: &mut [Item<'a>]) {
    let mut first: Option<(Text<'a>, Value<'a>)> = None;
    for (&item, read) in items.iter().zip(read) {
        let Item::Message(message) = read else { continue };
        let reply = reply_id(item).filter(|_| message.role == Role::Assistant);
        match (reply, &first) {
            (Some(reply), Some((own, call))) if reply == *own => name_first(message, *call),
            (Some(reply), _) => {
                let signed = message.parts.iter().any(crate::transcript::Part::is_prefix_bound);
                first = item.get("tool_call_id").filter(|_| signed).map(|call| (reply, call));
            }
            (None, _) => {}
        }
    }
}

fn name_first<'a>(message: &mut Message<'a>, first: Value<'a>) {
    for part in message.parts.iter_mut().filter(|part| part.content.call().is_some()) {
        if let PartOrigin::Source(place) = &mut part.origin {
            place.set_leader(Some(Leader::Thinking(first)));
        }
    }
}

// Condensations: boundaries that name the events that the model no longer reads, and that put a summary among those that
// it still does.

/// The content of a condensation.
pub(super) struct Condensation<'a> {
    forgotten: HashSet<String>,
    /// Version 0 can name a range of numbers instead.
    range: Option<RangeInclusive<u64>>,
    summary: Option<Value<'a>>,
    /// How many events that the model still reads precede the summary.
    offset: Option<Value<'a>>,
}

impl<'a> Condensation<'a> {
    /// The condensation that `event` is; `None` for any other event, and for one that forgets nothing and has no summary.
    pub(super) fn from_event(event: Value<'a>) -> Option<Self> {
        let is = |key: &str, name: &str| event.get(key).is_some_and(|value| value.is(name));
        let held = if is("kind", "Condensation") {
            event
        } else if is("action", "condensation") {
            event.get("args")?
        } else {
            return None;
        };
        let forgotten = held.items_under("forgotten_event_ids").map(id_text).collect();
        let end = |key: &str| held.some(key).and_then(|number| number.raw().parse::<u64>().ok());
        let range = end("forgotten_events_start_id").zip(end("forgotten_events_end_id"));
        let summary = held.some("summary").filter(|summary| summary.text().is_some_and(|text| text.len_bound() > 0));
        let found = Self {
            forgotten,
            range: range.map(|(start, end)| start..=end),
            summary,
            offset: held.some("summary_offset"),
        };
        (!found.forgotten.is_empty() || found.range.is_some() || summary.is_some()).then_some(found)
    }

    fn forgets(&self, id: &str) -> bool {
        let in_range = |range: &RangeInclusive<u64>| id.parse().is_ok_and(|number| range.contains(&number));
        self.forgotten.contains(id) || self.range.as_ref().is_some_and(in_range)
    }

    /// The boundary, with its summary if there is one.
    pub(super) fn summary(&self, event: Value<'a>) -> Item<'a> {
        let mut message = blocks::notice(event, event.get_text("id"), blocks::said(self.summary));
        message.set_boundary();
        if message.parts.is_empty() {
            message.parts.push(blocks::whole(event, Content::Other));
        }
        Item::Message(message)
    }
}

/// The id of an event: a text, or a number in version 0.
pub(super) fn id_of(id: Value<'_>) -> Text<'_> {
    id.text().unwrap_or(Text::Json(id.raw()))
}

fn id_text(id: Value<'_>) -> String {
    id_of(id).into_decoded().into_owned()
}

/// The id under which a condensation names an event; a summary has one of its own.
fn name_of(event: Value<'_>) -> Option<String> {
    let own = event.get("id").map(id_text)?;
    Some(if Condensation::from_event(event).is_some() { summary_name(&own) } else { own })
}

fn summary_name(id: &str) -> String {
    format!("{id}-summary")
}

/// For each event before a condensation, whether the model no longer reads it, because this condensation or an earlier one
/// names it.
fn forgotten<'a>(before: &[Value<'a>], condensation: Condensation<'a>) -> Vec<bool> {
    let mut later = vec![condensation];
    let mut found: Vec<bool> = Vec::with_capacity(before.len());
    for &event in before.iter().rev() {
        let name = name_of(event);
        found.push(name.is_some_and(|name| later.iter().any(|condensation| condensation.forgets(&name))));
        later.extend(Condensation::from_event(event));
    }
    found.reverse();
    found
}

/// Marks the messages before the last condensation that the model still reads, and those that it no longer reads.
fn mark<'a>(items: &[Value<'a>], read: &mut [Item<'a>]) {
    let last = items.iter().enumerate().rev().find_map(|(at, item)| Some((at, Condensation::from_event(*item)?)));
    let Some((last, condensation)) = last else { return };
    for (read, is_forgotten) in read.iter_mut().zip(forgotten(&items[..last], condensation)) {
        if let Item::Message(message) = read {
            message.standing = if is_forgotten { Standing::Superseded } else { Standing::Preserved };
        }
    }
}

/// Gives each draft that the model no longer reads the id of the event that it replaces: a condensation names that one, and
/// forgets no event without an id.
fn forget_drafts(layout: &Layout<'_>, written: &mut [Written]) {
    for draft in written.iter_mut().filter(|draft| !draft.live) {
        let replaced = layout.elements.iter().find(|event| Some(event.span().start) == draft.place);
        if let Some(id) = replaced.and_then(|event| event.get("id")) {
            draft.text = draft.text.replacen('{', &format!("{{\"id\":{},", id.raw()), 1);
        }
    }
}

/// An event that the model reads at some point of the log.
struct ReadEvent {
    id: String,
    stays: bool,
}

/// A condensation gives the position of its summary among the events that the model still reads. The number decreases with
/// each event before it that a cut drops.
fn renumber(layout: &Layout<'_>, kept: &[bool]) -> Vec<Patch> {
    let slots = layout.slots.iter().filter(|slot| !matches!(slot.what, SlotKind::Frame { .. }));
    let mut view: Vec<ReadEvent> = Vec::new();
    let mut patches = Vec::new();
    for (slot, &event) in slots.zip(&layout.elements) {
        let SlotKind::Message(index) = slot.what else { continue };
        let id = event.get("id").map(id_text).unwrap_or_default();
        let Some(condensation) = Condensation::from_event(event) else {
            view.push(ReadEvent { id, stays: kept[index] });
            continue;
        };
        view.retain(|read| !condensation.forgets(&read.id));
        let Some(offset) = condensation.offset.filter(|_| condensation.summary.is_some()) else { continue };
        let Ok(before) = offset.raw().parse::<usize>() else { continue };
        let at = before.min(view.len());
        let gone = view[..at].iter().filter(|read| !read.stays).count();
        if gone > 0 {
            patches.push(Patch { span: offset.span(), text: (before - gone).to_string() });
        }
        view.insert(at, ReadEvent { id: summary_name(&id), stays: kept[index] });
    }
    patches
}

// The provider's figures of version 1: sums over the conversation in updates of its state, and in some logs a list by reply.

/// What the provider counted, by event.
///
/// An update of the state contains the sums so far. What it adds to the one before belongs to one request if at most one
/// reply is between them.
fn usages(events: &[Value<'_>]) -> Vec<Option<Usage>> {
    let mut found: Vec<Option<Usage>> = events.iter().map(|&event| openhands_version0::usage(event)).collect();
    let mut sums = Usage::default();
    let mut replies: Vec<Text<'_>> = Vec::new();
    for (at, &event) in events.iter().enumerate() {
        if let Some(id) = reply_id(event).filter(|id| !replies.contains(id)) {
            replies.push(id);
        }
        let Some(metrics) = metrics(event) else { continue };
        for figures in metrics.items_under("token_usages") {
            by_reply(figures, &events[..at], &mut found);
        }
        let Some(now) = metrics.some("accumulated_token_usage").map(figures).filter(|now| *now != sums) else {
            continue;
        };
        let added = difference(now, sums).filter(|added| added.input > 0 && replies.len() <= 1);
        let known = |id: &Text<'_>| {
            let mut events = events[..at].iter().zip(&found);
            events.any(|(event, usage)| usage.is_some() && reply_id(*event).as_ref() == Some(id))
        };
        if !replies.iter().any(known) {
            found[at] = added;
        }
        (sums, replies) = (now, Vec::new());
    }
    found
}

/// The model that an update of the state names.
fn model(event: Value<'_>) -> Option<Text<'_>> {
    metrics(event)?.get_text("model_name").filter(|name| name.len_bound() > 0 && !name.is("default"))
}

/// The figures of the agent, not those of the model that condenses the history.
fn metrics(event: Value<'_>) -> Option<Value<'_>> {
    event.get("kind").filter(|kind| kind.is("ConversationStateUpdateEvent"))?;
    let value = event.some("value")?;
    let all = value.some("usage_to_metrics").or_else(|| value.some("stats")?.some("usage_to_metrics"))?;
    ["agent", "default"].iter().find_map(|name| all.some(name))
}

fn figures(usage: Value<'_>) -> Usage {
    Usage {
        input: number(usage, "prompt_tokens"),
        cache_read: number(usage, "cache_read_tokens"),
        cache_write: number(usage, "cache_write_tokens"),
        output: number(usage, "completion_tokens"),
        ..Usage::default()
    }
}

/// Gives the figures of a reply to its events.
fn by_reply(usage: Value<'_>, events: &[Value<'_>], found: &mut [Option<Usage>]) {
    let Some(id) = usage.get_text("response_id") else { return };
    for (event, found) in events.iter().zip(found) {
        if reply_id(*event).is_some_and(|own| own == id) {
            *found = Some(figures(usage)).filter(|usage| usage.input > 0);
        }
    }
}

fn difference(now: Usage, before: Usage) -> Option<Usage> {
    Some(Usage {
        input: now.input.checked_sub(before.input)?,
        cache_read: now.cache_read.checked_sub(before.cache_read)?,
        cache_write: now.cache_write.checked_sub(before.cache_write)?,
        output: now.output.checked_sub(before.output)?,
        ..Usage::default()
    })
}
