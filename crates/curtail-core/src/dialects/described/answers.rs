//! Results in the message of their calls that name none.

use std::collections::VecDeque;

use foldhash::HashSet;

use crate::json::Text;
use crate::transcript::{Content, Family, Message, ToolResult};

/// Results that name no call answer the calls of their message that no other result names, in order. A call for which none is left
/// needs none, so that all calls are kept or dropped together.
pub(super) fn answer_in_order(message: &mut Message<'_>) {
    let nameless = message.results().filter(|(_, result)| result.id.is_none()).count();
    // Calls without ids have their results by order as well.
    if nameless == 0 || message.calls().all(|(_, call)| call.id.is_none()) {
        return;
    }
    let mut open = unanswered(message, nameless);
    message.call_rules.indivisible = message.calls().count() > 1;
    let mut parts = Vec::with_capacity(message.parts.len());
    for mut part in std::mem::take(&mut message.parts) {
        match &mut part.content {
            Content::ToolResult(result) if result.id.is_none() => match open.pop_front() {
                Some((id, family)) => *result = ToolResult { id: Some(id), family, ..result.clone() },
                None => {
                    message.attached.extend(std::mem::take(&mut result.content));
                    continue;
                }
            },
            _ => {}
        }
        parts.push(part);
    }
    message.parts = parts;
}

/// The calls with an id that no result of the message names, at most as many as there are results without one.
fn unanswered<'a>(message: &mut Message<'a>, nameless: usize) -> VecDeque<(Text<'a>, Family)> {
    let named = message.results().filter_map(|(_, result)| result.id.as_ref());
    let answered: HashSet<String> = named.map(|id| id.decode().into_owned()).collect();
    let mut open = VecDeque::new();
    for part in &mut message.parts {
        let Content::ToolCall(call) = &mut part.content else { continue };
        let Some(id) = call.id.as_ref().filter(|id| !answered.contains(&*id.decode())) else { continue };
        if open.len() < nameless {
            open.push_back((id.clone(), call.family));
        } else {
            call.hosted = true;
        }
    }
    open
}
