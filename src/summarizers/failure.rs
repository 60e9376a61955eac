//! Why a summary was not made. Knows the kinds that callers act on, and words for the rest.

use std::fmt;

/// Why a summary was not made.
#[derive(Debug)]
pub enum Failure {
    /// The model's context is too small for what it was sent; less of it may do.
    Overflow(String),
    /// No answer came: no connection, a reply that broke off, a time that ran out.
    Unreachable(String),
    /// An answer came, and it was no.
    Refused {
        /// The HTTP status.
        status: u16,
        /// What was said, and the beginning of the answer.
        message: String,
    },
    /// An answer came that holds no summary.
    Unusable(String),
    /// The program that was to make the summary failed.
    Program(String),
    /// The request could not be put together: an endpoint, a key, a prompt or a command line that cannot be used.
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

/// The first 500 characters of what somebody else said, safe to show on a terminal.
pub(super) fn quote(said: &[u8]) -> String {
    const SHOWN: usize = 500;
    let text = String::from_utf8_lossy(said);
    let mut shown: String = text.trim().chars().take(SHOWN).map(visible).collect();
    if text.trim().chars().nth(SHOWN).is_some() {
        shown.push('…');
    }
    if shown.is_empty() {
        shown.push_str("(nothing)");
    }
    shown
}

/// Control characters could move the cursor or hide text; a space cannot.
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
