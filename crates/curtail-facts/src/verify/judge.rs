//! Decides what became of a fact: whether whoever reads only the other side can state it.

use foldhash::{HashMap, HashSet};

use super::clauses::segments;
use super::fact::{Fact, Kind, State};
use super::languages::{LANGUAGES, are_opposite, negates, tongue};
use super::lexicon::{Lexicon, Need, Term};
use super::outcomes::{Family, Outcome, is_about, outcome_in};
use super::said::{Said, Sentence};
use super::statements::{content_words, replaced_words};
use super::tokens::{Class, tokens};
use crate::paths;

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
    const fn lost() -> Self {
        Self { fate: Fate::Lost, near: None }
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
    /// Other names of it: a test without its file.
    names: Vec<Term>,
    /// The words that an identifier consists of.
    pieces: Vec<Term>,
    check: Option<CheckNames>,
}

/// What a check is called.
#[derive(Debug)]
struct CheckNames {
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

impl Wanted {
    /// What to look for. `all` says of which checks one may be the only one.
    pub(super) fn of(fact: &Fact, all: &CheckGroups, lexicon: &mut Lexicon) -> Self {
        let mut wanted = Self { sentences: Vec::new(), names: Vec::new(), pieces: Vec::new(), check: None };
        match fact.kind {
            Kind::Rule | Kind::Todo => wanted.add_sentence(&fact.text, lexicon),
            // That something was decided may be said in many ways.
            Kind::Decision => wanted.add_sentence(&LANGUAGES.decided.without(&fact.text), lexicon),
            Kind::Task | Kind::Instruction => {
                super::clauses::each_clause(&fact.text, |clause| wanted.add_sentence(clause.text, lexicon));
            }
            Kind::File | Kind::Identifier => {
                wanted.names.push(lexicon.name(&fact.text));
                wanted.pieces = pieces(paths::name(&fact.text), lexicon);
            }
            Kind::Command => wanted.add_sentence(&fact.text, lexicon),
            Kind::Check => wanted.check = Some(CheckNames::of(fact, all, lexicon)),
            Kind::Error => {
                wanted.add_sentence(&fact.text, lexicon);
                let last = fact.text.rsplit(['>', ' ']).next().unwrap_or_default();
                let short = fact.text.rsplit("::").next().filter(|short| *short != fact.text).unwrap_or(last);
                let is_name =
                    tokens(short).first().is_some_and(|token| token.class == Class::Name && token.text == short);
                if fact.text.contains("::") && is_name {
                    wanted.names.push(lexicon.name(short));
                }
            }
        }
        wanted
    }

