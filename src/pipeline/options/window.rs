//! The newest part of a transcript, by count.

use clap::{Args, ValueEnum};

use super::{Options, Processors};
use crate::processors::{HistoryWindow, Keep, SlidingWindow, WindowUnit};

/// Keep the last N items, at least one exchange, and no orphan
#[derive(Debug, Clone, Args)]
pub struct WindowOptions {
    /// How many units to keep
    #[arg(short = 'n', long = "size", value_name = "N", default_value_t = 40, value_parser = at_least_one)]
    size: usize,

    /// How the window is laid
    #[arg(long, value_enum, default_value = "history")]
    strategy: Strategy,

    /// What N counts
    #[arg(long, value_enum, default_value = "items")]
    unit: UnitFlag,

    /// Let the walk back grow the window to at most N times K
    #[arg(long, value_name = "K", value_parser = at_least_one)]
    max_expansion: Option<usize>,

    /// Count the round in flight like the rest
    #[arg(long)]
    cap_in_flight: bool,

    /// Keep system and developer messages that fall outside (default)
    #[arg(long, overrides_with = "no_preserve_system")]
    preserve_system: bool,

    /// Treat system and developer messages like any other
    #[arg(long)]
    no_preserve_system: bool,

    /// Drop from the front of the window until a message of this role
    #[arg(long, value_enum, value_name = "ROLE")]
    start_on: Option<StartOn>,

    /// Keep the first K units as well
    #[arg(long, value_name = "K", default_value_t = 0)]
    keep_first: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Strategy {
    /// The last N, at least one exchange, and the round in flight
    History,
    /// At most N, system messages included
    Sliding,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum UnitFlag {
    /// Items, as they lie in the transcript
    Items,
    /// Messages; consecutive items of the assistant count once
    Messages,
    /// From a speaking user message to just before the next
    Turns,
    /// Calls with their results; any other message by itself
    Segments,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum StartOn {
    /// A user message that says something
    User,
}

impl Options for WindowOptions {
    fn processors(&self) -> anyhow::Result<Processors> {
        let keep =
            Keep { system: !self.no_preserve_system, first: self.keep_first, start_on_user: self.start_on.is_some() };
        let unit = match self.unit {
            UnitFlag::Items => WindowUnit::Items,
            UnitFlag::Messages => WindowUnit::Messages,
            UnitFlag::Turns => WindowUnit::Turns,
            UnitFlag::Segments => WindowUnit::Segments,
        };
        Ok(vec![match self.strategy {
            Strategy::Sliding => Box::new(SlidingWindow { size: self.size, unit, keep }),
            Strategy::History => Box::new(HistoryWindow {
                size: self.size,
                unit,
                max_expansion: self.max_expansion,
                cap_in_flight: self.cap_in_flight,
                keep,
            }),
        }])
    }
}

fn at_least_one(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(0) => Err(String::from("expected 1 or more")),
        Ok(n) => Ok(n),
        Err(_) => Err(String::from("expected a whole number, 1 or more")),
    }
}
