//! The worth of each unit, from the weights of its terms, its cues, its speaker and its place.
//!
//! The constants were fitted on a hundred service dialogues, to maximize ROUGE against the descriptions of their tasks, and
//! then rounded. Halving or doubling any of them costs less than one point of ROUGE-1. The constants for long messages and for
//! calls were set by reading summaries of coding transcripts.

use foldhash::HashSet;
use unicode_segmentation::UnicodeSegmentation;

use super::calls::{CallEffect, effect, effect_of_command};
use super::choice::Candidate;
use super::cues::{Cues, is_error_line, is_listing};
use super::terms::{Terms, is_unspaced};
use super::units::SummaryUnit;
use super::{Excerpt, Speaker};

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
