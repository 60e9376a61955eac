//! Where the window of a thread begins, and what is dropped before it.

use super::RollingView;
use curtail_core::processors::{Change, Decision, Plan, Reason};
use curtail_core::transcript::{Message, Pairs, Part};

/// The number of the first interaction that the thread stores: `held`, the first one in the window, or an earlier one if turns
/// that were rolled back begin there and reach into the window.
pub(super) fn first_stored(rolling: &RollingView, held: usize, messages: &[Message<'_>]) -> usize {
    let start = |number| rolling.interaction(number).map_or(0, |interaction| interaction.start);
    // For each message: the first message with which it, or any message after it, is dropped.
    let mut firsts: Vec<usize> =
        messages.iter().map(|message| message.dropped_with.map_or(usize::MAX, |first| first as usize)).collect();
    for at in (1..firsts.len()).rev() {
        firsts[at - 1] = firsts[at - 1].min(firsts[at]);
    }
    let is_split = |number: &usize| firsts.get(start(*number)).is_some_and(|first| *first < start(*number));
    (rolling.first..=held).rev().find(|number| !is_split(number)).unwrap_or(held)
}

/// The plan that drops the messages before `start`, where the window begins, except for those that remain in force.
pub(super) fn plan_from(start: usize, messages: &[Message<'_>]) -> Plan {
    let mut plan = Plan::keep(messages.len());
    let awaiting = Pairs::from_messages(messages).awaiting_messages(messages);
    for (at, message) in messages.iter().enumerate() {
        let rolled_back =
            message.dropped_with.is_some_and(|first| matches!(plan.decisions[first as usize], Decision::Drop(_)));
        let is_boundary = message.is_boundary() && message.standing.is_read();
        let stays = message.role.instructs() || is_boundary || awaiting.contains(&at);
        if at < start && (rolled_back || !stays) {
            plan.decisions[at] = outside_window(message);
        }
    }
    plan
}

/// Drops a message before the window. Instructions within it remain in force, as messages of instructions do.
fn outside_window(message: &Message<'_>) -> Decision {
    let reason = Reason::Borrowed("before the window");
    if !message.parts.iter().any(Part::instructs) {
        return Decision::Drop(reason);
    }
    let others = message.parts.iter().enumerate().filter(|(_, part)| !part.instructs());
    Decision::Change(others.map(|(nth, _)| Change::Cut(nth)).collect(), reason)
}
