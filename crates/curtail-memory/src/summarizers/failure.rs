//! Why a summary could not be made: the kinds of failure that callers act on.

use std::fmt;

/// Why a summary could not be made.
#[derive(Debug)]
pub enum Failure {
    /// The request exceeds the model's context; a shorter one may fit.
    Overflow(String),
    /// No answer came: there was no connection, the reply was incomplete, or the time ran out.
    Unreachable(String),
    /// The server refused the request.
    Refused {
        /// The HTTP status.
        status: u16,
        /// What is wrong, with the beginning of the answer.
        message: String,
    },
    /// The answer contains no summary.
    Unusable(String),
    /// The summarizer's program failed.
    Program(String),
    /// The request could not be made: an endpoint, a key, a prompt or a command line is unusable.
    Setup(String),
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused { status, message } => write!(f, "status {status}: {message}"),
            Self::Overflow(message)
            | Self::Unreachable(message)
            | Self::Unusable(message)
            | Self::Program(message)
            | Self::Setup(message) => f.write_str(message),
        }
    }
}

impl std::error::Error for Failure {}

/// The first 500 characters of an answer, safe to print on a terminal.
pub(super) fn quote(answer: &[u8]) -> String {
    const SHOWN: usize = 500;
    let text = String::from_utf8_lossy(answer);
    let mut shown: String = text.trim().chars().take(SHOWN).map(visible).collect();
    if text.trim().chars().nth(SHOWN).is_some() {
        shown.push('…');
    }
    if shown.is_empty() {
        shown.push_str("(nothing)");
    }
    shown
}

/// Replaces control characters, which could move the cursor or hide text, with a space.
fn visible(c: char) -> char {
    if c.is_control() { ' ' } else { c }
}

#[cfg(test)]
mod tests {
    use super::quote;

    #[test]
    fn quotes_are_short_and_harmless() {
        assert_eq!(quote(b"  no\x1b[2Jway\n"), "no [2Jway");
        assert_eq!(quote(b""), "(nothing)");
        assert_eq!(quote("é".repeat(600).as_bytes()).chars().count(), 501);
        assert_eq!(quote(&[0xff]), "\u{fffd}");
    }
}
