//! Chooses the units that together cover most of the conversation's topics at the lowest cost. The choice depends on weights
//! and costs only; the draft, below it, writes the text.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::units::SummaryUnit;
use super::{Budget, Excerpt};
use crate::summarizers::extractive;

/// The worth of a unit, and its approximate cost.
#[derive(Clone, Debug, Default)]
pub(super) struct Candidate {
    /// Terms by number, each once, with the weight of the unit's mentions.
    pub(super) terms: Vec<(usize, f64)>,
    /// The worth that does not depend on the other units.
    pub(super) bonus: f64,
    /// An estimate of its tokens, at least 1.
    pub(super) cost: f64,
}

/// The exponent of a unit's cost: with 0, the units with the highest worth are preferred at any cost; with 1, those with the
/// most worth per token.
const COST_EXPONENT: f64 = 0.6;

/// How fast further mentions of a term lose worth: with this exponent e, the n-th mention is worth n^e − (n − 1)^e.
const COVERAGE_EXPONENT: f64 = 0.5;

/// Offers units to `take` in the order of what each adds to those taken before, until `take` returns [`Offered::Full`].
///
/// The sum of concave functions of each term's mentions is submodular: what a unit adds only decreases as others are taken.
/// If a unit is still first after its worth was computed again, it is the best one, so few are computed twice (Minoux's
/// lazy greedy; Lin and Bilmes 2011 for its use in summaries, <https://aclanthology.org/P11-1052/>).
pub(super) fn choose(candidates: &[Candidate], weights: &[f64], mut take: impl FnMut(usize) -> Offered) {
    let mut mentions = vec![0.0; weights.len()];
    // A unit's worth as of a round, which is the number of units that had been taken; of units with equal worth, the earlier one
    // comes first. No worth is negative, and the bits of such numbers are ordered as the numbers are.
    let weigh = |unit: usize, round: usize, mentions: &[f64]| {
        (worth(&candidates[unit], weights, mentions).to_bits(), Reverse(unit), round)
    };
    let mut queue: BinaryHeap<_> = (0..candidates.len()).map(|unit| weigh(unit, 0, &mentions)).collect();
    let mut round = 0;
    while let Some((_, Reverse(unit), weighed)) = queue.pop() {
        if weighed != round {
            queue.push(weigh(unit, round, &mentions));
            continue;
        }
        match take(unit) {
            Offered::Yes => {
                round += 1;
                for &(term, amount) in &candidates[unit].terms {
                    mentions[term] += amount;
                }
            }
            Offered::No => {}
            Offered::Full => return,
        }
    }
}

/// What happened to an offered unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Offered {
    /// It was taken.
    Yes,
    /// It does not fit; a shorter one may.
    No,
    /// No further unit fits.
    Full,
}

/// The worth that a unit adds to those taken before, in relation to its cost.
fn worth(candidate: &Candidate, weights: &[f64], mentions: &[f64]) -> f64 {
    let coverage: f64 = candidate
        .terms
        .iter()
        .map(|&(term, amount)| {
            let before: f64 = mentions[term];
            let known = if before > 0.0 { before.powf(COVERAGE_EXPONENT) } else { 0.0 };
            weights[term] * ((before + amount).powf(COVERAGE_EXPONENT) - known)
        })
        .sum();
    (coverage + candidate.bonus) / candidate.cost.powf(COST_EXPONENT)
}

// The summary while it is built: the units taken, their cost, and whether more units fit. It knows the budget, not the order in
// which units are offered.

/// After this many offers in a row that do not fit, the draft is full: counting the tokens of each offer takes time.
const MAX_MISSES: usize = 48;

/// The tokens that one utterance may take in the first round: 30 % of the budget. The description of a task is often longer
/// than everything after it, and would fill the summary.
fn first_share(tokens: usize) -> usize {
    tokens * 3 / 10
}

