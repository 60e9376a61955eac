//! Where the block of summaries is written, and what becomes of older blocks.

use super::rolling_summary::RollingView;
use curtail_core::processors::{Change, Decision, Plan, Prepend, Reason, View, add_changes, place_blocks};
use curtail_core::transcript::{Content, Message, PartRef, Role, own_blocks};

const REPLACED: Reason = Reason::Borrowed("replaced by newer summaries");

/// Writes the block of summaries before the window and drops older blocks. An unchanged block keeps its place.
pub(super) fn place_block(
    plan: &mut Plan,
    view: &View<'_, '_>,
    rolling: &RollingView,
    start: usize,
    (role, text): (Role, String),
) {
    if let [at] = rolling.blocks[..]
        && said(view.messages, at) == Some(text.as_str().into())
        && plan.is_identity()
    {
        return;
    }
    let mut blocks = vec![Prepend::Block(text)];
    if view.context.joins && !view.context.system {
        blocks.extend(carried(plan, view.messages, rolling));
    }
    for &at in &rolling.blocks {
        if rolling.is_block(at.message) {
            plan.decisions[at.message] = Decision::Drop(REPLACED);
        } else {
            add_changes(plan, at.message, vec![Change::Cut(at.part)], REPLACED);
        }
    }
    let reason = Reason::Borrowed("summaries of the earlier interactions");
    place_blocks(plan, view, start, (role, blocks), reason);
}

/// The other blocks in messages that the plan drops or that contain nothing else: they move along, because the format has
/// no other place for them. Drops messages that are empty without them.
fn carried(plan: &mut Plan, messages: &[Message<'_>], rolling: &RollingView) -> Vec<Prepend> {
    let mut moved = Vec::new();
    for (at, message) in messages.iter().enumerate() {
        let alone = rolling.is_block(at) && !message.role.instructs();
        if alone || matches!(plan.decisions[at], Decision::Drop(_)) {
            let parts = (0..own_blocks(message)).map(|part| PartRef { message: at, part });
            moved.extend(parts.filter(|part| !rolling.blocks.contains(part)).map(Prepend::Moved));
        }
        if alone {
            plan.decisions[at] = Decision::Drop(Reason::Borrowed("moved to the first message that is kept"));
        }
    }
    moved
}

fn said<'m>(messages: &'m [Message<'_>], at: PartRef) -> Option<std::borrow::Cow<'m, str>> {
    match &messages[at.message].parts[at.part].content {
        Content::Text(text) => Some(text.decode()),
        _ => None,
    }
}
