//! The options of a token budget.

use clap::{Args, ValueEnum};

use super::{CountingOptions, Options, Processors, Tokens};
use crate::processors::{Counting, Overflow, TokenLimit};

/// Keep the newest complete segments that fit a token budget
#[derive(Debug, Clone, Args)]
pub struct LimitOptions {
    /// Token budget; `k` and `m` mean thousands and millions
    #[arg(short = 't', long, value_name = "N")]
    max_tokens: Tokens,

    /// Cut only transcripts above N tokens [default: --max-tokens]
    #[arg(long, value_name = "N")]
    trigger: Option<Tokens>,

    #[command(flatten)]
    counting: CountingOptions,

    /// What to keep when not even the newest segment fits
    #[arg(long, value_enum, default_value = "empty")]
    on_overflow: OverflowFlag,

    /// Keep system and developer messages and count them first (default)
    #[arg(long, overrides_with = "no_preserve_system")]
    preserve_system: bool,

    /// Treat system and developer messages like any other message
    #[arg(long)]
    no_preserve_system: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum OverflowFlag {
    /// Keep only preserved messages, with a warning
    Empty,
    /// Keep the newest segment anyway, with a warning
    KeepNewest,
    /// Keep the newest segment and cut its texts in the middle
    Truncate,
    /// Report an error
    Error,
}

impl Options for LimitOptions {
    fn processors(&self) -> anyhow::Result<Processors> {
        Ok(vec![Box::new(TokenLimit {
            max_tokens: self.max_tokens.0,
            trigger: self.trigger.map(|trigger| trigger.0),
            counting: self.counting.counting()?,
            on_overflow: match self.on_overflow {
                OverflowFlag::Empty => Overflow::Empty,
                OverflowFlag::KeepNewest => Overflow::KeepNewest,
                OverflowFlag::Truncate => Overflow::Truncate,
                OverflowFlag::Error => Overflow::Error,
            },
            preserve_system: !self.no_preserve_system,
        })])
    }

    fn counting(&self) -> anyhow::Result<Option<Counting>> {
        self.counting.counting().map(Some)
    }
}
