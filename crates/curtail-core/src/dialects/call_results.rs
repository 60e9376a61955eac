//! Results in the message of their calls that name none.

use std::collections::VecDeque;

use foldhash::HashSet;

use super::blocks;
use crate::json::Text;
use crate::transcript::{Content, Family, Message, ToolResult};

/// Results that name no call answer the calls of their message that no other result names, in order. If there are fewer results, the
/// last one answers the remaining calls as well, so that all are kept or dropped together.
pub(super) fn answer_in_order(message: &mut Message<'_>) {
    let mut results = message.parts.iter().rev().filter_map(|part| Some((part, part.content.result()?)));
    let last = results.find(|(_, result)| result.id.is_none()).and_then(|(part, _)| part.place());
    let last = last.map(|place| place.element);
    // Calls without ids have their results by order as well.
    let Some(last) = last.filter(|_| message.calls().any(|(_, call)| call.id.is_some())) else { return };
    let mut open = unanswered(message);
    message.call_rules.indivisible = message.calls().count() > 1;
    let mut parts = Vec::with_capacity(message.parts.len());
    for mut part in std::mem::take(&mut message.parts) {
        match &mut part.content {
            Content::ToolResult(result) if result.id.is_none() => match open.pop_front() {
                Some((id, family)) => (result.id, result.family) = (Some(id), family),
                None => {
                    message.attached.extend(std::mem::take(&mut result.content));
                    continue;
                }
            },
            _ => {}
        }
        parts.push(part);
    }
    let shared =
        open.into_iter().map(|(id, family)| ToolResult { family, ..ToolResult::new(Some(id), None, Vec::new()) });
    parts.extend(shared.map(|result| blocks::whole(last, Content::ToolResult(result))));
    message.parts = parts;
}

/// The calls with an id that no result of the message names.
fn unanswered<'a>(message: &Message<'a>) -> VecDeque<(Text<'a>, Family)> {
    let named = message.results().filter_map(|(_, result)| result.id.as_ref());
    let answered: HashSet<_> = named.map(Text::decode).collect();
    let calls = message.calls().filter_map(|(_, call)| Some((call.id.clone()?, call.family)));
    calls.filter(|(id, _)| !answered.contains(&id.decode())).collect()
}
