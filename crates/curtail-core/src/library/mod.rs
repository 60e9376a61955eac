//! What the library shows: cutting, policies, reading, checking and what can go wrong, with types of its own over the crate's
//! machinery, so that the machinery can change.

mod cutter;
mod policy;
mod reading;

use std::fmt;

use crate::checks::{Finding, INVALID_JSON, Inspection, Level, Levels, LineIndex, TokenCounts};
use crate::dialects::{Framing, ReadError, Reading, along_branches, detect_framing};
use crate::error::TextPlace;
use crate::pipeline::CutError;

pub use cutter::{Cutter, CutterBuilder, Explanation, Report};
pub use policy::{Action, LimitPolicy, Policy, ToolPolicy, WindowPolicy};
pub use reading::{MessageView, PartKind, PartView, Source, TranscriptView};

/// What is wrong with the transcripts of `text`, in the order of the text, by the requirements of their own format and with the
/// default levels of the rules. A text that cannot be read has one finding, which says so.
///
/// ```
/// use curtail_core::{Level, check};
///
/// let chat = concat!(
///     "{\"role\":\"user\",\"content\":\"When does it leave?\"}\n",
///     "{\"role\":\"tool\",\"tool_call_id\":\"call-1\",\"content\":\"05:12\"}\n",
///     "{\"role\":\"assistant\",\"content\":\"At 05:12.\"}\n",
/// );
/// let findings = check(chat);
/// let orphan = &findings[0];
/// assert_eq!((orphan.rule.name, orphan.rule.code), ("orphan-result", "P001"));
/// assert_eq!((orphan.at.line, orphan.at.message, orphan.level), (2, Some(1), Level::Deny));
/// assert_eq!(orphan.at.pointer.as_deref(), Some(""));
/// assert_eq!(check("[")[0].rule.name, "invalid-json");
/// ```
#[must_use]
pub fn check(text: &str) -> Vec<Finding> {
    let framing = detect_framing(text, None);
    let mut reading = Reading { framing, dialect: None, named: false, messages_key: None };
    reading.dialect = reading.dialect_of_head(text);
    let lines = LineIndex::new(text);
    findings(&reading, text, &lines).unwrap_or_else(|ReadError { offset, what }| {
        let offset = u32::try_from(offset).unwrap_or(u32::MAX);
        vec![Finding::in_text(INVALID_JSON, Level::Deny, &lines, offset, what)]
    })
}

fn findings(reading: &Reading, text: &str, lines: &LineIndex<'_>) -> Result<Vec<Finding>, ReadError> {
    let document = reading.parse(text)?;
    let verdicts = Levels::default().for_path("");
    let mut findings = Vec::new();
    for (dialect, transcript) in reading.transcripts(&document)? {
        let rules = dialect.provider_rules();
        // A finding without a value is at the transcript, or in a record at the record.
        let start = match reading.framing {
            Framing::Records => transcript.layout.record.start,
            Framing::Lines | Framing::Document => transcript.layout.span.start,
        };
        for transcript in along_branches(dialect, transcript) {
            let found = Inspection::default().examine(&transcript, rules, &verdicts, TokenCounts::default);
            let found = found.into_iter().map(|found| found.locate(lines, start).in_dialect(dialect));
            let known = |finding: &Finding| {
                findings
                    .iter()
                    .any(|old: &Finding| (old.rule.code, old.at.offset) == (finding.rule.code, finding.at.offset))
            };
            let new: Vec<Finding> = found.filter(|finding| !known(finding)).collect();
            findings.extend(new);
        }
    }
    Ok(findings)
}

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
    /// No dialect has the name that was given.
    #[non_exhaustive]
    UnknownDialect {
        /// The name, and the one that was probably meant.
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
            Self::UnknownDialect { what } => f.write_str(what),
            Self::InvalidGlob { glob, what } => write!(f, "invalid glob `{glob}`: {what}"),
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
