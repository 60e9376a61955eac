//! What is wrong with a configuration, said so that it can be mended: where, what would be right, and the nearest name.

use std::fmt;
use std::ops::Range;

/// What is wrong, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigError {
    /// The file, as messages call it.
    pub file: String,
    /// Line and column, from 1; none if the file itself is at fault.
    pub place: Option<(usize, usize)>,
    /// What is wrong, and what would be right.
    pub what: String,
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.place {
            Some((line, column)) => write!(f, "{}:{line}:{column}: {}", self.file, self.what),
            None => write!(f, "{}: {}", self.file, self.what),
        }
    }
}

impl std::error::Error for ConfigError {}

/// A file and its text: what places are counted in.
#[derive(Debug, Clone, Copy)]
pub(super) struct Page<'t> {
    pub(super) file: &'t str,
    pub(super) text: &'t str,
}

impl Page<'_> {
    /// Something is wrong at `span`.
    pub(super) fn fault(self, span: Range<usize>, what: impl Into<String>) -> ConfigError {
        ConfigError { file: self.file.to_owned(), place: Some(self.place(span.start)), what: what.into() }
    }

    /// Line and column of a byte, from 1.
    pub(super) fn place(self, offset: usize) -> (usize, usize) {
        let before = self.text.get(..offset).unwrap_or(self.text);
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().map_or(0, |rest| rest.chars().count()) + 1;
        (line, column)
    }
}

/// `lack`, such as "there is no network", of `name`; those that there are.
pub(super) fn unknown(lack: &str, name: &str, known: &[&str]) -> String {
    if known.is_empty() {
        return format!("{lack} `{name}`, nor any other");
    }
    let hint = nearest(name, known).map_or_else(|| String::from(";"), |near| format!("; did you mean `{near}`?"));
    format!("{lack} `{name}`{hint} known: {}", known.join(", "))
}

/// The name among `known` that was meant by `name`, if one is near enough: a third of its letters wrong, at most.
pub(super) fn nearest<'k>(name: &str, known: &[&'k str]) -> Option<&'k str> {
    let folded = name.to_lowercase().replace('_', "-");
    let distance = |other: &&str| {
        if other.starts_with(&folded) || folded.starts_with(*other) {
            1
        } else {
            strsim::damerau_levenshtein(&folded, other)
        }
    };
    let best = known.iter().min_by_key(|other| distance(other))?;
    (distance(best) <= folded.chars().count().max(3).div_ceil(3)).then_some(best)
}

/// The system's words in our voice: lower case, without its number.
pub(super) fn words(error: &std::io::Error) -> String {
    let said = error.to_string();
    said.split(" (os error").next().unwrap_or(&said).to_lowercase()
}
