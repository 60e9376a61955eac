//! Drops messages by their numbers or by those of their turns, or all outside a range of numbers.

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
    fn add(&self, messages: usize, turns: usize) {
        self.0[0].fetch_max(messages, Ordering::Relaxed);
        self.0[1].fetch_max(turns, Ordering::Relaxed);
    }

    /// A sentence about each range of `flag` that contains no number of any transcript.
    fn remarks<'r>(
        &'r self,
        flag: &'r str,
        unit: Unit,
        ranges: &'r [Range<usize>],
    ) -> impl Iterator<Item = String> + 'r {
        let longest = self.0[unit as usize].load(Ordering::Relaxed);
        ranges.iter().filter(move |range| range.start >= longest).map(move |range| {
            let first = range.start;
            let name = ["message", "turn"][unit as usize];
            format!("{flag} {first}: there is no such {name}; the longest transcript has {longest}, numbered from 0")
        })
    }
}

/// What a number counts.
#[derive(Debug, Clone, Copy)]
enum Unit {
    Message,
    Turn,
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

/// Keeps the messages with the numbers `from` up to, not including, `to`, and all system and developer messages.
///
/// A number is an index into the messages that the processor sees. So a second run numbers the messages again, and cuts again
/// unless `from` is 0.
///
/// ```
/// use curtail_core::dialects::{Framing, Reading};
/// use curtail_core::pipeline::{Chain, TextCutter};
/// use curtail_core::processors::MessageRange;
///
/// let chat = concat!(
///     "{\"role\": \"user\", \"content\": \"Hello\"}\n",
///     "{\"role\": \"assistant\", \"content\": \"Hi\"}\n",
///     "{\"role\": \"user\", \"content\": \"When does it leave?\"}\n",
/// );
/// let chain = Chain::default().then(MessageRange { from: 2, ..MessageRange::default() });
/// let mut end = String::new();
/// TextCutter { chain, ..TextCutter::default() }.cut(&Reading::new(Framing::Lines, None, None)?, chat, &mut end)?;
/// assert_eq!(end, "{\"role\": \"user\", \"content\": \"When does it leave?\"}\n");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct MessageRange {
    /// The first number to keep.
    pub from: usize,
    /// The first number to drop again; `None` keeps everything after `from`.
    pub to: Option<usize>,
    /// Messages that are kept outside the range, besides those of the system.
    pub pins: Pins,
    /// The transcripts that it saw.
    pub seen: Seen,
}

impl Processor for MessageRange {
    fn name(&self) -> &'static str {
        "filter"
    }

    fn traits(&self) -> Traits {
        Traits { may_empty: true, decides_once: true, ..Traits::default() }
    }

    fn remarks(&self) -> Vec<String> {
        self.seen
            .remarks("--range", Unit::Message, std::slice::from_ref(&(self.from..usize::MAX)))
            .filter(|_| self.from > 0)
            .collect()
    }

    fn decide(&self, view: &View<'_, '_>) -> Result<Plan, ProcessorError> {
        self.seen.add(view.messages.len(), 0);
        let pairs = Pairs::from_messages(view.messages);
        let mut drops = DropSet::none(view, &pairs).pinning(self.pins);
        for (at, message) in view.messages.iter().enumerate() {
            let inside = at >= self.from && self.to.is_none_or(|to| at < to);
            match (inside, message.instructs()) {
                (true, _) => {}
                (false, true) => drops.spare(at, why_preserved(message)),
                (false, false) => drops.drop_but_instructions(at, &Reason::Borrowed("outside the range")),
            }
        }
        Ok(drops.into_plan())
    }
}
