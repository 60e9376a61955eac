//! Whether a sentence says that something is so or not so.

use super::languages::LANGUAGES;

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
