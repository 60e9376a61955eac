//! Drops messages and turns by number.

use std::ops::Range;

use super::planning::DropSet;
use super::{Keep, Pins, Plan, Processor, ProcessorError, Reason, View};
use crate::transcript::{Pairs, turns};

/// Drops the messages and the turns with these numbers. Instructions in the turns are kept.
///
/// A number is an index into the messages, or the turns, that the processor sees. So a second run numbers them anew, and drops
/// others.
#[derive(Debug, Clone, Default)]
pub struct DropMessages {
    /// Numbers of messages.
    pub messages: Vec<Range<usize>>,
    /// Numbers of turns.
    pub turns: Vec<Range<usize>>,
    /// Messages that are kept although they are named.
    pub pins: Pins,
}

impl Processor for DropMessages {
    fn name(&self) -> &'static str {
        "filter"
    }

    fn decide(&self, view: &View<'_, '_>) -> Result<Plan, ProcessorError> {
        let pairs = Pairs::from_messages(view.messages);
        let mut drops = DropSet::none(view, &pairs).pinning(self.pins);
        let count = view.messages.len();
        for at in self.messages.iter().flat_map(|range| range.start.min(count)..range.end.min(count)) {
            drops.drop_message(at, Reason::Borrowed("named by --drop"));
        }
        for (nth, turn) in turns(view.messages).into_iter().enumerate() {
            if !self.turns.iter().any(|range| range.contains(&nth)) {
                continue;
            }
            for at in turn {
                let message = &view.messages[at];
                if message.role.instructs() {
                    drops.spare(at, Keep::reason(message));
                } else {
                    drops.drop_but_instructions(at, &Reason::Borrowed("in a turn named by --drop-turn"));
                }
            }
        }
        Ok(drops.into_plan())
    }
}
