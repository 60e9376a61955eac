//! The language of a text: a statement in another one may be a translation.

use foldhash::HashSet;
use serde::Deserialize;

use super::tokens::is_han;

/// The language of a text, as far as it has to be told from others: by its script, or by its most frequent small words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Deserialize)]
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

/// The languages by whose endings the words of a text are inflected: English, because names and words of the work are English in every
/// language, and at most one other.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub(super) struct Grammar(pub(super) Option<Language>);

/// The English words by which a text is certainly in English: a few are in texts of any language.
const CERTAIN: usize = 2;

impl Grammar {
    pub(super) fn has(self, language: Language) -> bool {
        language == Language::English || self.0 == Some(language)
    }

    /// The languages of `text`: those of what is said `around` it if it has too few small words, or if that language shares them.
    pub(super) fn of(text: &str, around: Self) -> Self {
        if let Some(language) = by_script(text) {
            return Self(Some(language));
        }
        let likely = by_small_words(text);
        let other = likely.iter().map(|(language, _)| *language).find(|language| *language != Language::English);
        let is_certain = other.is_some() || likely.iter().any(|(_, score)| *score >= CERTAIN);
        if !is_certain || likely.iter().any(|(language, _)| around.0 == Some(*language)) { around } else { Self(other) }
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
        let [english, german, spanish, russian] =
            [None, Some(Language::German), Some(Language::Spanish), Some(Language::Russian)].map(Grammar);
        for (text, around, expected) in [
            ("Never delete the data in the cache", german, english),
            ("Anführungszeichen behandeln", german, german),
            ("Cambia la carpeta para los clientes", english, spanish),
            ("Cambia la carpeta", spanish, spanish),
            ("Rename the column имя to name", english, russian),
            ("fix login", english, english),
        ] {
            assert_eq!(Grammar::of(text, around), expected, "{text}");
        }
    }
}
