//! What the Agent Development Kit (ADK) makes of the events of a session when it asks a model: which of them it
//! no longer sends, and which calls wait for an answer. Keys are in camel case or snake case.

use foldhash::{HashMap, HashSet};

use super::adk_events::Event;
use super::adk_history::{Fate, fates, read_events, rewinds};
use super::{Item, blocks, deferred};
use crate::json::Value;
use crate::transcript::{Closes, Content, Message, Standing};

/// Calls with which the program asks its client.
const REQUESTS: &[&str] = &["adk_request_confirmation", "adk_request_credential", "adk_request_input"];

/// Calls whose events it never sends to a model, nor the events of their answers. Versions differ about requests for an input.
const UNSENT: &[&str] = &["adk_request_confirmation", "adk_request_credential", "adk_framework"];

/// An event of the Agent Development Kit.
pub(super) fn is_event(item: Value<'_>) -> bool {
    let content = item.get("content").and_then(|content| content.get("parts"));
    item.has("author") && (item.has_any(["invocation_id", "invocationId"]) || content.is_some())
}

/// Makes a compaction a boundary. A call before it can be answered behind it: the program joins them again.
pub(super) const fn mark_boundary(message: &mut Message<'_>) {
    message.set_boundary();
    message.marks_range = true;
    message.call_rules.closes = Closes::Nothing;
}

/// Marks what was rolled back, what a compaction replaced, and the calls that wait for an answer.
pub(super) fn connect<'a>(items: &[Value<'a>], read: &mut [Item<'a>]) {
    if !items.iter().any(|item| is_event(*item)) {
        return;
    }
    let events = read_events(items);
    for (event, first) in rewinds(&events) {
        take_back(first, event, read);
    }
    mark_replaced(&events, read);
    defer(items, read);
    read.iter_mut().filter_map(Item::message_mut).for_each(leave_out);
}

/// What a rewind takes back, and the rewind itself, are kept or dropped with the first message of it.
fn take_back(first: usize, event: usize, read: &mut [Item<'_>]) {
    let Some(leader) = (first..=event).find(|at| matches!(read[*at], Item::Message(_))) else { return };
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

/// Marks the messages that a compaction replaced, and those that the newest one kept.
fn mark_replaced(events: &[Event<'_>], read: &mut [Item<'_>]) {
    let fates = fates(events);
    let mut all = events.iter().zip(&fates);
    let newest = all.rposition(|(event, fate)| event.replaces_events() && *fate == Fate::Sent);
    let Some(newest) = newest else { return };
    for (at, (fate, item)) in fates.iter().zip(&mut *read).enumerate() {
        let Item::Message(message) = item else { continue };
        message.standing = match fate {
            Fate::RolledBack => continue,
            Fate::Replaced => Standing::Superseded,
            Fate::Sent if at < newest => Standing::Preserved,
            Fate::Sent => Standing::Live,
        };
        if *fate == Fate::Replaced {
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
        let ids = message.calls().filter_map(|(_, call)| call.id.as_ref());
        calls.extend(ids.map(|id| (id.decode().into_owned(), at)));
        let answered = message.results().filter_map(|(_, result)| calls.get(&*result.id.as_ref()?.decode()));
        answers.extend(answered.map(|call| (*call, at)));
    }
    let recovered = answers.iter().filter(|(call, at)| is_replaced(&read[*call]) && !is_replaced(&read[*at]));
    let recovered: HashSet<usize> = recovered.map(|(call, _)| *call).collect();
    answers.retain(|(call, at)| recovered.contains(call) && is_replaced(&read[*at]));
    for at in answers.iter().map(|(_, at)| at).chain(&recovered) {
        if let Item::Message(message) = &mut read[*at] {
            message.standing = Standing::Preserved;
            message.call_rules.indivisible |= recovered.contains(at);
        }
    }
}

fn is_replaced(item: &Item<'_>) -> bool {
    matches!(item, Item::Message(message) if message.standing == Standing::Superseded)
}

/// Marks the calls that may be answered at any time. The program joins every answer with its call, wherever it is, and takes the
/// last one.
fn defer<'a>(items: &[Value<'a>], read: &mut [Item<'a>]) {
    let mut long_running: HashSet<String> = HashSet::default();
    // A result before its call is no answer to it.
    let mut made: HashSet<String> = HashSet::default();
    let mut answered: HashSet<String> = HashSet::default();
    for item in items {
        let ids =
            blocks::either(*item, "longRunningToolIds", "long_running_tool_ids").into_iter().flat_map(Value::items);
        long_running.extend(ids.filter_map(Value::text).map(|id| id.decode().into_owned()));
    }
    for (event, item) in items.iter().zip(read.iter_mut()) {
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

/// Marks a message that the program never sends: a call or an answer in it is one of [`UNSENT`].
fn leave_out(message: &mut Message<'_>) {
    let mut tools = message.parts.iter().filter_map(|part| part.content.tool_name());
    if tools.any(|tool| tool.is_one_of(UNSENT)) && !message.standing.is_rolled_back() {
        message.standing = Standing::Unsent;
    }
}
