//! Quotes what a server or a program answered.

use curtail_core::visible::cut_after;

/// The first 500 characters of an answer, safe to print on a terminal.
pub(super) fn quote(answer: &[u8]) -> String {
    const SHOWN: usize = 500;
    let text = String::from_utf8_lossy(answer);
    let mut shown: String = cut_after(text.trim(), SHOWN).chars().map(visible).collect();
    if shown.is_empty() {
        shown.push_str("(nothing)");
    }
    shown
}

/// Replaces control characters, which could move the cursor or hide text, with a space.
fn visible(c: char) -> char {
    if c.is_control() { ' ' } else { c }
}

#[cfg(test)]
mod tests {
    use super::quote;

    #[test]
    fn quotes_are_short_and_harmless() {
        assert_eq!(quote(b"  no\x1b[2Jway\n"), "no [2Jway");
        assert_eq!(quote(b""), "(nothing)");
        assert_eq!(quote("é".repeat(600).as_bytes()).chars().count(), 501);
        assert_eq!(quote(&[0xff]), "\u{fffd}");
    }
}
