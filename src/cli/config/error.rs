//! Errors in a configuration: where, what is wrong, and what to write instead.

use std::cell::Cell;
use std::fmt;
use std::ops::Range;
use std::path::Path;

use super::variables::Variables;
use crate::cli::options::ProcessorSpec;

/// What is wrong, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ConfigError {
    /// The name of the file in messages.
    pub(crate) file: String,
    /// Line and column, from 1; none if the file itself is at fault.
    pub(crate) place: Option<(usize, usize)>,
    /// What is wrong, and how to correct it.
    pub(crate) what: String,
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

/// A file and its text, to compute places.
#[derive(Debug, Clone, Copy)]
pub(super) struct Page<'t> {
    pub(super) file: &'t str,
    pub(super) text: &'t str,
}

/// The context for reading a table: its file, the folder that its paths are resolved against, the known processors, the
/// environment, and how many processors the file may still contain.
#[derive(Clone, Copy)]
pub(super) struct Reader<'r> {
    pub(super) page: Page<'r>,
    pub(super) folder: &'r Path,
    pub(super) specs: &'static [ProcessorSpec],
    pub(super) variables: &'r Variables,
    pub(super) room: &'r Cell<usize>,
}

impl Page<'_> {
    /// An error at `span`.
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
