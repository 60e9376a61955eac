//! What a check is called: by its command, its targets or its program, and how it is told from others.

use foldhash::{HashMap, HashSet};

use crate::verify::fact::{Fact, Kind, State};
use crate::verify::grammar::Grammar;
use crate::verify::languages::LANGUAGES;
use crate::verify::lexicon::{Lexicon, Term};
use crate::verify::outcomes::Family;
use crate::verify::sentence_index::Sentence;
use crate::verify::tokens::tokens;

/// What a check is called.
#[derive(Debug)]
pub(super) struct CheckNames {
    /// Its command without flags.
    pub(super) phrase: Vec<Term>,
    targets: Vec<Term>,
    /// The words of which its targets consist.
    target_words: Vec<Term>,
    /// Its program, if it is the only check of that.
    program: Vec<Term>,
    /// What names another check of the same targets.
    rivals: Vec<Vec<Term>>,
    pub(super) family: Family,
    /// Whether every check of its family ended alike, so that a word for all of them says how it ended.
    pub(super) speaks_for_all: bool,
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

    /// The program of a command, if no other command of it is a check.
    fn program_alone<'c>(&self, command: &'c str) -> Option<&'c str> {
        let program = program_of(command);
        self.programs.get(program).is_none_or(|commands| commands.len() == 1).then_some(program)
    }
}

/// The program of a command.
fn program_of(command: &str) -> &str {
    command.split(' ').find(|word| !word.starts_with('-')).unwrap_or_default()
}

impl CheckNames {
    pub(super) fn of(fact: &Fact, all: &CheckGroups, lexicon: &mut Lexicon) -> Self {
        let bare: Vec<&str> = fact.text.split(' ').filter(|word| !word.starts_with('-')).collect();
        let family = Family::of(&fact.text);
        let rivals = fact.targets.iter().filter_map(|target| all.targets.get(target)).flatten();
        let rivals = rivals.filter(|other| **other != fact.text).take(MOST_RIVALS);
        let single = fact.targets.iter().filter(|target| tokens(target).len() == 1);
        Self {
            rivals: rivals.map(|rival| terms(rival, lexicon)).collect(),
            phrase: terms(&bare.join(" "), lexicon),
            targets: single.map(|target| lexicon.name(target)).collect(),
            target_words: target_words(fact).iter().flat_map(|word| terms(word, lexicon)).collect(),
            program: all.program_alone(&fact.text).map_or_else(Vec::new, |program| match program {
                // A short name of a program, such as `go`, is a word as well.
                _ if program.len() > 3 => terms(program, lexicon),
                _ => terms(&bare.iter().take(2).copied().collect::<Vec<_>>().join(" "), lexicon),
            }),
            family,
            speaks_for_all: all.states.get(&family).is_none_or(|states| states.len() == 1),
        }
    }

    /// The terms by which a sentence may be about this check.
    pub(super) fn terms(&self) -> impl Iterator<Item = Term> {
        [&self.phrase, &self.targets, &self.target_words, &self.program].into_iter().flatten().copied()
    }

    /// Whether a sentence is about this check.
    pub(super) fn is_in(&self, sentence: &Sentence) -> bool {
        sentence.has_all(&self.phrase)
            || self.is_named_in(sentence) && !self.rivals.iter().any(|rival| sentence.has_all(rival))
    }

    /// Whether a sentence without its command is about this check.
    fn is_named_in(&self, sentence: &Sentence) -> bool {
        self.targets.iter().any(|term| sentence.has(*term))
            || sentence.has_all(&self.target_words) && self.family.is_in(&sentence.text)
            || sentence.has_all(&self.program)
    }
}

/// The terms that carry a text.
fn terms(text: &str, lexicon: &mut Lexicon) -> Vec<Term> {
    lexicon.needs(text, Grammar::default()).into_iter().map(|need| need.term).collect()
}

/// The words of which the targets of a check consist, without those that say that it tests.
fn target_words(fact: &Fact) -> Vec<String> {
    let words = fact.targets.iter().flat_map(|target| target.split(|c: char| !c.is_alphanumeric()));
    words.map(str::to_lowercase).filter(|word| word.len() > 2 && !LANGUAGES.tests.are_in(word)).collect()
}