    fn add_sentence(&mut self, text: &str, lexicon: &mut Lexicon) {
        let needs = lexicon.needs(text);
        if !needs.is_empty() {
            self.sentences.push((text.to_owned(), needs));
        }
    }
}

/// The words that a name consists of, if there are two or more.
fn pieces(name: &str, lexicon: &mut Lexicon) -> Vec<Term> {
    let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
    let mut words: Vec<String> = vec![String::new()];
    let mut before = ' ';
    for c in stem.chars() {
        if !c.is_alphabetic() || before.is_lowercase() && c.is_uppercase() {
            words.push(String::new());
        }
        if let Some(word) = words.last_mut().filter(|_| c.is_alphabetic()) {
            word.extend(c.to_lowercase());
        }
        before = c;
    }
    words.retain(|word| word.chars().count() >= 3);
    if words.len() < 2 {
        return Vec::new();
    }
    words.iter().flat_map(|word| lexicon.needs(word)).map(|need| need.term).collect()
}

/// The checks of a transcript, by what they have in common.
#[derive(Debug, Default)]
pub(super) struct CheckGroups {
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
    pub(super) fn of(facts: &[Fact]) -> Self {
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
    fn of(fact: &Fact, all: &CheckGroups, lexicon: &mut Lexicon) -> Self {
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

/// Decides about a fact of which no message that says it is left.
pub(super) fn decide(fact: &Fact, wanted: &Wanted, said: &Said) -> Decision {
    match fact.kind {
        Kind::Rule | Kind::Decision | Kind::Todo | Kind::Task | Kind::Instruction => {
            decide_statement(fact, wanted, said)
        }
        Kind::File => decide_file(fact, wanted, said),
        Kind::Identifier => decide_name(fact, wanted, said),
        Kind::Command => decide_command(fact, wanted, said),
        Kind::Check => decide_check(fact, wanted, said),
        Kind::Error => decide_error(fact, wanted, said),
    }
}

// Statements.

fn decide_statement(fact: &Fact, wanted: &Wanted, said: &Said) -> Decision {
    let decisions: Vec<Decision> =
        wanted.sentences.iter().map(|(text, needs)| decide_sentence(fact, text, needs, said)).collect();
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

/// The sentences that say what a later statement overtook: they are not about that one.
pub(super) fn stale(fact: &Fact, wanted: &Wanted, said: &Said) -> Vec<usize> {
    let says = |(text, needs): &(String, Vec<Need>)| {
        let nearest = said.nearest(needs).into_iter().map(|(at, _)| at);
        nearest.filter(|at| matches!(compare(fact, text, needs, &said.sentences[*at]), Match::Same)).collect::<Vec<_>>()
    };
    wanted.sentences.iter().flat_map(says).collect()
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

fn decide_sentence(fact: &Fact, text: &str, needs: &[Need], said: &Said) -> Decision {
    let mut contrary = None;
    let mut near = None;
    for (at, _) in said.nearest(needs) {
        let sentence = &said.sentences[at];
        match compare(fact, text, needs, sentence) {
            Match::Same => return Decision::by(Fate::Kept, sentence),
            Match::Contrary => contrary = contrary.or(Some(sentence)),
            Match::Near if said.stale.contains(&at) => {}
            Match::Near => near = near.or(Some(sentence)),
            Match::Far => {}
        }
        let joined = neighbors(said, at).filter(|_| fact.kind != Kind::Rule);
        if let Some(joined) = joined
            && matches!(compare(fact, text, needs, &joined), Match::Same)
        {
            return Decision::by(Fate::Kept, sentence);
        }
    }
    match (contrary, near) {
        (Some(sentence), _) => Decision::by(Fate::Lost, sentence),
        (None, Some(sentence)) => Decision::by(Fate::Reworded, sentence),
        (None, None) if may_be_translated(text, needs, said) => Decision { fate: Fate::Reworded, near: None },
        (None, None) => Decision::lost(),
    }
}

/// A sentence with the one after it in the same text.
fn neighbors(said: &Said, at: usize) -> Option<Sentence> {
    let sentence = &said.sentences[at];
    let next = said.sentences.get(at + 1).filter(|next| next.part == sentence.part)?;
    let mut terms: Vec<Term> = sentence.terms.iter().chain(&next.terms).copied().collect();
    terms.sort_unstable();
    terms.dedup();
    Some(Sentence { text: format!("{} {}", sentence.text, next.text), terms, ..sentence.clone() })
}

/// The share of what carries a statement that a sentence needs to say it, in percent. Pairs of Chinese characters across words
/// are lost in another order, and of a long sentence not every word carries it.
fn enough(fact: &Fact, text: &str, needs: &[Need]) -> u32 {
    let is_han = text.contains(super::tokens::is_han);
    match fact.kind {
        Kind::Error => 65,
        _ if is_han => 75,
        Kind::Task | Kind::Instruction if needs.len() >= 5 => 80,
        _ if needs.len() >= 7 => 86,
        _ => 100,
    }
}

fn compare(fact: &Fact, text: &str, needs: &[Need], sentence: &Sentence) -> Match {
    let has = |need: &&Need| sentence.has(need.term);
    let total: u32 = needs.iter().map(|need| need.weight).sum();
    let covered: u32 = needs.iter().filter(has).map(|need| need.weight).sum();
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
    if !matches!(fact.kind, Kind::Todo | Kind::Error)
        && needs.len() >= 6
        && folded(&sentence.text).contains(&folded(text))
    {
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
        && plain_hits > 0
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
    let part = segment_about(text, &sentence.text);
    if fact.kind == Kind::Rule && covered * 100 >= total * 60 && negates(text) != negates(part) {
        return Match::Contrary;
    }
    let is_near = covered * 100 >= total * 45 && needs.iter().filter(has).any(|need| need.weight > 1)
        || plain_hits >= 2 && plain_hits * 3 >= plain.len() * 2;
    if is_near { Match::Near } else { Match::Far }
}

/// Whether a sentence has another number in the place of one of an error.
fn counts_otherwise(text: &str, sentence: &Sentence) -> bool {
    let numbers = |text: &str| {
        let numbers = tokens(text).into_iter().filter(|token| token.text.bytes().all(|byte| byte.is_ascii_digit()));
        numbers.map(|token| token.text.to_owned()).collect::<Vec<_>>()
    };
    let (own, others) = (numbers(text), numbers(&sentence.text));
    own.iter().any(|number| !others.contains(number)) && others.iter().any(|number| !own.contains(number))
}

/// The letters and digits of a text, in lower case.
fn folded(text: &str) -> String {
    text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
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

/// Whether a sentence with all the words of a statement also means it: it says yes or no alike, and the state is the same.
fn means_the_same(fact: &Fact, text: &str, sentence: &Sentence) -> bool {
    let part = segment_about(text, &sentence.text);
    match fact.kind {
        Kind::Todo => !says_done(text, sentence),
        Kind::Error => !(LANGUAGES.done.are_in(part) && !negates(part) && !LANGUAGES.done.are_in(text)),
        Kind::Rule => negates(text) == negates(part) && (negates(text) || orders(text, part, sentence)),
        _ => says_alike(text, &sentence.text) && replaces_the_same(text, &sentence.text),
    }
}

/// Whether a sentence says yes or no to each thing to which a statement does: `A, not B` is not `B, not A`.
fn says_alike(text: &str, sentence: &str) -> bool {
    let own = segments(text);
    if own.len() < 2 {
        return negates(text) == negates(segment_about(text, sentence));
    }
    let words: Vec<Vec<String>> = own.iter().map(|segment| content_words(segment)).collect();
    let parts = segments(sentence);
    own.iter().zip(&words).all(|(segment, of_segment)| {
        let is_own = |word: &&String| words.iter().filter(|others| others.contains(word)).count() == 1;
        // The last words of a segment tell it from the others.
        let Some(word) = of_segment.iter().rev().find(is_own) else { return true };
        let has = |part: &&&str| content_words(part).iter().any(|other| super::languages::same_word(word, other));
        parts.iter().find(has).is_none_or(|part| negates(part) == negates(segment))
    })
}

/// Whether both say that the same thing is replaced: `A instead of B` is not `B instead of A`.
fn replaces_the_same(text: &str, sentence: &str) -> bool {
    let first = |text: &str| replaced_words(text).into_iter().next();
    let (Some(one), Some(other)) = (first(text), first(sentence)) else { return true };
    let words = content_words(text);
    one == other || !words.contains(&other)
}

/// Whether a sentence gives an order, or is in a list of rules: a report of the past does not.
fn orders(text: &str, part: &str, sentence: &Sentence) -> bool {
    let is_listed = sentence.heading.as_ref().is_some_and(|heading| LANGUAGES.rule_heading.are_in(heading));
    let first = |text: &str| content_words(text).into_iter().next();
    let begins_alike = first(text).is_some() && first(text) == first(part);
    let label = sentence.text.split([':', '：']).next().filter(|label| label.len() < sentence.text.len());
    is_listed
        || label.is_some_and(|label| label.len() <= 32 && LANGUAGES.rule_heading.are_in(label))
        || begins_alike
        || LANGUAGES.rule.are_in(part)
        || LANGUAGES.order.first_in(part) == Some(0)
        || !sentence.is_told
        || text.contains(super::tokens::is_han)
}

/// The segment of a sentence that shares most words with a statement.
fn segment_about<'t>(text: &str, sentence: &'t str) -> &'t str {
    let words = content_words(text);
    let parts = segments(sentence);
    let shared = |part: &str| {
        let others = content_words(part);
        words.iter().filter(|word| others.iter().any(|other| super::languages::same_word(word, other))).count()
    };
    // What one item of a list says as a whole has the sense of that item, unless a negation spreads over alternatives.
    let whole = |part: &&str| !words.is_empty() && shared(part) == words.len();
    if !LANGUAGES.or.are_in(sentence)
        && let Some(item) = sentence.split([',', ';', '，', '；']).map(str::trim).find(whole)
    {
        return item;
    }
    if parts.len() < 2 {
        return sentence;
    }
    let best = parts.iter().map(|part| shared(part)).max().unwrap_or_default();
    // A statement that is spread over several segments has the sense of the whole sentence.
    if best * 2 < words.len() {
        sentence
    } else {
        parts.into_iter().find(|part| shared(part) == best).unwrap_or(sentence)
    }
}

/// Whether a sentence says that a to-do is done.
fn says_done(text: &str, sentence: &Sentence) -> bool {
    if sentence.text.starts_with("[x]") || sentence.text.starts_with("[X]") {
        return true;
    }
    if sentence.text.starts_with('[') {
        return false;
    }
    let heading = sentence.heading.as_deref().unwrap_or_default();
    if LANGUAGES.todo_heading.are_in(heading)
        || LANGUAGES.todo_heading.first_in(&sentence.text).is_some_and(|at| at < 12)
    {
        return false;
    }
    let says = LANGUAGES.done.are_in(&sentence.text) && !LANGUAGES.done.are_in(text) && !negates(&sentence.text);
    says || LANGUAGES.done_heading.are_in(heading)
}

/// Whether the other side may say a statement in another language: it is told in one, and has the names of the statement.
fn may_be_translated(text: &str, needs: &[Need], said: &Said) -> bool {
    let (Some(one), Some(other)) = (tongue(text), said.tongue) else { return false };
    let mut names = needs.iter().filter(|need| need.is_name && need.weight > 2);
    one != other && names.all(|need| said.has(need.term))
}

// Names.

fn decide_name(_fact: &Fact, wanted: &Wanted, said: &Said) -> Decision {
    let found = wanted.names.iter().find_map(|term| said.with(*term).next());
    if let Some(sentence) = found {
        return Decision::by(Fate::Kept, sentence);
    }
    describes(wanted, said)
}

/// Whether a sentence has the words that a name consists of.
fn describes(wanted: &Wanted, said: &Said) -> Decision {
    let has_all = |sentence: &&Sentence| wanted.pieces.iter().all(|term| sentence.has(*term));
    let sentence = wanted.pieces.first().and_then(|term| said.with(*term).find(has_all));
    sentence.map_or_else(Decision::lost, |sentence| Decision::by(Fate::Reworded, sentence))
}

fn decide_file(fact: &Fact, wanted: &Wanted, said: &Said) -> Decision {
    let Some(&term) = wanted.names.first() else { return Decision::lost() };
    let mut contrary = None;
    let mut any = false;
    for sentence in said.with(term) {
        any = true;
        let heading = sentence.heading.as_deref().unwrap_or_default();
        let is_removed = is_about(&sentence.text, &fact.text, &LANGUAGES.removed)
            || LANGUAGES.removed.are_in(heading) && !LANGUAGES.changed.are_in(&sentence.text)
            || !sentence.is_told && ["rm ", "git rm ", "Delete File"].iter().any(|word| sentence.text.contains(word));
        let is_denied = is_about(&sentence.text, &fact.text, &LANGUAGES.changed) && negates(&sentence.text)
            || sentence.text.contains("unchanged");
        let is_kept = match fact.state {
            Some(State::Removed) => is_removed && !negates(&sentence.text),
            Some(State::Changed) => (!is_removed || negates(&sentence.text)) && !is_denied,
            _ => true,
        };
        if is_kept {
            return Decision::by(Fate::Kept, sentence);
        }
        contrary = contrary.or(Some(sentence));
    }
    match contrary {
        Some(sentence) => Decision::by(Fate::Lost, sentence),
        None if any => Decision::lost(),
        None => describes(wanted, said),
    }
}

/// Whether what is said later uses a fact: it names it, runs its command, or states it.
pub(super) fn uses(fact: &Fact, wanted: &Wanted, said: &Said) -> bool {
    match fact.kind {
        Kind::File | Kind::Identifier => wanted.names.iter().any(|term| said.has(*term)),
        Kind::Check => {
            let words: Vec<&str> = fact.text.split_whitespace().collect();
            wanted.check.as_ref().and_then(|names| names.phrase.first()).is_some_and(|term| {
                said.with(*term).rev().take(MOST_MENTIONS).any(|sentence| says_command(&sentence.text, &words))
            })
        }
        _ => decide(fact, wanted, said).fate == Fate::Kept,
    }
}

/// A sentence that says a file was changed that was only read.
pub(super) fn claim<'s>(fact: &Fact, wanted: &Wanted, said: &'s Said) -> Option<&'s Sentence> {
    let term = wanted.names.first().filter(|_| fact.kind == Kind::File && fact.state == Some(State::Read))?;
    said.with(*term).find(|sentence| {
        let heading = sentence.heading.as_deref().unwrap_or_default();
        let says = is_about(&sentence.text, &fact.text, &LANGUAGES.changed) || LANGUAGES.changed.are_in(heading);
        sentence.is_told && says && !negates(&sentence.text)
    })
}

fn decide_command(fact: &Fact, wanted: &Wanted, said: &Said) -> Decision {
    let Some((_, needs)) = wanted.sentences.first() else { return Decision::lost() };
    let words: Vec<&str> = fact.text.split_whitespace().collect();
    let mut near = None;
    for (at, _) in said.nearest(needs) {
        let sentence = &said.sentences[at];
        if says_command(&sentence.text, &words) {
            return Decision::by(Fate::Kept, sentence);
        }
        // The same program with other arguments is another command.
        let head = &words[..words.len().min(2)];
        if words.len() > 2 && says_command(&sentence.text, head) {
            continue;
        }
        let hits = needs.iter().filter(|need| sentence.has(need.term)).count();
        let has_program = needs.first().is_some_and(|need| sentence.has(need.term));
        if near.is_none() && sentence.is_told && has_program && hits >= 2 {
            near = Some(sentence);
        }
    }
    near.map_or_else(Decision::lost, |sentence| Decision::by(Fate::Reworded, sentence))
}

/// Whether a text contains these words, one after the other.
fn says_command(text: &str, words: &[&str]) -> bool {
    let bare = |word: &str| {
        word.trim_start_matches(['`', '"', '\'', '('])
            .trim_end_matches(['`', '"', '\'', ')', ',', ';', '.', ':', '。', '，', '；', '、'])
            .to_owned()
    };
    let said: Vec<String> = text
        .split(|c: char| c.is_whitespace() || super::tokens::is_han(c))
        .map(bare)
        .filter(|word| !word.is_empty())
        .collect();
    let wanted: Vec<String> = words.iter().map(|word| bare(word)).filter(|word| !word.is_empty()).collect();
    let same = |one: &String, other: &String| one == other || paths::same_file(one, other);
    !wanted.is_empty()
        && said.windows(wanted.len()).any(|window| window.iter().zip(&wanted).all(|(one, other)| same(one, other)))
}

// Checks and errors.

/// The most sentences with a word of a check that are read, the last ones first.
const MOST_MENTIONS: usize = 500;

fn decide_check(fact: &Fact, wanted: &Wanted, said: &Said) -> Decision {
    let Some(names) = &wanted.check else { return Decision::lost() };
    let wanted_outcome = if fact.state == Some(State::Passed) { Outcome::Passed } else { Outcome::Failed };
    let mut contrary = None;
    let mut vague = None;
    let terms = names.phrase.iter().chain(&names.targets).chain(&names.target_words).chain(&names.program);
    let newest = terms.flat_map(|term| said.with(*term).rev().take(MOST_MENTIONS));
    let mut sentences: Vec<&Sentence> = newest.filter(|sentence| names.is_in(sentence)).collect();
    sentences.sort_by_key(|sentence| std::ptr::from_ref(*sentence));
    sentences.dedup_by_key(|sentence| std::ptr::from_ref(*sentence));
    // What is said last is the state.
    for sentence in sentences.iter().rev() {
        match outcome_of(sentence, fact) {
            Some(outcome) if outcome == wanted_outcome => return Decision::by(Fate::Kept, sentence),
            Some(_) => {
                contrary = Some(*sentence);
                break;
            }
            None if LANGUAGES.vague.are_in(&sentence.text) => vague = Some(*sentence),
            None => {}
        }
    }
    if let Some(sentence) = contrary {
        return Decision::by(Fate::Lost, sentence);
    }
    decide_family(names, wanted_outcome, said)
        .unwrap_or_else(|| vague.map_or_else(Decision::lost, |sentence| Decision::by(Fate::Reworded, sentence)))
}

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
    let part = super::outcomes::part_about(&sentence.text, &fact.text, &fact.targets);
    outcome_in(part)
        .or_else(|| outcome_in(&sentence.text))
        .or_else(|| sentence.heading.as_deref().and_then(outcome_in))
        .or_else(|| sentence.next.as_deref().and_then(outcome_in))
}

fn decide_error(fact: &Fact, wanted: &Wanted, said: &Said) -> Decision {
    let named = wanted.names.iter().flat_map(|term| said.with(*term)).next_back();
    if let Some(sentence) = named {
        let passed = outcome_in(&sentence.text) == Some(Outcome::Passed) && !LANGUAGES.fail.are_in(&sentence.text);
        let fate = if passed || !means_the_same(fact, &fact.text, sentence) { Fate::Lost } else { Fate::Kept };
        return Decision::by(fate, sentence);
    }
    decide_statement(fact, wanted, said)
}
