//! The worth of each unit: the weights of its terms, its cues, its speaker and its place.
//!
//! Figures were fitted by ROUGE on a hundred service dialogues against their tasks, then rounded; each may be halved or
//! doubled for less than one point of ROUGE-1. The figures for long messages and calls were set by reading summaries of
//! coding transcripts.

use foldhash::HashSet;
use unicode_segmentation::UnicodeSegmentation;

use super::choice::Candidate;
use super::cues::{CallEffect, Cues, effect, effect_of_command, is_error_line, is_listing};
use super::terms::{Terms, is_unspaced};
use super::units::SummaryUnit;
use super::{Excerpt, Speaker};

/// The weight of a term is the number of its mentions to this power: twice as many mentions are not twice the weight.
const MENTIONS: f64 = 0.7;

/// The factor for a unit that only thanks, greets or introduces.
const COURTESY: f64 = 0.5;

/// The factor for the cues of a unit with hardly any terms: “could you do that?”
const VAGUE: f64 = 0.3;

/// The factor for a call that only reads.
const LOOKING: f64 = 0.5;

/// How much less a line is worth that a tool only shows: it is in a file, where it can be looked up.
const SHOWN: f64 = 0.3;

/// A message with this many bytes is long.
const LONG: f64 = 2000.0;

/// The cost of a unit besides its text, in tokens: its label, its gap, the reader's attention.
const UPKEEP: f64 = 4.0;

/// The worth of each unit, and the weight of each term.
pub(super) fn weigh(excerpts: &[Excerpt<'_>], units: &[SummaryUnit], mut terms: Terms) -> (Vec<Candidate>, Vec<f64>) {
    let mut mentions = Mentions::default();
    let places = Places::from_units(excerpts, units);
    let mut candidates: Vec<Candidate> = Vec::with_capacity(units.len());
    let mut shown = HashSet::default();
    let mut words = Vec::new();
    for (index, unit) in units.iter().enumerate() {
        let source = &excerpts[unit.utterance];
        let text = &source.text[unit.range.clone()];
        words.clear();
        words.extend(text.unicode_word_indices());
        let cues = cues(source, unit, &words, shown.insert(text));
        let found = terms.terms_in(text, &words);
        let empty = cues.courtesy && !cues.goal || cues.lead_in && source.prose;
        let relevance =
            if empty { COURTESY } else { 1.0 } * worked(source.speaker, text) * if source.shown { SHOWN } else { 1.0 };
        let clarity = if found.len() < 2 { VAGUE } else { 1.0 };
        let shows_code = unit.fenced || is_listing(text);
        let signs = signs(source.speaker, &cues, shows_code);
        let place = places.bonus(source, unit, share(index, units.len()));
        candidates.push(Candidate {
            terms: mentions.count(
                &found,
                voice(source.speaker, cues.error, shows_code) * relevance * position_weight(source, unit),
            ),
            bonus: (signs + place) * relevance * clarity + change_by(source.speaker, text) * clarity,
            cost: cost(text),
        });
    }
    let weights = mentions.weights();
    level(&mut candidates, &weights);
    (candidates, weights)
}

/// The cues of a unit. An exact repetition has none, and neither has code in the output of a tool, which handles errors
/// without reporting one. Of files that a tool only shows, the first line may report an error.
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
    done_by(speaker, line) == Some(CallEffect::Change)
}

/// Whether the first line of a result may report an error, by its first letter. Control characters are removed from a text
/// before it is read.
pub(super) fn may_begin_with_error(text: &str) -> bool {
    let trimmed = text.trim_start();
    let far = text.len() - trimmed.len() > 1000;
    far || trimmed.chars().next().is_some_and(|first| first.is_control() || matches!(first, '<' | 'e' | 'E'))
}

/// How often each term occurs, by its number.
#[derive(Default)]
struct Mentions(Vec<f64>);

impl Mentions {
    /// The terms of one unit, each once, with the weight of its mentions in this `voice`.
    fn count(&mut self, terms: &[usize], voice: f64) -> Vec<(usize, f64)> {
        let mut counted: Vec<(usize, f64)> = Vec::with_capacity(terms.len());
        for &term in terms {
            if term >= self.0.len() {
                self.0.resize(term + 1, 0.0);
            }
            self.0[term] += voice;
            counted.push((term, voice));
        }
        counted.sort_unstable_by_key(|&(number, _)| number);
        counted.dedup_by(|later, earlier| {
            let same = later.0 == earlier.0;
            earlier.1 += if same { later.1 } else { 0.0 };
            same
        });
        counted
    }

    fn weights(&self) -> Vec<f64> {
        let weight = |mentions: &f64| mentions.powf(MENTIONS);
        self.0.iter().map(weight).collect()
    }
}

