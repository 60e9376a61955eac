//! Drops messages by what they are in the transcript: by number, by turn, or because the model no longer reads them.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::pins::why_preserved;
use super::{DropSet, Pins, Plan, Processor, ProcessorError, Reason, Traits, View};
use crate::transcript::{Pairs, turns};

/// Drops the messages and the turns with these numbers. Instructions in the turns are kept.
///
/// A number is an index into the messages, or the turns, that the processor sees. So a second run numbers them again, and drops
/// others.
#[derive(Debug, Clone, Default)]
pub struct DropMessages {
    /// Numbers of messages.
    pub messages: Vec<Range<usize>>,
    /// Numbers of turns.
    pub turns: Vec<Range<usize>>,
    /// Messages that are kept although they are named.
    pub pins: Pins,
    /// The transcripts that it saw.
    pub seen: Seen,
}

/// The numbers of messages and turns of the longest transcript that a processor saw. Clones share them.
#[derive(Debug, Clone, Default)]
pub struct Seen(Arc<[AtomicUsize; 2]>);

impl Seen {
    pub(super) fn add(&self, messages: usize, turns: usize) {
        self.0[0].fetch_max(messages, Ordering::Relaxed);
        self.0[1].fetch_max(turns, Ordering::Relaxed);
    }

    /// The number of messages, or of turns, of the longest transcript.
    fn longest(&self, unit: Unit) -> usize {
        self.0[unit as usize].load(Ordering::Relaxed)
    }

    /// A sentence about each range of `flag` that contains no number of any transcript.
    pub(super) fn remarks<'r>(
        &'r self,
        flag: &'r str,
        unit: Unit,
        ranges: &'r [Range<usize>],
    ) -> impl Iterator<Item = String> + 'r {
        let longest = self.longest(unit);
        ranges.iter().filter(move |range| range.start >= longest).map(move |range| {
            let first = range.start;
            let name = unit.name();
            format!("{flag} {first}: there is no such {name}; the longest transcript has {longest}, numbered from 0")
        })
    }
}

/// What a number counts.
#[derive(Debug, Clone, Copy)]
pub(super) enum Unit {
    Message,
    Turn,
}

impl Unit {
    const fn name(self) -> &'static str {
        match self {
            Self::Message => "message",
            Self::Turn => "turn",
        }
    }
}

impl Processor for DropMessages {
    fn name(&self) -> &'static str {
        "filter"
    }

    fn traits(&self) -> Traits {
        Traits { may_empty: true, decides_once: true, ..Traits::default() }
    }

    fn remarks(&self) -> Vec<String> {
        let messages = self.seen.remarks("--drop", Unit::Message, &self.messages);
        messages.chain(self.seen.remarks("--drop-turn", Unit::Turn, &self.turns)).collect()
    }

    fn decide(&self, view: &View<'_, '_>) -> Result<Plan, ProcessorError> {
        let pairs = Pairs::from_messages(view.messages);
        let mut drops = DropSet::none(view, &pairs).pinning(self.pins);
        let count = view.messages.len();
        let turns = turns(view.messages);
        self.seen.add(count, turns.len());
        for at in self.messages.iter().flat_map(|range| range.start.min(count)..range.end.min(count)) {
            drops.drop_message(at, Reason::Borrowed("named by --drop"));
        }
        for (nth, turn) in turns.into_iter().enumerate() {
            if !self.turns.iter().any(|range| range.contains(&nth)) {
                continue;
            }
            for at in turn {
                let message = &view.messages[at];
                if message.instructs() {
                    drops.spare(at, why_preserved(message));
                } else {
                    drops.drop_but_instructions(at, &Reason::Borrowed("in a turn named by --drop-turn"));
                }
            }
        }
        Ok(drops.into_plan())
    }
}
