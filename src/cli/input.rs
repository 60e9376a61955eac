//! The flags that commands share.

use std::ffi::OsString;
use std::io::IsTerminal as _;
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};

use crate::batch::{InputOptions, OnError};
use crate::dialects::Framing;
use crate::error::{Error, ErrorKind};
use crate::io::{self, Show, Source, Wanted};
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

    #[command(flatten)]
    pub(super) output: Output,

    /// Say on standard error what was dropped or changed, and why
    #[arg(long, value_enum, value_name = "FORMAT", num_args = 0..=1, require_equals = true, default_missing_value = "text", help_heading = "Report")]
    pub(super) explain: Option<ExplainFlag>,

    /// Write no transcript; only say on standard error what would be dropped or changed
    #[arg(long, help_heading = "Report")]
    pub(super) dry_run: bool,

    /// End with sums on standard error: files, transcripts, messages and tokens before and after, faults, time
    #[arg(long, value_enum, value_name = "FORMAT", num_args = 0..=1, require_equals = true, default_missing_value = "text", help_heading = "Report")]
    pub(super) stats: Option<ExplainFlag>,

    /// End with status 1 if anything changed, or would have
    #[arg(long, help_heading = "Report")]
    pub(super) fail_on_change: bool,
}

/// The flags of every command, wherever they stand.
#[derive(Debug, Clone, Args)]
pub(super) struct Global {
    /// Threads that work; 0 is one for every core
    #[arg(
        short,
        long,
        global = true,
        value_name = "N",
        default_value_t = 0,
        env = "CURTAIL_JOBS",
        help_heading = "Global"
    )]
    pub(super) jobs: usize,

    /// Say nothing but errors
    #[arg(short, long, global = true, env = "CURTAIL_QUIET", value_parser = clap::builder::FalseyValueParser::new(), help_heading = "Global")]
    pub(super) quiet: bool,

    /// Say how each input is read
    #[arg(short, long, global = true, env = "CURTAIL_VERBOSE", value_parser = clap::builder::FalseyValueParser::new(), help_heading = "Global")]
    pub(super) verbose: bool,

    /// When to use colours; `NO_COLOR` is respected
    #[arg(
        long,
        global = true,
        value_enum,
        value_name = "WHEN",
        default_value = "auto",
        env = "CURTAIL_COLOR",
        help_heading = "Global"
    )]
    pub(super) color: When,

    /// When to show where a batch is: bars on a terminal, a line every ten seconds elsewhere
    #[arg(
        long,
        global = true,
        value_enum,
        value_name = "WHEN",
        default_value = "auto",
        env = "CURTAIL_PROGRESS",
        help_heading = "Global"
    )]
    pub(super) progress: When,
}

/// `--color`, `--progress`
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum When {
    /// On a terminal
    Auto,
    /// Everywhere
    Always,
    /// Nowhere
    Never,
}

/// Where what is left goes.
#[derive(Debug, Clone, Args)]
pub(super) struct Output {
    /// Write to this file, whole or not at all; `.gz` and `.zst` are packed
    #[arg(short, long, value_name = "FILE", group = "place", help_heading = "Output")]
    pub(super) output: Option<PathBuf>,

    /// Write below this directory, each output at its input's relative path
    #[arg(short = 'O', long, value_name = "DIR", group = "place", help_heading = "Output")]
    pub(super) output_dir: Option<PathBuf>,

    /// Replace the inputs, whole or not at all; with a suffix they stay under their name with it
    #[arg(short, long, value_name = "SUFFIX", group = "place", num_args = 0..=1, require_equals = true, default_missing_value = "", help_heading = "Output")]
    pub(super) in_place: Option<OsString>,

    /// Overwrite outputs and backups that exist
    #[arg(long, help_heading = "Output")]
    pub(super) force: bool,

    /// Leave out inputs that an earlier run finished with the same options; its record lies in DIR, or in MANIFEST
    #[arg(long, value_name = "MANIFEST", requires = "place", num_args = 0..=1, require_equals = true, default_missing_value = "", help_heading = "Output")]
    pub(super) resume: Option<OsString>,

    /// What becomes of a record that cannot be read or cut
    #[arg(
        long,
        value_enum,
        value_name = "WHAT",
        default_value = "fail",
        env = "CURTAIL_ON_ERROR",
        help_heading = "Output"
    )]
    pub(super) on_error: OnErrorFlag,

    /// Write records that could not be read or cut to this file, with the reason, a JSON object each
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub(super) rejects: Option<PathBuf>,
}

/// `--on-error`
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum OnErrorFlag {
    /// Its file ends there: an output file is not written; the status is 2
    Fail,
    /// It is left out, with a warning
    Skip,
    /// It is kept as it is, with a warning
    Keep,
}

impl Input {
    /// How the user wants inputs to be read.
    pub(super) fn input_options(&self) -> Result<InputOptions, Error> {
        let dialect = Some(self.dialect.clone()).filter(|name| name != "auto");
        let input_options =
            InputOptions { framing: self.framing.framing(), dialect, messages_key: self.messages_key.clone() };
        // A name that nothing has is an error before anything is read.
        input_options.reading(Framing::Lines)?;
        Ok(input_options)
    }

    /// The inputs that are meant, beside what could not be found; nothing below `except`.
    pub(super) fn sources(&self, except: Option<&Path>) -> Result<(Vec<Source>, Vec<Error>), Error> {
        let stdin_name = self.stdin_filename.as_deref();
        let (sources, troubles) = io::find(&Wanted { paths: &self.paths, stdin_name, except })?;
        if sources.iter().any(|source| source.path.is_none()) && std::io::stdin().is_terminal() {
            let what = "standard input is a terminal; name a file, or pipe a transcript in; --help says more";
            return Err(Error::new(ErrorKind::Usage, "", what));
        }
        Ok((sources, troubles))
    }
}

impl Global {
    /// Makes `--color` hold for everything that is written from here on.
    pub(super) fn apply(&self) {
        match self.color {
            When::Auto => {}
            When::Always => anstream::ColorChoice::Always.write_global(),
            When::Never => anstream::ColorChoice::Never.write_global(),
        }
    }

    /// How progress is shown; `crowded` if standard output shares the terminal.
    pub(super) fn show(&self, crowded: bool) -> Show {
        let terminal = std::io::stderr().is_terminal();
        match self.progress {
            When::Never => Show::Never,
            _ if self.quiet => Show::Never,
            When::Always if terminal => Show::BarsNow,
            When::Always => Show::Lines,
            When::Auto if terminal && !crowded && std::env::var_os("CI").is_none() => Show::Bars,
            When::Auto => Show::Never,
        }
    }
}

impl OnErrorFlag {
    /// The policy that was asked for.
    pub(super) const fn policy(self) -> OnError {
        match self {
            Self::Fail => OnError::Fail,
            Self::Skip => OnError::Skip,
            Self::Keep => OnError::Keep,
        }
    }
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
