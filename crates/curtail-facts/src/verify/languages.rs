//! The table of words by which rules, states and decisions are recognized, `languages.toml`.

use std::borrow::Cow;
use std::sync::{LazyLock, OnceLock};

use foldhash::HashSet;
use regex::Regex;
use serde::Deserialize;

use super::tokens::is_han;

/// The words of every language; `languages.toml` describes the fields.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Languages {
    pub(super) stop: HashSet<String>,
    pub(super) weak: HashSet<String>,
    pub(super) filler: HashSet<String>,
    pub(super) silent: Vec<String>,
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
    pub(super) other_sense: Phrases,
    pub(super) causing: Phrases,
    pub(super) wish: Phrases,
    pub(super) vague: Phrases,
    pub(super) removed: Phrases,
    pub(super) changed: Phrases,
    pub(super) unchanged: Phrases,
    pub(super) done: Phrases,
    pub(super) fault: Phrases,
    pub(super) mended: Phrases,
    pub(super) intended: Phrases,
    pub(super) place: Phrases,
    pub(super) earlier: Phrases,
    pub(super) single: Phrases,
    pub(super) and: Phrases,
    pub(super) or: Phrases,
    pub(super) decided: Phrases,
    pub(super) mail_sender: Phrases,
    pub(super) mail_field: Phrases,
    pub(super) mail_subject: Phrases,
    pub(super) instead: Phrases,
    pub(super) anew: Phrases,
    pub(super) new_plan: Phrases,
    pub(super) announcing: Phrases,
    pub(super) reason: Phrases,
    pub(super) permit: Phrases,
    pub(super) setting: Phrases,
    pub(super) tests: Phrases,
    pub(super) lint: Phrases,
    pub(super) types: Phrases,
    pub(super) build: Phrases,
    opposite: Vec<[String; 2]>,
    irregular: Vec<Vec<String>>,
    endings: Vec<HashSet<String>>,
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
        let compile = || {
            let (anywhere, words): (Vec<&String>, Vec<&String>) = self
                .sources
                .iter()
                .partition(|source| source.chars().any(|c| is_han(c) || !c.is_alphanumeric() && !c.is_ascii()));
            let join = |sources: &[&String]| sources.iter().map(|source| source.as_str()).collect::<Vec<_>>().join("|");
            let whole = (!words.is_empty()).then(|| format!("\\b(?:{})\\b", join(&words)));
            let anywhere = (!anywhere.is_empty()).then(|| join(&anywhere));
            Regex::new(&whole.into_iter().chain(anywhere).collect::<Vec<_>>().join("|")).ok()
        };
        self.compiled.get_or_init(compile).as_ref()
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
    let lower = |c: char| {
        let mut letters = c.to_lowercase();
        letters.next().filter(|lower| letters.len() == 0 && lower.len_utf8() == c.len_utf8()).unwrap_or(c)
    };
    text.chars().map(lower).collect::<String>().into()
}

/// Whether a sentence says that something is not so: it has an odd number of negations.
pub(super) fn negates(text: &str) -> bool {
    let words = negations(text);
    // `ne … pas` is one negation.
    let pairs = words.windows(2).filter(|pair| is_ne(pair[0]) && !is_ne(pair[1])).count();
    // So is `no … nunca`.
    let concord = words.iter().filter(|word| LANGUAGES.concord.are_in(word)).count();
    let plain = words.iter().filter(|word| is_plain_negation(word)).count();
    let joined = if concord > 0 { concord + plain - 1 } else { 0 };
    (words.len() - pairs.max(joined) + LANGUAGES.undoing.places(text).len()) % 2 == 1
}

/// Whether a word says nothing by itself: it may stand between a verb and a name.
pub(super) fn is_small(word: &str) -> bool {
    let word = word.to_lowercase();
    LANGUAGES.stop.contains(&word) || LANGUAGES.weak.contains(&word) || LANGUAGES.negation.first_in(&word) == Some(0)
}

/// The words of a sentence that negate.
fn negations(text: &str) -> Vec<&str> {
    // `No, …` answers what was said before.
    let answers = |(start, end): &(usize, usize)| *start == 0 && text[*end..].starts_with([',', '，']);
    let places = LANGUAGES.negation.places(text).into_iter().filter(|place| !answers(place));
    let words = places.map(|(start, end)| &text[start..end]);
    // In Portuguese, `no` is `in the`.
    let is_in = |word: &&str| !(word.eq_ignore_ascii_case("no") && is_portuguese(text));
    words.filter(is_in).collect()
}

