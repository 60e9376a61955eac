//! The provider's usage of version 1: sums over the conversation in updates of its state, and in some logs a list by reply.

use super::{version0, version1};
use crate::json::{Text, Value};
use crate::transcript::Usage;

/// What the provider counted, by event.
///
/// An update of the state contains the sums so far. What it adds to the one before belongs to one request if at most one
/// reply is between them.
pub(super) fn usages(events: &[Value<'_>]) -> Vec<Option<Usage>> {
    let mut found: Vec<Option<Usage>> = events.iter().map(|&event| version0::usage(event)).collect();
    let mut sums = Usage::default();
    let mut replies: Vec<Text<'_>> = Vec::new();
    for (at, &event) in events.iter().enumerate() {
        if let Some(id) = version1::reply_id(event).filter(|id| !replies.contains(id)) {
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
            events.any(|(event, usage)| usage.is_some() && version1::reply_id(*event).as_ref() == Some(id))
        };
        if !replies.iter().any(known) {
            found[at] = added;
        }
        (sums, replies) = (now, Vec::new());
    }
    found
}

/// The model that an update of the state names.
pub(super) fn model(event: Value<'_>) -> Option<Text<'_>> {
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
        if version1::reply_id(*event).is_some_and(|name| name == id) {
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
