//! Words of a POSIX shell.

/// `text` as one word of a POSIX shell. A leading `-`, which a command would take for a flag, follows `./`.
#[must_use]
pub fn word(text: &str) -> String {
    if text.starts_with('-') { quoted(&format!("./{text}")) } else { quoted(text) }
}

/// `text` as one word of a POSIX shell, or the end of one.
pub(crate) fn quoted(text: &str) -> String {
    match !text.is_empty() && text.chars().all(|c| c.is_alphanumeric() || "%+,-./:=@_".contains(c)) {
        true => text.to_owned(),
        false => format!("'{}'", text.replace('\'', "'\\''")),
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
