//! The options of `summarize`, which keeps the newest interactions verbatim, and summaries of the older ones.

use std::num::NonZeroUsize;
use std::sync::Arc;

use crate::options::choices::{Choice, one_of};
use crate::options::counting::TokenizerFlag;
use crate::options::files::Reads;
use crate::options::numbers::{Share, Tokens, at_least_one, some_tokens};
use crate::options::processor::Options;
use crate::options::summarizer::AskFlags;
use curtail_core::pipeline::Processors;
use curtail_core::transcript::Role;
use curtail_memory::rolling::{Counted, LeastKept, Rolling, RollingSummary};
use curtail_memory::summarizers::Summarizer;

/// Keep the newest interactions, and summaries of the older ones
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct SummarizeOptions {
    /// Number of newest interactions to keep verbatim
    #[arg(short = 'n', long, value_name = "N", default_value = "21", value_parser = at_least_one)]
    window: NonZeroUsize,

    /// Number of summaries to keep
    #[arg(long, value_name = "N", default_value = "3", value_parser = at_least_one)]
    max_summaries: NonZeroUsize,

    /// Unit of an interaction
    #[arg(long, value_parser = one_of(UNITS), default_value = "message")]
    unit: Counted,

    /// Role of the message with the summaries
    ///
    /// Summaries repeat what users and tools said. With `system` or `developer`, the model takes them for instructions.
    #[arg(long, value_parser = one_of(ROLES), value_name = "ROLE", default_value = "user", hide_short_help = true)]
    summary_role: Role,

    /// Summarize as soon as the window holds more than N tokens
    ///
    /// The window then keeps the newest interactions with at most N tokens, and at most --window of them.
    #[arg(long, value_name = "N")]
    trigger_tokens: Option<Tokens>,

    /// Maximum number of tokens per summary
    #[arg(long, value_name = "N", default_value_t = Tokens(400), value_parser = some_tokens)]
    summary_tokens: Tokens,

    /// Refuse a summary that keeps less than this share of the facts that it covers
    ///
    /// The facts are those of `curtail verify`. The error names what is missing.
    #[arg(long, value_name = "SHARE", hide_short_help = true)]
    verify: Option<Share>,

    /// Ask once more for a summary that --verify refuses, with the facts that it lacks
    #[arg(long, hide_short_help = true)]
    retry_with_missing: bool,

    #[command(flatten)]
    tokenizer: TokenizerFlag,

    #[command(flatten)]
    pub(crate) ask: AskFlags,
}

/// The values of `--unit`.
const UNITS: &[Choice<Counted>] = &[
    Choice::new(Counted::Message.name(), Counted::Message, "One user or assistant message with text"),
    Choice::new(Counted::Exchange.name(), Counted::Exchange, "One user message and all answers to it"),
];

/// The values of `--summary-role`.
const ROLES: &[Choice<Role>] = &[
    Choice::new("user", Role::User, "The user, whose messages are not instructions"),
    Choice::new("system", Role::System, "The application, or the user in formats without this role"),
    Choice::new("developer", Role::Developer, "The application, as newer OpenAI formats call it"),
];

impl Options for SummarizeOptions {
    fn processors(&self, dry_run: bool) -> anyhow::Result<Processors> {
        let summarizer = if dry_run { self.ask.dry_summarizer() } else { self.ask.summarizer()? };
        Ok(vec![Box::new(self.summary_by(summarizer)?)])
    }

    fn files(&self) -> Reads {
        let mut reads = self.ask.files();
        reads.content.extend(self.tokenizer.file());
        reads
    }
}

impl SummarizeOptions {
    pub(crate) fn summary(&self) -> anyhow::Result<RollingSummary> {
        self.summary_by(self.ask.summarizer()?)
    }

    fn summary_by(&self, summarizer: Box<dyn Summarizer>) -> anyhow::Result<RollingSummary> {
        Ok(RollingSummary {
            rolling: Rolling { window: self.window, max_summaries: self.max_summaries },
            counted: self.unit,
            trigger: self.trigger_tokens.as_ref().map(|tokens| tokens.0),
            summarizer: Arc::from(summarizer),
            tokens: self.summary_tokens.0,
            tokenizer: self.tokenizer.load()?,
            role: self.summary_role,
            least_kept: self.verify.map(|Share(share)| LeastKept { share, retry: self.retry_with_missing }),
            given: None,
        })
    }
}
