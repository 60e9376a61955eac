//! What a later statement overtakes.

use super::super::fact::Fact;
use super::super::grammar::Grammar;
use super::super::languages::LANGUAGES;
use super::super::lexicon::content_words;
use super::super::negation::negates;
use super::super::word_forms::{are_opposite, forms, same_word, without_ge};
use curtail_core::steps;

/// The most sentences that replace something, of which the last ones count.
const MOST_REPLACEMENTS: usize = 500;

/// The most sentences that lift a rule, of which the last ones count.
const MOST_PERMISSIONS: usize = 200;

/// The most statements that may say the contrary of an earlier one, of which the last ones count.
const MOST_CONTRARY: usize = 200;

/// The most words of what a sentence replaces.
const MOST_REPLACED: usize = 3;

/// Marks the statements that a later one replaces: it names them after words such as `instead of`, it says the contrary, or it
/// gives the same setting another value.
pub(super) fn mark_overtaken(facts: &mut [Fact], replacements: &[Replacement]) {
    let statements: Vec<Statement<'_>> = facts.iter().map(Statement::of).collect();
    let contrary = statements.iter().rev().filter(|statement| statement.may_be_contrary());
    let contrary: Vec<&Statement<'_>> = contrary.take(MOST_CONTRARY).collect();
    let overtaken = statements.iter().map(|statement| {
        let mut last = replacements.iter().rev().take(MOST_REPLACEMENTS);
        last.any(|replacement| replacement.overtakes(statement))
            || contrary.iter().any(|later| later.overtakes(statement))
    });
    let overtaken: Vec<bool> = overtaken.collect();
    for (fact, is_overtaken) in facts.iter_mut().zip(overtaken) {
        fact.overtaken |= is_overtaken;
    }
}

/// Marks the rules that a later sentence lifts.
pub(super) fn mark_lifted(rules: &mut [Fact], permissions: &[Permission]) {
    for rule in rules {
        let words = content_words(&rule.text);
        let mut last = permissions.iter().rev().take(MOST_PERMISSIONS);
        rule.overtaken |= last
            .any(|permission| permission.message > rule.message && has_all(&permission.words, &words, rule.grammar));
    }
}

/// A sentence that replaces something by something else.
#[derive(Debug)]
pub(super) struct Replacement {
    /// The first word of what it replaces that says more than most.
    replaced: String,
    /// All its words.
    words: Vec<String>,
    message: Option<usize>,
}

impl Replacement {
    /// What the sentence `text` replaces; `None` if it replaces nothing that it names.
    pub(super) fn of(text: &str, message: Option<usize>) -> Option<Self> {
        let replaced = replaced_words(text).into_iter().find(|word| !LANGUAGES.weak.contains(word))?;
        Some(Self { replaced, words: content_words(text), message })
    }

    /// Whether it replaces what an earlier statement is about: both name it, and they have another word in common. A statement that
    /// replaces the same stays true.
    fn overtakes(&self, statement: &Statement<'_>) -> bool {
        let words = &statement.words;
        let grammar = statement.grammar;
        let mut shared = words.iter().filter(|word| has(&self.words, word, grammar));
        self.message > statement.message
            && has(words, &self.replaced, grammar)
            && (words.len() == 1 || shared.nth(1).is_some())
            && !has(&replaced_words(statement.text), &self.replaced, grammar)
    }
}

/// Words before what is put in place of something, or where.
const IN_ITS_PLACE: &[&str] = &[" by ", " with ", " in ", " durch ", " mit ", " par ", " por ", " con "];

/// The words that a sentence says are replaced: those after `instead of`, up to three.
pub(in crate::verify) fn replaced_words(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for (_, end) in LANGUAGES.instead.places(text) {
        let rest = &text[end..];
        let mut marks = rest.match_indices([',', ';', '.', '，', '。', '；']);
        let end = marks.find(|(at, mark)| *mark != "." || !rest[at + 1..].starts_with(char::is_alphanumeric));
        let end = end.map_or(rest.len(), |(at, _)| at);
        let place = IN_ITS_PLACE.iter().filter_map(|word| rest[..end].find(word)).filter(|at| *at > 0).min();
        let end = place.unwrap_or(end);
        found.extend(content_words(&rest[..end]).into_iter().take(MOST_REPLACED));
    }
    found
}

/// A sentence of a person that lifts a rule.
#[derive(Debug)]
pub(super) struct Permission {
    words: Vec<String>,
    message: Option<usize>,
}

impl Permission {
    pub(super) fn of(text: &str, message: Option<usize>) -> Self {
        Self { words: content_words(text), message }
    }
}

