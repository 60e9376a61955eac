//! What the Agent Development Kit (ADK) makes of the events of a session when it asks a model: which of them a compaction
//! replaced or a rewind took back, and which calls wait for an answer. Keys are in camel case or snake case.

use std::borrow::Cow;
use std::ops::Range;

use foldhash::{HashMap, HashSet};

use super::{Item, blocks, deferred};
use crate::json::{Text, Value};
use crate::transcript::{Closes, Content, Message, Part, Standing};

/// Calls with which the program asks its client.
const REQUESTS: &[&str] = &["adk_request_confirmation", "adk_request_credential", "adk_request_input"];

/// Calls whose events it never sends to a model, nor the events of their answers. Versions differ about requests for an input.
const UNSENT: &[&str] = &["adk_request_confirmation", "adk_request_credential", "adk_framework"];

/// An event of the Agent Development Kit.
pub(super) fn is_event(item: Value<'_>) -> bool {
    let content = item.get("content").and_then(|content| content.get("parts"));
    item.has("author") && (item.has_any(["invocation_id", "invocationId"]) || content.is_some())
}

/// The content that stands for the events of a compaction, if the event is one.
pub(super) fn summary(event: Value<'_>) -> Option<Value<'_>> {
    blocks::either(compaction(event)?, "compactedContent", "compacted_content")
}

/// The compaction in an event: among its actions, or the event itself, as the version in JavaScript has it.
fn compaction(event: Value<'_>) -> Option<Value<'_>> {
    if !event.has("author") {
        return None;
    }
    let in_actions = event.some("actions").and_then(|actions| actions.some("compaction"));
    in_actions.or_else(|| event.is_true("isCompacted").then_some(event))
}

/// Whether the event is a piece of a reply that a later event repeats whole.
pub(super) fn is_piece(event: Value<'_>) -> bool {
    event.has("author") && event.is_true("partial")
}

/// A time, in what a program counts it or as it writes it.
#[derive(Debug, Clone, PartialEq, PartialOrd)]
enum Moment {
    Number(f64),
    Text(String),
}

impl Moment {
    fn of(value: Option<Value<'_>>) -> Option<Self> {
        let value = value?;
        match value.text() {
            // Fractions of a second may be missing.
            Some(text) => Some(Self::Text(text.decode().trim_end_matches('Z').to_owned())),
            None => value.raw().parse().ok().filter(|number: &f64| number.is_finite()).map(Self::Number),
        }
    }

    fn of_event(event: Value<'_>) -> Option<Self> {
        Self::of(event.some("timestamp").or_else(|| event.some("time")))
    }
}

/// The times that a compaction replaces.
struct Replaced {
    /// Index of the event.
    event: usize,
    start: Moment,
    end: Moment,
}

/// The compactions among `events` that no other one contains, by the time at which they begin.
fn compactions<'a>(events: impl Iterator<Item = (usize, Value<'a>)>) -> Vec<Replaced> {
    let range = |(at, event): (usize, Value<'a>)| {
        let compaction = compaction(event).filter(|_| summary(event).is_some())?;
        let end_of = |camel: &str, snake: &str, own: &str| {
            Moment::of(blocks::either(compaction, camel, snake).or_else(|| compaction.some(own)))
        };
        let start = end_of("startTimestamp", "start_timestamp", "startTime")?;
        Some(Replaced { event: at, start, end: end_of("endTimestamp", "end_timestamp", "endTime")? })
    };
    let mut found: Vec<Replaced> = events.filter_map(range).collect();
    let earlier = |one: &Moment, other: &Moment| one.partial_cmp(other).unwrap_or(std::cmp::Ordering::Equal);
    found.sort_by(|one, other| {
        let longest = earlier(&other.end, &one.end).then(other.event.cmp(&one.event));
        earlier(&one.start, &other.start).then(longest)
    });
    let mut end: Option<Moment> = None;
    found.retain(|range| {
        let reaches_on = end.as_ref().is_none_or(|end| range.end > *end);
        if reaches_on {
            end = Some(range.end.clone());
        }
        reaches_on
    });
    found
}

/// Whether one of these compactions, which end the later the later they begin, replaces an event of this time.
fn is_replaced(compactions: &[Replaced], time: &Moment) -> bool {
    let begun = compactions.partition_point(|range| range.start <= *time);
    begun.checked_sub(1).is_some_and(|last| *time <= compactions[last].end)
}

