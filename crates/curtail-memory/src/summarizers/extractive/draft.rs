//! The summary while it is built: the units taken, their cost, and whether more fits. It knows the budget, not the order in
//! which units are offered.

use super::choice::Taken;
use super::units::SummaryUnit;
use super::{Budget, Excerpt, render};

/// The number of consecutive offers that may not fit before the draft is full. Counting the tokens of each offer takes
/// time.
const MISSES: usize = 48;

/// The share of the budget that one utterance may take in the first round: 3 in 10. The description of a task is often
/// longer than everything after it, and would fill the summary.
fn share(tokens: usize) -> usize {
    tokens * 3 / 10
}

/// The units taken, and the budget that they share.
pub(super) struct Draft<'d> {
    excerpts: &'d [Excerpt<'d>],
    units: &'d [SummaryUnit],
    budget: &'d Budget<'d>,
    /// In the order in which they were taken.
    chosen: Vec<usize>,
    /// The share of the budget that each utterance takes; 0 if none of its units was taken.
    taken: Vec<usize>,
    /// The share that an utterance may take in the first round.
    share: usize,
    /// Tokens so far: the sum of the parts, or the count of the whole draft if that was needed.
    spent: usize,
    exact: bool,
    misses: usize,
    /// The tokens of the labels that were counted.
    labels: Vec<Option<usize>>,
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
            labels: vec![None; excerpts.len()],
        }
    }

    /// Ends the first round: every utterance may take the rest of the budget.
    pub(super) fn open(&mut self) {
        self.share = usize::MAX;
        self.misses = 0;
    }

    /// Takes `unit` if it fits and its utterance has not used up its share. Units that were taken before are kept.
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

    /// The text of `unit`, with its label if it is the first of its utterance, and with its separator.
    fn cost(&mut self, unit: usize) -> usize {
        let unit = &self.units[unit];
        let source = &self.excerpts[unit.utterance];
        let label = if self.taken[unit.utterance] > 0 {
            1
        } else {
            let counted = || (self.budget.count)(&source.speaker.label()) + 2;
            *self.labels[unit.utterance].get_or_insert_with(counted)
        };
        label + (self.budget.count)(&source.text[unit.range.clone()])
    }

    /// The draft as text.
    fn text(&self) -> String {
        let mut chosen = self.chosen.clone();
        chosen.sort_unstable();
        render::text(self.excerpts, self.units, &chosen)
    }

    /// The draft as text within the budget. The parts may have fewer tokens than the whole, so the units taken last may be
    /// dropped.
    pub(super) fn finish(mut self) -> String {
        let mut text = self.text();
        while !self.budget.holds(&text) && self.chosen.pop().is_some() {
            text = self.text();
        }
        text
    }
}
