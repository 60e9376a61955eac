//! Results in the message of their calls that name none.

use std::collections::VecDeque;

use foldhash::HashSet;

use super::blocks;
use crate::json::Text;
use crate::transcript::{Content, Family, Message, Part, ToolResult};

/// Results that name no call answer the calls of their message that no other result names, in order. If there are fewer results, the
/// last one answers the remaining calls as well, so that all are kept or dropped together; if there are more, the last one that has a
/// call says what the others say, too.
pub(super) fn answer_in_order(message: &mut Message<'_>) {
    let mut results = message.parts.iter().rev().filter_map(|part| Some((part, part.content.result()?)));
    let last = results.find(|(_, result)| result.id.is_none()).and_then(|(part, _)| part.place());
    let last = last.map(|place| place.element);
    // Calls without ids have their results by order as well.
    let Some(last) = last.filter(|_| message.calls().any(|(_, call)| call.id.is_some())) else { return };
    let mut open = unanswered(message);
    message.call_rules.indivisible = message.calls().count() > 1;
    let mut parts: Vec<Part<'_>> = Vec::with_capacity(message.parts.len());
    let mut answered: Option<usize> = None;
    for mut part in std::mem::take(&mut message.parts) {
        if let Content::ToolResult(result) = &mut part.content {
            if result.id.is_none() {
                let Some((id, family)) = open.pop_front() else {
                    match answered.and_then(|at| parts.get_mut(at)) {
                        Some(before) => add_to(before, part),
                        None => {
                            message.attached.extend(std::mem::take(&mut result.content));
                            message.attached_media += result.media;
                        }
                    }
                    continue;
                };
                (result.id, result.family) = (Some(id), family);
            }
            answered = Some(parts.len());
        }
        parts.push(part);
    }
    let shared =
        open.into_iter().map(|(id, family)| ToolResult { family, ..ToolResult::new(Some(id), None, Vec::new()) });
    parts.extend(shared.map(|result| blocks::whole(last, Content::ToolResult(result))));
    message.parts = parts;
}

/// Adds what a further result says to the one `before` it, with which it is dropped.
fn add_to<'a>(before: &mut Part<'a>, further: Part<'a>) {
    let element = further.place().map(|place| place.element);
    if let (Content::ToolResult(result), Content::ToolResult(further)) = (&mut before.content, further.content) {
        result.content.extend(further.content);
        result.media += further.media;
    }
    element.into_iter().for_each(|element| before.add_copy(element));
}

/// The calls with an id that no result of the message names.
fn unanswered<'a>(message: &Message<'a>) -> VecDeque<(Text<'a>, Family)> {
    let named = message.results().filter_map(|(_, result)| result.id.as_ref());
    let answered: HashSet<_> = named.map(Text::decode).collect();
    let calls = message.calls().filter_map(|(_, call)| Some((call.id.clone()?, call.family)));
    calls.filter(|(id, _)| !answered.contains(&id.decode())).collect()
}
