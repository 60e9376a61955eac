//! `curtail limit`: what fits a budget of tokens.

use clap::ValueEnum;

use super::counting::{CountingFlags, tokens};
use super::input::Cutting;
use crate::pipeline::Chain;
use crate::processors::{Counting, Overflow, TokenLimit};

/// Keep the newest complete segments that fit a budget of tokens
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The budget in tokens; `k` and `m` are thousands and millions
    #[arg(short = 't', long, value_name = "N", value_parser = tokens)]
    max_tokens: usize,

    /// Cut only when the total passes this, then down to --max-tokens
    #[arg(long, value_name = "N", value_parser = tokens)]
    trigger: Option<usize>,

    #[command(flatten)]
    counting: CountingFlags,

    /// What to do when not even the newest segment fits
    #[arg(long, value_enum, default_value = "empty")]
    on_overflow: OverflowFlag,

    /// Keep system and developer messages, and count them first (default)
    #[arg(long, overrides_with = "no_preserve_system")]
    preserve_system: bool,

    /// Treat system and developer messages like any other
    #[arg(long)]
    no_preserve_system: bool,

    #[command(flatten)]
    pub(super) cutting: Cutting,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum OverflowFlag {
    /// Keep nothing but what is preserved, and warn
    Empty,
    /// Keep the newest segment all the same, and warn
    KeepNewest,
    /// Shorten its texts in the middle
    Truncate,
    /// Fail
    Error,
}

impl Args {
    /// The chain that these flags describe.
    pub(super) fn chain(&self) -> anyhow::Result<Chain> {
        let limit = TokenLimit {
            max_tokens: self.max_tokens,
            trigger: self.trigger,
            counting: self.counting.counting()?,
            on_overflow: match self.on_overflow {
                OverflowFlag::Empty => Overflow::Empty,
                OverflowFlag::KeepNewest => Overflow::KeepNewest,
                OverflowFlag::Truncate => Overflow::Truncate,
                OverflowFlag::Error => Overflow::Error,
            },
            preserve_system: !self.no_preserve_system,
        };
        Ok(self.cutting.with_repair(Chain::default().then(limit)))
    }

    /// How tokens are counted.
    pub(super) fn counting(&self) -> anyhow::Result<Counting> {
        self.counting.counting()
    }
}
