//! The table of words by which rules, states and decisions are recognized, `languages.toml`.

use std::borrow::Cow;
use std::sync::{LazyLock, OnceLock};

use foldhash::HashSet;
use regex::Regex;
use serde::Deserialize;

use super::grammar::{Grammar, Language};
use super::tokens::is_han;

/// The words of every language; `languages.toml` describes the fields.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Languages {
    pub(super) stop: HashSet<String>,
    pub(super) weak: HashSet<String>,
    pub(super) filler: HashSet<String>,
    pub(super) silent: Vec<String>,
    pub(super) abbreviation: Vec<String>,
    pub(super) negation: Phrases,
    pub(super) concord: Phrases,
    pub(super) undoing: Phrases,
    pub(super) rule: Phrases,
    pub(super) story: Phrases,
    pub(super) order: Phrases,
    pub(super) condition: Phrases,
    pub(super) object: Phrases,
    pub(super) order_end: Phrases,
    pub(super) ban: Phrases,
    pub(super) present: Phrases,
    pub(super) telling: Phrases,
    pub(super) rule_heading: Phrases,
    pub(super) todo_heading: Phrases,
    pub(super) done_heading: Phrases,
    pub(super) every: Phrases,
    pub(super) pass: Phrases,
    pub(super) fail: Phrases,
    pub(super) loose_outcome: Phrases,
    pub(super) other_sense: Phrases,
    pub(super) causing: Phrases,
    pub(super) wish: Phrases,
    pub(super) vague: Phrases,
    pub(super) except: Phrases,
    pub(super) others: Phrases,
    pub(super) left_out: Phrases,
    pub(super) all_checks: Phrases,
    pub(super) removed: Phrases,
    pub(super) changed: Phrases,
    pub(super) unfinished: Phrases,
    pub(super) unchanged: Phrases,
    pub(super) spent: Phrases,
    pub(super) done: Phrases,
    pub(super) past: Phrases,
    pub(super) reported: Phrases,
    pub(super) fault: Phrases,
    pub(super) mended: Phrases,
    pub(super) intended: Phrases,
    pub(super) place: Phrases,
    pub(super) earlier: Phrases,
    pub(super) since: Phrases,
    pub(super) single: Phrases,
    pub(super) and: Phrases,
    pub(super) or: Phrases,
    pub(super) decided: Phrases,
    pub(super) decision_label: Phrases,
    pub(super) decided_by_person: Phrases,
    pub(super) mail_sender: Phrases,
    pub(super) mail_field: Phrases,
    pub(super) mail_subject: Phrases,
    pub(super) instead: Phrases,
    pub(super) anew: Phrases,
    pub(super) new_plan: Phrases,
    pub(super) announcing: Phrases,
    pub(super) reason: Phrases,
    pub(super) ambiguous_reason: Phrases,
    pub(super) permit: Phrases,
    pub(super) setting: Phrases,
    pub(super) given: Phrases,
    pub(super) tests: Phrases,
    pub(super) lint: Phrases,
    pub(super) types: Phrases,
    pub(super) build: Phrases,
    pub(super) opposite: Vec<[String; 2]>,
    pub(super) irregular: Vec<Vec<String>>,
    pub(super) endings: Vec<Endings>,
}

/// Endings of the forms of one word.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Endings {
    languages: Vec<Language>,
    /// The least letters before them.
    #[serde(default)]
    stem: usize,
    forms: HashSet<String>,
}

impl Endings {
    /// Whether words of `grammar` that begin with the same `letters` and end so are forms of one.
    pub(super) fn join(&self, grammar: Grammar, letters: usize, endings: [&str; 2]) -> bool {
        letters >= self.stem
            && self.languages.iter().any(|language| grammar.has(*language))
            && endings.iter().all(|ending| self.forms.contains(*ending))
    }
}

pub(super) static LANGUAGES: LazyLock<Languages> =
    LazyLock::new(|| toml::from_str(include_str!("languages.toml")).unwrap_or_default());

