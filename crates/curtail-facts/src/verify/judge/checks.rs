//! Checks with their last outcome, and errors.

use foldhash::{HashMap, HashSet};

use super::commands::says_command;
use super::meaning::means_the_same;
use super::statements::decide_statement;
use super::{Decision, Fate, Wanted};
use crate::verify::fact::{Fact, Kind, State};
use crate::verify::languages::{LANGUAGES, negates};
use crate::verify::lexicon::{Lexicon, Term};
use crate::verify::outcomes::{Family, Outcome, outcome_in, part_about};
use crate::verify::said::{Said, Sentence};
use crate::verify::tokens::tokens;

/// What a check is called.
#[derive(Debug)]
pub(super) struct CheckNames {
    phrase: Vec<Term>,
    targets: Vec<Term>,
    target_words: Vec<Term>,
    program: Vec<Term>,
    /// What names another check of the same targets.
    rivals: Vec<Vec<Term>>,
    family: Family,
    /// Whether every check of its family ended alike, so that a word for all of them says how it ended.
    speaks_for_all: bool,
}

/// The checks of a transcript, by what they have in common.
#[derive(Debug, Default)]
pub(in crate::verify) struct CheckGroups {
    /// The commands of each program.
    programs: HashMap<String, HashSet<String>>,
    /// How the checks of each family ended.
    states: HashMap<Family, HashSet<Option<State>>>,
    /// The checks with each target.
    targets: HashMap<String, Vec<String>>,
}

/// The most checks of one target that are told from each other.
const MOST_RIVALS: usize = 20;

impl CheckGroups {
    /// The groups of the checks among `facts`.
    pub(in crate::verify) fn of(facts: &[Fact]) -> Self {
        let mut groups = Self::default();
        for fact in facts.iter().filter(|fact| fact.kind == Kind::Check && !fact.overtaken) {
            groups.programs.entry(program_of(&fact.text).to_owned()).or_default().insert(fact.text.clone());
            groups.states.entry(Family::of(&fact.text)).or_default().insert(fact.state);
            for target in &fact.targets {
                groups.targets.entry(target.clone()).or_default().push(fact.text.clone());
            }
        }
        groups
    }
}

/// The program of a command.
fn program_of(command: &str) -> &str {
    command.split(' ').find(|word| !word.starts_with('-')).unwrap_or_default()
}

impl CheckNames {
    pub(super) fn of(fact: &Fact, all: &CheckGroups, lexicon: &mut Lexicon) -> Self {
        let bare: Vec<&str> = fact.text.split(' ').filter(|word| !word.starts_with('-')).collect();
        let program = program_of(&fact.text);
        let family = Family::of(&fact.text);
        let is_only = all.programs.get(program).is_none_or(|commands| commands.len() == 1);
        let terms = |text: &str, lexicon: &mut Lexicon| {
            lexicon.needs(text).into_iter().map(|need| need.term).collect::<Vec<_>>()
        };
        let words: Vec<String> = fact
            .targets
            .iter()
            .flat_map(|target| target.split(|c: char| !c.is_alphanumeric()))
            .map(str::to_lowercase)
            .filter(|word| word.len() > 2 && !LANGUAGES.tests.are_in(word))
            .collect();
        let rivals = fact.targets.iter().filter_map(|target| all.targets.get(target)).flatten();
        let rivals: Vec<String> = rivals.filter(|other| **other != fact.text).take(MOST_RIVALS).cloned().collect();
        Self {
            rivals: rivals.iter().map(|rival| terms(rival, lexicon)).collect(),
            phrase: terms(&bare.join(" "), lexicon),
            targets: fact
                .targets
                .iter()
                .filter(|target| tokens(target).len() == 1)
                .map(|target| lexicon.name(target))
                .collect(),
            target_words: words.iter().flat_map(|word| terms(word, lexicon)).collect(),
            // A short name of a program, such as `go`, is a word as well.
            program: match program {
                name if is_only && name.len() > 3 => terms(name, lexicon),
                _ if is_only => terms(&bare.iter().take(2).copied().collect::<Vec<_>>().join(" "), lexicon),
                _ => Vec::new(),
            },
            family,
            speaks_for_all: all.states.get(&family).is_none_or(|states| states.len() == 1),
        }
    }

    /// Whether a sentence is about this check.
    fn is_in(&self, sentence: &Sentence) -> bool {
        let all = |terms: &[Term]| !terms.is_empty() && terms.iter().all(|term| sentence.has(*term));
        if all(&self.phrase) {
            return true;
        }
        let is_of_another = self.rivals.iter().any(|rival| all(rival));
        !is_of_another && self.is_named_in(sentence)
    }

