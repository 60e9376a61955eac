//! Names that no longer hold: values of settings that got another one, and what a sentence says is replaced.

use super::clauses::each_clause;
use super::grammar::Grammar;
use super::languages::LANGUAGES;
use super::lexicon::content_words;
use super::outcomes::parts;
use super::statements::replaced_words;
use super::tokens::tokens;
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
    value: String,
    /// The words that say whose it is, such as `web` and `server`; none if that is unknown.
    subject: Vec<String>,
    message: Option<usize>,
    grammar: Grammar,
    /// Whether its sentence says whose it is, or that it got this value anew.
    is_certain: bool,
}

impl OutdatedNames {
    /// Reads a text.
    pub(super) fn hear(&mut self, spoken: &Spoken) {
        let mut before = "";
        each_clause(&spoken.text, |clause| {
            if LANGUAGES.instead.are_in(clause.text) {
                let words = replaced_words(clause.text).into_iter();
                self.replaced.extend(words.map(|word| (word, spoken.message)));
            }
            if clause.text.len() <= LONGEST {
                for mut setting in settings(clause.text, before, spoken.message) {
                    // `Use port 9000 instead.` changes the only port that is known.
                    if setting.subject.is_empty() && before.is_empty() {
                        setting.subject = self.only_subject(&setting).unwrap_or_default().to_vec();
                    }
                    self.settings.push(setting);
                }
            }
            before = clause.text;
        });
    }

    /// The subject that all known settings of this name have; `None` if they are of several.
    fn only_subject(&self, setting: &Setting) -> Option<&[String]> {
        let alike = newest(&self.settings).filter(|other| other.has_name_of(setting) && !other.subject.is_empty());
        let subjects: Vec<&Setting> = alike.collect();
        let (first, others) = subjects.split_first()?;
        others.iter().all(|other| other.has_subject_of(first)).then_some(&first.subject)
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
    /// Whether this is another value of the same setting. In doubt it is not: then the old value counts as lost.
    fn overtakes(&self, old: &Self) -> bool {
        self.is_certain
            && self.message > old.message
            && self.value != old.value
            && self.has_name_of(old)
            && self.has_subject_of(old)
    }

    fn has_name_of(&self, other: &Self) -> bool {
        same_word(&self.name, &other.name, other.grammar)
    }

    /// Whether both are of one thing: a web server is not a cache server.
    fn has_subject_of(&self, other: &Self) -> bool {
        let mut words = self.subject.iter();
        self.subject.len() == other.subject.len()
            && words.all(|word| other.subject.iter().any(|same| same_word(word, same, other.grammar)))
    }
}

/// The settings that a sentence gives a value. If it does not say whose they are, the sentence `before` it does.
fn settings(text: &str, before: &str, message: Option<usize>) -> Vec<Setting> {
    let places = LANGUAGES.setting.places(text);
    let mut found: Vec<Setting> = Vec::new();
    if places.is_empty() {
        return found;
    }
    let grammar = Grammar::of(text, Grammar::default());
    let is_new = LANGUAGES.anew.are_in(text);
    let mut from = 0;
    for (start, end) in places {
        let mut near = tokens(&text[end..]).into_iter().take(3).map(|token| token.text);
        let Some(value) = near.find(|text| text.starts_with(|c: char| c.is_ascii_digit() || c == 'v')) else {
            continue;
        };
        let name = text[start..end].to_lowercase();
        // Of several settings in one sentence, each is told of in its own part.
        let part_end = part_end(text, start);
        let mut subject = subject(&text[from.min(start)..part_end]);
        from = part_end;
        if subject.is_empty() {
            subject = found.last().map_or_else(|| self::subject(before), |last| last.subject.clone());
        }
        let is_certain = is_new || !subject.is_empty();
        found.push(Setting { name, value: value.to_owned(), subject, message, grammar, is_certain });
    }
    found
}

/// Where the part of a sentence at a place ends.
fn part_end(text: &str, at: usize) -> usize {
    let part = parts(text).into_iter().find(|(start, end)| (*start..*end).contains(&at));
    part.map_or(text.len(), |(_, end)| end)
}

/// The words that say whose the settings in a text are: not what these are called, what their values are and how they got them.
fn subject(text: &str) -> Vec<String> {
    let mut rest = text.to_owned();
    for phrases in [&LANGUAGES.setting, &LANGUAGES.anew, &LANGUAGES.changed, &LANGUAGES.given] {
        rest = phrases.without(&rest);
    }
    let mut words = content_words(&rest);
    words.retain(|word| !word.starts_with(|c: char| c.is_ascii_digit()));
    words.sort();
    words.dedup();
    words
}
