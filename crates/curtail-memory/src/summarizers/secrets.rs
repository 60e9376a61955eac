//! Keys, and passwords in addresses, which must not appear in any message. The answers of servers may repeat them.

use std::borrow::Cow;
use std::fmt;

use percent_encoding::percent_decode_str;

use curtail_core::secrets::Secret;

/// A shorter text is not masked: it would mask parts of words everywhere.
const SHORTEST: usize = 4;

/// Secrets, masked in every spelling in which an answer may repeat them. `Debug` does not show them.
#[derive(Clone, Default)]
pub(super) struct Secrets(Vec<Secret>);

impl fmt::Debug for Secrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Secrets({})", self.0.len())
    }
}

impl Secrets {
    /// Adds a secret: as it is, and percent-decoded as from an address.
    pub(super) fn add(&mut self, secret: &str) {
        let decoded = percent_decode_str(secret).decode_utf8_lossy();
        for text in [secret, &decoded] {
            if text.len() >= SHORTEST && !self.0.iter().any(|known| known.is(text)) {
                self.0.push(Secret::new(text));
            }
        }
        // A secret may contain another one.
        self.0.sort_by_key(|known| std::cmp::Reverse(known.bytes()));
    }

    /// `text` with every secret masked.
    pub(super) fn mask<'t>(&self, text: &'t str) -> Cow<'t, str> {
        self.0.iter().fold(Cow::Borrowed(text), |text, secret| match secret.mask(&text) {
            Cow::Owned(masked) => Cow::Owned(masked),
            Cow::Borrowed(_) => text,
        })
    }

    /// Like [`mask`](Self::mask), for an answer that may not be UTF-8.
    pub(super) fn mask_bytes(&self, answer: Vec<u8>) -> Vec<u8> {
        let masked = match self.mask(&String::from_utf8_lossy(&answer)) {
            Cow::Owned(masked) => Some(masked.into_bytes()),
            Cow::Borrowed(_) => None,
        };
        masked.unwrap_or(answer)
    }
}

#[cfg(test)]
mod tests {
    use super::Secrets;

    #[test]
    fn every_form_is_masked() {
        let mut secrets = Secrets::default();
        secrets.add("pa%20ss/w\"rd");
        secrets.add("sk-1");
        secrets.add("sk-12345");
        secrets.add("a");
        for (text, masked) in [
            ("a sk-12345 b sk-1 c", "a *** b *** c"),
            ("pa ss/w\"rd", "***"),
            (r"pa%20ss\/w", r"pa%20ss\/w"),
            (r#"pa%20ss/w\"rd"#, "***"),
            ("nothing", "nothing"),
        ] {
            assert_eq!(secrets.mask(text), masked);
        }
        assert_eq!(secrets.mask_bytes(b"\xff sk-1".to_vec()), "\u{fffd} ***".as_bytes());
        assert_eq!(secrets.mask_bytes(b"\xff".to_vec()), b"\xff");
        assert!(!format!("{secrets:?}").contains("sk-1"));
    }
}
