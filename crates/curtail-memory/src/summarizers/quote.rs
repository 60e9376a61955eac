//! Quotes what a server or a program answered.

use curtail_core::visible::{first_words, one_line};

/// The first 500 characters of an answer on one line, safe to print on a terminal.
pub(super) fn quote(answer: &[u8]) -> String {
    const SHOWN: usize = 500;
    let shown = first_words(&String::from_utf8_lossy(answer), SHOWN, char::is_whitespace);
    if shown.is_empty() { String::from("(nothing)") } else { one_line(&shown).into_owned() }
}

#[cfg(test)]
mod tests {
    use super::quote;

    #[test]
    fn quotes_are_short_and_harmless() {
        assert_eq!(quote(b"  no\x1b[2Jway\n  out\n"), "no⟨U+001B⟩[2Jway out");
        assert_eq!(quote("a\u{202e}b ##[error]c".as_bytes()), "a⟨U+202E⟩b #⟨U+0023⟩[error]c");
        assert_eq!(quote(b" "), "(nothing)");
        assert_eq!(quote("é".repeat(600).as_bytes()).chars().count(), 500);
        assert_eq!(quote(&[0xff]), "\u{fffd}");
    }
}
