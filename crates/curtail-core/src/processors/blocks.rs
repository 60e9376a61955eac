//! Where blocks of context are written: as a message of their own, or in front of the user's message that follows. If user and
//! assistant must alternate, a message of its own next to a user's message would break the transcript.

use super::plan::{Change, Decision, Insert, Insertion, Plan, Prepend, Reason};
use super::view::View;
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
    let before = main_from(view, before);
    let role = if role.instructs() && !view.rules.context.system { Role::User } else { role };
    match block_host(plan, view, before, role) {
        Some(at) => plan.change(at, [Change::Prepend(blocks)], reason),
        None => plan.inserts.push(Insert { before, insertion: Insertion::Blocks(role, blocks), reason }),
    }
}

/// The message before which a block at `before` stands: the next one of the main conversation.
fn main_from(view: &View<'_, '_>, before: usize) -> usize {
    let main = main_thread(view.messages);
    let next = view.messages[before..].iter().position(|message| message.thread == main);
    before + next.unwrap_or(0)
}

/// The message that takes in a block of this role which is written before the message `before`: that of the user which follows,
/// if turns alternate.
#[must_use]
pub fn block_host(plan: &Plan, view: &View<'_, '_>, before: usize, role: Role) -> Option<usize> {
    let joins = view.rules.context.joins && role == Role::User;
    host(plan, view.messages, main_from(view, before)).filter(|_| joins)
}

/// The next message that is kept and gives no instructions, if it is a user's message with parts. Results alone are no
/// interaction, and a block among them would make them one.
fn host(plan: &Plan, messages: &[Message<'_>], before: usize) -> Option<usize> {
    let at = (before..messages.len()).find(|&at| plan.keeps(at) && !messages[at].role.instructs())?;
    let message = &messages[at];
    let parts = &message.parts[own_blocks(message)..];
    let holds_result = parts.iter().any(|part| part.content.result().is_some());
    let only_results = holds_result && !parts.iter().any(|part| part.content.has_text());
    let takes = message.role == Role::User && !message.is_exchange() && !message.parts.is_empty() && !only_results;
    (takes && !matches!(plan.decisions[at], Decision::Replace(..))).then_some(at)
}
