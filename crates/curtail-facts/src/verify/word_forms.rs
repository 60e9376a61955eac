//! Whether two words are forms of one, or opposites.

use super::languages::LANGUAGES;

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
    is_form && LANGUAGES.endings.iter().any(|endings| endings.contains(rest) && endings.contains(other_rest))
        || are_irregular(one, other)
}

/// Whether a list of irregular forms contains both words.
pub(super) fn are_irregular(one: &str, other: &str) -> bool {
    LANGUAGES.irregular.iter().any(|forms| [one, other].iter().all(|word| forms.iter().any(|form| form == word)))
}

/// The irregular forms of a word.
pub(super) fn forms(word: &str) -> impl Iterator<Item = &'static String> {
    let word = word.to_owned();
    LANGUAGES.irregular.iter().filter(move |forms| forms.contains(&word)).flatten()
}

/// Whether `one` in place of `other` gives a sentence another meaning.
pub(super) fn are_opposite(one: &str, other: &str) -> bool {
    LANGUAGES.opposite.iter().any(|pair| *pair == [one, other] || *pair == [other, one])
}

#[cfg(test)]
mod tests {
    use super::same_word;

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
}
