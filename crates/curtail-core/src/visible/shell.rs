//! Words of a POSIX shell.

/// `text` as one word of a POSIX shell. A leading `-`, which a command would take for a flag, follows `./`.
#[must_use]
pub fn word(text: &str) -> String {
    let flag = if text.starts_with('-') { "./" } else { "" };
    match !text.is_empty() && text.chars().all(|c| c.is_alphanumeric() || "%+,-./:=@_".contains(c)) {
        true => format!("{flag}{text}"),
        false => format!("'{flag}{}'", text.replace('\'', "'\\''")),
    }
}

#[cfg(test)]
mod tests {
    use super::word;

    #[test]
    fn a_word_is_one_word() {
        for (text, quoted) in [
            ("a/b-1.json", "a/b-1.json"),
            ("a b", "'a b'"),
            ("it's", "'it'\\''s'"),
            ("$(id)", "'$(id)'"),
            ("-rf", "./-rf"),
            ("-r f", "'./-r f'"),
            ("~", "'~'"),
            ("", "''"),
            ("größe", "größe"),
        ] {
            assert_eq!(word(text), quoted);
        }
    }
}