/// The weight of a speaker's words for the topic. Tools write the most text and contribute least to the topic.
fn voice(speaker: &Speaker, error: bool, fenced: bool) -> f64 {
    let voice = match speaker {
        Speaker::User => 1.0,
        Speaker::Assistant => 0.8,
        Speaker::System | Speaker::Facts => 0.5,
        Speaker::Call(_) => 0.3,
        Speaker::Tool(_) if error => 0.3,
        Speaker::Tool(_) => 0.15,
    };
    if fenced { voice * 0.4 } else { voice }
}

/// The weight of the speaker at this place of a message: a long message states its topic at the beginning; rules, forms and
/// examples follow.
fn position_weight(source: &Excerpt<'_>, unit: &SummaryUnit) -> f64 {
    if source.prose { 0.3 + 0.7 * (-as_float(unit.range.start) / LONG).exp() } else { 1.0 }
}

/// The worth of a unit's cues, in average units.
fn signs(speaker: &Speaker, cues: &Cues, fenced: bool) -> f64 {
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

/// The worth of a call that may have changed something.
fn change_by(speaker: &Speaker, text: &str) -> f64 {
    match done_by(speaker, text) {
        Some(CallEffect::Change) => 0.6,
        Some(CallEffect::Unknown) => 0.1,
        Some(CallEffect::None) | None => 0.0,
    }
}

/// The factor for the effect of a call: a call that only reads matters less than its result.
fn worked(speaker: &Speaker, text: &str) -> f64 {
    if done_by(speaker, text) == Some(CallEffect::None) { LOOKING } else { 1.0 }
}

/// The effect of a call; `None` for any other unit.
fn done_by(speaker: &Speaker, text: &str) -> Option<CallEffect> {
    let Speaker::Call(name) = speaker else { return None };
    let command = ["command: ", "cmd: "].iter().find_map(|key| text.split_once(key));
    Some(command.map_or_else(|| effect(name), |(_, command)| effect_of_command(command)))
}

/// The places of the transcript that state the task and its latest state.
struct Places {
    /// The user's messages before the first answer; an example of the task may precede the task.
    goal: Vec<usize>,
    /// The last one of the user, and the last one of the assistant.
    state: [Option<usize>; 2],
}

impl Places {
    fn from_units(excerpts: &[Excerpt<'_>], units: &[SummaryUnit]) -> Self {
        let says = |speaker: Speaker| move |unit: &&SummaryUnit| *excerpts[unit.utterance].speaker == speaker;
        let at = |unit: &SummaryUnit| unit.utterance;
        let first = units.iter().position(|unit| says(Speaker::User)(&unit)).unwrap_or(0);
        let speaks = |unit: &SummaryUnit| *excerpts[unit.utterance].speaker == Speaker::User;
        let answered = units[first..].iter().position(|unit| !speaks(unit)).map_or(units.len(), |next| first + next);
        Self {
            goal: units[..answered].iter().filter(says(Speaker::User)).map(at).collect(),
            state: [Speaker::User, Speaker::Assistant].map(|speaker| units.iter().rfind(says(speaker)).map(at)),
        }
    }

    /// The worth of a unit's place. The beginning of a transcript states its topic, and the beginning of a message its
    /// point; the user's first message states the task, the last messages its outcome. `before` is the share of units
    /// before this one.
    fn bonus(&self, source: &Excerpt<'_>, unit: &SummaryUnit, before: f64) -> f64 {
        let proximity = |bytes: f64| (-as_float(unit.range.start) / bytes).exp();
        if !source.prose {
            return 0.0;
        }
        let mut bonus = 0.6 * (1.0 - before).powi(3) * proximity(LONG) + 0.2 * proximity(200.0);
        if self.goal.contains(&unit.utterance) {
            bonus += 1.5 * proximity(500.0);
        }
        if self.state.contains(&Some(unit.utterance)) {
            bonus += 0.4 * proximity(1000.0);
        }
        bonus
    }
}

fn share(part: usize, whole: usize) -> f64 {
    as_float(part) / as_float(whole.max(1))
}

#[expect(clippy::cast_precision_loss, reason = "bytes and units are far fewer than 2^52")]
fn as_float(count: usize) -> f64 {
    count as f64
}

/// The approximate number of tokens of a text: four characters per token, or one in scripts without spaces.
fn cost(text: &str) -> f64 {
    if text.is_ascii() {
        return UPKEEP + 0.25 * as_float(text.len());
    }
    let tokens = |c| if is_unspaced(c) { 1.0 } else { 0.25 };
    UPKEEP + text.chars().map(tokens).sum::<f64>()
}

/// Scales bonuses, which are given in average units, to the coverage of an average unit in this transcript.
fn level(candidates: &mut [Candidate], weights: &[f64]) {
    let covers = |candidate: &Candidate| -> f64 {
        let term = |&(term, amount): &(usize, f64)| weights[term] * amount.sqrt();
        candidate.terms.iter().map(term).sum()
    };
    let whole: f64 = candidates.iter().map(covers).sum();
    if whole > 0.0 {
        let average = whole / as_float(candidates.len());
        for candidate in candidates {
            candidate.bonus *= average;
        }
    }
}
