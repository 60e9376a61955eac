//! The key to a model. Comes from the environment or a file, never from a flag, where `ps` would show it.

use std::fmt;
use std::path::Path;

use super::Failure;

/// A key that shows itself to nobody.
#[derive(Clone)]
pub struct ApiKey(String);

impl fmt::Debug for ApiKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ApiKey(…)")
    }
}

impl ApiKey {
    /// The key in `file` if there is one, else that in the first of the environment's `variables` that is set.
    ///
    /// # Errors
    ///
    /// A file that cannot be read, or a key that no header can carry.
    pub fn find(file: Option<&Path>, variables: &[&str]) -> Result<Option<Self>, Failure> {
        if let Some(path) = file {
            return Self::read(path).map(Some);
        }
        let found = variables.iter().find_map(|name| {
            let value = std::env::var(name).ok()?;
            (!value.trim().is_empty()).then_some((name, value))
        });
        found.map(|(name, value)| Self::new(&value, &format!("${name}"))).transpose()
    }

    fn read(path: &Path) -> Result<Self, Failure> {
        let place = path.display();
        let text = std::fs::read_to_string(path)
            .map_err(|error| Failure::Setup(format!("{place}: cannot read the key: {error}")))?;
        Self::new(&text, &place.to_string())
    }

    /// A header carries visible ASCII only, so anything else is a file or variable that was mixed up.
    fn new(text: &str, place: &str) -> Result<Self, Failure> {
        let key = text.trim();
        if key.is_empty() || !key.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(Failure::Setup(format!(
                "{place}: not a key; it should hold one line of letters, digits and signs"
            )));
        }
        Ok(Self(key.to_owned()))
    }

    pub(super) fn secret(&self) -> &str {
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
