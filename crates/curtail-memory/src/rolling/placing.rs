//! Writing the block of summaries, and replacing older blocks.

use super::view::RollingView;
use curtail_core::processors::{Change, Decision, Plan, Prepend, Reason, View, block_host, place_blocks};
use curtail_core::transcript::{Message, PartRef, Role, own_blocks};

const REPLACED: Reason = Reason::Borrowed("replaced by newer summaries");

/// Writes the block of summaries before the window and drops older blocks. An unchanged block keeps its place.
pub(super) fn place_block(
    plan: &mut Plan,
    view: &View<'_, '_>,
    rolling: &RollingView,
    start: usize,
    role: Role,
    text: String,
) {
    if let [at] = rolling.blocks[..]
        && at.part_in(view.messages).content.text().is_some_and(|old| old.decode() == text)
        && plan.is_identity()
        && !(rolling.is_block(at.message) && block_host(plan, view, at.message + 1, role).is_some())
    {
        return;
    }
    let mut blocks = vec![Prepend::Block(text)];
    if view.rules.context.joins && !view.rules.context.system {
        blocks.extend(move_other_blocks(plan, view.messages, rolling));
    }
    for &at in &rolling.blocks {
        if rolling.is_block(at.message) {
            plan.decisions[at.message] = Decision::Drop(REPLACED);
        } else {
            plan.change(at.message, [Change::Cut(at.part)], REPLACED);
        }
    }
    let reason = Reason::Borrowed("summaries of the earlier interactions");
    place_blocks(plan, view, start, role, blocks, reason);
}

/// Moves other blocks of this program, such as working memory, out of messages that the plan drops or that contain nothing
/// else: the format has no other place for them. Drops the messages that are empty without them, and returns the moved blocks.
fn move_other_blocks(plan: &mut Plan, messages: &[Message<'_>], rolling: &RollingView) -> Vec<Prepend> {
    let mut moved = Vec::new();
    for (at, message) in messages.iter().enumerate() {
        let only_blocks = rolling.is_block(at) && !message.role.instructs();
        if only_blocks || matches!(plan.decisions[at], Decision::Drop(_)) {
            let parts = (0..own_blocks(message)).map(|part| PartRef { message: at, part });
            moved.extend(parts.filter(|part| !rolling.blocks.contains(part)).map(Prepend::Moved));
        }
        if only_blocks {
            plan.decisions[at] = Decision::Drop(Reason::Borrowed("moved to the first message that is kept"));
        }
    }
    moved
}
