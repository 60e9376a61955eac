//! `curtail limit`: what fits a budget of tokens.

use std::sync::Arc;

use clap::ValueEnum;

use super::input::Cutting;
use crate::pipeline::Chain;
use crate::processors::{Counting, Overflow, Overhead, TokenLimit};

/// Keep the newest complete segments that fit a budget of tokens
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The budget in tokens; `k` and `m` are thousands and millions
    #[arg(short = 't', long, value_name = "N", value_parser = tokens)]
    max_tokens: usize,

    /// Cut only when the total passes this, then down to --max-tokens
    #[arg(long, value_name = "N", value_parser = tokens)]
    trigger: Option<usize>,

    /// Hold this many tokens back, for the reply
    #[arg(long, value_name = "N", value_parser = tokens, default_value = "0")]
    reserve: usize,

    /// What to do when not even the newest segment fits
    #[arg(long, value_enum, default_value = "empty")]
    on_overflow: OverflowFlag,

    /// What to add for the frame around messages
    #[arg(long, value_enum, default_value = "none")]
    overhead: OverheadFlag,

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

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum OverheadFlag {
    /// Nothing
    None,
    /// 3 tokens a message and 3 to prime the reply
    Openai,
}

impl Args {
    /// The chain that these flags describe.
    pub(super) fn chain(&self) -> anyhow::Result<Chain> {
        let overhead = if self.overhead == OverheadFlag::Openai { Overhead::OpenAi } else { Overhead::None };
        let limit = TokenLimit {
            max_tokens: self.max_tokens,
            trigger: self.trigger,
            counting: Counting { tokenizer: Arc::new(crate::tokenizers::Approximate), overhead, reserve: self.reserve },
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
}

/// Reads `8000`, `8k` or `1.5m`.
fn tokens(text: &str) -> Result<usize, String> {
    let wrong = || String::from("expected a whole number of tokens, such as 8000, 8k or 1.5m");
    let (digits, unit) = match text.char_indices().last() {
        Some((at, 'k' | 'K')) => (&text[..at], 1_000_u32),
        Some((at, 'm' | 'M')) => (&text[..at], 1_000_000),
        _ => (text, 1),
    };
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let whole: usize = whole.parse().map_err(|_| wrong())?;
    let mut tokens = whole.checked_mul(unit as usize).ok_or_else(wrong)?;
    let mut place = unit as usize;
    for digit in fraction.chars() {
        place /= 10;
        let digit = digit.to_digit(10).filter(|_| place > 0).ok_or_else(wrong)?;
        tokens += digit as usize * place;
    }
    Ok(tokens)
}
