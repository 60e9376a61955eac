//! The options of `window`, which keeps the newest part of a transcript, by number of items.

use std::num::NonZeroUsize;

use anyhow::ensure;
use clap::ValueEnum;

use crate::options::choices::{Choice, one_of};
use crate::options::numbers::at_least_one;
use crate::options::pins::KeepOptions;
use crate::options::processor::Options;
use curtail_core::pipeline::Processors;
use curtail_core::processors::{HistoryWindow, Keep, SlidingWindow, WindowUnit};

/// The values of `--unit`.
const UNITS: &[Choice<WindowUnit>] = &[
    Choice::new("items", WindowUnit::Items, "Items of the transcript, one by one").with_alias("item"),
    Choice::new("messages", WindowUnit::Messages, "Messages; consecutive assistant items count as one")
        .with_alias("message"),
    Choice::new("turns", WindowUnit::Turns, "Turns, each from a user message with text to the next").with_alias("turn"),
    Choice::new(
        "segments",
        WindowUnit::Segments,
        "Segments: calls with their results, and every other message by itself",
    )
    .with_alias("segment"),
];

/// Reads `-n`: a number alone, because `--unit` names what it counts.
fn number_of_units(text: &str) -> Result<NonZeroUsize, String> {
    let unit = text.trim_start_matches(|digit: char| digit.is_ascii_digit());
    match UNITS.iter().find(|choice| unit.len() < text.len() && choice.is_called(unit)) {
        Some(choice) => Err(format!("expected a number alone; `--unit {}` sets what it counts", choice.name())),
        None => at_least_one(text),
    }
}

/// Keep the last N items, a complete exchange and complete pairs
///
/// `history` keeps the last N items, reaches further back until the window contains a user and an assistant message, and adds
/// the in-flight round on top. `sliding` keeps at most N messages, including system messages.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct WindowOptions {
    /// Number of units to keep
    #[arg(short = 'n', long = "size", value_name = "N", default_value = "40", value_parser = number_of_units)]
    size: NonZeroUsize,

    /// Which window algorithm to use
    #[arg(long, value_enum, default_value = "history")]
    strategy: Strategy,

    /// Unit that N counts
    #[arg(long, value_parser = one_of(UNITS), default_value = "items")]
    unit: WindowUnit,

    /// Drop N units at a time, so that prompts stay cached
    #[arg(long, value_name = "N", value_parser = at_least_one)]
    step: Option<NonZeroUsize>,

    /// Limit how far back the window may reach for an exchange, as a multiple of N
    #[arg(long, value_name = "K", value_parser = at_least_one)]
    max_expansion: Option<NonZeroUsize>,

    /// Count the in-flight round toward N instead of keeping it on top
    #[arg(long, hide_short_help = true)]
    cap_in_flight: bool,

    #[command(flatten)]
    kept: KeepOptions,

    /// Drop messages from the front of the window up to the first message of this role
    #[arg(long, value_enum, value_name = "ROLE", hide_short_help = true)]
    start_on: Option<StartOn>,

    /// Number of units to keep at the beginning of the transcript as well
    #[arg(long, value_name = "K", default_value_t = 0)]
    keep_first: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Strategy {
    /// The last N, extended back to one exchange, plus the in-flight round
    History,
    /// At most N, including system messages
    Sliding,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum StartOn {
    /// A user message with text
    User,
}

impl Options for WindowOptions {
    fn processors(&self, _: bool) -> anyhow::Result<Processors> {
        let pins = self.kept.pins()?;
        let keep = Keep {
            system: pins.system,
            first: self.keep_first,
            start_on_user: self.start_on.is_some(),
            first_user: pins.first_user,
            question: pins.question,
        };
        let size = self.size.get();
        let unit = self.unit;
        let step = self.step.map_or(1, NonZeroUsize::get);
        ensure!(step <= size, "--step {step} exceeds --size {size}: the newest units would be dropped");
        Ok(vec![match self.strategy {
            Strategy::Sliding => Box::new(SlidingWindow { size, unit, keep, step }),
            Strategy::History => Box::new(HistoryWindow {
                size,
                unit,
                max_expansion: self.max_expansion.map(NonZeroUsize::get),
                cap_in_flight: self.cap_in_flight,
                keep,
                step,
            }),
        }])
    }
}
