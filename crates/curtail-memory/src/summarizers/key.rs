//! The key to a model's server, from a file or a value. It reads no environment.

use std::fmt;
use std::path::Path;

use super::Failure;
use curtail_core::error::system_message;

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
    use super::ApiKey;

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
