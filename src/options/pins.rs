//! `--pin`: the messages that a cut keeps, and a split repeats, wherever they are.

use crate::options::choices::{Choice, one_of};
use curtail_core::processors::{Pins, Question};

/// The values of `--pin`.
pub(crate) const PINS: &[Choice<Pin>] = &[
    Choice::new("system", Pin::System, "System and developer messages"),
    Choice::new("first-user", Pin::FirstUser, "The first message that a person wrote, and what system pins"),
    Choice::new("last-user", Pin::LastUser, "The last one, and what system pins; while a round is in flight, always"),
    Choice::new("none", Pin::None, "Nothing"),
];

/// A value of `--pin`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Pin {
    System,
    FirstUser,
    LastUser,
    None,
}

/// What the values of `--pin` keep.
///
/// # Errors
/// `none` is combined with another value.
pub(crate) fn pins(which: &[Pin]) -> anyhow::Result<Pins> {
    if which.len() > 1 && which.contains(&Pin::None) {
        anyhow::bail!("--pin none excludes the other values");
    }
    let question = match (which.contains(&Pin::LastUser), which.contains(&Pin::None)) {
        (true, _) => Question::Always,
        (_, true) => Question::Never,
        _ => Question::InFlight,
    };
    Ok(Pins { system: !which.contains(&Pin::None), first_user: which.contains(&Pin::FirstUser), question })
}

/// What `window` and `limit` keep wherever it is.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct KeepOptions {
    /// Keep system and developer messages, beside a window and first in a budget (default)
    #[arg(long, overrides_with = "no_preserve_system", hide_short_help = true)]
    preserve_system: bool,

    /// Treat system and developer messages like any other message
    #[arg(long)]
    no_preserve_system: bool,

    /// Messages that are kept wherever they are
    #[arg(long, value_parser = one_of(PINS), value_delimiter = ',', value_name = "WHICH", default_value = "system")]
    pin: Vec<Pin>,
}

impl KeepOptions {
    /// What is kept.
    ///
    /// # Errors
    /// `none` is combined with another value.
    pub(crate) fn pins(&self) -> anyhow::Result<Pins> {
        let pins = pins(&self.pin)?;
        let system = (pins.system || self.preserve_system) && !self.no_preserve_system;
        Ok(Pins { system, ..pins })
    }
}
