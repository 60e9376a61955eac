//! The key for a model's server, from a file or a value. The environment is not read here.

use std::fmt;
use std::path::Path;

use super::Failure;
use curtail_core::small::read_small_text;
use curtail_core::system_error::system_message;

/// The most bytes of a file with a key.
const LARGEST_KEY: u64 = 1 << 20;

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
    /// [`Failure`] if the file cannot be read or holds no key.
    pub fn from_file(path: &Path) -> Result<Self, Failure> {
        let origin = path.display();
        let text = std::fs::File::open(path)
            .and_then(|file| read_small_text(file, LARGEST_KEY))
            .map_err(|error| Failure::Other(format!("{origin}: cannot read the key: {}", system_message(&error))))?;
        Self::new(&text, &origin.to_string())
    }

    /// The key in `text`, without the white space around it. Errors name `origin`, such as `$OPENAI_API_KEY`.
    ///
    /// # Errors
    /// [`Failure`] if `text` is empty or not visible ASCII, which is all that a header can carry.
    pub fn new(text: &str, origin: &str) -> Result<Self, Failure> {
        let key = text.trim();
        if key.is_empty() || !key.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(Failure::Other(format!("{origin}: not a key; a key is one line of letters, digits and signs")));
        }
        Ok(Self(key.to_owned()))
    }

    /// The key itself, to send it or to mask it.
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
