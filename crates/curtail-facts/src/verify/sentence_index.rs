//! The sentences of a side, searched once for the terms of all facts: the sentences that contain any of them.

use foldhash::{HashMap, HashMapExt as _, HashSet};

use super::Side;
use super::clauses::each_clause;
use super::grammar::{Language, language_of};
use super::lexicon::{Lexicon, Need, Term};
use super::outcomes::General;
use super::tokens::tokens;
use super::voices::{Spoken, Voice, each_spoken};
use curtail_core::steps;

/// A sentence with terms of facts.
#[derive(Debug, Clone)]
pub(super) struct Sentence {
    pub(super) text: String,
    /// The line that introduces it.
    pub(super) heading: Option<String>,
    /// Whether it is the first of its line.
    pub(super) is_first: bool,
    /// The first of the sentences after it in the same text that have no term.
    pub(super) following: Vec<String>,
    /// The terms in it, in order of their number.
    pub(super) terms: Vec<Term>,
    /// The number of its text: neighbors of one text belong together.
    pub(super) part: usize,
    /// Who says it.
    pub(super) voice: Voice,
}

impl Sentence {
    /// Whether somebody says it, as opposed to the arguments and results of calls.
    pub(super) const fn is_prose(&self) -> bool {
        is_prose(self.voice)
    }

    pub(super) fn has(&self, term: Term) -> bool {
        self.terms.binary_search(&term).is_ok()
    }

    /// Whether it has all of these terms, of which there is at least one.
    pub(super) fn has_all(&self, terms: &[Term]) -> bool {
        !terms.is_empty() && terms.iter().all(|term| self.has(*term))
    }
}

/// The sentences of a side with terms of facts.
#[derive(Debug, Default)]
pub(super) struct SentenceIndex {
    pub(super) sentences: Vec<Sentence>,
    /// The sentences with each term.
    places: HashMap<Term, Vec<usize>>,
    /// What is said of all checks of a kind.
    pub(super) general: Vec<General>,
    /// The sentences that say what a later statement replaced.
    pub(super) stale: HashSet<usize>,
    /// The language of the messages.
    pub(super) language: Option<Language>,
}

/// Bytes of messages by which their language is recognized.
const SAMPLE: usize = 8000;

/// The most sentences after one that continue it.
const MOST_FOLLOWING: usize = 4;

/// The most sentences of one term that are compared with a fact.
const MOST_PLACES: usize = 200;

const fn is_prose(voice: Voice) -> bool {
    !matches!(voice, Voice::Arguments | Voice::Content | Voice::Result)
}

impl SentenceIndex {
    /// Reads a side.
    pub(super) fn of(side: &Side<'_, '_>, lexicon: &mut Lexicon) -> Self {
        let mut index = Self::default();
        let mut sample = String::new();
        let mut part = 0;
        each_spoken(side, &mut |spoken| {
            part += 1;
            index.read(spoken, part, lexicon, &mut sample);
        });
        index.language = language_of(&sample);
        for (at, sentence) in index.sentences.iter().enumerate() {
            for term in &sentence.terms {
                index.places.entry(*term).or_default().push(at);
            }
        }
        index
    }

    fn read(&mut self, spoken: &Spoken, part: usize, lexicon: &mut Lexicon, sample: &mut String) {
        let voice = spoken.voice;
        if is_prose(voice) && sample.len() < SAMPLE {
            sample.push_str(&spoken.text[..spoken.text.floor_char_boundary(SAMPLE)]);
            sample.push('\n');
        }
        // Only of what somebody says is more than one sentence read.
        let most_following = if is_prose(voice) { MOST_FOLLOWING } else { 1 };
        let first = self.sentences.len();
        each_clause(&spoken.text, |clause| {
            let mut terms: Vec<Term> = Vec::new();
            for token in tokens(clause.text) {
                steps::count(1);
                lexicon.each_term(&token, &mut |term| terms.push(term));
            }
            terms.sort_unstable();
            terms.dedup();
            if is_prose(voice) {
                self.general.extend(General::all_in(clause.text));
            }
            if terms.is_empty() {
                let before = self.sentences[first..].last_mut();
                if let Some(before) = before.filter(|before| before.following.len() < most_following) {
                    before.following.push(clause.text.to_owned());
                }
                return;
            }
            let heading = clause.heading.map(str::to_owned);
            self.sentences.push(Sentence {
                text: clause.text.to_owned(),
                heading,
                is_first: clause.is_first,
                following: Vec::new(),
                terms,
                part,
                voice,
            });
        });
    }

    /// The sentences with a term, in order.
    pub(super) fn with(&self, term: Term) -> impl DoubleEndedIterator<Item = &Sentence> {
        self.places_of(term).map(|at| &self.sentences[at])
    }

    /// The numbers of the sentences with a term, in order.
    pub(super) fn places_of(&self, term: Term) -> impl DoubleEndedIterator<Item = usize> {
        self.places.get(&term).into_iter().flatten().copied()
    }

    /// The sentences that continue one, in the same text.
    pub(super) fn following(&self, at: usize) -> impl Iterator<Item = &str> {
        let sentence = &self.sentences[at];
        let later = self.sentences[at + 1..].iter().take(MOST_FOLLOWING).take_while(|next| next.part == sentence.part);
        let later = later.flat_map(|next| std::iter::once(&next.text).chain(&next.following));
        sentence.following.iter().chain(later).take(MOST_FOLLOWING).map(String::as_str)
    }

    /// Whether a term is said anywhere.
    pub(super) fn has(&self, term: Term) -> bool {
        self.places.contains_key(&term)
    }

    /// The sentences that contain most of what a statement needs, the best first, each with the weight of what it contains.
    pub(super) fn nearest(&self, needs: &[Need]) -> Vec<(usize, u32)> {
        let mut weights: HashMap<usize, u32> = HashMap::new();
        for need in needs {
            let places = self.places.get(&need.term).map_or(&[][..], Vec::as_slice);
            for at in places.iter().rev().take(MOST_PLACES) {
                steps::count(1);
                *weights.entry(*at).or_default() += need.weight;
            }
        }
        let mut nearest: Vec<(usize, u32)> = weights.into_iter().collect();
        nearest.sort_by_key(|&(at, weight)| (std::cmp::Reverse(weight), at));
        nearest.truncate(24);
        nearest
    }
}
