//! The options of `limit`, which keeps the newest segments that fit a token budget.

use anyhow::bail;

use crate::options::choices::{Choice, one_of};
use crate::options::counting::{CountingOptions, TemplateOptions};
use crate::options::files::Reads;
use crate::options::numbers::{Amount, Tokens};
use crate::options::pins::KeepOptions;
use crate::options::processor::Options;
use curtail_core::pipeline::Processors;
use curtail_core::processors::{Counting, Overflow, ScaledLimit, TokenLimit};

/// The values of `--on-overflow`.
const OVERFLOWS: &[Choice<Overflow>] = &[
    Choice::new("error", Overflow::Error, "Report an error that names the smallest budget"),
    Choice::new("truncate", Overflow::Truncate, "Keep both and cut texts in the middle"),
    Choice::new(
        "keep-newest",
        Overflow::KeepNewest,
        "Keep at least the newest segment, and the question of a round in flight",
    ),
    Choice::new("empty", Overflow::Empty, "Keep the newest segments that fit, or none, with a warning"),
];

/// Keep the newest complete segments that fit a token budget
///
/// A segment is a round of tool calls with its results, or a single other message. The newest run of segments whose tokens
/// fit the budget is kept; tool calls and their results are never separated.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct LimitOptions {
    /// Token budget; `k` and `m` mean thousands and millions, `50%` half of each transcript
    #[arg(short = 't', long, value_name = "N")]
    max_tokens: Amount,

    /// Cut only transcripts above N tokens [default: --max-tokens]
    #[arg(long, value_name = "N")]
    trigger: Option<Amount>,

    /// Drop N tokens at a time, so that prompts stay cached
    #[arg(long, value_name = "N", value_parser = some_amount)]
    step: Option<Amount>,

    #[command(flatten)]
    counting: CountingOptions,

    #[command(flatten)]
    template: TemplateOptions,

    /// What to do when the newest segment and its question do not fit
    #[arg(long, value_parser = one_of(OVERFLOWS), default_value = "error")]
    on_overflow: Overflow,

    #[command(flatten)]
    kept: KeepOptions,
}

/// An amount that must not be 0.
fn some_amount(text: &str) -> Result<Amount, String> {
    match text.parse()? {
        Amount::Tokens(Tokens(0)) => Err(String::from("must be at least 1")),
        Amount::Share(share) if share <= 0.0 => Err(String::from("must be more than 0 %")),
        amount => Ok(amount),
    }
}

impl Options for LimitOptions {
    fn processors(&self, _: bool) -> anyhow::Result<Processors> {
        let pins = self.kept.pins()?;
        let budget = self.max_tokens.or(usize::MAX);
        self.counting.check_reserve(Tokens(budget))?;
        let step = self.step.map_or(1, |step| step.or(1).max(1));
        if let Some(given) = self.step.filter(|given| given.exceeds(self.max_tokens)) {
            bail!("--step {given} exceeds --max-tokens {}: everything would be dropped", self.max_tokens);
        }
        let limit = TokenLimit {
            max_tokens: budget,
            trigger: self.trigger.map(|trigger| trigger.or(budget)),
            counting: self.template.counting(&self.counting)?,
            on_overflow: self.on_overflow,
            preserve_system: pins.system,
            first_user: pins.first_user,
            question: pins.question,
            step,
        };
        let max_tokens = self.max_tokens.share();
        let trigger = self.trigger.and_then(Amount::share);
        let step = self.step.and_then(Amount::share);
        if [max_tokens, trigger, step].iter().all(Option::is_none) {
            return Ok(vec![Box::new(limit)]);
        }
        Ok(vec![Box::new(ScaledLimit { limit, max_tokens, trigger, step })])
    }

    fn counting(&self) -> anyhow::Result<Option<Counting>> {
        self.template.counting(&self.counting).map(Some)
    }

    fn files(&self) -> Reads {
        self.template.files(&self.counting)
    }
}