/// Whether a word negates in a language where another negation beside it changes nothing.
fn is_plain_negation(word: &str) -> bool {
    ["no", "não", "non", "не"].contains(&word.to_lowercase().as_str())
}

/// Whether a sentence has letters or words of Portuguese.
fn is_portuguese(text: &str) -> bool {
    let is_word = |word: &str| ["você", "uma", "ao", "pelo", "pela", "nos", "nas"].contains(&word);
    text.contains(['ã', 'õ', 'ç']) || text.split(|c: char| !c.is_alphabetic()).any(is_word)
}

fn is_ne(word: &str) -> bool {
    word.eq_ignore_ascii_case("ne") || word.starts_with(['n', 'N']) && word[1..].starts_with(['\'', '’'])
}

/// Whether `one` in place of `other` gives a sentence another meaning.
pub(super) fn are_opposite(one: &str, other: &str) -> bool {
    let is_pair = |pair: &[String; 2]| pair[0] == one && pair[1] == other || pair[0] == other && pair[1] == one;
    LANGUAGES.opposite.iter().any(is_pair)
}

/// A German participle without its first syllable: `geändert` is a form of `ändern`.
pub(super) fn without_ge(word: &str) -> &str {
    let rest = word.strip_prefix("ge").filter(|rest| rest.len() >= 4 && (rest.ends_with('t') || rest.ends_with("en")));
    rest.unwrap_or(word)
}

/// Whether two words, in lower case, are forms of one.
pub(super) fn same_word(one: &str, other: &str) -> bool {
    if one == other {
        return true;
    }
    let bare = without_ge(one);
    let other_bare = without_ge(other);
    if bare.len() + other_bare.len() < one.len() + other.len() && same_word(bare, other_bare) {
        return true;
    }
    let shared: usize = one.chars().zip(other.chars()).take_while(|(a, b)| a == b).map(|(a, _)| a.len_utf8()).sum();
    let (rest, other_rest) = (&one[shared..], &other[shared..]);
    let letters = one[..shared].chars().count();
    let is_long = letters >= 4 || letters == 3 && rest.len().min(other_rest.len()) <= 1;
    let is_form = is_long && letters * 2 >= one.chars().count().max(other.chars().count());
    let are_endings = || LANGUAGES.endings.iter().any(|endings| endings.contains(rest) && endings.contains(other_rest));
    is_form && are_endings() || are_irregular(one, other)
}

/// Whether a list of irregular forms contains both words.
pub(super) fn are_irregular(one: &str, other: &str) -> bool {
    let has = |forms: &[String], word: &str| forms.iter().any(|form| form == word);
    LANGUAGES.irregular.iter().any(|forms| has(forms, one) && has(forms, other))
}

/// The irregular forms of a word.
pub(super) fn forms(word: &str) -> impl Iterator<Item = &'static String> {
    let word = word.to_owned();
    LANGUAGES.irregular.iter().filter(move |forms| forms.contains(&word)).flatten()
}

/// The language of a text, as far as it has to be told from others: by its script, or by its most frequent small words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Tongue {
    English,
    German,
    French,
    Spanish,
    Portuguese,
    Russian,
    Chinese,
    Japanese,
    Korean,
}

/// Small words that no other of these languages has.
const SMALL_WORDS: &[(Tongue, &[&str])] = &[
    (Tongue::English, &["the", "of", "and", "is", "was", "to", "with", "for", "never", "always", "user", "wants"]),
    (
        Tongue::German,
        &[
            "der", "die", "das", "und", "ist", "nicht", "nie", "ein", "eine", "für", "mit", "immer", "niemals", "den",
            "im",
        ],
    ),
    (
        Tongue::French,
        &["le", "les", "et", "est", "une", "du", "pour", "dans", "ne", "pas", "jamais", "toujours", "la", "des"],
    ),
    (Tongue::Spanish, &["el", "los", "las", "y", "es", "una", "para", "con", "nunca", "siempre", "del", "por", "la"]),
    (
        Tongue::Portuguese,
        &["o", "os", "e", "é", "uma", "para", "com", "nunca", "sempre", "não", "do", "da", "em", "ao"],
    ),
];