    /// Whether a sentence without its command is about this check.
    fn is_named_in(&self, sentence: &Sentence) -> bool {
        let all = |terms: &[Term]| !terms.is_empty() && terms.iter().all(|term| sentence.has(*term));
        self.targets.iter().any(|term| sentence.has(*term))
            || all(&self.target_words) && self.family.is_in(&sentence.text)
            || all(&self.program)
    }
}

/// The most sentences with a word of a check that are read, the last ones first.
const MOST_MENTIONS: usize = 500;

pub(super) fn decide_check(fact: &Fact, wanted: &Wanted, said: &Said) -> Decision {
    let Some(names) = &wanted.check else { return Decision::lost() };
    let wanted_outcome = if fact.state == Some(State::Passed) { Outcome::Passed } else { Outcome::Failed };
    let mut contrary = None;
    let mut vague = None;
    let terms = names.phrase.iter().chain(&names.targets).chain(&names.target_words).chain(&names.program);
    let newest = terms.flat_map(|term| said.places_of(*term).rev().take(MOST_MENTIONS));
    let mut places: Vec<usize> = newest.filter(|at| names.is_in(&said.sentences[*at])).collect();
    places.sort_unstable();
    places.dedup();
    // What is said last is the state.
    for at in places.into_iter().rev() {
        let sentence = &said.sentences[at];
        match outcome_of(sentence, fact) {
            Some(Outcome::Failed) if wanted_outcome == Outcome::Passed && is_mended(said, at) => {
                return Decision::by(Fate::Kept, sentence);
            }
            Some(outcome) if outcome == wanted_outcome => return Decision::by(Fate::Kept, sentence),
            Some(_) => {
                contrary = Some(sentence);
                break;
            }
            None if LANGUAGES.vague.are_in(&sentence.text) => vague = Some(sentence),
            None => {}
        }
    }
    if let Some(sentence) = contrary {
        return Decision::by(Fate::Lost, sentence);
    }
    decide_family(names, wanted_outcome, said)
        .unwrap_or_else(|| vague.map_or_else(Decision::lost, |sentence| Decision::by(Fate::Reworded, sentence)))
}

/// Sentences after one that says a check failed, which may say how it was fixed.
const ACCOUNT: usize = 4;

/// Whether a failure is told with how it was fixed: in the same sentence, or in one after it that begins so.
fn is_mended(said: &Said, at: usize) -> bool {
    let failure = &said.sentences[at];
    let failed = LANGUAGES.fail.first_in(&failure.text).unwrap_or_default();
    let rest = &failure.text[failed..];
    let begins_mended = |sentence: &&Sentence| LANGUAGES.done.first_in(&sentence.text).is_some_and(|at| at < BEGINNING);
    let account = said.sentences[at + 1..].iter().take(ACCOUNT).take_while(|next| next.part == failure.part);
    LANGUAGES.done.are_in(rest) && !negates(rest)
        || account.into_iter().any(|next| begins_mended(&next) && !negates(&next.text))
}

/// The beginning of a sentence, in bytes.
const BEGINNING: usize = 12;

/// Decides by a sentence about all checks of a kind: `all tests pass`.
fn decide_family(names: &CheckNames, wanted: Outcome, said: &Said) -> Option<Decision> {
    for general in said.general.iter().rev().filter(|general| general.families.contains(&names.family)) {
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
        .or_else(|| sentence.next.as_deref().and_then(outcome_in))
}

pub(super) fn decide_error(fact: &Fact, wanted: &Wanted, said: &Said) -> Decision {
    let named = wanted.names.iter().flat_map(|term| said.with(*term)).next_back();
    if let Some(sentence) = named {
        let passed = outcome_in(&sentence.text) == Some(Outcome::Passed) && !LANGUAGES.fail.are_in(&sentence.text);
        let fate = if passed || !means_the_same(fact, &fact.text, sentence) { Fate::Lost } else { Fate::Kept };
        return Decision::by(fate, sentence);
    }
    decide_statement(fact, wanted, said)
}

/// Whether what is said later runs a check.
pub(in crate::verify) fn is_run(fact: &Fact, wanted: &Wanted, said: &Said) -> bool {
    let words: Vec<&str> = fact.text.split_whitespace().collect();
    let Some(term) = wanted.check.as_ref().and_then(|names| names.phrase.first()) else { return false };
    said.with(*term).rev().take(MOST_MENTIONS).any(|sentence| says_command(&sentence.text, &words))
}
