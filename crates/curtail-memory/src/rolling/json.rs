//! The state as JSON: the held interactions, and the summaries of earlier ones.

use std::fmt::Write as _;

use super::{Interaction, InteractionRange, RollingView};
use curtail_core::json::{Text, quote};
use curtail_core::transcript::{Message, Role};

/// The state on one line: `{"interactions":[…],"summaries":[…]}`, oldest summary first.
///
/// An interaction contains its message under `userRequest` or `aiResponse`, or both if it is an exchange; `rest` contains its
/// other messages, such as tool calls and results. `pending` contains messages that belong to no interaction yet, such as
/// calls without a result. `held` are the interactions in the window; `time` returns the time of the message with an index.
pub fn state(
    messages: &[Message<'_>],
    view: &RollingView,
    held: InteractionRange,
    time: &dyn Fn(usize) -> Option<String>,
) -> String {
    let held: Vec<String> = (held.start..=held.end).filter_map(|n| interaction(messages, view, n, time)).collect();
    let mut text = format!("{{\"interactions\":[{}],\"summaries\":[", held.join(","));
    // Strings and numbers always serialize.
    let summaries = view.memory.summaries.iter().filter_map(|summary| serde_json::to_string(summary).ok());
    text.push_str(&summaries.collect::<Vec<_>>().join(","));
    text.push(']');
    let last = view.interactions.last().map_or(0, end_of_last);
    let pending: Vec<String> = others(messages, last..messages.len(), &|at| view.is_block(at));
    if !pending.is_empty() {
        // Writing to a string cannot fail.
        let _ = write!(text, ",\"pending\":[{}]", pending.join(","));
    }
    text.push('}');
    text
}

/// The interaction with this number as JSON.
fn interaction(
    messages: &[Message<'_>],
    view: &RollingView,
    number: usize,
    time: &dyn Fn(usize) -> Option<String>,
) -> Option<String> {
    let interaction = view.interaction(number)?;
    let end = view.interaction(number + 1).map_or_else(|| end_of_last(interaction), |next| next.start);
    let mut utterances = interaction.utterances.iter().copied();
    let request = utterances.clone().find(|&at| messages[at].role == Role::User);
    let response = utterances.rfind(|&at| messages[at].role == Role::Assistant);
    let mut members: Vec<String> = Vec::new();
    members.extend(request.map(|at| format!("\"userRequest\":{}", compact(&messages[at]))));
    members.extend(response.map(|at| format!("\"aiResponse\":{}", compact(&messages[at]))));
    let rest = others(messages, interaction.start..end, &|at| {
        request == Some(at) || response == Some(at) || view.is_block(at)
    });
    if !rest.is_empty() {
        members.push(format!("\"rest\":[{}]", rest.join(",")));
    }
    let ts = interaction.utterances.last().and_then(|&at| time(at));
    members.extend(ts.map(|ts| format!("\"ts\":{}", quote(&ts))));
    Some(format!("{{{}}}", members.join(",")))
}

/// The end of the messages of the last interaction: an exchange includes assistant messages after its answer.
fn end_of_last(interaction: &Interaction) -> usize {
    let end = interaction.utterances.last().map_or(0, |at| at + 1);
    interaction.arrived.max(end)
}

/// The messages of a range as JSON, without system messages, turns that were rolled back, and those for which `except` is true.
fn others(messages: &[Message<'_>], range: std::ops::Range<usize>, except: &dyn Fn(usize) -> bool) -> Vec<String> {
    let others = range.filter(|&at| !except(at)).map(|at| &messages[at]);
    others.filter(|message| !message.role.instructs() && !message.standing.is_rolled_back()).map(compact).collect()
}

/// A message as JSON without white space between tokens.
fn compact(message: &Message<'_>) -> String {
    message.value().map_or_else(|| String::from("null"), |value| Text::Json(value.raw()).decode().into_owned())
}
