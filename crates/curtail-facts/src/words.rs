//! Words inside names, and names inside texts: each is whole, and not a part of a longer one.

/// The words of which a name consists: `multiEdit`, `edit_file` and `edit-file` contain `edit`.
pub fn name_words(name: &str) -> Vec<String> {
    let mut words: Vec<String> = vec![String::new()];
    let mut before_is_lower = false;
    for letter in name.chars() {
        if !letter.is_alphanumeric() || letter.is_uppercase() && before_is_lower {
            words.push(String::new());
        }
        before_is_lower = letter.is_lowercase();
        if let Some(word) = words.last_mut().filter(|_| letter.is_alphanumeric()) {
            word.extend(letter.to_lowercase());
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

/// Whether one of the words is listed.
pub(super) fn has_any(words: &[String], listed: &[&str]) -> bool {
    words.iter().any(|word| listed.contains(&word.as_str()))
}

/// Whether a text contains a word or a path as a whole, and not inside a longer one.
pub(super) fn has_whole(text: &str, name: &str) -> bool {
    text.match_indices(name).any(|(at, _)| !text[..at].ends_with(joins) && !text[at + name.len()..].starts_with(joins))
}

/// Whether `c` may be in one word with the character beside it. Chinese and Japanese have no spaces between words.
fn joins(c: char) -> bool {
    c == '_' || c.is_alphanumeric() && c < '\u{2e80}'
}

#[cfg(test)]
mod tests {
    use super::{has_whole, name_words};

    #[test]
    fn a_name_has_its_words() {
        assert_eq!(name_words("multiEdit-file_now"), ["multi", "edit", "file", "now"]);
        assert_eq!(name_words("fetch:latest"), ["fetch", "latest"]);
    }

    #[test]
    fn a_name_inside_a_longer_one_is_another() {
        for (text, name) in
            [("a gate opens", "gate"), ("gate-keeper", "gate"), ("测试gate通过", "gate"), ("x/a.py::b", "a.py")]
        {
            assert!(has_whole(text, name), "{text}");
        }
        for (text, name) in [("we navigate", "gate"), ("tests/unit_slow/a.py", "tests/unit"), ("aa.py", "a.py")] {
            assert!(!has_whole(text, name), "{text}");
        }
    }
}
