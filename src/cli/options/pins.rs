//! `--pin`: the messages that a cut keeps, and a split repeats, wherever they are.

use super::Choice;
use curtail_core::processors::Pins;

/// The values of `--pin`.
pub(super) const PINS: &[Choice<Pin>] = &[
    Choice::new("system", Pin::System, "System and developer messages"),
    Choice::new("first-user", Pin::FirstUser, "The first user message with text, and what system pins"),
    Choice::new("none", Pin::None, "Nothing"),
];

/// A value of `--pin`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Pin {
    System,
    FirstUser,
    None,
}

/// What the values of `--pin` keep.
///
/// # Errors
/// `none` beside another value.
pub(super) fn pins(which: &[Pin]) -> anyhow::Result<Pins> {
    if which.len() > 1 && which.contains(&Pin::None) {
        anyhow::bail!("--pin none excludes the other values");
    }
    Ok(Pins { system: !which.contains(&Pin::None), first_user: which.contains(&Pin::FirstUser) })
}
