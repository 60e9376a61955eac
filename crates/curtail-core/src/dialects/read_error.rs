//! Why a text is not read as transcripts.

use std::fmt;

use super::{ALL, Dialect};
use crate::json::ParseError;
use crate::places::INVALID_UTF8;
use crate::suggest;

/// An error in a text, and its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReadError {
    /// Byte offset in the text.
    pub offset: usize,
    /// What is wrong and what to do about it.
    pub what: String,
}

impl ReadError {
    /// Behind `valid`, the text is not UTF-8.
    #[must_use]
    pub fn invalid_utf8(valid: &str) -> Self {
        Self { offset: valid.len(), what: String::from(INVALID_UTF8) }
    }
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "byte {}: {}", self.offset, self.what)
    }
}

impl std::error::Error for ReadError {}

impl From<ParseError> for ReadError {
    fn from(error: ParseError) -> Self {
        Self { offset: error.offset, what: error.kind.to_string() }
    }
}

/// No dialect has the name that the user gave.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownDialect {
    /// The name.
    pub name: String,
}

impl fmt::Display for UnknownDialect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = ALL.iter().map(|dialect| dialect.name()).collect();
        f.write_str(&suggest::unknown("no dialect is called", &self.name, &names))
    }
}

impl std::error::Error for UnknownDialect {}

/// Refuses to write a transcript at `offset` that is in a dialect which is only read.
///
/// # Errors
/// The dialect is only read.
pub fn refuse_to_write(dialect: &dyn Dialect, offset: usize) -> Result<(), ReadError> {
    if dialect.writer().is_some() {
        return Ok(());
    }
    let reason = format!(
        "`{}` is read-only (`view`, `show`, `count` and `check` read it); to cut it, {}",
        dialect.name(),
        dialect.format().unwritten
    );
    Err(ReadError { offset, what: reason })
}
