//! Keys, and passwords in addresses, which must not appear in any message. The answers of servers may repeat them.

use std::borrow::Cow;
use std::fmt;
use std::path::Path;

use super::Failure;
use curtail_core::error::system_message;

/// Replaces a secret.
const MASK: &str = "***";

/// A shorter text is not masked: it would mask parts of words everywhere.
const SHORTEST: usize = 4;

/// Secrets, in every form in which an answer may repeat them. `Debug` does not show them.
#[derive(Clone, Default)]
pub(super) struct Secrets(Vec<String>);

impl fmt::Debug for Secrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Secrets({})", self.0.len())
    }
}

impl Secrets {
    /// Adds a secret: as it is, escaped as in JSON, and percent-decoded as from an address.
    pub(super) fn add(&mut self, secret: &str) {
        let quoted = serde_json::Value::from(secret).to_string();
        let escaped = quoted.trim_matches('"').to_owned();
        let decoded = percent_decoded(secret);
        for form in [secret.replace('/', "\\/"), escaped, decoded, secret.to_owned()] {
            if form.len() >= SHORTEST && !self.0.contains(&form) {
                self.0.push(form);
            }
        }
        // A secret may contain another one.
        self.0.sort_by_key(|known| std::cmp::Reverse(known.len()));
    }

    /// `text` with every secret masked.
    pub(super) fn mask<'t>(&self, text: &'t str) -> Cow<'t, str> {
        self.0.iter().fold(Cow::Borrowed(text), |text, secret| match text.contains(secret) {
            true => Cow::Owned(text.replace(secret, MASK)),
            false => text,
        })
    }

    /// Like [`mask`](Self::mask), for an answer that may not be UTF-8.
    pub(super) fn mask_bytes(&self, answer: Vec<u8>) -> Vec<u8> {
        let found = self.0.iter().any(|secret| memchr::memmem::find(&answer, secret.as_bytes()).is_some());
        if found { self.mask(&String::from_utf8_lossy(&answer)).into_owned().into_bytes() } else { answer }
    }
}

/// `text` with each `%41` decoded.
fn percent_decoded(text: &str) -> String {
    let (mut bytes, mut rest) = (Vec::new(), text.as_bytes());
    while let [first, after @ ..] = rest {
        let code = rest.get(1..3).and_then(|digits| std::str::from_utf8(digits).ok());
        match code.filter(|_| *first == b'%').and_then(|code| u8::from_str_radix(code, 16).ok()) {
            Some(byte) => {
                bytes.push(byte);
                rest = &rest[3..];
            }
            None => {
                bytes.push(*first);
                rest = after;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

// The key for a model's server, from a file or a value. The environment is not read here.

/// A key. `Debug` does not show it.
#[derive(Clone)]
pub struct ApiKey(String);

impl fmt::Debug for ApiKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ApiKey(…)")
    }
}

impl ApiKey {
    /// The key in the file at `path`, without the white space around it.
    ///
    /// # Errors
    ///
    /// [`Failure::Setup`] if the file cannot be read or holds no key.
    pub fn from_file(path: &Path) -> Result<Self, Failure> {
        let origin = path.display();
        let text = std::fs::read_to_string(path)
            .map_err(|error| Failure::Setup(format!("{origin}: cannot read the key: {}", system_message(&error))))?;
        Self::new(&text, &origin.to_string())
    }

    /// The key in `text`, without the white space around it. Errors name `origin`, such as `$OPENAI_API_KEY`.
    ///
    /// # Errors
    ///
    /// [`Failure::Setup`] if `text` is empty or not visible ASCII, which is all that a header can carry.
    pub fn new(text: &str, origin: &str) -> Result<Self, Failure> {
        let key = text.trim();
        if key.is_empty() || !key.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(Failure::Setup(format!("{origin}: not a key; a key is one line of letters, digits and signs")));
        }
        Ok(Self(key.to_owned()))
    }

    /// The key itself, to send it or to mask it.
    #[must_use]
    pub fn secret(&self) -> &str {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::{ApiKey, Secrets};

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

    #[test]
    fn keys_are_one_visible_word() {
        for bad in ["", " \n", "two words", "line\nline", "schlüssel"] {
            assert!(ApiKey::new(bad, "here").is_err(), "{bad:?}");
        }
        let key = ApiKey::new(" sk-1 \n", "here");
        assert!(matches!(&key, Ok(key) if key.secret() == "sk-1"));
        assert!(!format!("{key:?}").contains("sk-1"));
    }
}
