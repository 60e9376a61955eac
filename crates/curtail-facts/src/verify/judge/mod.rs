//! Decides what became of a fact: whether whoever reads only the other side can state it. Each kind of fact has its way of being
//! said: a statement by its words, a name by its spelling, a check by its outcome.

mod check_names;
mod checks;
mod commands;
mod files;
mod meaning;
mod names;
mod statements;

pub(super) use check_names::CheckGroups;
pub(super) use checks::is_run;
pub(super) use files::claim;
pub(super) use statements::stale;

use super::fact::{Fact, Kind};
use super::grammar::Grammar;
use super::languages::LANGUAGES;
use super::lexicon::{Lexicon, Need, Term};
use super::sentence_index::{Sentence, SentenceIndex};
use super::statements::decision_label;
use super::tokens::{Class, tokens};
use crate::paths;
use check_names::CheckNames;
use checks::decide_check;
use commands::decide_command;
use files::decide_file;
use names::{decide_name, pieces};
use statements::{decide_error, decide_statement};

/// What became of a fact.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Fate {
    /// The other side states it.
    Kept,
    /// The other side does not state it, or states something else in the same words.
    Lost,
    /// The other side says something like it in other words. A rule cannot decide, so it counts neither way.
    Reworded,
    /// A later state overtook it, so that it cannot be lost.
    Overtaken,
    /// What is left is encrypted, so that nobody can know.
    Unknown,
}

impl Fate {
    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Kept => "kept",
            Self::Lost => "lost",
            Self::Reworded => "reworded",
            Self::Overtaken => "overtaken",
            Self::Unknown => "unknown",
        }
    }
}

/// A decision, and the sentence that led to it, if one did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Decision {
    pub(super) fate: Fate,
    pub(super) near: Option<String>,
}

impl Decision {
    pub(super) const fn without_sentence(fate: Fate) -> Self {
        Self { fate, near: None }
    }

    /// What was not found may be in what is encrypted.
    pub(super) fn or_unknown_if(self, is_opaque: bool) -> Self {
        match self.fate {
            Fate::Lost | Fate::Reworded if is_opaque => Self::without_sentence(Fate::Unknown),
            _ => self,
        }
    }

    const fn lost() -> Self {
        Self::without_sentence(Fate::Lost)
    }

    fn by(fate: Fate, sentence: &Sentence) -> Self {
        Self { fate, near: Some(sentence.text.clone()) }
    }
}

/// What is looked for to decide about a fact.
#[derive(Debug)]
pub(super) struct Wanted {
    /// For each sentence of it, what carries it.
    sentences: Vec<(String, Vec<Need>)>,
    /// Names of it: those of a file or an identifier, and of a test without its file.
    pub(super) names: Vec<Term>,
    /// The words that an identifier consists of.
    pieces: Vec<Term>,
    check: Option<CheckNames>,
}

impl Wanted {
    /// What to look for. `all` says of which checks one may be the only one.
    pub(super) fn of(fact: &Fact, all: &CheckGroups, lexicon: &mut Lexicon) -> Self {
        let mut wanted = Self { sentences: Vec::new(), names: Vec::new(), pieces: Vec::new(), check: None };
        match fact.kind {
            Kind::Rule | Kind::Todo => wanted.add_sentence(&fact.text, fact.grammar, lexicon),
            // That something was decided may be said in many ways.
            Kind::Decision => {
                let text = LANGUAGES.decided.without(decided(&fact.text));
                wanted.add_sentence(&LANGUAGES.decided_by_person.without(&text), fact.grammar, lexicon);
            }
            Kind::Task | Kind::Instruction => {
                super::clauses::each_clause(&fact.text, |clause| {
                    wanted.add_sentence(clause.text, fact.grammar, lexicon);
                });
            }
            Kind::File | Kind::Identifier => {
                wanted.names.push(lexicon.name(&fact.text));
                wanted.pieces = pieces(paths::name(&fact.text), fact.grammar, lexicon);
            }
            Kind::Command => wanted.add_sentence(&fact.text, fact.grammar, lexicon),
            Kind::Check => wanted.check = Some(CheckNames::of(fact, all, lexicon)),
            Kind::Error => {
                wanted.add_sentence(&fact.text, fact.grammar, lexicon);
                // The name of a test, without its file.
                let name = fact.text.rsplit("::").next().filter(|name| is_name(name));
                wanted.names.extend(name.map(|name| lexicon.name(name)));
            }
        }
        wanted
    }

    fn add_sentence(&mut self, text: &str, grammar: Grammar, lexicon: &mut Lexicon) {
        let needs = lexicon.needs(text, grammar);
        if !needs.is_empty() {
            self.sentences.push((text.to_owned(), needs));
        }
    }
}

fn is_name(text: &str) -> bool {
    tokens(text).first().is_some_and(|token| token.class == Class::Name && token.text == text)
}

/// What a sentence decides: what it says before a colon, and the reason after it, are no part of that.
fn decided(text: &str) -> &str {
    let Announcement { at, start } = announcement(text);
    let after = at.max(start + SHORTEST);
    let mut reasons = LANGUAGES.reason.places(text).into_iter().map(|(reason, _)| reason);
    let end = reasons.find(|reason| *reason > after && begins_reason(text, *reason)).unwrap_or(text.len());
    text[start..end].trim()
}

/// Whether a word of reasons at `at` begins one: `since` may also begin a time, and `car` is a word of another language.
fn begins_reason(text: &str, at: usize) -> bool {
    text[..at].trim_end().ends_with([',', '，', '、']) || LANGUAGES.ambiguous_reason.first_in(&text[at..]) != Some(0)
}

/// Where a sentence says that something is decided.
struct Announcement {
    /// The word that says so, or the end of a label.
    at: usize,
    /// Where what is decided begins: the sentence, or what is behind a colon.
    start: usize,
}

fn announcement(text: &str) -> Announcement {
    let tables = [&LANGUAGES.decided, &LANGUAGES.decided_by_person];
    let Some(at) = tables.iter().find_map(|table| table.first_in(text)) else {
        let start = decision_label(text).unwrap_or_default();
        return Announcement { at: start, start };
    };
    let ends = text[..at].rmatch_indices([':', '：']).map(|(colon, mark)| colon + mark.len());
    // `10:30` is a time.
    let start = ends.into_iter().find(|end| !text[*end..].starts_with(|c: char| c.is_ascii_digit()));
    Announcement { at, start: start.unwrap_or_default() }
}

/// The shortest decision, in bytes, that a reason may follow.
const SHORTEST: usize = 8;

/// Decides about a fact of which no message that says it is left.
pub(super) fn decide(fact: &Fact, wanted: &Wanted, index: &SentenceIndex) -> Decision {
    match fact.kind {
        Kind::Rule | Kind::Decision | Kind::Todo | Kind::Task | Kind::Instruction => {
            decide_statement(fact, wanted, index)
        }
        Kind::File => decide_file(fact, wanted, index),
        Kind::Identifier => decide_name(wanted, index),
        Kind::Command => decide_command(fact, wanted, index),
        Kind::Check => decide_check(fact, wanted, index),
        Kind::Error => decide_error(fact, wanted, index),
    }
}
