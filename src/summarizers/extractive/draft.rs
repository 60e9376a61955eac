//! A summary in the making: what is in, what it costs, and whether more fits.
//! Knows the budget; what to offer, and when, is for the choice.

use super::choice::Taken;
use super::units::SummaryUnit;
use super::{Budget, Excerpt, render};

/// How many offers in a row may not fit before the draft counts as full. Each is counted in tokens, which takes time.
const MISSES: usize = 48;

/// The part of the budget that one utterance may take before the others had their turn: 3 in 10. A task's description
/// often is longer than all that follows, and would fill the summary of the run that it began.
fn share(tokens: usize) -> usize {
    tokens * 3 / 10
}

/// The units that are in, and the budget that they share.
pub(super) struct Draft<'d> {
    excerpts: &'d [Excerpt<'d>],
    units: &'d [SummaryUnit],
    budget: &'d Budget<'d>,
    /// In the order in which they were taken.
    chosen: Vec<usize>,
    /// What each utterance takes of the budget; nothing where none of its units is in.
    taken: Vec<usize>,
    /// What an utterance may take before the others had their turn.
    share: usize,
    /// Tokens so far: the sum of the parts, or the count of the whole where that was needed.
    spent: usize,
    exact: bool,
    misses: usize,
}

impl<'d> Draft<'d> {
    /// An empty draft.
    pub(super) fn new(excerpts: &'d [Excerpt<'d>], units: &'d [SummaryUnit], budget: &'d Budget<'d>) -> Self {
        Self {
            excerpts,
            units,
            budget,
            chosen: Vec::new(),
            taken: vec![0; excerpts.len()],
            share: share(budget.tokens),
            spent: 0,
            exact: true,
            misses: 0,
        }
    }

    /// Lets every utterance take what is left.
    pub(super) fn open(&mut self) {
        self.share = usize::MAX;
        self.misses = 0;
    }

    /// Takes `unit` if it fits and its utterance has not had its share; what is in already stays in.
    pub(super) fn offer(&mut self, unit: usize) -> Taken {
        let utterance = self.units[unit].utterance;
        if self.chosen.contains(&unit) {
            return Taken::Yes;
        }
        if self.taken[utterance] >= self.share {
            return Taken::No;
        }
        let cost = self.cost(unit);
        if self.spent + cost > self.budget.tokens && !self.exact {
            self.spent = (self.budget.count)(&self.text());
            self.exact = true;
        }
        if self.spent + cost > self.budget.tokens {
            self.misses += 1;
            return if self.misses >= MISSES { Taken::Full } else { Taken::No };
        }
        self.misses = 0;
        self.spent += cost;
        self.exact = false;
        self.taken[utterance] += cost;
        self.chosen.push(unit);
        Taken::Yes
    }

    /// The text of `unit`, with its label if it is the first of its utterance, and what joins it to the rest.
    fn cost(&self, unit: usize) -> usize {
        let unit = &self.units[unit];
        let source = &self.excerpts[unit.utterance];
        let label = if self.taken[unit.utterance] > 0 { 1 } else { (self.budget.count)(&source.speaker.label()) + 2 };
        label + (self.budget.count)(&source.text[unit.range.clone()])
    }

    /// The draft as text.
    fn text(&self) -> String {
        let mut chosen = self.chosen.clone();
        chosen.sort_unstable();
        render::text(self.excerpts, self.units, &chosen)
    }

    /// The draft as text within the budget. Parts may count for less than the whole, so what was taken last may have to go.
    pub(super) fn finish(mut self) -> String {
        let mut text = self.text();
        while !self.budget.holds(&text) && self.chosen.pop().is_some() {
            text = self.text();
        }
        text
    }
}