/// The language of `text`; `None` if it has too few words.
pub(super) fn tongue(text: &str) -> Option<Tongue> {
    if text.contains(|c: char| matches!(c, '\u{3040}'..='\u{30ff}')) {
        return Some(Tongue::Japanese);
    }
    if text.contains(|c: char| matches!(c, '\u{ac00}'..='\u{d7a3}')) {
        return Some(Tongue::Korean);
    }
    if text.contains(is_han) {
        return Some(Tongue::Chinese);
    }
    if text.contains(|c: char| matches!(c, 'а'..='я')) {
        return Some(Tongue::Russian);
    }
    let words: Vec<String> = text
        .split(|c: char| !c.is_alphabetic())
        .filter(|word| !word.is_empty())
        .take(400)
        .map(str::to_lowercase)
        .collect();
    let scores = SMALL_WORDS
        .iter()
        .map(|(tongue, small)| (words.iter().filter(|word| small.contains(&word.as_str())).count(), *tongue));
    let mut best = None;
    for (score, tongue) in scores {
        if score > best.map_or(0, |(most, _)| most) {
            best = Some((score, tongue));
        }
    }
    best.map(|(_, tongue)| tongue)
}

#[cfg(test)]
mod tests {
    use super::{LANGUAGES, Tongue, negates, same_word, tongue};

    #[test]
    fn every_pattern_is_valid() {
        let all = [
            &LANGUAGES.negation, &LANGUAGES.concord, &LANGUAGES.present, &LANGUAGES.reason, &LANGUAGES.undoing,
            &LANGUAGES.rule, &LANGUAGES.story, &LANGUAGES.order, &LANGUAGES.condition, &LANGUAGES.object,
            &LANGUAGES.order_end, &LANGUAGES.ban, &LANGUAGES.telling, &LANGUAGES.rule_heading, &LANGUAGES.todo_heading,
            &LANGUAGES.done_heading, &LANGUAGES.every, &LANGUAGES.pass, &LANGUAGES.fail, &LANGUAGES.other_sense,
            &LANGUAGES.causing, &LANGUAGES.wish, &LANGUAGES.vague, &LANGUAGES.removed, &LANGUAGES.changed,
            &LANGUAGES.unchanged, &LANGUAGES.done, &LANGUAGES.place, &LANGUAGES.earlier, &LANGUAGES.single,
            &LANGUAGES.and, &LANGUAGES.or, &LANGUAGES.decided, &LANGUAGES.instead, &LANGUAGES.anew,
            &LANGUAGES.new_plan, &LANGUAGES.permit, &LANGUAGES.announcing, &LANGUAGES.setting, &LANGUAGES.tests,
            &LANGUAGES.lint, &LANGUAGES.types, &LANGUAGES.build, &LANGUAGES.mail_sender, &LANGUAGES.mail_field,
            &LANGUAGES.mail_subject,
        ];
        for (number, phrases) in all.iter().enumerate() {
            assert!(!phrases.sources.is_empty() && phrases.pattern().is_some(), "{number}");
        }
    }

    #[test]
    fn forms_of_one_word() {
        for (one, other) in [
            ("commit", "committed"),
            ("use", "used"),
            ("test", "tests"),
            ("run", "ran"),
            ("ändere", "ändern"),
            ("ändere", "geändert"),
            ("папка", "папке"),
            ("запускай", "запускать"),
            ("исправить", "исправление"),
            ("alterar", "altere"),
        ] {
            assert!(same_word(one, other), "{one} {other}");
        }
        for (one, other) in [
            ("internet", "interest"),
            ("main", "maintain"),
            ("never", "nevertheless"),
            ("port", "portal"),
            ("comma", "comment"),
            ("data", "dated"),
            ("порт", "портал"),
        ] {
            assert!(!same_word(one, other), "{one} {other}");
        }
    }

    #[test]
    fn two_negations_are_none() {
        for text in [
            "Never push",
            "N'utilise pas jQuery",
            "不要修改",
            "No se deben prometer nunca",
            "Никогда не меняй",
            "Não diga nada",
        ] {
            assert!(negates(text), "{text}");
        }
        assert!(!negates("Grave os dados no banco, ao lado das funções"));
        assert!(!negates("Push it") && !negates("Don't forget to push") && !negates("修改"));
    }

    #[test]
    fn languages_are_told_apart() {
        for (text, expected) in [
            ("Never commit to the main branch", Tongue::English),
            ("Ändere nie die Dateien im Ordner", Tongue::German),
            ("Traduis le manuel et les notes", Tongue::French),
            ("El pedido es para el cliente", Tongue::Spanish),
            ("修复登录问题", Tongue::Chinese),
            ("ログインを修正", Tongue::Japanese),
            ("Corrija o erro e não altere os testes", Tongue::Portuguese),
            ("Исправь ошибку", Tongue::Russian),
            ("로그인 오류", Tongue::Korean),
        ] {
            assert_eq!(tongue(text), Some(expected), "{text}");
        }
    }
}
