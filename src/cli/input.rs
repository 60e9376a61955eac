//! The flags that commands share.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use crate::dialects::Framing;
use crate::pipeline::Chain;
use crate::pipeline::options::RepairHow;

/// What is read, and how.
#[derive(Debug, Clone, Args)]
pub(super) struct Input {
    /// Files, directories or globs; `-` or nothing for standard input
    #[arg(value_name = "PATH")]
    pub(super) paths: Vec<PathBuf>,

    /// How transcripts lie in a file
    #[arg(long, value_enum, default_value = "auto", help_heading = "Input")]
    pub(super) framing: FramingFlag,

    /// The wire format, sniffed by default; `curtail dialects` lists them
    #[arg(long, value_name = "NAME", default_value = "auto", help_heading = "Input")]
    pub(super) dialect: String,

    /// Where records keep their messages, as keys joined by dots
    #[arg(long, value_name = "KEY", help_heading = "Input")]
    pub(super) messages_key: Option<String>,

    /// What standard input is called in messages
    #[arg(long, value_name = "NAME", help_heading = "Input")]
    pub(super) stdin_filename: Option<String>,
}

/// `--framing`
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum FramingFlag {
    /// Decided on the first values
    Auto,
    /// A message or event per line
    Lines,
    /// A transcript per line
    Records,
    /// The whole file is one JSON value
    Document,
}

impl FramingFlag {
    /// The framing that was asked for; `None` to decide.
    pub(super) const fn framing(self) -> Option<Framing> {
        match self {
            Self::Auto => None,
            Self::Lines => Some(Framing::Lines),
            Self::Records => Some(Framing::Records),
            Self::Document => Some(Framing::Document),
        }
    }
}

/// The flags of every command that cuts.
#[derive(Debug, Clone, Args)]
pub(super) struct Cutting {
    #[command(flatten)]
    pub(super) input: Input,

    /// Mend broken pairs: drop them, answer them with a stub, or move results to where they belong
    #[arg(long, value_enum, value_name = "HOW", help_heading = "Repair")]
    pub(super) repair: Option<RepairHow>,

    /// Mend calls that are still pending at the end, too
    #[arg(long, requires = "repair", help_heading = "Repair")]
    pub(super) repair_pending: bool,

    /// Say on standard error what was dropped or changed, and why
    #[arg(long, value_enum, value_name = "FORMAT", num_args = 0..=1, require_equals = true, default_missing_value = "text", help_heading = "Report")]
    pub(super) explain: Option<ExplainFlag>,

    /// Write no transcript, only what would be dropped or changed
    #[arg(long, help_heading = "Report")]
    pub(super) dry_run: bool,
}

/// `--explain`
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum ExplainFlag {
    /// A line for a decision
    Text,
    /// A JSON object for a decision
    Json,
}

impl Cutting {
    /// `chain`, and the repair that was asked for behind it.
    pub(super) fn with_repair(&self, chain: Chain) -> Chain {
        match self.repair {
            Some(how) => chain.at("", how.processors(self.repair_pending)),
            None => chain,
        }
    }
}
