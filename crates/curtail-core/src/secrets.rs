//! Secrets in texts for people, in every spelling in which a server or a program may repeat them.

use std::borrow::Cow;
use std::fmt::{self, Write as _};

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};

use crate::json::quote;

/// Replaces a secret.
const MASK: &str = "***";

/// Shorter secrets are masked only as they are written, because other spellings of them would be parts of words everywhere.
const SHORTEST_ENCODED: usize = 8;

/// So many backslashes are read before a character: JSON in JSON, six deep. Each of a long run is the first of those behind it.
const MOST_BACKSLASHES: usize = 64;

/// A text that no message may show.
#[derive(Clone)]
pub struct Secret {
    text: String,
    /// Spellings of the whole text.
    spellings: Vec<String>,
    /// The bytes with which a spelling can begin.
    begins: [bool; 256],
}

/// Does not show it.
impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(…)")
    }
}

impl Secret {
    /// The secret `text`, which must not be empty.
    #[must_use]
    pub fn new(text: &str) -> Self {
        let quoted = quote(text);
        let mut spellings = vec![text.to_owned(), quoted[1..quoted.len() - 1].to_owned()];
        if text.len() >= SHORTEST_ENCODED {
            spellings.extend((0..3).flat_map(|shift| in_base64(text, shift)));
            let hexadecimal = text.bytes().fold(String::new(), |mut all, byte| {
                // Writing to a String cannot fail.
                let _ = write!(all, "{byte:02x}");
                all
            });
            spellings.extend([hexadecimal.to_uppercase(), hexadecimal]);
        }
        let mut begins = [false; 256];
        let first = text.bytes().next().unwrap_or_default();
        let own = [first, first.to_ascii_lowercase(), first.to_ascii_uppercase(), b'%', b'&', b'\\'];
        let others = spellings.iter().filter_map(|spelling| spelling.bytes().next());
        own.into_iter().chain(others).for_each(|byte| begins[usize::from(byte)] = true);
        Self { text: text.to_owned(), spellings, begins }
    }

    /// Whether it is the secret `text`.
    #[must_use]
    pub fn is(&self, text: &str) -> bool {
        self.text == text
    }

    /// The number of bytes that it has.
    #[must_use]
    pub const fn bytes(&self) -> usize {
        self.text.len()
    }

    /// `text` with every spelling of the secret masked.
    #[must_use]
    pub fn mask<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let mut masked = String::new();
        let mut copied = 0;
        let mut at = 0;
        while let Some(next) = text.as_bytes()[at..].iter().position(|byte| self.begins[usize::from(*byte)]) {
            at += next;
            if let Some(end) = self.end(text, at) {
                masked.push_str(&text[copied..at]);
                masked.push_str(MASK);
                (copied, at) = (end, end);
            } else {
                at += 1;
            }
        }
        if copied == 0 {
            return Cow::Borrowed(text);
        }
        masked.push_str(&text[copied..]);
        Cow::Owned(masked)
    }

    /// Where the secret ends that begins at `at`, if one does.
    fn end(&self, text: &str, at: usize) -> Option<usize> {
        let rest = text.get(at..)?;
        let whole = self.spellings.iter().filter(|spelling| rest.starts_with(spelling.as_str())).map(String::len).max();
        if let Some(length) = whole {
            return Some(at + length);
        }
        if self.text.len() < SHORTEST_ENCODED {
            return None;
        }
        let mut left = rest;
        for c in self.text.chars() {
            // The first character begins here, so that what is before the secret stays.
            let visible = if left.len() == rest.len() { left } else { left.trim_start_matches(is_invisible) };
            left = after(visible, c)?;
        }
        Some(text.len() - left.len())
    }
}

/// What follows the character `c` with which `text` begins, however it is spelled.
fn after(text: &str, c: char) -> Option<&str> {
    let first = text.chars().next()?;
    let encoded = match first {
        '%' => after_percent(&text[1..]),
        '&' => after_ampersand(&text[1..]),
        '\\' => after_backslash(behind_backslashes(text), c),
        _ => None,
    };
    let literal = Some((first, &text[first.len_utf8()..]));
    let mut readings = encoded.into_iter().chain(literal);
    readings.find(|(found, _)| found.eq_ignore_ascii_case(&c)).map(|(_, rest)| rest)
}

/// `%2F`, and `%252F` where it was encoded twice.
fn after_percent(digits: &str) -> Option<(char, &str)> {
    let mut digits = digits;
    while let Some(inner) = digits.strip_prefix("25").filter(|inner| from_hexadecimal(inner, 2).is_some()) {
        digits = inner;
    }
    from_hexadecimal(digits, 2)
}

/// `&#x2F;`, `&#47;`, `&quot;`, and `&amp;quot;` where it was escaped twice.
fn after_ampersand(text: &str) -> Option<(char, &str)> {
    let mut text = text;
    while let Some(inner) = text.strip_prefix("amp;").filter(|inner| after_entity(inner).is_some()) {
        text = inner;
    }
    after_entity(text)
}

