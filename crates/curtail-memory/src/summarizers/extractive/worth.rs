//! The worth of each unit, from the weights of its terms, its cues, its speaker and its place.
//!
//! The constants were fitted on a hundred service dialogues, to maximize ROUGE against the descriptions of their tasks, and
//! then rounded. Halving or doubling any of them costs less than one point of ROUGE-1. The constants for long messages and for
//! calls were set by reading summaries of coding transcripts.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use foldhash::HashSet;
use unicode_segmentation::UnicodeSegmentation;

use super::calls::{CallEffect, effect, effect_of_command};
use super::cues::{Cues, is_error_line, is_listing};
use super::lexicon::{Terms, is_unspaced};
use super::units::SummaryUnit;
use super::{Budget, Excerpt, Speaker, render};

/// The weight of a term is the number of its mentions to this power: twice as many mentions are not twice the weight.
const MENTION_EXPONENT: f64 = 0.7;

/// The factor for a unit that only thanks, greets or introduces.
const FILLER_FACTOR: f64 = 0.5;

/// The factor for the bonus of a unit with fewer than two terms, such as “could you do that?”.
const VAGUE_FACTOR: f64 = 0.3;

/// The factor for a call that only reads.
const READ_ONLY_FACTOR: f64 = 0.5;

/// The factor for the result of a call that only reads: it can be looked up again.
const SHOWN_FACTOR: f64 = 0.3;

/// The length of a long message, in bytes: the scale at which places in a message lose weight.
const LONG_MESSAGE: f64 = 2000.0;

/// The cost of a unit besides its text, in tokens: its label, its gap, the reader's attention.
const UNIT_OVERHEAD: f64 = 4.0;

