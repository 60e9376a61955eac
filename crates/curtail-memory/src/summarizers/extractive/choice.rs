//! Chooses the units that together cover most of the conversation's topics at the lowest cost. It knows weights and costs,
//! no text.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

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

/// Offers units to `take` in the order of what each adds to those taken before, until `take` returns [`Taken::Full`].
///
/// The sum of concave functions of each term's mentions is submodular: what a unit adds only decreases as others are taken.
/// If a unit is still first after its worth was computed again, it is the best one, so few are computed twice (Minoux's
/// lazy greedy; Lin and Bilmes 2011 for its use in summaries, <https://aclanthology.org/P11-1052/>).
pub(super) fn choose(candidates: &[Candidate], weights: &[f64], mut take: impl FnMut(usize) -> Taken) {
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
            Taken::Yes => {
                round += 1;
                for &(term, amount) in &candidates[first.unit].terms {
                    mentions[term] += amount;
                }
            }
            Taken::No => {}
            Taken::Full => return,
        }
    }
}

/// The outcome for an offered unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Taken {
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

#[cfg(test)]
mod tests {
    use super::{Candidate, Taken, choose};

    fn order(candidates: &[Candidate], weights: &[f64]) -> Vec<usize> {
        let mut order = Vec::new();
        choose(candidates, weights, |unit| {
            order.push(unit);
            Taken::Yes
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
