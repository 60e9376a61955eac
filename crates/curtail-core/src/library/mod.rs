//! What most users of the library need: cutting, policies, reading, checking and what can go wrong, with types that say less than
//! those of the modules beside it and change less often.

mod checker;
mod cutter;
mod policies;
mod policy;
mod reading;
mod values;

use std::fmt;

use crate::dialects::{Dialect, ReadError, known_dialect};
use crate::globs::InvalidGlob;
use crate::pipeline::CutError;
use crate::places::TextPlace;

pub use checker::{Checker, CheckerBuilder, check};
pub use cutter::{Cutter, CutterBuilder, Explanation, Report};
pub use policies::{LimitPolicy, ToolPolicy, WindowPolicy};
pub use policy::{Action, PartEdit, Policy};
pub use reading::{MessageView, PartKind, PartView, Source, TranscriptView};

/// A place in a text. Where values were cut, `line` is the number of the value in its list, from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Place {
    /// Number of the line, from 1.
    pub line: usize,
    /// Number of the column in characters, from 1.
    pub column: usize,
    /// Byte offset, from 0.
    pub offset: usize,
}

impl Place {
    /// The place of the byte at `offset` of `text`.
    fn of_offset(text: &str, offset: usize) -> Self {
        let TextPlace { line, column } = TextPlace::locate(text.as_bytes(), offset, 1);
        Self { line, column, offset }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.line, self.column)
    }
}

/// Why a transcript was not read, cut or written.
///
/// ```
/// use curtail_core::{Cutter, Error, WindowPolicy};
///
/// let cutter = Cutter::builder().window(WindowPolicy::last(2)).build()?;
/// let broken = "{\"role\":\"user\",\"content\":\"Hello\"}\n{\"role\" \"user\"}\n{}\n";
/// match cutter.cut(broken) {
///     Err(Error::Read { at, what, .. }) => assert_eq!((at.line, at.column, &*what), (2, 9, "expected ':' after the key")),
///     other => panic!("{other:?}"),
/// }
/// # Ok::<(), Error>(())
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// The text is not JSON, or not a transcript in a known format.
    #[non_exhaustive]
    Read {
        /// Where.
        at: Place,
        /// What is wrong.
        what: String,
    },
    /// No dialect has the name that was given, or no provider and no dialect that of a profile.
    #[non_exhaustive]
    UnknownDialect {
        /// The name, and the one that was probably meant.
        what: String,
    },
    /// No rule has the name that was given, or it does not run with what was given.
    #[non_exhaustive]
    InvalidRule {
        /// What is wrong.
        what: String,
    },
    /// A pattern of tool names is not a glob.
    #[non_exhaustive]
    InvalidGlob {
        /// The pattern.
        glob: String,
        /// What is wrong with it.
        what: String,
    },
    /// A policy could not decide about a transcript, for example because a budget is too small.
    #[non_exhaustive]
    Policy {
        /// Where the transcript begins.
        at: Place,
        /// The name of the policy.
        policy: &'static str,
        /// Why.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// The result could not be written.
    Write(std::io::Error),
}

impl Error {
    /// The dialect called `name`.
    fn dialect_named(name: &str) -> Result<&'static dyn Dialect, Self> {
        known_dialect(name).map_err(|error| Self::UnknownDialect { what: error.to_string() })
    }

    /// An error of reading `text`.
    fn read(text: &str, ReadError { offset, what }: ReadError) -> Self {
        Self::Read { at: Place::of_offset(text, offset), what }
    }

    /// An error of cutting `text`.
    fn cut(text: &str, error: CutError) -> Self {
        match error {
            CutError::Read(error) => Self::read(text, error),
            CutError::Stage { offset, processor, error } => {
                Self::Policy { at: Place::of_offset(text, offset), policy: processor, source: Box::new(error) }
            }
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Read { at, what } => write!(f, "{at}: {what}"),
            Self::UnknownDialect { what } | Self::InvalidRule { what } => f.write_str(what),
            Self::InvalidGlob { glob, what } => InvalidGlob { glob: glob.clone(), reason: what.clone() }.fmt(f),
            Self::Policy { at, policy, source } => write!(f, "{at}: {policy}: {source}"),
            Self::Write(error) => write!(f, "the result cannot be written: {error}"),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Policy { source, .. } => Some(&**source),
            Self::Write(error) => Some(error),
            _ => None,
        }
    }
}
