//! Whether a sentence says that something is so or not so, and that something was done or is only to be done.

use super::languages::{LANGUAGES, Phrases};

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

/// The words of a sentence that negate.
fn negations(text: &str) -> Vec<&str> {
    let mut places = LANGUAGES.negation.places(text);
    // `No, …` answers what was said before.
    places.retain(|(start, end)| *start > 0 || !text[*end..].starts_with([',', '，']));
    let mut words: Vec<&str> = places.into_iter().map(|(start, end)| &text[start..end]).collect();
    // In Portuguese, `no` is `in the`.
    words.retain(|word| !(word.eq_ignore_ascii_case("no") && is_portuguese(text)));
    words
}

/// Whether a word negates in a language where another negation beside it changes nothing.
fn is_plain_negation(word: &str) -> bool {
    ["no", "não", "non", "не"].contains(&word.to_lowercase().as_str())
}

/// Whether a sentence has letters or words of Portuguese.
fn is_portuguese(text: &str) -> bool {
    let mut words = text.split(|c: char| !c.is_alphabetic());
    text.contains(['ã', 'õ', 'ç'])
        || words.any(|word| ["você", "uma", "ao", "pelo", "pela", "nos", "nas"].contains(&word))
}

fn is_ne(word: &str) -> bool {
    word.eq_ignore_ascii_case("ne") || word.starts_with(['n', 'N']) && word[1..].starts_with(['\'', '’'])
}

/// How many words before a verb say that it is to be done.
const INTENDED_REACH: usize = 3;

/// Whether one of some verbs in a text says that something was done: in a form that tells what is over, and without words before it
/// by which it is only to be done.
pub(super) fn is_done(text: &str, verbs: &Phrases) -> bool {
    let mut places = verbs.places(text).into_iter();
    places.any(|(start, end)| !is_intended_at(text, start) && !LANGUAGES.unfinished.are_all_of(&text[start..end]))
}

/// Whether words before each of some verbs in a text say that it is to be done.
pub(super) fn is_intended(text: &str, verbs: &Phrases) -> bool {
    verbs.places(text).into_iter().all(|(start, _)| is_intended_at(text, start))
}

/// Whether words before the verb at a place say that it is to be done.
fn is_intended_at(text: &str, verb: usize) -> bool {
    let before = &text[..verb];
    let begins = before.trim_end().rmatch_indices(' ').nth(INTENDED_REACH - 1).map_or(0, |(at, _)| at);
    [&LANGUAGES.intended, &LANGUAGES.wish].iter().any(|table| table.are_in(&before[begins..]))
}

#[cfg(test)]
mod tests {
    use super::negates;

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
        assert!(!negates("Always keep Python's indentation") && negates("On n’édite pas"));
        assert!(!negates("Push it") && !negates("Don't forget to push") && !negates("修改"));
    }
}
