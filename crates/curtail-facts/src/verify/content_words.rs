//! The words that carry a statement.

use super::languages::LANGUAGES;
use super::lexicon::han_pairs;
use super::tokens::{Class, tokens};

/// The words of a statement that carry it, in lower case.
pub(super) fn content_words(text: &str) -> Vec<String> {
    let carries = |word: &String| {
        !LANGUAGES.stop.contains(word)
            && LANGUAGES.rule.first_in(word) != Some(0)
            && LANGUAGES.negation.first_in(word) != Some(0)
    };
    let words = tokens(text).into_iter().filter(|token| !token.inner).flat_map(|token| match token.class {
        Class::Word => vec![token.text.to_lowercase()],
        Class::Han => han_pairs(token.text),
        Class::Name => vec![token.text.to_owned()],
    });
    words.filter(carries).collect()
}
