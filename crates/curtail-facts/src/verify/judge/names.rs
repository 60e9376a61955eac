//! Identifiers, by their spelling, or by the words of which they consist.

use super::{Decision, Fate, Wanted};
use crate::verify::grammar::Grammar;
use crate::verify::lexicon::{Lexicon, Term};
use crate::verify::sentence_index::SentenceIndex;
use crate::words::name_words;

/// The words that a name consists of, if there are two or more.
pub(super) fn pieces(name: &str, grammar: Grammar, lexicon: &mut Lexicon) -> Vec<Term> {
    let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
    let words = name_words(stem);
    let words = words.iter().flat_map(|word| word.split(|c: char| !c.is_alphabetic()));
    let words: Vec<&str> = words.filter(|word| word.chars().count() >= 3).collect();
    if words.len() < 2 {
        return Vec::new();
    }
    words.iter().flat_map(|word| lexicon.needs(word, grammar)).map(|need| need.term).collect()
}

pub(super) fn decide_name(wanted: &Wanted, index: &SentenceIndex) -> Decision {
    let found = wanted.names.iter().find_map(|term| index.with(*term).next());
    found.map_or_else(|| decide_by_pieces(wanted, index), |sentence| Decision::by(Fate::Kept, sentence))
}

/// Decides about a name that is not said: a sentence with all its words may describe it.
pub(super) fn decide_by_pieces(wanted: &Wanted, index: &SentenceIndex) -> Decision {
    let candidates = wanted.pieces.first().into_iter().flat_map(|term| index.with(*term));
    let described = candidates.into_iter().find(|sentence| sentence.has_all(&wanted.pieces));
    described.map_or_else(Decision::lost, |sentence| Decision::by(Fate::Reworded, sentence))
}
