//! Names that no longer hold: values of settings that got another one, and what a sentence says is replaced.

use super::clauses::each_clause;
use super::grammar::Grammar;
use super::languages::{LANGUAGES, is_small};
use super::lexicon::content_words;
use super::outcomes::parts;
use super::statements::replaced_words;
use super::tokens::{is_han, tokens};
use super::voices::Spoken;
use super::word_forms::same_word;

/// The most settings and replaced names, of which the last ones count.
const MOST: usize = 300;

/// The longest sentence about a setting, in bytes.
const LONGEST: usize = 400;

/// What sentences said so far.
#[derive(Debug, Default)]
pub(super) struct OutdatedNames {
    /// Names that a sentence says are replaced, each with its message.
    replaced: Vec<(String, Option<usize>)>,
    /// The last value of each setting, and those before it.
    settings: Vec<Setting>,
}

/// A setting that has one value, such as a port.
#[derive(Debug)]
struct Setting {
    /// What it is called, such as `port`.
    name: String,
    /// The word before its name that tells it from others, such as `web`.
    kind: Option<String>,
    value: String,
    /// The words around it.
    about: Vec<String>,
    message: Option<usize>,
    grammar: Grammar,
    /// Whether the sentence says that it got this value anew.
    is_new: bool,
}

impl OutdatedNames {
    /// Reads a text.
    pub(super) fn hear(&mut self, spoken: &Spoken) {
        each_clause(&spoken.text, |clause| {
            if LANGUAGES.instead.are_in(clause.text) {
                let words = replaced_words(clause.text).into_iter();
                self.replaced.extend(words.map(|word| (word, spoken.message)));
            }
            if clause.text.len() <= LONGEST {
                self.settings.extend(settings(clause.text, spoken.message));
            }
        });
    }

    /// Whether a name that was said last in the message `last` no longer holds.
    pub(super) fn has(&self, name: &str, last: Option<usize>) -> bool {
        let is_replaced = newest(&self.replaced).any(|(word, at)| word == name && *at >= last);
        let old = newest(&self.settings).find(|setting| setting.value == name);
        is_replaced || old.is_some_and(|old| newest(&self.settings).any(|new| new.overtakes(old)))
    }
}

fn newest<T>(all: &[T]) -> impl Iterator<Item = &T> {
    all.iter().rev().take(MOST)
}

impl Setting {
    /// Whether this is another value of the same setting: both are about one thing, or it is said to be new.
    fn overtakes(&self, old: &Self) -> bool {
        let kinds = self.kind.as_ref().zip(old.kind.as_ref());
        self.message > old.message
            && same_word(&self.name, &old.name, old.grammar)
            && self.value != old.value
            && kinds.is_none_or(|(one, other)| same_word(one, other, old.grammar))
            && (self.is_new || self.is_about_the_same_as(old))
    }

    /// Whether the sentences of both have a word in common.
    fn is_about_the_same_as(&self, old: &Self) -> bool {
        let mut words = self.about.iter();
        words.any(|word| old.about.iter().any(|other| same_word(word, other, old.grammar)))
    }
}

/// The settings that a sentence gives a value.
fn settings(text: &str, message: Option<usize>) -> Vec<Setting> {
    let places = LANGUAGES.setting.places(text);
    let grammar = if places.is_empty() { Grammar::default() } else { Grammar::of(text, Grammar::default()) };
    let settings = places.iter().filter_map(|(start, end)| {
        let mut near = tokens(&text[*end..]).into_iter().take(3).map(|token| token.text);
        let value = near.find(|text| text.starts_with(|c: char| c.is_ascii_digit() || c == 'v'))?;
        let name = text[*start..*end].to_lowercase();
        // Of several settings in one sentence, each is told of in its own part.
        let around = if places.len() > 1 { part_at(text, *start) } else { text };
        let mut about = content_words(around);
        about.retain(|word| word != value && !same_word(word, &name, grammar));
        let kind = kind_before(&text[..*start]);
        let is_new = [&LANGUAGES.anew, &LANGUAGES.changed].iter().any(|words| words.are_in(text));
        Some(Setting { name, kind, value: value.to_owned(), about, message, grammar, is_new })
    });
    settings.collect()
}

/// The part of a sentence at a place.
fn part_at(text: &str, at: usize) -> &str {
    let part = parts(text).into_iter().find(|(start, end)| (*start..*end).contains(&at));
    part.map_or(text, |(start, end)| &text[start..end])
}

/// The word right before the name of a setting, if it says which one it is.
fn kind_before(text: &str) -> Option<String> {
    let text = text.trim_end_matches([' ', '-']);
    let word = text.rsplit(|c: char| !c.is_alphanumeric()).next()?.to_lowercase();
    let tells = !word.is_empty() && !is_small(&word) && !word.contains(is_han) && !LANGUAGES.anew.are_in(&word);
    tells.then_some(word)
}
