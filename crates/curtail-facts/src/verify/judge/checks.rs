//! Checks, with their last outcome.

use super::check_names::CheckNames;
use super::commands::says_command;
use super::{Decision, Fate, Wanted};
use crate::verify::fact::{Fact, Kind, State};
use crate::verify::languages::{LANGUAGES, is_small};
use crate::verify::outcomes::{Family, Outcome, is_vague, outcome_in, part_about, says_mended};
use crate::verify::sentence_index::{Sentence, SentenceIndex};
use crate::verify::tokens::tokens;
use crate::verify::voices::Voice;

/// The most sentences with a word of a check that are read, the last ones first.
const MOST_MENTIONS: usize = 500;

pub(super) fn decide_check(fact: &Fact, wanted: &Wanted, index: &SentenceIndex) -> Decision {
    let Some(names) = &wanted.check else { return Decision::lost() };
    let wanted_outcome = if fact.state == Some(State::Passed) { Outcome::Passed } else { Outcome::Failed };
    let newest = names.terms().flat_map(|term| index.places_of(term).rev().take(MOST_MENTIONS));
    let mut places: Vec<usize> = newest.filter(|at| names.is_in(&index.sentences[*at])).collect();
    places.sort_unstable();
    places.dedup();
    let mut vague = None;
    // What is said last is the state.
    for at in places.into_iter().rev() {
        let sentence = &index.sentences[at];
        let outcome = outcome_of(sentence, fact);
        let is_over = outcome == Some(Outcome::Failed) && has_passed_since(index, at, names.family);
        match if is_over { Some(Outcome::Passed) } else { outcome } {
            Some(Outcome::Failed) if wanted_outcome == Outcome::Passed && is_mended(index, at) => {
                vague = vague.or(Some(sentence));
            }
            Some(outcome) if outcome == wanted_outcome => return Decision::by(Fate::Kept, sentence),
            Some(_) => return Decision::by(Fate::Lost, sentence),
            None if is_vague(&sentence.text) => vague = vague.or(Some(sentence)),
            None => {}
        }
    }
    decide_family(names, wanted_outcome, index)
        .unwrap_or_else(|| vague.map_or_else(Decision::lost, |sentence| Decision::by(Fate::Reworded, sentence)))
}

/// Whether a failure is told with how it was mended.
fn is_mended(index: &SentenceIndex, at: usize) -> bool {
    let mut account = std::iter::once(index.sentences[at].text.as_str()).chain(index.following(at));
    account.any(says_mended)
}

/// Whether the next sentence after a failure with an outcome goes on about it, and says that the check passed.
fn has_passed_since(index: &SentenceIndex, at: usize, family: Family) -> bool {
    let next = index.following(at).find_map(|next| Some((next, outcome_in(next)?)));
    next.is_some_and(|(next, outcome)| outcome == Outcome::Passed && refers_back(next, family))
}

/// Whether a sentence goes on about a failure: before it says how that ended, there are only small words, and such for faults, their
/// mending and checks of this family. A number is such a word if the sentence speaks of all or of a later time: else it may be of other checks.
fn refers_back(text: &str, family: Family) -> bool {
    let Some(verb) = LANGUAGES.pass.first_in(text) else { return false };
    if Family::ALL.into_iter().any(|other| other != family && other.is_in(text)) && !family.is_in(text) {
        return false;
    }
    let before = &text[..verb];
    let may_count = LANGUAGES.every.are_in(before) || LANGUAGES.since.are_in(text);
    tokens(before).iter().all(|token| {
        let is_count = may_count && token.text.bytes().all(|byte| byte.is_ascii_digit());
        let is_of_fault = LANGUAGES.fault.are_in(token.text) || LANGUAGES.mended.are_in(token.text);
        is_count || is_small(token.text) || is_of_fault || family.is_in(token.text)
    })
}

/// Decides by a sentence about all checks of a kind: `all tests pass`.
fn decide_family(names: &CheckNames, wanted: Outcome, index: &SentenceIndex) -> Option<Decision> {
    for general in index.general.iter().rev().filter(|general| general.families.contains(&names.family)) {
        let speaks_for_all = names.speaks_for_all || wanted == Outcome::Passed && general.is_for_every;
        let fate = match general.outcome {
            Some(outcome) if outcome == wanted && speaks_for_all => Fate::Kept,
            Some(outcome) if outcome == wanted => Fate::Reworded,
            Some(Outcome::Passed) if general.is_for_every => Fate::Lost,
            Some(_) => continue,
            None => Fate::Reworded,
        };
        return Some(Decision { fate, near: Some(general.text.clone()) });
    }
    None
}

/// The outcome that a sentence gives of a check: in the part about it, in the whole, in its heading, or in the next sentence.
fn outcome_of(sentence: &Sentence, fact: &Fact) -> Option<Outcome> {
    let part = part_about(&sentence.text, &fact.text, &fact.targets);
    outcome_in(part)
        .or_else(|| outcome_in(&sentence.text))
        .or_else(|| sentence.heading.as_deref().and_then(outcome_in))
        .or_else(|| sentence.following.first().and_then(|next| outcome_in(next)))
}

/// Whether what is said later runs a check, or a command.
pub(in crate::verify) fn is_run(fact: &Fact, wanted: &Wanted, index: &SentenceIndex) -> bool {
    let words: Vec<&str> = fact.text.split_whitespace().collect();
    let of_command = wanted.sentences.first().and_then(|(_, needs)| needs.first());
    let first = wanted.check.as_ref().map_or(of_command.map(|need| need.term), |names| names.phrase.first().copied());
    let sentences = first
        .into_iter()
        .flat_map(|term| index.with(term).rev())
        .filter(|sentence| fact.kind == Kind::Check || matches!(sentence.voice, Voice::Arguments | Voice::Content));
    sentences.take(MOST_MENTIONS).any(|sentence| says_command(&sentence.text, &words))
}