/// The worth of each unit, and the weight of each term.
pub(super) fn weigh(excerpts: &[Excerpt<'_>], units: &[SummaryUnit], mut terms: Terms) -> (Vec<Candidate>, Vec<f64>) {
    let mut mentions = Mentions::default();
    let places = Places::from_units(excerpts, units);
    let mut candidates: Vec<Candidate> = Vec::with_capacity(units.len());
    let mut seen = HashSet::default();
    let mut words = Vec::new();
    for (index, unit) in units.iter().enumerate() {
        let source = &excerpts[unit.utterance];
        let text = &source.text[unit.range.clone()];
        words.clear();
        words.extend(text.unicode_word_indices());
        let cues = cues(source, unit, &words, seen.insert(text));
        let found = terms.terms_in(text, &words);
        let is_filler = cues.courtesy && !cues.goal || cues.lead_in && source.prose;
        let relevance = if is_filler { FILLER_FACTOR } else { 1.0 }
            * effect_factor(source.speaker, text)
            * if source.shown { SHOWN_FACTOR } else { 1.0 };
        let clarity = if found.len() < 2 { VAGUE_FACTOR } else { 1.0 };
        let shows_code = unit.fenced || is_listing(text);
        let from_cues = cue_bonus(source.speaker, &cues, shows_code);
        let from_place = places.bonus(source, unit, fraction(index, units.len()));
        candidates.push(Candidate {
            terms: mentions.count(
                &found,
                speaker_weight(source.speaker, cues.error, shows_code) * relevance * position_weight(source, unit),
            ),
            bonus: (from_cues + from_place) * relevance * clarity + change_bonus(source.speaker, text) * clarity,
            cost: cost(text),
        });
    }
    let weights = mentions.weights();
    scale_bonuses(&mut candidates, &weights);
    (candidates, weights)
}

/// The cues of a unit. An exact repetition has none. Code in the output of a tool reports no errors, because it may only handle
/// them. Of the result of a call that only reads, only the first line may report an error.
fn cues(source: &Excerpt<'_>, unit: &SummaryUnit, words: &[(usize, &str)], fresh: bool) -> Cues {
    let text = &source.text[unit.range.clone()];
    if !fresh || source.shown && unit.range.start > 0 {
        return Cues::default();
    }
    let cues = Cues::find_in(text, words);
    match source.speaker {
        Speaker::Tool(_) if source.shown => Cues { error: begins_with_error(text), ..Cues::default() },
        Speaker::Tool(_) => Cues { error: is_error_line(text) && !is_listing(text), ..cues },
        _ => cues,
    }
}

/// Whether the first line of a result reports an error.
pub(super) fn begins_with_error(text: &str) -> bool {
    let first = text.trim_start().lines().next().unwrap_or_default();
    let start = first.get(..5).unwrap_or_default();
    first.starts_with("<tool_use_error>") || start.eq_ignore_ascii_case("error") && is_error_line(first)
}

/// Whether a call changes something, as far as its line shows.
pub(super) fn changes(speaker: &Speaker, line: &str) -> bool {
    effect_of_call(speaker, line) == Some(CallEffect::Change)
}

/// Whether the first line of a result may report an error, judged by its first character. This is asked before control
/// characters are removed from the text, so a control character may precede an error.
pub(super) fn may_begin_with_error(text: &str) -> bool {
    let trimmed = text.trim_start();
    let is_indented = text.len() - trimmed.len() > 1000;
    is_indented || trimmed.chars().next().is_some_and(|first| first.is_control() || matches!(first, '<' | 'e' | 'E'))
}

/// The weighted number of mentions of each term, by the term's number.
#[derive(Default)]
struct Mentions(Vec<f64>);

impl Mentions {
    /// Counts the terms of one unit, a mention as `weight`. Returns each term once, with the sum of its mentions.
    fn count(&mut self, terms: &[usize], weight: f64) -> Vec<(usize, f64)> {
        let mut counted: Vec<(usize, f64)> = Vec::with_capacity(terms.len());
        for &term in terms {
            if term >= self.0.len() {
                self.0.resize(term + 1, 0.0);
            }
            self.0[term] += weight;
            counted.push((term, weight));
        }
        counted.sort_unstable_by_key(|&(number, _)| number);
        counted.dedup_by(|later, earlier| {
            let same = later.0 == earlier.0;
            earlier.1 += if same { later.1 } else { 0.0 };
            same
        });
        counted
    }

    /// The weight of each term.
    fn weights(&self) -> Vec<f64> {
        let weight = |mentions: &f64| mentions.powf(MENTION_EXPONENT);
        self.0.iter().map(weight).collect()
    }
}

/// The weight of a speaker's mentions. Tools write the most text and contribute the least to the topic.
fn speaker_weight(speaker: &Speaker, error: bool, fenced: bool) -> f64 {
    let weight = match speaker {
        Speaker::User => 1.0,
        Speaker::Assistant => 0.8,
        Speaker::System | Speaker::Facts => 0.5,
        Speaker::Call(_) => 0.3,
        Speaker::Tool(_) if error => 0.3,
        Speaker::Tool(_) => 0.15,
    };
    if fenced { weight * 0.4 } else { weight }
}

/// The weight of a unit's place in its message: a long message states its topic at the beginning; rules, forms and examples
/// follow.
fn position_weight(source: &Excerpt<'_>, unit: &SummaryUnit) -> f64 {
    if source.prose { 0.3 + 0.7 * (-as_float(unit.range.start) / LONG_MESSAGE).exp() } else { 1.0 }
}

/// The worth of a unit's cues, as a multiple of an average unit's worth.
fn cue_bonus(speaker: &Speaker, cues: &Cues, fenced: bool) -> f64 {
    let goal = if *speaker == Speaker::User { 0.5 } else { 0.3 };
    let shown: f64 =
        [(cues.goal, goal), (cues.decision, 0.5), (cues.change, 0.2), (cues.error, 0.3), (cues.question, 0.1)]
            .iter()
            .filter(|(shown, _)| *shown)
            .map(|(_, worth)| worth)
            .sum();
    let exact = 0.06 * damped(cues.identifiers) + 0.03 * damped(cues.numbers) + 0.03 * damped(cues.names);
    match speaker {
        Speaker::Tool(_) if cues.error => shown + 3.0 * exact + 0.3,
        Speaker::Tool(_) if fenced => 0.0,
        Speaker::Tool(_) => (shown + exact) * 0.25,
        _ if fenced => (shown + exact) * 0.5,
        _ => shown + exact,
    }
}

/// A count, bounded by three.
fn damped(count: usize) -> f64 {
    [0.0, 1.0, 2.0, 3.0][count.min(3)]
}

/// The worth of a call for its effect: most if it changed something.
fn change_bonus(speaker: &Speaker, text: &str) -> f64 {
    match effect_of_call(speaker, text) {
        Some(CallEffect::Change) => 0.6,
        Some(CallEffect::Unknown) => 0.1,
        Some(CallEffect::None) | None => 0.0,
    }
}

/// The factor for the effect of a call: a call that only reads matters less than its result.
fn effect_factor(speaker: &Speaker, text: &str) -> f64 {
    if effect_of_call(speaker, text) == Some(CallEffect::None) { READ_ONLY_FACTOR } else { 1.0 }
}

/// The effect of a call; `None` for any other unit.
fn effect_of_call(speaker: &Speaker, text: &str) -> Option<CallEffect> {
    let Speaker::Call(name) = speaker else { return None };
    let command = ["command: ", "cmd: "].iter().find_map(|key| text.split_once(key));
    Some(command.map_or_else(|| effect(name), |(_, command)| effect_of_command(command)))
}

/// The places of the transcript that state the task and its latest state.
struct Places {
    /// The user's messages before the first answer: there may be several, as when an example precedes the task.
    goal: Vec<usize>,
    /// The last message of the user, and the last one of the assistant.
    state: [Option<usize>; 2],
}

impl Places {
    fn from_units(excerpts: &[Excerpt<'_>], units: &[SummaryUnit]) -> Self {
        let is_by = |unit: &SummaryUnit, speaker: &Speaker| excerpts[unit.utterance].speaker == speaker;
        let is_users = |unit: &SummaryUnit| is_by(unit, &Speaker::User);
        let first = units.iter().position(is_users).unwrap_or(0);
        let answer = units[first..].iter().position(|unit| !is_users(unit)).map_or(units.len(), |next| first + next);
        let last = |speaker: Speaker| units.iter().rfind(|unit| is_by(unit, &speaker)).map(|unit| unit.utterance);
        Self {
            goal: units[..answer].iter().filter(|unit| is_users(unit)).map(|unit| unit.utterance).collect(),
            state: [Speaker::User, Speaker::Assistant].map(last),
        }
    }

    /// The worth of a unit's place, as a multiple of an average unit's worth. The beginning of a transcript states its topic,
    /// and the beginning of a message its point; the user's first message states the task, the last messages its outcome.
    /// `before` is the fraction of units before this one.
    fn bonus(&self, source: &Excerpt<'_>, unit: &SummaryUnit, before: f64) -> f64 {
        let proximity = |bytes: f64| (-as_float(unit.range.start) / bytes).exp();
        if !source.prose {
            return 0.0;
        }
        let mut bonus = 0.6 * (1.0 - before).powi(3) * proximity(LONG_MESSAGE) + 0.2 * proximity(200.0);
        if self.goal.contains(&unit.utterance) {
            bonus += 1.5 * proximity(500.0);
        }
        if self.state.contains(&Some(unit.utterance)) {
            bonus += 0.4 * proximity(1000.0);
        }
        bonus
    }
}

fn fraction(part: usize, whole: usize) -> f64 {
    as_float(part) / as_float(whole.max(1))
}

#[expect(clippy::cast_precision_loss, reason = "bytes and units are far fewer than 2^52")]
fn as_float(count: usize) -> f64 {
    count as f64
}

/// The approximate number of tokens of a text: four characters per token, or one in scripts without spaces.
fn cost(text: &str) -> f64 {
    if text.is_ascii() {
        return UNIT_OVERHEAD + 0.25 * as_float(text.len());
    }
    let tokens = |c| if is_unspaced(c) { 1.0 } else { 0.25 };
    UNIT_OVERHEAD + text.chars().map(tokens).sum::<f64>()
}

/// Multiplies the bonuses with the average worth of a unit's terms in this transcript.
fn scale_bonuses(candidates: &mut [Candidate], weights: &[f64]) {
    let worth = |candidate: &Candidate| -> f64 {
        let coverage = |&(term, amount): &(usize, f64)| weights[term] * amount.sqrt();
        candidate.terms.iter().map(coverage).sum()
    };
    let whole: f64 = candidates.iter().map(worth).sum();
    if whole > 0.0 {
        let average = whole / as_float(candidates.len());
        for candidate in candidates {
            candidate.bonus *= average;
        }
    }
}

// Chooses the units that together cover most of the conversation's topics at the lowest cost. The choice depends on weights
// and costs only; the draft, below it, writes the text.

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
        render(self.excerpts, self.units, &chosen)
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
