//! Numbers on the command line and in `curtail.toml`: tokens, bytes and times, with units.

use std::fmt;
use std::num::NonZeroUsize;
use std::str::FromStr;
use std::time::Duration;

/// A number that must not be 0.
pub(crate) fn at_least_one(text: &str) -> Result<NonZeroUsize, String> {
    match text.parse::<i128>() {
        Ok(..=0) => Err(String::from("must be at least 1")),
        _ => text.parse().map_err(|_| String::from("expected a whole number, 1 or more")),
    }
}

/// A share such as `95%` or `95`, from 0 to 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Share(pub(crate) f64);

impl FromStr for Share {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let text = text.trim();
        let (digits, has_sign) = text.strip_suffix('%').map_or((text, false), |digits| (digits.trim(), true));
        match digits.parse::<f64>() {
            Ok(number) if !has_sign && number > 0.0 && number <= 1.0 => {
                Err("expected a share from 0% to 100%; 0.9 is written 90%, and 1 is 1% or 100%")
            }
            Ok(percent) if (0.0..=100.0).contains(&percent) => Ok(Self(percent / 100.0)),
            _ => Err("expected a share from 0% to 100%"),
        }
    }
}

/// A time such as `30d`, in one of these `units` of seconds, minutes, hours, days and weeks.
pub(crate) fn time_span(text: &str, units: &str) -> Option<Duration> {
    const SECONDS: [(char, u64); 5] = [('s', 1), ('m', 60), ('h', 3_600), ('d', 86_400), ('w', 604_800)];
    let (unit, seconds) = SECONDS.into_iter().find(|(unit, _)| units.contains(*unit) && text.ends_with(*unit))?;
    let number: u64 = text.strip_suffix(unit)?.parse().ok()?;
    number.checked_mul(seconds).map(Duration::from_secs)
}

/// A number of tokens: `8000`, `8k` or `1.5m`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Tokens(pub(crate) usize);

impl fmt::Display for Tokens {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A number of tokens, or a share of those of each transcript: `50%`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Amount {
    /// A number.
    Tokens(Tokens),
    /// A share; 1 is all of them.
    Share(f64),
}

impl Amount {
    /// The number of tokens; `default` for a share.
    pub(crate) const fn or(self, default: usize) -> usize {
        match self {
            Self::Tokens(tokens) => tokens.0,
            Self::Share(_) => default,
        }
    }

    /// The share, if it is one.
    pub(crate) const fn share(self) -> Option<f64> {
        match self {
            Self::Tokens(_) => None,
            Self::Share(share) => Some(share),
        }
    }

    /// Whether it is more than `other` in every transcript; a number may be more or less than a share.
    pub(crate) fn exceeds(self, other: Self) -> bool {
        match (self, other) {
            (Self::Tokens(Tokens(one)), Self::Tokens(Tokens(other))) => one > other.max(1),
            (Self::Share(one), Self::Share(other)) => one > other,
            _ => false,
        }
    }
}

impl fmt::Display for Amount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tokens(tokens) => tokens.fmt(f),
            // The nearest number of a few digits, not that of the binary fraction.
            Self::Share(share) => write!(f, "{}%", (share * 1e6).round() / 1e4),
        }
    }
}

impl FromStr for Amount {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let Some(percent) = text.strip_suffix('%') else { return text.parse().map(Self::Tokens) };
        let share = percent.trim().parse().ok().filter(|percent: &f64| (0.0..=1000.0).contains(percent));
        let share = share.map(|percent| Self::Share(percent / 100.0));
        share.ok_or_else(|| String::from("expected a share of the tokens of each transcript, such as 50%"))
    }
}

impl FromStr for Tokens {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        scaled(text).map(Self).ok_or_else(|| {
            let share =
                if text.ends_with('%') { "; only `limit` and the policies of `replay` take a share" } else { "" };
            format!("expected a whole number of tokens, such as 8000, 8k or 1.5m{share}")
        })
    }
}

/// Reads a number of tokens that must not be 0.
pub(crate) fn some_tokens(text: &str) -> Result<Tokens, String> {
    match text.parse()? {
        Tokens(0) => Err(String::from("must be at least 1")),
        tokens => Ok(tokens),
    }
}

/// Reads a number of characters.
pub(crate) fn characters(text: &str) -> Result<usize, &'static str> {
    scaled(text).ok_or("expected a whole number of characters, such as 20000 or 20k")
}

/// A number of bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Bytes(pub(crate) usize);

impl FromStr for Bytes {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        scaled(text).map(Self).ok_or("expected a whole number of bytes, such as 800000, 800k, 1.5m or 2g")
    }
}

/// A whole number, or one with a unit of a thousand, a million or a billion: `1.5m`.
fn scaled(text: &str) -> Option<usize> {
    let (digits, unit) = match text.char_indices().last() {
        Some((at, 'k' | 'K')) => (&text[..at], 1_000_usize),
        Some((at, 'm' | 'M')) => (&text[..at], 1_000_000),
        Some((at, 'g' | 'G')) => (&text[..at], 1_000_000_000),
        _ => (text, 1),
    };
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let mut number = whole.parse::<usize>().ok()?.checked_mul(unit)?;
    let mut place = unit;
    for digit in fraction.chars() {
        place /= 10;
        let digit = digit.to_digit(10).filter(|_| place > 0)?;
        number = number.checked_add(digit as usize * place)?;
    }
    Some(number)
}

#[cfg(test)]
mod tests {
    use super::{Amount, Bytes, Share, Tokens};

    #[test]
    fn a_unit_is_the_same_number_of_everything() {
        for (text, number) in [("64k", 64_000), ("1.5M", 1_500_000), ("2g", 2_000_000_000), ("0", 0)] {
            assert_eq!((text.parse(), text.parse()), (Ok(Bytes(number)), Ok(Tokens(number))), "{text}");
        }
        assert!("1kb".parse::<Bytes>().is_err() && "much".parse::<Bytes>().is_err());
    }

    #[test]
    fn a_share_is_no_part_of_one() {
        for (text, share) in [("90%", 0.9), ("90", 0.9), ("1%", 0.01), ("0.5 %", 0.005), ("0", 0.0), ("100", 1.0)] {
            assert_eq!(text.parse(), Ok(Share(share)), "{text}");
        }
        assert_eq!("50 %".parse(), Ok(Amount::Share(0.5)));
        for text in ["0.9", "1", "1.0", ".5", "101%", "-1", "x", "90%%"] {
            assert!(text.parse::<Share>().is_err(), "{text}");
        }
    }
}