/// Phrases of several languages, as one pattern that is compiled when it is first needed.
#[derive(Default, Deserialize)]
#[serde(from = "Vec<String>")]
pub(super) struct Phrases {
    sources: Vec<String>,
    compiled: OnceLock<Option<Regex>>,
}

impl From<Vec<String>> for Phrases {
    fn from(sources: Vec<String>) -> Self {
        Self { sources, compiled: OnceLock::new() }
    }
}

impl Phrases {
    /// The pattern; `None` if the table is invalid.
    pub(super) fn pattern(&self) -> Option<&Regex> {
        self.compiled.get_or_init(|| self.compile()).as_ref()
    }

    fn compile(&self) -> Option<Regex> {
        // Chinese has no spaces between words, and a mark such as `✓` stands anywhere.
        let sources = self.sources.iter().map(String::as_str);
        let (anywhere, words): (Vec<&str>, Vec<&str>) =
            sources.partition(|source| source.contains(is_han) || !source.contains(char::is_alphanumeric));
        let anywhere = anywhere.join("|");
        let words = words.join("|");
        let pattern = match (words.is_empty(), anywhere.is_empty()) {
            (true, _) => anywhere,
            (false, true) => format!("\\b(?:{words})\\b"),
            (false, false) => format!("\\b(?:{words})\\b|{anywhere}"),
        };
        Regex::new(&pattern).ok()
    }

    /// Whether one of them is in `text`.
    pub(super) fn are_in(&self, text: &str) -> bool {
        self.pattern().is_some_and(|pattern| pattern.is_match(&lowered(text)))
    }

    /// Whether `text` is one of them.
    pub(super) fn are_all_of(&self, text: &str) -> bool {
        self.places(text) == [(0, text.len())]
    }

    /// Where the first one is in `text`.
    pub(super) fn first_in(&self, text: &str) -> Option<usize> {
        self.pattern()?.find(&lowered(text)).map(|found| found.start())
    }

    /// Where they are in `text`, each as its first and last byte.
    pub(super) fn places(&self, text: &str) -> Vec<(usize, usize)> {
        let Some(pattern) = self.pattern() else { return Vec::new() };
        pattern.find_iter(&lowered(text)).map(|found| (found.start(), found.end())).collect()
    }

    /// `text` without them.
    pub(super) fn without(&self, text: &str) -> String {
        let mut rest = text.to_owned();
        for (start, end) in self.places(text).into_iter().rev() {
            rest.replace_range(start..end, " ");
        }
        rest
    }
}

/// `text` in lower case; every byte stays where it is.
pub(super) fn lowered(text: &str) -> Cow<'_, str> {
    if !text.contains(char::is_uppercase) {
        return Cow::Borrowed(text);
    }
    let letters = text.chars().map(|c| {
        let mut letters = c.to_lowercase();
        letters.next().filter(|lower| letters.len() == 0 && lower.len_utf8() == c.len_utf8()).unwrap_or(c)
    });
    letters.collect::<String>().into()
}

/// Whether a word says nothing by itself: it may stand between a verb and a name.
pub(super) fn is_small(word: &str) -> bool {
    let word = word.to_lowercase();
    LANGUAGES.stop.contains(&word) || LANGUAGES.weak.contains(&word) || LANGUAGES.negation.first_in(&word) == Some(0)
}

/// Whether a word says what a name beside it already is, such as `file`.
pub(super) fn is_filler(word: &str) -> bool {
    LANGUAGES.filler.contains(&word.to_lowercase())
}

#[cfg(test)]
mod tests {
    use super::{LANGUAGES, Phrases};

    #[test]
    fn every_pattern_is_valid() {
        let table: toml::Table = toml::from_str(include_str!("languages.toml")).unwrap_or_default();
        let lists = table.into_iter().filter_map(|(name, list)| Some((name, list.try_into::<Vec<String>>().ok()?)));
        let mut count = 0;
        for (name, sources) in lists {
            let phrases = Phrases::from(sources);
            assert!(!phrases.sources.is_empty() && phrases.pattern().is_some(), "{name}");
            count += 1;
        }
        assert!(count > 50, "{count}");
        assert!(LANGUAGES.endings.len() > 5);
    }
}
