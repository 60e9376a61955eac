//! Divides a transcript into interactions, and reads the state from the blocks of summaries in it.

use foldhash::HashSet;

use super::block::find_block;
use super::interactions::interactions;
use super::{RollingSummary, RollingView, StateSoFar};
use curtail_core::transcript::{Message, Pairs, PartRef, main_thread, own_blocks};
use curtail_facts::Facts;

impl RollingSummary {
    /// The interactions of `messages`, and the state: what is given, or what the transcript contains.
    pub(super) fn own_view(&self, messages: &[Message<'_>]) -> RollingView {
        self.view_of(messages, self.given.clone(), self.given.is_some())
    }

    /// The interactions of `messages`, and the state. `given` is the state and the number of the first interaction; without
    /// it, both come from the summaries in the transcript, if it has any.
    pub fn rolling_view(&self, messages: &[Message<'_>], given: Option<StateSoFar>) -> RollingView {
        self.view_of(messages, given, false)
    }

    /// `has_begun` says whether messages with text precede `messages`. Blocks are recognized only before the first such
    /// message.
    fn view_of(&self, messages: &[Message<'_>], given: Option<StateSoFar>, has_begun: bool) -> RollingView {
        // These stay before the block of summaries.
        let awaiting = Pairs::from_messages(messages).awaiting_messages(messages);
        let WrittenBefore { state, blocks, context } = written_before(messages, &awaiting, has_begun);
        let StateSoFar { state: mut memory, next: first } = given.or(state).unwrap_or_default();
        // Interactions that a summary covers have been seen, even if the state does not say so.
        memory.seen = memory.seen.max(memory.summarized());
        // A transcript contains the texts of its summaries, but not its facts.
        if let Some(newest) = memory.summaries.last_mut().filter(|summary| summary.facts.is_empty()) {
            newest.facts = Facts::from_text(&newest.text);
        }
        let stays = |at: usize| {
            let is_over = messages[at].is_boundary() || messages[at].standing.is_rolled_back();
            is_over || context.contains(&at) || awaiting.contains(&at)
        };
        let interactions = interactions(messages, self.counted, &stays);
        let sizes = self.sizes(messages, &interactions, &stays);
        RollingView { memory, first: first.max(1), interactions, blocks, context, sizes }
    }
}

/// What this program wrote into a transcript before.
#[derive(Default)]
struct WrittenBefore {
    /// The state in the last block of summaries.
    state: Option<StateSoFar>,
    /// The blocks of summaries.
    blocks: Vec<PartRef>,
    /// The messages that consist of blocks of this program.
    context: Vec<usize>,
}

/// The blocks in `messages` before the first one with text. `awaiting` are messages that stay before them; `has_begun` says
/// whether messages with text precede `messages`.
fn written_before(messages: &[Message<'_>], awaiting: &HashSet<usize>, mut has_begun: bool) -> WrittenBefore {
    let mut written = WrittenBefore::default();
    let main = main_thread(messages);
    for (at, message) in messages.iter().enumerate() {
        has_begun &= !message.is_boundary() && !message.is_in_compaction();
        if has_begun {
            continue;
        }
        let block = find_block(message);
        let count = own_blocks(message).max(usize::from(message.role.instructs() && block.is_some()));
        if let Some(block) = block {
            written.blocks.push(PartRef { message: at, part: block.part });
            written.state = Some(block.state);
        }
        if count > 0 && count == message.parts.len() {
            written.context.push(at);
        } else if message.counts_in(main) && !message.role.instructs() && !awaiting.contains(&at) {
            // A boundary replaces everything before it, so blocks may follow it.
            has_begun = !message.is_boundary() && !message.is_in_compaction();
        }
    }
    written
}
