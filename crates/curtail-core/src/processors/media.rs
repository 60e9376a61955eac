//! Removes images, audio and files that are old or large, and writes a text in their place that describes them.

use super::{Change, Decision, Plan, Processor, ProcessorError, Reason, View};
use crate::transcript::Substitution;
use crate::transcript::media::{Medium, MediumFacts, media};

/// Removes media by age and by size. What is at another address has no size that is known.
#[derive(Debug, Clone, Default)]
pub struct MediaLimits {
    /// The number of newest media to keep; `None` keeps all.
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

    fn decide(&self, view: &View<'_, '_>) -> Result<Plan, ProcessorError> {
        let mut plan = Plan::keep(view.messages.len());
        let (mut kept, mut removed) = (self.keep_last.unwrap_or(usize::MAX), Vec::new());
        for (at, message) in view.messages.iter().enumerate().rev() {
            for (nth, part) in message.parts.iter().enumerate().rev() {
                let found = media(part);
                let gone: Vec<Substitution> =
                    found.iter().rev().filter_map(|medium| self.removes(medium, &mut kept)).collect();
                if !gone.is_empty() {
                    removed.push((at, nth, gone));
                }
            }
        }
        for (at, nth, mut gone) in removed {
            gone.reverse();
            let reason = Reason::Owned(gone.iter().map(|one| one.text.as_str()).collect::<Vec<_>>().join(" "));
            let change = Change::Substitute(nth, gone);
            match &mut plan.decisions[at] {
                Decision::Change(changes, _) => changes.push(change),
                decision => *decision = Decision::Change(vec![change], reason),
            }
        }
        Ok(plan)
    }
}

impl MediaLimits {
    /// The text in place of `medium`, if it is removed; `kept` counts down the newest ones.
    fn removes(&self, medium: &Medium<'_>, kept: &mut usize) -> Option<Substitution> {
        let facts = medium.facts();
        let described = medium.described(&facts.to_string());
        // What is only named, such as a file of the provider, may be shorter than the text.
        let is_shorter = described.json.len() < described.span.len();
        let is_removed = is_shorter && (*kept == 0 || self.is_too_large(&facts));
        if !is_removed {
            *kept = kept.saturating_sub(1);
        }
        is_removed.then_some(described)
    }

    fn is_too_large(&self, facts: &MediumFacts) -> bool {
        let above =
            |most: Option<u64>, amount: Option<u64>| most.zip(amount).is_some_and(|(most, amount)| amount > most);
        let side = facts.pixels.and_then(|sides| sides.into_iter().max());
        above(self.max_bytes, facts.bytes)
            || above(self.max_pixels.map(|most| most as u64), side.map(|side| side as u64))
    }
}
