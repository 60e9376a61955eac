//! Where blocks of context are written: as a message of their own, or in front of the user's message that follows.
//!
//! If user and assistant must alternate, a message of its own next to a user's message would break the transcript.

use super::{Change, Decision, Insert, Insertion, Plan, Prepend, Reason, View};
use crate::transcript::{Message, Role, main_thread, own_blocks};

/// Writes `blocks` before the message `before`, or before the next one of the main conversation, which they belong to. Their
/// role is the user's if the format has none for instructions.
pub fn place_blocks(
    plan: &mut Plan,
    view: &View<'_, '_>,
    before: usize,
    role: Role,
    blocks: Vec<Prepend>,
    reason: Reason,
) {
    let main = main_thread(view.messages);
    let next = view.messages[before..].iter().position(|message| message.thread == main);
    let before = before + next.unwrap_or(0);
    let role = if role.instructs() && !view.context.system { Role::User } else { role };
    let joins = view.context.joins && role == Role::User;
    match host(plan, view.messages, before).filter(|_| joins) {
        Some(at) => add_changes(plan, at, vec![Change::Prepend(blocks)], reason),
        None => plan.inserts.push(Insert { before, what: Insertion::Blocks(role, blocks), reason }),
    }
}

/// Adds `changes` to those of the message `at`, unless it is dropped.
pub fn add_changes(plan: &mut Plan, at: usize, changes: Vec<Change>, reason: Reason) {
    match &mut plan.decisions[at] {
        Decision::Change(own, _) => own.extend(changes),
        Decision::Keep => plan.decisions[at] = Decision::Change(changes, reason),
        Decision::Drop(_) | Decision::Replace(..) => {}
    }
}

/// The next message that is kept and gives no instructions, if it is a user's message with parts. Results alone are no
/// interaction, and a block among them would make them one.
fn host(plan: &Plan, messages: &[Message<'_>], before: usize) -> Option<usize> {
    let is_next = |at: &usize| !matches!(plan.decisions[*at], Decision::Drop(_)) && !messages[*at].role.instructs();
    let at = (before..messages.len()).find(is_next)?;
    let message = &messages[at];
    let said = &message.parts[own_blocks(message)..];
    let holds_result = said.iter().any(|part| part.content.result().is_some());
    let only_results = holds_result && !said.iter().any(|part| part.content.speaks());
    let takes = message.role == Role::User && !message.is_exchange() && !message.parts.is_empty() && !only_results;
    (takes && !matches!(plan.decisions[at], Decision::Replace(..))).then_some(at)
}
