//! Events of `OpenHands`: version 1, which the agent SDK writes (`kind` is the type of an event), and version 0 (`action`
//! and `observation`). A condensation names the events that the model no longer reads.

use std::collections::{BTreeMap, HashSet};
use std::ops::{Range, RangeInclusive};

use super::{
    BY_ID, Dialect, DialectWriter, Fit, Format, Item, LogHabits, NO_RULES, Patch, Remaining, Written, anthropic,
    blocks, provenance,
};
use crate::json::{Json, ObjectWriter, Text, Value, list, object, quote, raw};
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
            writer: Some(&OpenHands),
            log: &OpenHands,
            ..Format::PLAIN
        }
    }

    fn fit(&self, item: Value<'_>) -> Fit {
        const SOURCES: &[&str] = &["user", "agent", "environment", "hook"];
        if item.has("role") || !item.get("source").is_some_and(|source| SOURCES.iter().any(|s| source.is(s))) {
            return Fit::No;
        }
        fit_version1(item).max(fit_version0(item))
    }

    fn read<'a>(&self, item: Value<'a>) -> Item<'a> {
        if item.is_array() {
            // Older outputs of version 0 contain pairs of action and observation.
            return Item::Nested(item.items().collect());
        }
        match item.get_text("kind") {
            Some(kind) => read_event(item, &kind.decode()),
            None => read_version0(item),
        }
    }

    fn connect<'a>(&self, items: &[Value<'a>], read: &mut [Item<'a>]) {
        join_signed(items, read);
        mark(items, read);
    }

    fn model<'a>(&self, item: Value<'a>) -> Option<Text<'a>> {
        model_version0(item).or_else(|| model_of_state(item)).or_else(|| model(item))
    }
}

