//! Statements: rules, decisions, to-dos, tasks and instructions, which sentences say in these or in other words; and errors that are
//! not resolved: the name of a test that fails, or what a program said.

use super::meaning::{means_the_same, segment_about};
use super::{Decision, Fate, Wanted};
use crate::verify::fact::{Fact, Kind};
use crate::verify::grammar::language_of;
use crate::verify::lexicon::{Need, Term, content_words};
use crate::verify::negation::negates;
use crate::verify::outcomes::{Outcome, outcome_in, part_about};
use crate::verify::sentence_index::{Sentence, SentenceIndex};
use crate::verify::tokens::{Class, is_han, tokens};
use crate::verify::word_forms::are_opposite;

pub(super) fn decide_statement(fact: &Fact, wanted: &Wanted, index: &SentenceIndex) -> Decision {
    let decisions: Vec<Decision> =
        wanted.sentences.iter().map(|(text, needs)| decide_sentence(fact, text, needs, index)).collect();
    let count = |fate: Fate| decisions.iter().filter(|decision| decision.fate == fate).count();
    let all = decisions.len();
    let first = |fate: Fate| decisions.iter().find(|decision| decision.fate == fate).cloned();
    let kept = count(Fate::Kept);
    // Of what a person asks, the order is enough if the rest is there in other words.
    let is_asked = matches!(fact.kind, Kind::Task | Kind::Instruction);
    let is_said = is_asked && count(Fate::Lost) == 0 && kept * 2 >= all;
    let decided = match () {
        () if all > 0 && is_said => first(Fate::Kept),
        () if all > 0 && (kept == all || kept * 10 >= all * 7) => first(Fate::Kept),
        () if kept == 0 && count(Fate::Reworded) == 0 => first(Fate::Lost),
        () => first(Fate::Reworded)
            .or_else(|| first(Fate::Kept))
            .map(|decision| Decision { fate: Fate::Reworded, ..decision }),
    };
    decided.unwrap_or_else(Decision::lost)
}

pub(super) fn decide_error(fact: &Fact, wanted: &Wanted, index: &SentenceIndex) -> Decision {
    let named = wanted.names.iter().flat_map(|term| index.with(*term)).next_back();
    if let Some(sentence) = named {
        let test = fact.text.rsplit("::").next().unwrap_or_default().to_owned();
        let passed = outcome_in(part_about(&sentence.text, &fact.text, &[test])) == Some(Outcome::Passed);
        let fate = if passed || !means_the_same(fact, &fact.text, sentence) { Fate::Lost } else { Fate::Kept };
        return Decision::by(fate, sentence);
    }
    decide_statement(fact, wanted, index)
}

/// The sentences that say what a later statement overtook: they are not about that one.
pub(in crate::verify) fn stale(fact: &Fact, wanted: &Wanted, index: &SentenceIndex) -> Vec<usize> {
    let mut found = Vec::new();
    for (text, needs) in &wanted.sentences {
        let nearest = index.nearest(needs).into_iter().map(|(at, _)| at);
        found.extend(nearest.filter(|at| matches!(compare(fact, text, needs, &index.sentences[*at]), Match::Same)));
    }
    found
}

/// How much of a statement a sentence contains.
enum Match {
    /// Everything that carries it, and it means the same.
    Same,
    /// Everything that carries it, and it means something else.
    Contrary,
    /// Enough to be about the same thing.
    Near,
    /// Too little.
    Far,
}

fn decide_sentence(fact: &Fact, text: &str, needs: &[Need], index: &SentenceIndex) -> Decision {
    let mut contrary = None;
    let mut near = None;
    for (at, _) in index.nearest(needs) {
        let sentence = &index.sentences[at];
        match compare(fact, text, needs, sentence) {
            Match::Same => return Decision::by(Fate::Kept, sentence),
            Match::Contrary => contrary = contrary.or(Some(sentence)),
            Match::Near if index.stale.contains(&at) => {}
            Match::Near => near = near.or(Some(sentence)),
            Match::Far => {}
        }
        let joined = neighbors(index, at).filter(|_| fact.kind != Kind::Rule);
        if let Some(joined) = joined
            && matches!(compare(fact, text, needs, &joined), Match::Same)
        {
            return Decision::by(Fate::Kept, sentence);
        }
    }
    match (contrary, near) {
        (Some(sentence), _) => Decision::by(Fate::Lost, sentence),
        (None, Some(sentence)) => Decision::by(Fate::Reworded, sentence),
        (None, None) if may_be_translated(text, needs, index) => Decision { fate: Fate::Reworded, near: None },
        (None, None) => Decision::lost(),
    }
}

/// A sentence with the one after it in the same text.
fn neighbors(index: &SentenceIndex, at: usize) -> Option<Sentence> {
    let sentence = &index.sentences[at];
    let next = index.sentences.get(at + 1).filter(|next| next.part == sentence.part)?;
    let mut terms: Vec<Term> = sentence.terms.iter().chain(&next.terms).copied().collect();
    terms.sort_unstable();
    terms.dedup();
    Some(Sentence { text: format!("{} {}", sentence.text, next.text), terms, ..sentence.clone() })
}

