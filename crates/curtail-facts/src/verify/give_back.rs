//! What was lost, as a text for whoever goes on: most needed first, within a number of tokens.

use std::fmt::Write as _;

use super::{Comparison, JudgedFact, Kind, State};
use crate::quotes::cut;
use curtail_core::visible::one_line;

/// The line before what was lost.
const HEAD: &str = "The last compaction of this conversation lost these facts. They were true when it ran:\n";

/// The longest fact, in characters: of a longer one, the beginning and the end are given.
const LONGEST: usize = 300;

/// The important facts that were lost, most needed first, in at most `tokens` tokens, which `count` counts; empty if none fits.
///
/// Facts stand under their kinds. A fact that does not fit is left out, and smaller ones after it may still fit.
pub fn give_back(comparison: &Comparison, tokens: usize, count: &dyn Fn(&str) -> usize) -> String {
    let mut chosen: Vec<&JudgedFact> = Vec::new();
    let mut spent = count(HEAD);
    for judged in comparison.losses() {
        let is_first = !chosen.iter().any(|other| other.fact.kind == judged.fact.kind);
        let heading = if is_first { count(&heading(judged.fact.kind)) } else { 0 };
        let cost = heading + count(&line(judged));
        if spent + cost <= tokens {
            spent += cost;
            chosen.push(judged);
        }
    }
    let mut text = written(&chosen);
    // The sum of the parts may be less than the whole.
    while count(&text) > tokens && chosen.pop().is_some() {
        text = written(&chosen);
    }
    text
}

fn written(chosen: &[&JudgedFact]) -> String {
    if chosen.is_empty() {
        return String::new();
    }
    let mut text = String::from(HEAD);
    let mut kinds: Vec<Kind> = Vec::new();
    for judged in chosen {
        if !kinds.contains(&judged.fact.kind) {
            kinds.push(judged.fact.kind);
        }
    }
    for kind in kinds {
        text += &heading(kind);
        chosen.iter().filter(|judged| judged.fact.kind == kind).for_each(|judged| text += &line(judged));
    }
    text
}

fn heading(kind: Kind) -> String {
    let plural = kind.plural();
    let mut letters = plural.chars();
    let first: String = letters.next().into_iter().flat_map(char::to_uppercase).collect();
    format!("{first}{}:\n", letters.as_str())
}

fn line(judged: &JudgedFact) -> String {
    let fact = &judged.fact;
    // The end of a rule may turn its meaning.
    let mut line = format!("- {}", cut(&one_line(&fact.text), LONGEST));
    let tells = matches!(fact.state, Some(State::Passed | State::Failed | State::Removed | State::Changed));
    if let Some(state) = fact.state.filter(|_| tells) {
        let _ = write!(line, " ({})", state.name());
    }
    if let Some(at) = fact.message {
        let _ = write!(line, " [m{at}]");
    }
    line + "\n"
}
