//! The provider's usage of version 1: sums over the conversation in updates of its state, and in some logs a list by reply.

use std::borrow::Cow;

use foldhash::{HashMap, HashMapExt as _};

use super::{version0, version1};
use crate::json::{Text, Value};
use crate::transcript::Usage;

/// What the provider counted, by event.
///
/// An update of the state contains the sums so far. What it adds to the one before belongs to one request if at most one
/// reply is between them, unless a list says what that reply took.
pub(super) fn usages(events: &[Value<'_>]) -> Vec<Option<Usage>> {
    let mut found: Vec<Option<Usage>> = events.iter().map(|&event| version0::usage(event)).collect();
    let mut listed: HashMap<Cow<'_, str>, Option<Usage>> = HashMap::new();
    let mut sums = Usage::default();
    let mut replies = Vec::new();
    for (at, &event) in events.iter().enumerate() {
        // Two say as much as all.
        if let Some(id) = reply_id(event).filter(|id| replies.len() < 2 && !replies.contains(id)) {
            replies.push(id);
        }
        let Some(metrics) = metrics(event) else { continue };
        listed.extend(metrics.items_under("token_usages").filter_map(usage_of_reply));
        let Some(now) = metrics.some("accumulated_token_usage").map(usage_of).filter(|now| *now != sums) else {
            continue;
        };
        if !replies.iter().any(|id| listed.get(id).is_some_and(Option::is_some)) {
            found[at] = difference(now, sums).filter(|added| added.input > 0 && replies.len() <= 1);
        }
        (sums, replies) = (now, Vec::new());
    }
    for (found, &event) in found.iter_mut().zip(events) {
        if let Some(usage) = reply_id(event).and_then(|id| listed.get(&id)) {
            *found = *usage;
        }
    }
    found
}

fn reply_id(event: Value<'_>) -> Option<Cow<'_, str>> {
    version1::reply_id(event).map(Text::into_decoded)
}

/// The model that an update of the state names.
pub(super) fn model(event: Value<'_>) -> Option<Text<'_>> {
    metrics(event)?.get_text("model_name").filter(|name| name.len_bound() > 0 && !name.is("default"))
}

/// The usage of the agent, not that of the model that condenses the history.
fn metrics(event: Value<'_>) -> Option<Value<'_>> {
    let value = event.some("value").filter(|_| event.member_is("kind", "ConversationStateUpdateEvent"))?;
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

/// The id of a reply in a list, and what was counted for it.
fn usage_of_reply(counts: Value<'_>) -> Option<(Cow<'_, str>, Option<Usage>)> {
    let id = counts.get_text("response_id")?.into_decoded();
    Some((id, Some(usage_of(counts)).filter(|usage| usage.input > 0)))
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