/// The rewinds among `events`: the index of each, and of the first event that it takes back. A rewind that a later one takes back
/// is none.
pub(super) fn rewinds(events: &[Value<'_>]) -> Vec<(usize, usize)> {
    if !events.iter().any(|event| rewound_to(*event).is_some()) {
        return Vec::new();
    }
    let mut first: HashMap<Cow<'_, str>, usize> = HashMap::default();
    for (at, event) in events.iter().enumerate() {
        if let Some(invocation) = blocks::either(*event, "invocationId", "invocation_id").and_then(Value::text) {
            first.entry(invocation.into_decoded()).or_insert(at);
        }
    }
    let mut found = Vec::new();
    let mut end = events.len();
    while let Some(at) = end.checked_sub(1) {
        end = at;
        if let Some(target) = rewound_to(events[at]) {
            end = first.get(&target.decode()).copied().filter(|first| *first < at).unwrap_or(at);
            found.push((at, end));
        }
    }
    found.reverse();
    found
}

/// The invocation before which a rewind goes back, if the event is one.
fn rewound_to(event: Value<'_>) -> Option<Text<'_>> {
    let actions = event.some("actions").filter(|_| event.has("author"))?;
    blocks::either(actions, "rewindBeforeInvocationId", "rewind_before_invocation_id")?.text()
}

/// Marks what was taken back, what a compaction replaced, and the calls that wait for an answer.
pub(super) fn connect<'a>(events: &[Value<'a>], read: &mut [Item<'a>]) {
    if !events.iter().any(|event| is_event(*event)) {
        return;
    }
    for (event, first) in rewinds(events) {
        take_back(first, event, read);
    }
    replace(events, read);
    defer(events, read);
    read.iter_mut().filter_map(Item::message_mut).for_each(leave_out);
}

/// Marks a message that the program never sends: a call or an answer in it is one of [`UNSENT`].
fn leave_out(message: &mut Message<'_>) {
    let is_request =
        |part: &Part<'_>| part.content.tool_name().is_some_and(|tool| UNSENT.iter().any(|name| tool.is(name)));
    if message.parts.iter().any(is_request) && !message.standing.is_rolled_back() {
        message.standing = Standing::Unsent;
    }
}

/// What a rewind takes back, and the rewind itself, are kept or dropped with the first message of it.
fn take_back(first: usize, event: usize, read: &mut [Item<'_>]) {
    let is_message = |at: &usize| matches!(read[*at], Item::Message(_));
    let Some(leader) = (first..=event).find(is_message) else { return };
    for (at, item) in read.iter_mut().enumerate().take(event + 1).skip(first) {
        match item {
            Item::Message(message) => {
                message.dropped_with = u32::try_from(leader).ok().filter(|_| at > leader);
                message.roll_back(Standing::RolledBack);
            }
            item => *item = Item::With(leader),
        }
    }
}

/// Marks the events that a compaction replaced, and those that the newest one kept.
fn replace<'a>(events: &[Value<'a>], read: &mut [Item<'a>]) {
    let in_force = |at: usize| matches!(&read[at], Item::Message(message) if !message.standing.is_rolled_back());
    let compactions = compactions(events.iter().copied().enumerate().filter(|(at, _)| in_force(*at)));
    let standing: HashSet<usize> = compactions.iter().map(|range| range.event).collect();
    let Some(last) = standing.iter().copied().max() else { return };
    for (at, (event, item)) in events.iter().zip(read.iter_mut()).enumerate() {
        let Item::Message(message) = item else { continue };
        if message.standing.is_rolled_back() {
            continue;
        }
        let replaced = match message.is_boundary() {
            true => !standing.contains(&at),
            false => Moment::of_event(*event).is_some_and(|time| is_replaced(&compactions, &time)),
        };
        message.standing = match (replaced, at < last) {
            (true, _) => Standing::Superseded,
            (false, true) => Standing::Preserved,
            (false, false) => Standing::Live,
        };
        if replaced {
            message.clear_boundary();
        }
    }
    recover_calls(read);
}

/// A call whose answer is read is read, too, with the other calls beside it and all their answers: an answer before the last one
/// cannot be dropped without its call.
fn recover_calls(read: &mut [Item<'_>]) {
    let mut calls: HashMap<String, usize> = HashMap::default();
    // Of each answer: where its call is, and where it is itself.
    let mut answers: Vec<(usize, usize)> = Vec::new();
    for (at, item) in read.iter_mut().enumerate() {
        let Some(message) = item.message_mut().filter(|message| !message.standing.is_rolled_back()) else { continue };
        calls.extend(ids_of_calls(message).map(|id| (id, at)));
        let answered = message.results().filter_map(|(_, result)| calls.get(&*result.id.as_ref()?.decode()));
        answers.extend(answered.map(|call| (*call, at)));
    }
    let standing = |at: usize| if let Item::Message(message) = &read[at] { Some(message.standing) } else { None };
    let is_replaced = |at: usize| standing(at) == Some(Standing::Superseded);
    let is_recovered = |(call, at): &&(usize, usize)| is_replaced(*call) && !is_replaced(*at);
    let recovered: HashSet<usize> = answers.iter().filter(is_recovered).map(|(call, _)| *call).collect();
    answers.retain(|(call, at)| recovered.contains(call) && is_replaced(*at));
    for at in answers.iter().map(|(_, at)| at).chain(&recovered) {
        if let Item::Message(message) = &mut read[*at] {
            message.standing = Standing::Preserved;
            message.call_rules.indivisible |= recovered.contains(at);
        }
    }
}

fn ids_of_calls<'m>(message: &'m Message<'_>) -> impl Iterator<Item = String> + 'm {
    message.calls().filter_map(|(_, call)| call.id.as_ref().map(|id| id.decode().into_owned()))
}

/// Makes a compaction a boundary. A call before it can be answered behind it: the program joins them again.
pub(super) const fn mark_boundary(message: &mut Message<'_>) {
    message.set_boundary();
    message.marks_range = true;
    message.call_rules.closes = Closes::Nothing;
}

/// Marks the calls that may be answered at any time. The program joins every answer with its call, wherever it is, and takes the
/// last one.
fn defer<'a>(events: &[Value<'a>], read: &mut [Item<'a>]) {
    let mut long_running: HashSet<String> = HashSet::default();
    // A result before its call is no answer to it.
    let mut made: HashSet<String> = HashSet::default();
    let mut answered: HashSet<String> = HashSet::default();
    for event in events {
        let ids =
            blocks::either(*event, "longRunningToolIds", "long_running_tool_ids").into_iter().flat_map(Value::items);
        long_running.extend(ids.filter_map(Value::text).map(|id| id.decode().into_owned()));
    }
    for (event, item) in events.iter().zip(read.iter_mut()) {
        let asked_for = asked_for(*event);
        let by_program = !event.member_is("author", "user");
        for part in item.message_mut().into_iter().flat_map(|message| &mut message.parts) {
            match &mut part.content {
                Content::ToolCall(call) => {
                    made.extend(call.id.as_ref().map(|id| id.decode().into_owned()));
                    if REQUESTS.iter().any(|name| call.name.is(name)) {
                        call.wait();
                    }
                }
                Content::ToolResult(result) => {
                    let Some(id) = result.id.as_ref().map(|id| id.decode().into_owned()) else { continue };
                    result.interim = asked_for.contains(&id) || by_program && long_running.contains(&id);
                    answered.extend(Some(id).filter(|id| made.contains(id)));
                }
                _ => {}
            }
        }
    }
    deferred::defer(read, |id| answered.contains(id));
    deferred::wait(read, |id| long_running.contains(id));
}

/// The calls for which an event asks a person: to confirm them, or for a credential. Its results are not their answers.
fn asked_for(event: Value<'_>) -> HashSet<String> {
    let actions = event.some("actions");
    let keys = [
        ("requestedToolConfirmations", "requested_tool_confirmations"),
        ("requestedAuthConfigs", "requested_auth_configs"),
    ];
    let asked = keys.into_iter().filter_map(|(camel, snake)| blocks::either(actions?, camel, snake));
    asked.flat_map(Value::members).map(|member| member.key.decode().into_owned()).collect()
}

/// The indices of `before` that a model still reads after the compaction `event`, as ranges; none if it is no compaction.
pub(super) fn kept_by(event: Value<'_>, before: &[Value<'_>]) -> Vec<Range<usize>> {
    if summary(event).is_none() {
        return Vec::new();
    }
    let compactions = compactions(before.iter().copied().chain([event]).enumerate());
    let standing: HashSet<usize> = compactions.iter().map(|range| range.event).collect();
    let is_kept = |at: &usize| match summary(before[*at]) {
        Some(_) => standing.contains(at),
        None => !Moment::of_event(before[*at]).is_some_and(|time| is_replaced(&compactions, &time)),
    };
    let mut kept: Vec<Range<usize>> = Vec::new();
    for at in (0..before.len()).filter(is_kept) {
        match kept.last_mut().filter(|range| range.end == at) {
            Some(range) => range.end += 1,
            None => kept.push(at..at + 1),
        }
    }
    kept
}