impl DialectWriter for OpenHands {
    fn write_message(&self, draft: &Draft, anchor: Option<Value<'_>>) -> String {
        let before = anchor.filter(|anchor| !anchor.has("kind") && !anchor.is_array());
        match before {
            Some(anchor) => write_version0(draft, anchor),
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
        reply_id(item).or_else(|| reply_id_version0(item))
    }

    fn usage(&self, item: Value<'_>) -> Option<Usage> {
        usage_version0(item)
    }

    fn usages(&self, items: &[Value<'_>]) -> Vec<Option<Usage>> {
        usages(items)
    }

    fn replaces_past(&self, item: Value<'_>) -> bool {
        Condensation::from_event(item).is_some()
    }

    fn kept_by(&self, compactions: &[usize], items: &[Value<'_>]) -> Vec<Vec<Range<usize>>> {
        let mut read = StillRead::default();
        let kept = compactions.iter().map(|&at| {
            read.advance(&items[..at]);
            Condensation::from_event(items[at]).map_or_else(Vec::new, |condensation| read.forget(&condensation))
        });
        kept.collect()
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
        "CondensationSummaryEvent" => {
            Item::Message(blocks::notice(event, None, blocks::plain_parts(event.get("summary"))))
        }
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
    message.attached.extend(blocks::texts(event.some("tools")));
    Item::Message(message)
}

/// A text that cannot be cut without the rest of its event.
fn whole_text<'a>(event: Value<'a>, text: Value<'a>) -> Option<Part<'a>> {
    let place = PartPlace::element(event).with_text(Some(text));
    text.text().map(|whole| Part::from_source(Content::Text(whole), place).read_at(event.span().end))
}

fn read_message(event: Value<'_>) -> Item<'_> {
    let Some(body) = event.get("llm_message") else { return Item::Unknown(Unknown::NoMessage) };
    blocks::read_message(event, body.some_text("role"), blocks::speaker_of, |message| {
        message.id = reply_id(event).or_else(|| event.get_text("id"));
        message.parts = thoughts(body);
        message.parts.extend(blocks::plain_parts(body.get("content")));
        message.parts.extend(blocks::plain_parts(event.some("extended_content")));
        // A hook or the program itself can send a text that the model reads as a user message.
        message.automatic = message.role == Role::User && !event.member_is("source", "user");
    })
}

/// The event is the call, so neither it nor the text before it can be cut alone.
fn read_action(event: Value<'_>) -> Item<'_> {
    let mut parts = thoughts(event);
    let texts = event.items_under("thought").filter_map(|block| block.get("text"));
    parts.extend(texts.filter_map(|text| whole_text(event, text)));
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
    let message = object! { "role": role, "content": list([blocks::text_block(&draft.joined_text())]) };
    event.member("source", source).member("llm_message", &message).member("kind", "MessageEvent").end().0
}

/// Joins the parallel calls of a reply with signed thoughts: the event of the first call contains the thoughts.
fn join_signed<'a>(items: &[Value<'a>], read: &mut [Item<'a>]) {
    let mut first: Option<(Text<'a>, Value<'a>)> = None;
    for (&item, read) in items.iter().zip(read) {
        let Item::Message(message) = read else { continue };
        let reply = reply_id(item).filter(|_| message.role == Role::Assistant);
        match (reply, &first) {
            (Some(reply), Some((id, call))) if reply == *id => name_first(message, *call),
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
struct Condensation<'a> {
    forgotten: HashSet<String>,
    /// Version 0 can name a range of numbers instead.
    range: Option<RangeInclusive<u64>>,
    summary: Option<Value<'a>>,
    /// How many events that the model still reads precede the summary.
    offset: Option<Value<'a>>,
}

impl<'a> Condensation<'a> {
    /// The condensation that `event` is; `None` for any other event, and for one that forgets nothing and has no summary.
    fn from_event(event: Value<'a>) -> Option<Self> {
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
    fn summary(&self, event: Value<'a>) -> Item<'a> {
        let mut message = blocks::notice(event, event.get_text("id"), blocks::plain_parts(self.summary));
        message.set_boundary();
        if message.parts.is_empty() {
            message.parts.push(blocks::whole(event, Content::Other));
        }
        Item::Message(message)
    }
}

/// The id of an event: a text, or a number in version 0.
fn id_of(id: Value<'_>) -> Text<'_> {
    id.text().unwrap_or(Text::Json(id.raw()))
}

fn id_text(id: Value<'_>) -> String {
    id_of(id).into_decoded().into_owned()
}

/// The id under which a condensation names an event; a summary has one of its own.
fn name_of(event: Value<'_>) -> Option<String> {
    let id = event.get("id").map(id_text)?;
    Some(if Condensation::from_event(event).is_some() { summary_name(&id) } else { id })
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

/// The events that the model still reads, condensation by condensation.
#[derive(Default)]
struct StillRead {
    /// Indices of events by their names.
    places: BTreeMap<String, Vec<usize>>,
    /// The same for names that are numbers.
    numbers: BTreeMap<u64, Vec<usize>>,
    /// The number of events that were read.
    count: usize,
    /// The events among them that the model still reads, as runs of their indices.
    runs: BTreeMap<usize, usize>,
}

impl StillRead {
    /// Reads the events up to the next condensation.
    fn advance(&mut self, before: &[Value<'_>]) {
        for (at, event) in before.iter().enumerate().skip(self.count) {
            let Some(name) = name_of(*event) else { continue };
            if let Ok(number) = name.parse() {
                self.numbers.entry(number).or_default().push(at);
            }
            self.places.entry(name).or_default().push(at);
        }
        if self.count < before.len() {
            self.runs.insert(self.count, before.len());
        }
        self.count = self.count.max(before.len());
    }

    /// Forgets what `condensation` names, and returns what is left.
    fn forget(&mut self, condensation: &Condensation<'_>) -> Vec<Range<usize>> {
        let named = condensation.forgotten.iter().filter_map(|name| self.places.get(name));
        let range = condensation.range.clone().filter(|range| !range.is_empty());
        let numbered = range.into_iter().flat_map(|range| self.numbers.range(range).map(|(_, places)| places));
        let forgotten: Vec<usize> = named.chain(numbered).flatten().copied().collect();
        for at in forgotten {
            self.remove(at);
        }
        self.runs.iter().map(|(start, end)| *start..*end).collect()
    }

    fn remove(&mut self, at: usize) {
        let Some((&start, &end)) = self.runs.range(..=at).next_back().filter(|(_, end)| **end > at) else { return };
        self.runs.remove(&start);
        let parts = [start..at, at + 1..end];
        self.runs.extend(parts.into_iter().filter(|part| !part.is_empty()).map(|part| (part.start, part.end)));
    }
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
    let mut view: Vec<ReadEvent> = Vec::new();
    let mut patches = Vec::new();
    for (slot, event) in layout.slotted_elements() {
        let SlotKind::Message(index) = slot.kind else { continue };
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

// The provider's usage of version 1: sums over the conversation in updates of its state, and in some logs a list by reply.

/// What the provider counted, by event.
///
/// An update of the state contains the sums so far. What it adds to the one before belongs to one request if at most one
/// reply is between them.
fn usages(events: &[Value<'_>]) -> Vec<Option<Usage>> {
    let mut found: Vec<Option<Usage>> = events.iter().map(|&event| usage_version0(event)).collect();
    let mut sums = Usage::default();
    let mut replies: Vec<Text<'_>> = Vec::new();
    for (at, &event) in events.iter().enumerate() {
        if let Some(id) = reply_id(event).filter(|id| !replies.contains(id)) {
            replies.push(id);
        }
        let Some(metrics) = metrics(event) else { continue };
        for counts in metrics.items_under("token_usages") {
            by_reply(counts, &events[..at], &mut found);
        }
        let Some(now) = metrics.some("accumulated_token_usage").map(usage_of).filter(|now| *now != sums) else {
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

/// The usage of the agent, not that of the model that condenses the history.
fn metrics(event: Value<'_>) -> Option<Value<'_>> {
    event.get("kind").filter(|kind| kind.is("ConversationStateUpdateEvent"))?;
    let value = event.some("value")?;
    let all = value.some("usage_to_metrics").or_else(|| value.some("stats")?.some("usage_to_metrics"))?;
    ["agent", "default"].iter().find_map(|name| all.some(name))
}

fn usage_of(usage: Value<'_>) -> Usage {
    Usage {
        input: usage.number("prompt_tokens"),
        cache_read: usage.number("cache_read_tokens"),
        cache_write: usage.number("cache_write_tokens"),
        output: usage.number("completion_tokens"),
        ..Usage::default()
    }
}

/// Gives the usage of a reply to its events.
fn by_reply(usage: Value<'_>, events: &[Value<'_>], found: &mut [Option<Usage>]) {
    let Some(id) = usage.get_text("response_id") else { return };
    for (event, found) in events.iter().zip(found) {
        if reply_id(*event).is_some_and(|name| name == id) {
            *found = Some(usage_of(usage)).filter(|usage| usage.input > 0);
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

// Events of version 0: an `action` with its `args`, and an `observation` that names the action under `cause`.

/// Actions and observations of the program, which are not messages.
const METADATA_VERSION0: &[&str] =
    &["change_agent_state", "agent_state_changed", "recall", "null", "condensation_request", "condense", "pause"];

/// The text that a recall adds to the message that requested it.
const RECALLED: &[&str] = &[
    "repo_instructions",
    "runtime_hosts",
    "additional_agent_instructions",
    "custom_secrets_descriptions",
    "conversation_instructions",
];

/// How well an event fits by itself.
fn fit_version0(event: Value<'_>) -> Fit {
    let acts = event.get_text("action").is_some() && event.get("args").is_some_and(Value::is_object);
    let observes = event.get_text("observation").is_some() && event.has("content");
    if acts || observes { Fit::Certain } else { Fit::No }
}

/// The response of the provider that led to an event.
fn response(event: Value<'_>) -> Option<Value<'_>> {
    event.some("tool_call_metadata")?.some("model_response")
}

/// The provider's id of the reply that an action is part of.
fn reply_id_version0(event: Value<'_>) -> Option<Text<'_>> {
    event.get("action").and_then(|_| response(event)?.get_text("id"))
}

/// The model that replied.
fn model_version0(event: Value<'_>) -> Option<Text<'_>> {
    response(event)?.get_text("model")
}

/// The usage of a reply, in the fields that OpenAI uses.
fn usage_version0(event: Value<'_>) -> Option<Usage> {
    provenance::chat_usage(event.get("action").and_then(|_| response(event)?.some("usage"))?)
}

/// Reads an event.
fn read_version0(event: Value<'_>) -> Item<'_> {
    if let Some(action) = event.get_text("action") {
        return read_action_version0(event, &action.decode());
    }
    let Some(observation) = event.get_text("observation") else { return Item::Unknown(Unknown::NoType) };
    match &*observation.decode() {
        "recall" => Item::Attached(recalled(event)),
        kind if METADATA_VERSION0.contains(&kind) => Item::Metadata,
        _ => read_observation_version0(event),
    }
}

fn read_action_version0<'a>(event: Value<'a>, action: &str) -> Item<'a> {
    let args = event.get("args");
    let source = event.word("source");
    let role = if source == "agent" { Role::Assistant } else { Role::User };
    let arg = |key: &str| args.and_then(|args| args.some(key));
    match action {
        "message" => Item::Message(read_message_version0(event, role, &source)),
        "system" => {
            let parts = blocks::plain_parts(arg("content"));
            let attached = blocks::texts(arg("tools")).into_iter().collect();
            Item::Message(Message { parts, attached, ..Message::from_source(Role::System, event) })
        }
        // The model reads the final thought as a separate text.
        "finish" | "reject" => {
            let texts = ["thought", "final_thought"].into_iter().filter_map(arg).filter(|text| !text.is(""));
            let mut spoken: Vec<Part<'_>> = texts.flat_map(|text| blocks::plain_parts(Some(text))).collect();
            if spoken.is_empty() {
                spoken.extend(args.map(|args| blocks::whole(args, Content::Other)));
            }
            blocks::message(role, event, reply_id_version0(event), spoken)
        }
        "condensation" => {
            Condensation::from_event(event).map_or(Item::Metadata, |condensation| condensation.summary(event))
        }
        action if METADATA_VERSION0.contains(&action) || source == "environment" => Item::Metadata,
        action => read_call(event, role, action),
    }
}

fn read_message_version0<'a>(event: Value<'a>, role: Role, source: &str) -> Message<'a> {
    let args = event.get("args");
    let mut message = Message::from_source(role, event);
    message.id = reply_id_version0(event);
    message.automatic = role == Role::User && source != "user";
    let content = args.and_then(|args| args.get("content"));
    message.parts = blocks::plain_parts(content);
    // The event repeats the text for the screen.
    let shown = event.get("message").filter(|shown| shown.text() == content.and_then(Value::text));
    if let (Some(part), Some(shown)) = (message.parts.first_mut(), shown) {
        part.add_copy(shown);
    }
    let images = args.and_then(|args| args.some("image_urls")).into_iter().flat_map(Value::items);
    message.parts.extend(images.map(|url| blocks::whole(url, Content::Media(Text::Json(url.raw())))));
    message
}

/// The event is the call, so neither it nor the thought before it can be cut alone.
fn read_call<'a>(event: Value<'a>, role: Role, action: &str) -> Item<'a> {
    let args = event.get("args");
    let thought = args.and_then(|args| args.get("thought")).filter(|thought| thought.text().is_some());
    let mut parts: Vec<Part<'_>> = Vec::new();
    if let Some(text) = thought.and_then(Value::text).filter(|text| text.len_bound() > 0) {
        parts.push(blocks::rewritable(event, Content::Text(text), thought));
    }
    let name = event.some("tool_call_metadata").and_then(|made| made.get_text("function_name"));
    let name = name.unwrap_or_else(|| Text::Owned(action.to_owned()));
    let mut call = blocks::call(event.get("id").map(id_of), Some(name), None);
    if let Content::ToolCall(call) = &mut call {
        call.arguments = requested(event).or_else(|| args.map(arguments)).unwrap_or(Text::Escaped(""));
    }
    parts.push(blocks::whole(event, call));
    blocks::message(role, event, reply_id_version0(event), parts)
}

/// The arguments as the model wrote them.
fn requested(event: Value<'_>) -> Option<Text<'_>> {
    let id = event.some("tool_call_metadata")?.get_text("tool_call_id")?;
    let choices = response(event)?.get("choices")?.items();
    let mut calls = choices.filter_map(|choice| choice.some("message")?.some("tool_calls")).flat_map(Value::items);
    calls.find(|call| call.get_text("id").is_some_and(|name| name == id))?.some("function")?.get_text("arguments")
}

/// The arguments without the thought, which is a separate part.
fn arguments(args: Value<'_>) -> Text<'_> {
    if !args.has("thought") {
        return Text::Json(args.raw());
    }
    let source = args.source();
    let others = args.members().filter(|member| !member.key.is("thought"));
    let others: Vec<&str> = others.map(|member| member.span.slice(source)).collect();
    Text::Owned(format!("{{{}}}", others.join(",")))
}

/// An observation without a cause is a note of the program.
fn read_observation_version0(event: Value<'_>) -> Item<'_> {
    let content = event.get("content");
    let Some(cause) = event.some("cause") else {
        return Item::Message(blocks::notice(event, None, blocks::plain_parts(content)));
    };
    let name = event.some("tool_call_metadata").and_then(|made| made.get_text("function_name"));
    let result = blocks::result(Some(id_of(cause)), name, content);
    let text = content.filter(|content| content.text().is_some());
    let part = blocks::rewritable(event, result, text);
    blocks::message(Role::Tool, event, None, vec![part])
}

fn recalled(event: Value<'_>) -> Vec<Text<'_>> {
    let Some(extras) = event.some("extras") else { return Vec::new() };
    let known = extras.items_under("microagent_knowledge");
    let known = known.filter_map(|known| known.get_text("content"));
    let set = RECALLED.iter().filter_map(|key| extras.some(key)).flat_map(|member| blocks::texts(Some(member)));
    set.filter(|text| text.len_bound() > 2).chain(known).collect()
}

/// An event without id. The result of a call gets its `tool_call_metadata` from the action.
fn write_version0(draft: &Draft, anchor: Value<'_>) -> String {
    if let Some(result) = draft.only_result() {
        let id = result.call_id();
        let made = anchor
            .some("tool_call_metadata")
            .filter(|_| anchor.get("id").is_some_and(|event_id| *id_of(event_id).decode() == *id));
        let cause = id.parse::<u64>().map_or_else(|_| quote(id), |number| number.to_string());
        let event = object! {
            "source": "environment",
            "observation": "error",
            "content": result.text,
            "extras": object! {},
            "cause": Json(cause),
            "tool_call_metadata": made.map(raw),
        };
        return event.0;
    }
    let (source, action) = match draft.role {
        Role::User | Role::Tool => ("user", "message"),
        Role::Assistant => ("agent", "message"),
        Role::System | Role::Developer => ("agent", "system"),
    };
    object! { "source": source, "action": action, "args": object! { "content": draft.joined_text() } }.0
}