/// A fact that somebody stated, with the words that carry it.
struct Statement<'f> {
    text: &'f str,
    words: Vec<String>,
    /// The first letters of its words, sorted: forms of one word have them in common.
    beginnings: Vec<String>,
    message: Option<usize>,
    grammar: Grammar,
}

impl<'f> Statement<'f> {
    fn of(fact: &'f Fact) -> Self {
        let words = content_words(&fact.text);
        Self { text: &fact.text, beginnings: beginnings(&words), words, message: fact.message, grammar: fact.grammar }
    }

    /// Whether it says that something is otherwise than before, or can lift a rule.
    fn may_be_contrary(&self) -> bool {
        LANGUAGES.anew.are_in(self.text) || LANGUAGES.instead.are_in(self.text) || !negates(self.text)
    }

    fn overtakes(&self, earlier: &Self) -> bool {
        self.message > earlier.message
            && self.may_share_most_words(earlier)
            && (self.is_contrary_to(earlier) || self.gives_another_value_than(earlier))
    }

    /// Whether both may have all words but one or two in common. Most have not, which their beginnings tell faster than the
    /// words.
    fn may_share_most_words(&self, earlier: &Self) -> bool {
        steps::count(1);
        let (later, earlier) = (&self.beginnings, &earlier.beginnings);
        let mut missing = earlier.iter().filter(|start| later.binary_search(start).is_err());
        later.len().abs_diff(earlier.len()) <= 2 && missing.nth(1).is_none()
    }

    /// Whether it has all words of `earlier`, and one more at most, and one of both says that it is not so.
    fn is_contrary_to(&self, earlier: &Self) -> bool {
        !earlier.words.is_empty()
            && has_all(&self.words, &earlier.words, earlier.grammar)
            && self.words.len() <= earlier.words.len() + 1
            && negates(self.text) != negates(earlier.text)
    }

    /// Whether it has all words of `earlier` but one, at least two, and another value in place of that one: its opposite, or, if
    /// it tells of a change, a number for a number or a word for a word.
    fn gives_another_value_than(&self, earlier: &Self) -> bool {
        let mut gone = earlier.words.iter().filter(|word| !has(&self.words, word, earlier.grammar));
        let (Some(old), None) = (gone.next(), gone.next()) else { return false };
        let Some(new) = self.words.iter().find(|word| !has(&earlier.words, word, earlier.grammar)) else {
            return false;
        };
        let shared = earlier.words.len() - 1;
        shared >= 2
            && self.words.len() <= shared + 2
            && (are_opposite(old, new) || LANGUAGES.anew.are_in(self.text) && is_number(old) == is_number(new))
    }
}

fn beginnings(words: &[String]) -> Vec<String> {
    let bare = words.iter().map(|word| forms(word).next().map_or_else(|| without_ge(word), String::as_str));
    let mut found: Vec<String> = bare.map(|word| word.chars().take(3).collect()).collect();
    found.sort_unstable();
    found
}

fn has_all(words: &[String], wanted: &[String], grammar: Grammar) -> bool {
    wanted.iter().all(|word| has(words, word, grammar))
}

/// Whether a form of `wanted` is among `words`.
fn has(words: &[String], wanted: &str, grammar: Grammar) -> bool {
    words.iter().any(|word| same_word(word, wanted, grammar))
}

fn is_number(word: &str) -> bool {
    word.starts_with(|c: char| c.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::{Replacement, mark_overtaken, replaced_words};
    use crate::verify::fact::{Fact, Kind};

    #[test]
    fn what_replaces_the_same_is_not_overtaken() {
        let rule = |text: &str| Fact::new(Kind::Rule, text, Some(0));
        let mut rules = [rule("Use polars instead of pandas from now on"), rule("Load tables with pandas and numpy")];
        let later = Replacement::of("I replaced pandas by polars with numpy to load tables", Some(1)).unwrap();
        mark_overtaken(&mut rules, &[later]);
        assert_eq!(rules.map(|rule| rule.overtaken), [false, true]);
    }

    #[test]
    fn what_is_replaced_is_named() {
        assert_eq!(replaced_words("use Redis instead of RabbitMQ for jobs"), ["RabbitMQ", "jobs"]);
        assert_eq!(replaced_words("Instead of kafka.v2, use redis_streams in the queue."), ["kafka.v2"]);
        assert_eq!(replaced_words("I replaced pandas by polars in load.py"), ["pandas"]);
        assert_eq!(replaced_words("No longer use `make deploy-eu`; go"), ["make", "deploy-eu"]);
    }
}
