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