/// The units taken, and the budget that they share.
pub(super) struct Draft<'d> {
    excerpts: &'d [Excerpt<'d>],
    units: &'d [SummaryUnit],
    budget: &'d Budget<'d>,
    /// The units taken, in the order in which they were taken.
    chosen: Vec<usize>,
    /// The tokens that each utterance takes; 0 if none of its units was taken.
    taken: Vec<usize>,
    /// The tokens that an utterance may take in this round.
    share: usize,
    /// Tokens so far: the sum of the parts, or the count of the whole draft if that was needed.
    spent: usize,
    /// Whether `spent` is the count of the whole draft.
    exact: bool,
    /// The number of offers in a row that did not fit.
    misses: usize,
    /// The tokens of each utterance's label, once counted.
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
            share: first_share(budget.tokens),
            spent: 0,
            exact: true,
            misses: 0,
            labels: vec![None; excerpts.len()],
        }
    }

    /// Begins the second round, in which every utterance may take the rest of the budget.
    pub(super) fn begin_second_round(&mut self) {
        self.share = usize::MAX;
        self.misses = 0;
    }

    /// Takes `unit` if it fits and its utterance has not used up its share. Units that were taken before are kept.
    pub(super) fn offer(&mut self, unit: usize) -> Offered {
        let utterance = self.units[unit].utterance;
        if self.chosen.contains(&unit) {
            return Offered::Yes;
        }
        if self.taken[utterance] >= self.share {
            return Offered::No;
        }
        let cost = self.cost(unit);
        if self.spent + cost > self.budget.tokens && !self.exact {
            self.spent = (self.budget.count)(&self.text());
            self.exact = true;
        }
        if self.spent + cost > self.budget.tokens {
            self.misses += 1;
            return if self.misses >= MAX_MISSES { Offered::Full } else { Offered::No };
        }
        self.misses = 0;
        self.spent += cost;
        self.exact = false;
        self.taken[utterance] += cost;
        self.chosen.push(unit);
        Offered::Yes
    }

    /// The tokens of `unit`, with its separator, and with the label if it is the first of its utterance.
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
        extractive::render(self.excerpts, self.units, &chosen)
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

#[cfg(test)]
mod tests {
    use super::{Candidate, Offered, choose};

    fn order(candidates: &[Candidate], weights: &[f64]) -> Vec<usize> {
        let mut order = Vec::new();
        choose(candidates, weights, |unit| {
            order.push(unit);
            Offered::Yes
        });
        order
    }

    fn candidate(terms: &[usize], bonus: f64, cost: f64) -> Candidate {
        Candidate { terms: terms.iter().map(|&term| (term, 1.0)).collect(), bonus, cost }
    }

    #[test]
    fn repetitions_are_offered_last() {
        let candidates = [candidate(&[0, 1], 0.0, 1.0), candidate(&[0, 1], 0.0, 1.0), candidate(&[2], 0.0, 1.0)];
        assert_eq!(order(&candidates, &[1.0, 1.0, 1.5]), [0, 2, 1]);
    }

    #[test]
    fn of_equal_units_the_cheaper_and_then_the_earlier_is_first() {
        let candidates = [
            candidate(&[0], 0.0, 2.0),
            candidate(&[1], 0.0, 1.0),
            candidate(&[2], 0.0, 1.0),
            candidate(&[3], 5.0, 1.0),
        ];
        assert_eq!(order(&candidates, &[1.0; 4]), [3, 1, 2, 0]);
    }

    #[test]
    #[expect(clippy::cast_precision_loss, reason = "the numbers are below 100")]
    fn lazy_order_is_the_greedy_order() {
        let candidates: Vec<Candidate> =
            (0..60_usize).map(|n| candidate(&[n % 7, 7 + n % 5, 12 + n % 11], 0.0, 1.0 + (n % 4) as f64)).collect();
        let weights: Vec<f64> = (0..23_usize).map(|n| 1.0 + (n * n % 13) as f64).collect();
        let mut mentions = vec![0.0; 23];
        let mut left: Vec<usize> = (0..candidates.len()).collect();
        let mut greedy = Vec::new();
        while !left.is_empty() {
            let best = left
                .iter()
                .copied()
                .max_by(|&a, &b| {
                    super::worth(&candidates[a], &weights, &mentions)
                        .total_cmp(&super::worth(&candidates[b], &weights, &mentions))
                        .then(b.cmp(&a))
                })
                .unwrap_or_default();
            for &(term, amount) in &candidates[best].terms {
                mentions[term] += amount;
            }
            left.retain(|&unit| unit != best);
            greedy.push(best);
        }
        assert_eq!(order(&candidates, &weights), greedy);
    }
}
