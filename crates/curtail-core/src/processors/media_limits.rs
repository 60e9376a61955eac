//! Removes images, audio and files that are old or large, and writes a text in their place that describes them.

use foldhash::HashMap;

use super::{Change, Plan, Processor, ProcessorError, Reason, Traits, View};
use crate::dialects::media::{Medium, MediumFacts, media};
use crate::transcript::Substitution;

/// Removes media by age and by size. What is at another address has no size that is known.
#[derive(Debug, Clone, Default)]
pub struct MediaLimits {
    /// The number of newest media of each conversation to keep, without those of turns that were rolled back; `None` keeps all.
    pub keep_last: Option<usize>,
    /// The most bytes of one medium.
    pub max_bytes: Option<u64>,
    /// The most pixels of the longest side of an image.
    pub max_pixels: Option<usize>,
}

impl Processor for MediaLimits {
    fn name(&self) -> &'static str {
        "filter"
    }

    fn traits(&self) -> Traits {
        // What describes a medium is a text like any other once it is read.
        Traits { writes: true, ..Traits::default() }
    }

    fn decide(&self, view: &View<'_, '_>) -> Result<Plan, ProcessorError> {
        let mut plan = Plan::keep(view.messages.len());
        let most = self.keep_last.unwrap_or(usize::MAX);
        let mut left: HashMap<u32, usize> = HashMap::default();
        for (at, message) in view.messages.iter().enumerate().rev() {
            let mut over = self.keep_last.map_or(usize::MAX, |_| 0);
            let is_over = message.standing.is_rolled_back();
            let kept = if is_over { &mut over } else { left.entry(message.thread).or_insert(most) };
            for (nth, part) in message.parts.iter().enumerate().rev() {
                let found = media(part);
                let mut gone: Vec<Substitution> =
                    found.iter().rev().filter_map(|medium| self.removes(medium, kept)).collect();
                gone.reverse();
                if !gone.is_empty() {
                    let reason = gone.iter().map(|one| one.text.as_str()).collect::<Vec<_>>().join(" ");
                    plan.change(at, [Change::Substitute(nth, gone)], Reason::Owned(reason));
                }
            }
        }
        Ok(plan)
    }
}

impl MediaLimits {
    /// The text in place of `medium`, if it is removed; `kept` counts down the newest ones.
    fn removes(&self, medium: &Medium<'_>, kept: &mut usize) -> Option<Substitution> {
        let facts = medium.facts();
        let is_removed = *kept == 0 || self.is_too_large(&facts);
        if !is_removed {
            *kept -= 1;
        }
        is_removed.then(|| medium.described(&facts.to_string()))
    }

    fn is_too_large(&self, facts: &MediumFacts) -> bool {
        let side = facts.pixels.and_then(|sides| sides.into_iter().max());
        self.max_bytes.zip(facts.bytes).is_some_and(|(most, bytes)| bytes > most)
            || self.max_pixels.zip(side).is_some_and(|(most, side)| side > most)
    }
}