/// The character that `#x2F;`, `#47;` or `quot;` is, and what follows it.
fn after_entity(text: &str) -> Option<(char, &str)> {
    const NAMES: [(&str, char); 8] = [
        ("amp", '&'),
        ("lt", '<'),
        ("gt", '>'),
        ("quot", '"'),
        ("apos", '\''),
        ("sol", '/'),
        ("plus", '+'),
        ("equals", '='),
    ];
    let (name, rest) = text.split_at_checked(text.bytes().take(8).position(|byte| byte == b';')?)?;
    let rest = &rest[1..];
    let Some(number) = name.strip_prefix('#') else {
        return NAMES.iter().find(|(known, _)| *known == name).map(|(_, c)| (*c, rest));
    };
    let code = match number.strip_prefix(['x', 'X']) {
        Some(digits) => u32::from_str_radix(digits, 16),
        None => number.parse(),
    };
    Some((char::from_u32(code.ok()?)?, rest))
}

fn behind_backslashes(text: &str) -> &str {
    let count = text.bytes().take(MOST_BACKSLASHES).take_while(|byte| *byte == b'\\').count();
    &text[count..]
}

/// `\u002f`, `\x2f`, or the character itself; `text` is behind the backslashes, of which each encoding adds some.
fn after_backslash(text: &str, c: char) -> Option<(char, &str)> {
    let code = match text.split_at_checked(1)? {
        ("u", digits) => from_hexadecimal(digits, 4),
        ("x", digits) => from_hexadecimal(digits, 2),
        _ => None,
    };
    let first = text.chars().next()?;
    code.filter(|(found, _)| found.eq_ignore_ascii_case(&c)).or_else(|| Some((first, &text[first.len_utf8()..])))
}

/// The character with the code that the first `count` digits are, and what follows them.
fn from_hexadecimal(text: &str, count: usize) -> Option<(char, &str)> {
    let (digits, rest) = text.split_at_checked(count)?;
    let is_code = digits.bytes().all(|digit| digit.is_ascii_hexdigit());
    let code = u32::from_str_radix(digits, 16).ok().filter(|_| is_code)?;
    Some((char::from_u32(code)?, rest))
}

/// Whether a character without a glyph can hide inside a secret.
const fn is_invisible(c: char) -> bool {
    matches!(c, '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}')
}

/// What all texts in Base64 have in common that contain `text` after `shift` bytes of a group of three, in both alphabets.
fn in_base64(text: &str, shift: usize) -> [String; 2] {
    let bytes = [&[0; 3][..shift], text.as_bytes()].concat();
    // Characters of 6 bits that depend on other bytes are left out at both ends.
    let range = (shift * 8).div_ceil(6)..bytes.len() * 8 / 6;
    [STANDARD_NO_PAD.encode(&bytes), URL_SAFE_NO_PAD.encode(&bytes)].map(|encoded| encoded[range.clone()].to_owned())
}

#[cfg(test)]
mod tests {
    use base64::Engine as _;
    use base64::engine::general_purpose::STANDARD;

    use super::Secret;

    const KEY: &str = "sk-SECRET/+=0123456789abcdef";

    #[test]
    fn every_spelling_is_masked() {
        let secret = Secret::new(KEY);
        let mut spellings: Vec<String> =
            ["/+=", "%2F%2B%3D", "%2f+%3d", "%252F%252B=", "&#x2F;&#43;&equals;", "&amp;#47;&plus;="]
                .into_iter()
                .chain([r"\/+=", r"\\\/+=", r"\u002f\u002B=", r"\x2f+=", r"\\u002f+=", "/\u{200b}+\u{feff}="])
                .map(|spelled| KEY.replace("/+=", spelled))
                .collect();
        spellings.extend([KEY.to_lowercase(), KEY.to_uppercase()]);
        spellings.push(KEY.bytes().map(|byte| format!("{byte:02x}")).collect());
        spellings.push(KEY.bytes().map(|byte| format!("%{byte:02X}")).collect());
        for spelling in spellings {
            assert_eq!(secret.mask(&format!("é a {spelling} b \\n{spelling}")), "é a *** b \\n***", "{spelling}");
        }
        for before in ["", "u", "me", "you", "x:y:"] {
            let encoded = STANDARD.encode(format!("{before}{KEY}{before}"));
            let masked = secret.mask(&encoded);
            assert!(masked.contains("***") && masked.len() <= 3 + 2 * 8, "{before}: {encoded} {masked}");
        }
    }

    #[test]
    fn what_is_no_secret_stays() {
        let secret = Secret::new(KEY);
        for text in
            ["", "sk-SECRET", "sk-SECRET/+=0123456789abcde", "%", "&#;", "\\", "é%2", "&amp;", "%25%25", "\\u12"]
        {
            assert_eq!(secret.mask(text), text);
        }
        assert_eq!(Secret::new("pass").mask("pass Pass p%61ss"), "*** Pass p%61ss");
    }

    #[test]
    fn long_runs_of_what_escapes_are_read() {
        let secret = Secret::new(KEY);
        for escape in ["&amp;", "amp;", "\\", "%25"] {
            let text = format!("&{}", escape.repeat(200_000));
            assert_eq!(secret.mask(&text), text);
            assert!(secret.mask(&format!("{text} {KEY}")).ends_with(" ***"));
        }
    }
}
