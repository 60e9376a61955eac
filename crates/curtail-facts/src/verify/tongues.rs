//! The language of a text: a statement in another one may be a translation.

use super::tokens::is_han;

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

/// The most frequent small words of each language; a few are words of two of them.
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
    use super::{Tongue, tongue};

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
