//! Keys, and passwords in addresses, which must not appear in any message. The answers of servers may repeat them.

use std::borrow::Cow;
use std::fmt;

use percent_encoding::percent_decode_str;

use super::quote::quote;
use curtail_core::secrets::Secret;

/// A shorter text is not masked: it would mask parts of words everywhere.
const SHORTEST: usize = 4;

/// The shortest key that is masked in a summary.
const SHORTEST_IN_SUMMARY: usize = 8;

/// A longer key is no word, although it has only letters.
const LONGEST_WORD: usize = 20;

/// Secrets, masked in every spelling in which an answer may repeat them. `Debug` does not show them.
#[derive(Clone, Default)]
pub(super) struct Secrets(Vec<OneSecret>);

#[derive(Clone)]
struct OneSecret {
    secret: Secret,
    /// Whether it may be a word of the conversation, such as `test` and `none`, with which local servers are content.
    is_word: bool,
}

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
            if text.len() >= SHORTEST && !self.0.iter().any(|known| known.secret.is(text)) {
                let is_alphabetic = text.len() <= LONGEST_WORD && text.chars().all(char::is_alphabetic);
                let is_word = text.len() < SHORTEST_IN_SUMMARY || is_alphabetic;
                self.0.push(OneSecret { secret: Secret::new(text), is_word });
            }
        }
        // A secret may contain another one.
        self.0.sort_by_key(|known| std::cmp::Reverse(known.secret.bytes()));
    }

    /// `text` with every secret masked.
    pub(super) fn mask<'t>(&self, text: &'t str) -> Cow<'t, str> {
        masked(text, self.0.iter())
    }

    /// A summary with the secrets masked that are no words.
    pub(super) fn mask_summary<'t>(&self, summary: &'t str) -> Cow<'t, str> {
        masked(summary, self.0.iter().filter(|known| !known.is_word))
    }

    /// The beginning of an answer, with every secret masked.
    pub(super) fn quote(&self, answer: &[u8]) -> String {
        quote(self.mask(&String::from_utf8_lossy(answer)).as_bytes())
    }
}

fn masked<'t, 's>(text: &'t str, secrets: impl Iterator<Item = &'s OneSecret>) -> Cow<'t, str> {
    secrets.fold(Cow::Borrowed(text), |text, known| match known.secret.mask(&text) {
        Cow::Owned(masked) => Cow::Owned(masked),
        Cow::Borrowed(_) => text,
    })
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
        assert_eq!(secrets.quote(b"\xff sk-1"), "\u{fffd} ***");
        assert!(!secrets.quote(format!("{}sk-12345", "x".repeat(495)).as_bytes()).contains("sk-1"));
        assert!(!format!("{secrets:?}").contains("sk-1"));
    }

    #[test]
    fn a_key_that_is_a_word_stays_in_a_summary() {
        let mut secrets = Secrets::default();
        for key in ["test", "placeholder", "sk-12345", "correcthorsebatterystaple"] {
            secrets.add(key);
        }
        assert_eq!(
            secrets.mask_summary("The latest test of a placeholder: sk-12345 correcthorsebatterystaple"),
            "The latest test of a placeholder: *** ***"
        );
        assert_eq!(secrets.mask("not accepted: test"), "not accepted: ***");
    }
}
