//! The options of every processor, defined once: they are the flags of its command and the keys of its table in
//! `curtail.toml`. Each is in the file of its command; to add one, add a line to `PROCESSOR_SPECS`.

mod counting;
mod keys;

pub(crate) use counting::{Amount, Bytes, CountingOptions, TemplateOptions, Tokens, tokenizer_file};
pub(crate) use keys::{FileValue, OptionKey, Shape};

use std::ffi::OsString;
use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{ArgMatches, Args, Command};

use curtail_core::pipeline::Processors;
use curtail_core::processors::{Counting, Pins};

/// The options of a processor.
pub(crate) trait Options: Args + fmt::Debug {
    /// The processors that the options describe, in order.
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

    /// How the processors count tokens, if they do; totals are counted in the same way.
    ///
    /// # Errors
    /// An unknown tokenizer or model.
    fn counting(&self) -> anyhow::Result<Option<Counting>> {
        Ok(None)
    }

    /// The files that the processors read. Some may not exist.
    fn files(&self) -> Reads {
        Reads::default()
    }
}

/// The files that a run reads besides its inputs, which none of its outputs may replace.
#[derive(Debug, Clone, Default)]
pub(crate) struct Reads {
    /// Files whose content affects the output.
    pub(crate) content: Vec<PathBuf>,
    /// Other files: keys, certificates, and the configuration, whose values are among the options.
    pub(crate) other: Vec<PathBuf>,
}

impl Reads {
    /// Files whose content affects the output.
    pub(crate) fn of_content(files: impl IntoIterator<Item = PathBuf>) -> Self {
        Self { content: files.into_iter().collect(), other: Vec::new() }
    }

    /// All files.
    pub(crate) fn all(&self) -> impl Iterator<Item = &PathBuf> {
        self.content.iter().chain(&self.other)
    }
}

impl Extend<Reads> for Reads {
    fn extend<I: IntoIterator<Item = Reads>>(&mut self, reads: I) {
        for Reads { content, other } in reads {
            self.content.extend(content);
            self.other.extend(other);
        }
    }
}

/// A kind of processor, by the name of its command.
#[derive(Clone, Copy)]
pub(crate) struct ProcessorSpec {
    /// The name.
    pub(crate) name: &'static str,
    arguments: fn(Command) -> Command,
    validate: fn(&ArgMatches) -> Result<(), clap::Error>,
    processors: fn(&ArgMatches, bool) -> anyhow::Result<Processors>,
    files: fn(&ArgMatches) -> Reads,
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
            validate: |matches| T::from_arg_matches(matches).map(drop),
            processors: |matches, dry_run| {
                let options = T::from_arg_matches(matches)?;
                if dry_run { options.dry_processors() } else { options.processors() }
            },
            files: |matches| T::from_arg_matches(matches).map_or_else(|_| Reads::default(), |options| options.files()),
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
            key.minimum = u64::from(key.shape == Shape::Whole && self.refuses(&format!("--{}=0", key.name)));
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
        (self.validate)(&matches)?;
        Ok(matches)
    }

    /// The processors that the flags from [`ProcessorSpec::parse_flags`] describe, or their replacements in a dry run.
    ///
    /// # Errors
    /// As [`Options::processors`].
    pub(crate) fn processors(&self, flags: &ArgMatches, dry_run: bool) -> anyhow::Result<Processors> {
        (self.processors)(flags, dry_run)
    }

    /// The files of [`Options::files`].
    #[must_use]
    pub(crate) fn files(&self, flags: &ArgMatches) -> Reads {
        (self.files)(flags)
    }

    fn command(&self) -> Command {
        let command = Command::new(self.name).no_binary_name(true).disable_help_flag(true);
        let mut command = (self.arguments)(command).mut_args(signed);
        command.build();
        command
    }
}

// Flags whose values select a value of the library: one table for each flag, with the names and their help.

/// A value of a flag, and the value of the library that it selects.
#[derive(Debug)]
pub(in crate::cli) struct Choice<T: 'static> {
    name: &'static str,
    alias: Option<&'static str>,
    help: Option<&'static str>,
    value: T,
}

impl<T: Copy + Send + Sync> Choice<T> {
    /// The name `name`, which selects `value`, with a line of help.
    pub(crate) const fn new(name: &'static str, value: T, help: &'static str) -> Self {
        Self { name, alias: None, help: Some(help), value }
    }

    /// A name that needs no help.
    pub(crate) const fn plain(name: &'static str, value: T) -> Self {
        Self { name, alias: None, help: None, value }
    }

    /// The same, under a second name that the help does not list.
    pub(crate) const fn with_alias(self, alias: &'static str) -> Self {
        Self { name: self.name, alias: Some(alias), help: self.help, value: self.value }
    }

    fn is_called(&self, name: &str) -> bool {
        self.name == name || self.alias == Some(name)
    }
}

/// Reads the value of a flag as one of `choices`.
pub(in crate::cli) fn one_of<T>(choices: &'static [Choice<T>]) -> impl TypedValueParser<Value = T>
where
    T: Copy + Send + Sync,
{
    let values = choices.iter().map(|choice| {
        let value = PossibleValue::new(choice.name).aliases(choice.alias);
        match choice.help {
            Some(help) => value.help(help),
            None => value,
        }
    });
    PossibleValuesParser::new(values).try_map(move |name| {
        let chosen = choices.iter().find(|choice| choice.is_called(&name));
        chosen.map(|choice| choice.value).ok_or("unknown value")
    })
}

// Numbers on the command line.

/// A number that must not be 0.
pub(in crate::cli) fn at_least_one<T: FromStr>(text: &str) -> Result<T, String> {
    match text.parse::<i128>() {
        Ok(..=0) => Err(String::from("must be at least 1")),
        _ => text.parse().map_err(|_| String::from("expected a whole number, 1 or more")),
    }
}

/// Makes a flag accept a value that begins with a minus sign, so that the error is about the value and not about an unknown
/// flag.
pub(in crate::cli) fn signed(arg: clap::Arg) -> clap::Arg {
    let takes_value = arg.get_action().takes_values() && !arg.is_positional();
    arg.allow_negative_numbers(takes_value)
}

// `--pin`: the messages that a cut keeps, and a split repeats, wherever they are.

/// The values of `--pin`.
pub(in crate::cli) const PINS: &[Choice<Pin>] = &[
    Choice::new("system", Pin::System, "System and developer messages"),
    Choice::new("first-user", Pin::FirstUser, "The first user message with text, and what system pins"),
    Choice::new("none", Pin::None, "Nothing"),
];

/// A value of `--pin`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::cli) enum Pin {
    System,
    FirstUser,
    None,
}

/// What the values of `--pin` keep.
///
/// # Errors
/// `none` is combined with another value.
pub(in crate::cli) fn pins(which: &[Pin]) -> anyhow::Result<Pins> {
    if which.len() > 1 && which.contains(&Pin::None) {
        anyhow::bail!("--pin none excludes the other values");
    }
    Ok(Pins { system: !which.contains(&Pin::None), first_user: which.contains(&Pin::FirstUser) })
}
