//! What is wrong with a text that is not JSON, and where.

use std::fmt;

use super::MAX_DEPTH;

/// The first error of a text that is not JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ParseError {
    /// Byte offset of the error in the text.
    pub offset: usize,
    /// What is wrong at that offset.
    pub kind: ParseErrorKind,
}

/// What is wrong at the offset of a [`ParseError`]. Its `Display` is the message for the user.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ParseErrorKind {
    /// The text contains no value.
    NoValue,
    /// A second value follows where only one is allowed.
    SecondValue,
    /// Something other than a value.
    ExpectedValue,
    /// Something other than a key.
    ExpectedKey,
    /// Something other than a colon after a key.
    ExpectedColon,
    /// Something other than a comma or the end of an object.
    ExpectedCommaOrBrace,
    /// Something other than a comma or the end of a list.
    ExpectedCommaOrBracket,
    /// Something other than a digit of a number.
    ExpectedDigit,
    /// A number with a leading zero.
    LeadingZero,
    /// A control character that a string contains unescaped.
    ControlCharacter,
    /// A line that ends inside a string.
    BrokenLine,
    /// A backslash with a character that forms no escape with it.
    UnknownEscape,
    /// `\u` without four hexadecimal digits.
    BadUnicodeEscape,
    /// The text ends inside an object, a list, a number or a literal.
    UnfinishedValue,
    /// The text ends inside a string.
    UnfinishedString,
    /// Brackets nest deeper than [`MAX_DEPTH`].
    TooDeep,
    /// The text is longer than offsets of 32 bits can address.
    TooLong,
}

impl fmt::Display for ParseErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NoValue => "expected a JSON value, found nothing",
            Self::SecondValue => "expected the end of the record, found a second value",
            Self::ExpectedValue => "expected a JSON value",
            Self::ExpectedKey => "expected a key in double quotes",
            Self::ExpectedColon => "expected ':' after the key",
            Self::ExpectedCommaOrBrace => "expected ',' or '}'",
            Self::ExpectedCommaOrBracket => "expected ',' or ']'",
            Self::ExpectedDigit => "expected a digit",
            Self::LeadingZero => "a number may not begin with zeros",
            Self::ControlCharacter => "control character in a string; it must be escaped",
            Self::BrokenLine => "the line ends inside a string: it was cut off, or a line break in it is not escaped",
            Self::UnknownEscape => "unknown escape; expected one of \\\" \\\\ \\/ \\b \\f \\n \\r \\t \\u",
            Self::BadUnicodeEscape => "expected four hexadecimal digits after '\\u'",
            Self::UnfinishedValue => "the text ends inside a value",
            Self::UnfinishedString => "the text ends inside a string",
            Self::TooDeep => return write!(f, "nesting deeper than {MAX_DEPTH} levels"),
            Self::TooLong => "a transcript may hold at most 4 GiB",
        })
    }
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (at byte {})", self.kind, self.offset)
    }
}

impl std::error::Error for ParseError {}
