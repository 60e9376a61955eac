//! Chooses the units that together cover most of the conversation's topics at the lowest cost. It knows weights and costs,
//! no text.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use super::units::SummaryUnit;
use super::{Budget, Excerpt};
use crate::summarizers::extractive;

/// The worth of a unit, and its approximate cost.
#[derive(Clone, Debug, Default)]
pub(super) struct Candidate {
    /// Terms by number, each once, with the weight of the unit's mentions.
    pub(super) terms: Vec<(usize, f64)>,
    /// Its own worth, independent of the other units.
    pub(super) bonus: f64,
    /// An estimate of its tokens, at least 1.
    pub(super) cost: f64,
}

/// The influence of length: 0 prefers the units with the highest worth at any cost, 1 those with the most worth per token.
const THRIFT: f64 = 0.6;

/// How fast the worth of further mentions of a term falls: the n-th mention is worth n^CURVE − (n − 1)^CURVE.
const CURVE: f64 = 0.5;

/// A unit in the queue, ordered by its worth when it was last computed.
struct InLine {
    worth: f64,
    unit: usize,
    round: usize,
}

impl PartialEq for InLine {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for InLine {}

impl PartialOrd for InLine {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for InLine {
    /// The earlier of two equal units comes first, so that the choice does not depend on the heap.
    fn cmp(&self, other: &Self) -> Ordering {
        self.worth.total_cmp(&other.worth).then_with(|| other.unit.cmp(&self.unit))
    }
}

/// Offers units to `take` in the order of what each adds to those taken before, until `take` returns [`Offered::Full`].
///
/// The sum of concave functions of each term's mentions is submodular: what a unit adds only decreases as others are taken.
/// If a unit is still first after its worth was computed again, it is the best one, so few are computed twice (Minoux's
/// lazy greedy; Lin and Bilmes 2011 for its use in summaries, <https://aclanthology.org/P11-1052/>).
pub(super) fn choose(candidates: &[Candidate], weights: &[f64], mut take: impl FnMut(usize) -> Offered) {
    let mut mentions = vec![0.0; weights.len()];
    let weigh = |unit: usize, round: usize, mentions: &[f64]| InLine {
        worth: worth(&candidates[unit], weights, mentions),
        unit,
        round,
    };
    let mut line: BinaryHeap<InLine> = (0..candidates.len()).map(|unit| weigh(unit, 0, &mentions)).collect();
    let mut round = 0;
    while let Some(first) = line.pop() {
        if first.round != round {
            line.push(weigh(first.unit, round, &mentions));
            continue;
        }
        match take(first.unit) {
            Offered::Yes => {
                round += 1;
                for &(term, amount) in &candidates[first.unit].terms {
                    mentions[term] += amount;
                }
            }
            Offered::No => {}
            Offered::Full => return,
        }
    }
}

/// The outcome for an offered unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Offered {
    /// It was taken.
    Yes,
    /// It does not fit; a shorter one may.
    No,
    /// No further unit fits.
    Full,
}

/// What a unit adds, in relation to its cost.
fn worth(candidate: &Candidate, weights: &[f64], mentions: &[f64]) -> f64 {
    let coverage: f64 = candidate
        .terms
        .iter()
        .map(|&(term, amount)| {
            let before: f64 = mentions[term];
            let known = if before > 0.0 { before.powf(CURVE) } else { 0.0 };
            weights[term] * ((before + amount).powf(CURVE) - known)
        })
        .sum();
    (coverage + candidate.bonus) / candidate.cost.powf(THRIFT)
}

// The summary while it is built: the units taken, their cost, and whether more fits. It knows the budget, not the order in
// which units are offered.

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
            return if self.misses >= MISSES { Offered::Full } else { Offered::No };
        }
        self.misses = 0;
        self.spent += cost;
        self.exact = false;
        self.taken[utterance] += cost;
        self.chosen.push(unit);
        Offered::Yes
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
        extractive::text(self.excerpts, self.units, &chosen)
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
    fn what_was_said_already_waits() {
        let said = [candidate(&[0, 1], 0.0, 1.0), candidate(&[0, 1], 0.0, 1.0), candidate(&[2], 0.0, 1.0)];
        assert_eq!(order(&said, &[1.0, 1.0, 1.5]), [0, 2, 1]);
    }

    #[test]
    fn of_equals_the_cheaper_and_then_the_earlier_goes_first() {
        let said = [
            candidate(&[0], 0.0, 2.0),
            candidate(&[1], 0.0, 1.0),
            candidate(&[2], 0.0, 1.0),
            candidate(&[3], 5.0, 1.0),
        ];
        assert_eq!(order(&said, &[1.0; 4]), [3, 1, 2, 0]);
    }

    #[test]
    #[expect(clippy::cast_precision_loss, reason = "the numbers are below 100")]
    fn lazy_order_is_the_greedy_order() {
        let said: Vec<Candidate> =
            (0..60_usize).map(|n| candidate(&[n % 7, 7 + n % 5, 12 + n % 11], 0.0, 1.0 + (n % 4) as f64)).collect();
        let weights: Vec<f64> = (0..23_usize).map(|n| 1.0 + (n * n % 13) as f64).collect();
        let mut mentions = vec![0.0; 23];
        let mut left: Vec<usize> = (0..said.len()).collect();
        let mut greedy = Vec::new();
        while !left.is_empty() {
            let best = left
                .iter()
                .copied()
                .max_by(|&a, &b| {
                    super::worth(&said[a], &weights, &mentions)
                        .total_cmp(&super::worth(&said[b], &weights, &mentions))
                        .then(b.cmp(&a))
                })
                .unwrap_or_default();
            for &(term, amount) in &said[best].terms {
                mentions[term] += amount;
            }
            left.retain(|&unit| unit != best);
            greedy.push(best);
        }
        assert_eq!(order(&said, &weights), greedy);
    }
}
