//! The language of a text: a statement in another one may be a translation.

use foldhash::HashSet;
use serde::Deserialize;

use super::tokens::is_han;

/// The language of a text, as far as it has to be told from others: by its script, or by its most frequent small words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Language {
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

/// The most frequent small words of each language; a few are words of two of them.
const SMALL_WORDS: &[(Language, &[&str])] = &[
    (
        Language::English,
        &[
            "the", "of", "and", "is", "was", "to", "with", "for", "never", "always", "user", "wants", "do", "not",
            "be", "are", "must", "should", "this", "that", "all", "any", "you", "it", "from", "into",
        ],
    ),
    (
        Language::German,
        &[
            "der", "die", "das", "und", "ist", "nicht", "nie", "ein", "eine", "für", "mit", "immer", "niemals", "den",
            "im",
        ],
    ),
    (
        Language::French,
        &["le", "les", "et", "est", "une", "du", "pour", "dans", "ne", "pas", "jamais", "toujours", "la", "des"],
    ),
    (Language::Spanish, &["el", "los", "las", "y", "es", "una", "para", "con", "nunca", "siempre", "del", "por", "la"]),
    (
        Language::Portuguese,
        &["o", "os", "e", "é", "uma", "para", "com", "nunca", "sempre", "não", "do", "da", "em", "ao"],
    ),
];

/// The language of `text`; `None` if it has too few words.
pub(super) fn language_of(text: &str) -> Option<Language> {
    by_script(text).or_else(|| by_small_words(text).first().map(|(language, _)| *language))
}

/// The language that a script alone tells.
fn by_script(text: &str) -> Option<Language> {
    if text.contains(|c: char| matches!(c, '\u{3040}'..='\u{30ff}')) {
        return Some(Language::Japanese);
    }
    if text.contains(|c: char| matches!(c, '\u{ac00}'..='\u{d7a3}')) {
        return Some(Language::Korean);
    }
    if text.contains(is_han) {
        return Some(Language::Chinese);
    }
    text.contains(|c: char| matches!(c, 'а'..='я')).then_some(Language::Russian)
}

/// The languages of which `text` has the most small words, each with how many different ones. `e2e` is one word.
fn by_small_words(text: &str) -> Vec<(Language, usize)> {
    let words: HashSet<String> = text
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .take(400)
        .map(str::to_lowercase)
        .collect();
    let mut scores: Vec<(Language, usize)> = SMALL_WORDS
        .iter()
        .map(|(language, small)| (*language, words.iter().filter(|word| small.contains(&word.as_str())).count()))
        .collect();
    let most = scores.iter().map(|(_, score)| *score).max().unwrap_or_default();
    scores.retain(|(_, score)| *score == most && most > 0);
    scores
}

/// The languages by whose endings the words of a text are inflected: one, unless that is uncertain.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Grammar(u16);

impl Default for Grammar {
    fn default() -> Self {
        Self::only(Language::English)
    }
}

/// The small words by which the language of a text is certain, whatever is said around it.
const CERTAIN: usize = 2;

impl Grammar {
    /// No language.
    pub(super) const NONE: Self = Self(0);

    pub(super) const fn only(language: Language) -> Self {
        Self(1 << language as u16)
    }

    const fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    pub(super) const fn has(self, language: Language) -> bool {
        self.0 & Self::only(language).0 != 0
    }

    /// The languages of `text`. If it has too few small words, they may be those of what is said `around` it, and English: names
    /// and words of the work are English in every language.
    pub(super) fn of(text: &str, around: Self) -> Self {
        let likely = by_small_words(text);
        let has_other = by_script(text).map_or(Self::NONE, Self::only);
        let is_certain = likely.iter().any(|(_, score)| *score >= CERTAIN);
        let known = likely.iter().fold(has_other, |known, (language, _)| known.and(Self::only(*language)));
        match is_certain {
            // Of languages that share small words, it is the one around it.
            true if likely.iter().any(|(language, _)| around.has(*language)) => {
                Self(known.0 & (around.0 | has_other.0))
            }
            true => known,
            false => known.and(around).and(if likely.is_empty() { Self::default() } else { Self::NONE }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Grammar, Language, language_of};

    #[test]
    fn languages_are_told_apart() {
        for (text, expected) in [
            ("Never commit to the main branch", Language::English),
            ("Ändere nie die Dateien im Ordner", Language::German),
            ("Traduis le manuel et les notes", Language::French),
            ("El pedido es para el cliente", Language::Spanish),
            ("修复登录问题", Language::Chinese),
            ("ログインを修正", Language::Japanese),
            ("Corrija o erro e não altere os testes", Language::Portuguese),
            ("Исправь ошибку", Language::Russian),
            ("로그인 오류", Language::Korean),
        ] {
            assert_eq!(language_of(text), Some(expected), "{text}");
        }
    }

    #[test]
    fn words_are_inflected_as_in_their_language() {
        let german = Grammar::only(Language::German);
        let spanish = Grammar::only(Language::Spanish);
        let english = Grammar::only(Language::English);
        for (text, around, expected) in [
            ("Never delete the data in the cache", german, english),
            ("Do not touch vendor/", german, english),
            ("Anführungszeichen behandeln", german, german.and(english)),
            ("cargo test -o json", german, german.and(Grammar::only(Language::Portuguese))),
            ("Cambia la carpeta para los clientes", english, spanish),
            ("Cambia la carpeta", spanish, spanish.and(Grammar::only(Language::French))),
            ("Rename the column имя to name", english, english.and(Grammar::only(Language::Russian))),
            ("fix login", Grammar::NONE, english),
        ] {
            assert_eq!(Grammar::of(text, around), expected, "{text}");
        }
    }
}
