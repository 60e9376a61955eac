//! The options of every processor, defined once: they are the flags of its command and the keys of its table in
//! `curtail.toml`. To add one: a file here, or beside its command if it needs the store or the network, and a line in
//! `processor_specs.rs`.

mod choice;
mod counting;
mod filter;
mod keys;
mod limit;
mod number;
mod pins;
mod repair;
mod split;
mod template;
mod window;

use std::ffi::OsString;
use std::fmt;
use std::path::PathBuf;

use clap::{ArgMatches, Args, Command};

pub(in crate::cli) use choice::{Choice, one_of};
pub(crate) use counting::{Amount, Bytes, CountingOptions, Tokens, tokenizer_file};
pub(crate) use filter::FilterOptions;
pub(crate) use keys::{OptionKey, Path, Shape};
pub(crate) use limit::LimitOptions;
pub(in crate::cli) use number::{at_least_one, signed};
use pins::{PINS, Pin, pins};
pub(crate) use repair::RepairOptions;
pub(in crate::cli) use repair::{REPAIR_MODES, profile_named, repairs};
pub(crate) use split::SplitOptions;
pub(crate) use template::TemplateOptions;
pub(crate) use window::WindowOptions;

use curtail_core::pipeline::Processors;
use curtail_core::processors::Counting;

/// The options of a processor.
pub(crate) trait Options: Args + fmt::Debug {
    /// The processors that they describe, in order.
    ///
    /// # Errors
    /// An invalid pattern, an unknown tokenizer, or a file that cannot be read.
    fn processors(&self) -> anyhow::Result<Processors>;

    /// The same for a dry run: none of them runs a program or sends anything.
    ///
    /// # Errors
    /// As [`Options::processors`].
    fn dry_processors(&self) -> anyhow::Result<Processors> {
        self.processors()
    }

    /// How they count tokens, if they do; totals are counted in the same way.
    ///
    /// # Errors
    /// An unknown tokenizer or model.
    fn counting(&self) -> anyhow::Result<Option<Counting>> {
        Ok(None)
    }

    /// The files that they name, whose content decides what the processors do. Some may not exist.
    fn files(&self) -> Vec<PathBuf> {
        Vec::new()
    }
}

/// A kind of processor, by the name of its command.
#[derive(Clone, Copy)]
pub(crate) struct ProcessorSpec {
    /// The name.
    pub(crate) name: &'static str,
    arguments: fn(Command) -> Command,
    understood: fn(&ArgMatches) -> Result<(), clap::Error>,
    processors: fn(&ArgMatches, bool) -> anyhow::Result<Processors>,
    files: fn(&ArgMatches) -> Vec<PathBuf>,
}

impl fmt::Debug for ProcessorSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

impl ProcessorSpec {
    /// The kind whose options are `T`.
    #[must_use]
    pub(crate) const fn with_options<T: Options>(name: &'static str) -> Self {
        Self {
            name,
            arguments: T::augment_args,
            understood: |matches| T::from_arg_matches(matches).map(drop),
            processors: |matches, dry_run| {
                let options = T::from_arg_matches(matches)?;
                if dry_run { options.dry_processors() } else { options.processors() }
            },
            files: |matches| T::from_arg_matches(matches).map_or_else(|_| Vec::new(), |options| options.files()),
        }
    }

    /// Its summary, on one line.
    #[must_use]
    pub(crate) fn about(&self) -> String {
        self.command().get_about().map(ToString::to_string).unwrap_or_default()
    }

    /// The keys of its table, in the order of its command's help.
    #[must_use]
    pub(crate) fn keys(&self) -> Vec<OptionKey> {
        let mut keys = OptionKey::all(&self.command());
        for key in &mut keys {
            key.least = u64::from(key.shape == Shape::Whole && self.refuses(&format!("--{}=0", key.name)));
        }
        keys
    }

    /// Whether the value of `flag` is invalid by itself.
    fn refuses(&self, flag: &str) -> bool {
        let read = self.command().try_get_matches_from([flag]);
        read.is_err_and(|error| error.kind() == clap::error::ErrorKind::ValueValidation)
    }

    /// Reads its flags, without a command before them.
    ///
    /// # Errors
    /// The error that the command line would report.
    pub(crate) fn parse_flags(&self, flags: &[OsString]) -> Result<ArgMatches, clap::Error> {
        let matches = self.command().try_get_matches_from(flags)?;
        (self.understood)(&matches)?;
        Ok(matches)
    }

    /// The processors that the flags from [`ProcessorSpec::parse_flags`] describe, or their replacements in a dry run.
    ///
    /// # Errors
    /// As [`Options::processors`].
    pub(crate) fn processors(&self, flags: &ArgMatches, dry_run: bool) -> anyhow::Result<Processors> {
        (self.processors)(flags, dry_run)
    }

    /// The files that the flags name: those of [`Options::files`].
    #[must_use]
    pub(crate) fn files(&self, flags: &ArgMatches) -> Vec<PathBuf> {
        (self.files)(flags)
    }

    fn command(&self) -> Command {
        let command = Command::new(self.name).no_binary_name(true).disable_help_flag(true);
        let mut command = (self.arguments)(command).mut_args(signed);
        command.build();
        command
    }
}
