//! The options of a token budget.

use std::path::PathBuf;

use anyhow::ensure;
use clap::Args;

use super::{Choice, CountingOptions, Options, PINS, Pin, Processors, TemplateOptions, Tokens, one_of, pins};
use curtail_core::processors::{Counting, Overflow, TokenLimit};

/// The values of `--on-overflow`.
const OVERFLOWS: &[Choice<Overflow>] = &[
    Choice::new("empty", Overflow::Empty, "Keep only preserved messages, with a warning"),
    Choice::new("keep-newest", Overflow::KeepNewest, "Keep the newest segment anyway, with a warning"),
    Choice::new("truncate", Overflow::Truncate, "Keep the newest segment and cut its texts in the middle"),
    Choice::new("error", Overflow::Error, "Report an error"),
];

/// Keep the newest complete segments that fit a token budget
#[derive(Debug, Clone, Args)]
pub(crate) struct LimitOptions {
    /// Token budget; `k` and `m` mean thousands and millions
    #[arg(short = 't', long, value_name = "N")]
    max_tokens: Tokens,

    /// Cut only transcripts above N tokens [default: --max-tokens]
    #[arg(long, value_name = "N")]
    trigger: Option<Tokens>,

    /// Drop N tokens at a time, so that prompts stay cached
    #[arg(long, value_name = "N")]
    step: Option<Tokens>,

    #[command(flatten)]
    counting: CountingOptions,

    #[command(flatten)]
    template: TemplateOptions,

    /// What to keep when not even the newest segment fits
    #[arg(long, value_parser = one_of(OVERFLOWS), default_value = "empty")]
    on_overflow: Overflow,

    /// Keep system and developer messages and count them first (default)
    #[arg(long, overrides_with = "no_preserve_system")]
    preserve_system: bool,

    /// Treat system and developer messages like any other message
    #[arg(long)]
    no_preserve_system: bool,

    /// Messages that are kept wherever they are, and counted first
    #[arg(long, value_parser = one_of(PINS), value_delimiter = ',', value_name = "WHICH", default_value = "system")]
    pin: Vec<Pin>,
}

impl Options for LimitOptions {
    fn processors(&self) -> anyhow::Result<Processors> {
        let pins = pins(&self.pin)?;
        self.counting.check_reserve(self.max_tokens)?;
        let (most, step) = (self.max_tokens.0, self.step.map_or(1, |step| step.0.max(1)));
        ensure!(step <= most, "--step {step} exceeds --max-tokens {most}: everything would be dropped");
        Ok(vec![Box::new(TokenLimit {
            max_tokens: self.max_tokens.0,
            trigger: self.trigger.map(|trigger| trigger.0),
            counting: self.template.counting(&self.counting)?,
            on_overflow: self.on_overflow,
            preserve_system: pins.system && !self.no_preserve_system,
            first_user: pins.first_user,
            step,
        })])
    }

    fn counting(&self) -> anyhow::Result<Option<Counting>> {
        self.template.counting(&self.counting).map(Some)
    }

    fn files(&self) -> Vec<PathBuf> {
        self.template.files(&self.counting)
    }
}
