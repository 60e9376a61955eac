//! Whether two words are forms of one, or opposites.

use super::grammar::{Grammar, Language};
use super::languages::LANGUAGES;

/// A German participle without its first syllable: `geändert` is a form of `ändern`.
pub(super) fn without_ge(word: &str) -> &str {
    let rest = word.strip_prefix("ge").filter(|rest| rest.len() >= 4 && (rest.ends_with('t') || rest.ends_with("en")));
    rest.unwrap_or(word)
}

/// Whether two words, in lower case, are forms of one in the languages of `grammar`.
pub(super) fn same_word(one: &str, other: &str, grammar: Grammar) -> bool {
    if one == other {
        return true;
    }
    let bare = without_ge(one);
    let other_bare = without_ge(other);
    let is_participle = bare.len() + other_bare.len() < one.len() + other.len() && grammar.has(Language::German);
    if is_participle && same_word(bare, other_bare, grammar) {
        return true;
    }
    let shared: usize = one.chars().zip(other.chars()).take_while(|(a, b)| a == b).map(|(a, _)| a.len_utf8()).sum();
    let rest = &one[shared..];
    let other_rest = &other[shared..];
    let letters = one[..shared].chars().count();
    let is_long = letters >= 4 || letters == 3 && rest.len().min(other_rest.len()) <= 1;
    let is_form = is_long && letters * 2 >= one.chars().count().max(other.chars().count());
    is_form && LANGUAGES.endings.iter().any(|endings| endings.join(grammar, letters, [rest, other_rest]))
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
    use super::super::grammar::{Grammar, Language};
    use super::same_word;

    #[test]
    fn forms_of_one_word() {
        for (language, one, other) in [
            (Language::English, "commit", "committed"),
            (Language::English, "use", "used"),
            (Language::English, "change", "changing"),
            (Language::English, "policy", "policies"),
            (Language::English, "migrate", "migration"),
            (Language::English, "configure", "configuration"),
            (Language::English, "deploy", "deployment"),
            (Language::English, "direct", "directly"),
            (Language::English, "take", "taken"),
            (Language::English, "test", "tests"),
            (Language::English, "run", "ran"),
            (Language::German, "ändere", "ändern"),
            (Language::German, "ändere", "geändert"),
            (Language::Russian, "папка", "папке"),
            (Language::Russian, "запускай", "запускать"),
            (Language::Russian, "исправить", "исправление"),
            (Language::Portuguese, "alterar", "altere"),
            (Language::French, "importer", "important"),
        ] {
            assert!(same_word(one, other, Grammar(Some(language))), "{one} {other}");
        }
        for (language, one, other) in [
            (Language::English, "internet", "interest"),
            (Language::English, "main", "maintain"),
            (Language::English, "never", "nevertheless"),
            (Language::English, "port", "portal"),
            (Language::English, "comma", "comment"),
            (Language::English, "data", "dated"),
            (Language::English, "data", "date"),
            (Language::English, "import", "important"),
            (Language::English, "state", "station"),
            (Language::English, "form", "former"),
            (Language::English, "plan", "planet"),
            (Language::English, "policy", "police"),
            (Language::English, "number", "numb"),
            (Language::English, "director", "directory"),
            (Language::English, "point", "pointer"),
            (Language::English, "local", "locale"),
            (Language::English, "list", "listen"),
            (Language::English, "alterar", "altere"),
            (Language::Russian, "порт", "портал"),
        ] {
            assert!(!same_word(one, other, Grammar(Some(language))), "{one} {other}");
        }
    }
}