/// The share of what carries a statement that a sentence needs to say it, in percent. Pairs of Chinese characters across words
/// are lost in another order, and of a long sentence not every word carries it.
fn enough(fact: &Fact, text: &str, needs: &[Need]) -> u32 {
    let is_han = text.contains(is_han);
    match fact.kind {
        Kind::Error => 65,
        _ if is_han => 75,
        Kind::Task | Kind::Instruction if needs.len() >= 5 => 80,
        _ if needs.len() >= 7 => 86,
        _ => 100,
    }
}

fn compare(fact: &Fact, text: &str, needs: &[Need], sentence: &Sentence) -> Match {
    let total: u32 = needs.iter().map(|need| need.weight).sum();
    let met: Vec<&Need> = needs.iter().filter(|need| sentence.has(need.term)).collect();
    let covered: u32 = met.iter().map(|need| need.weight).sum();
    let lacks_name = needs.iter().any(|need| need.is_name && !sentence.has(need.term));
    let is_full = covered * 100 >= total * enough(fact, text, needs) && (!lacks_name || fact.kind == Kind::Error);
    // Whatever verb says it, what a person wants, or what was decided, is known by the rest.
    let is_asked = matches!(fact.kind, Kind::Task | Kind::Instruction | Kind::Decision);
    let carrying: Vec<&Need> = needs.iter().filter(|need| need.weight > 1).collect();
    let is_full = is_full || is_asked && carrying.len() > 1 && carrying.iter().all(|need| sentence.has(need.term));
    if is_full && fact.kind == Kind::Error && counts_otherwise(text, sentence) {
        return Match::Contrary;
    }
    // Many words in the same order are a quotation.
    if !matches!(fact.kind, Kind::Todo | Kind::Error) && needs.len() >= 6 && quotes(&sentence.text, text) {
        return Match::Same;
    }
    if is_full {
        return if means_the_same(fact, text, sentence) { Match::Same } else { Match::Contrary };
    }
    let plain: Vec<&Need> = needs.iter().filter(|need| !need.is_name).collect();
    let plain_hits = plain.iter().filter(|need| sentence.has(need.term)).count();
    // The other words are all there, and another name is in the place of this one.
    let missing: Vec<String> = content_words(text);
    let others = content_words(&sentence.text);
    if fact.kind != Kind::Error
        && lacks_name
        && plain.iter().any(|need| need.weight > 1)
        && plain_hits == plain.len()
        && names_another(text, sentence)
    {
        return Match::Contrary;
    }
    let is_opposite =
        missing.iter().any(|word| others.iter().any(|other| are_opposite(word, other)) && !others.contains(word));
    if is_opposite && covered * 100 >= total * 60 {
        return Match::Contrary;
    }
    // Most of a rule, said the other way round.
    let part = segment_about(text, &sentence.text, fact.grammar);
    if fact.kind == Kind::Rule && covered * 100 >= total * 60 && negates(text) != negates(part) {
        return Match::Contrary;
    }
    let is_near = covered * 100 >= total * 45 && met.iter().any(|need| need.weight > 1)
        || plain_hits >= 2 && plain_hits * 3 >= plain.len() * 2;
    if is_near { Match::Near } else { Match::Far }
}

/// Whether a sentence has another number in the place of one of an error.
fn counts_otherwise(text: &str, sentence: &Sentence) -> bool {
    let own = numbers(text);
    let others = numbers(&sentence.text);
    own.iter().any(|number| !others.contains(number)) && others.iter().any(|number| !own.contains(number))
}

fn numbers(text: &str) -> Vec<&str> {
    let numbers = tokens(text).into_iter().map(|token| token.text);
    numbers.filter(|text| text.bytes().all(|byte| byte.is_ascii_digit())).collect()
}

/// Whether a sentence contains the words of a statement in their order, however they are divided and marked.
fn quotes(sentence: &str, text: &str) -> bool {
    let (letters, ends) = folded(sentence);
    let (wanted, _) = folded(text);
    let is_end = |at: usize| at == 0 || ends.binary_search(&at).is_ok();
    letters.match_indices(&wanted).any(|(at, _)| is_end(at) && is_end(at + wanted.len()))
}

/// The letters and digits of a text, in lower case, and where among them its words end.
fn folded(text: &str) -> (String, Vec<usize>) {
    let mut letters = String::new();
    let mut ends = Vec::new();
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        letters.extend(c.to_lowercase().filter(|c| c.is_alphanumeric()));
        let is_inside = chars.peek().is_some_and(|next| [c, *next].iter().all(|c| c.is_alphanumeric() && !is_han(*c)));
        if !is_inside && ends.last() != Some(&letters.len()) {
            ends.push(letters.len());
        }
    }
    (letters, ends)
}

/// Whether a sentence names something else than a statement: it has a name, a number or a proper noun that the statement lacks.
fn names_another(text: &str, sentence: &Sentence) -> bool {
    let known = content_words(text);
    let mut begins = true;
    tokens(&sentence.text).iter().any(|token| {
        let first = std::mem::take(&mut begins);
        let is_name = token.class == Class::Name || !first && token.text.starts_with(char::is_uppercase);
        is_name && !token.inner && !known.iter().any(|word| word.eq_ignore_ascii_case(token.text))
    })
}

/// Whether the other side may say a statement in another language: it is told in one, and has the names of the statement.
fn may_be_translated(text: &str, needs: &[Need], index: &SentenceIndex) -> bool {
    let (Some(one), Some(other)) = (language_of(text), index.language) else { return false };
    let mut names = needs.iter().filter(|need| need.is_name && need.weight > 2);
    one != other && names.all(|need| index.has(need.term))
}
