//! What the options of processors share. The options of each are in the file of its command, and are its flags and the keys of
//! its table in `curtail.toml`; to add a processor, add a line to `PROCESSOR_SPECS` in `config.rs`.

use std::fmt;
use std::fs::File;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::error::ErrorKind;
use clap::parser::ValueSource;
use clap::{ArgGroup, ArgMatches, Args, Command, FromArgMatches, ValueHint};

use super::process::open_template;
use curtail_core::counting::{Calibrate, Tokenizer};
use curtail_core::pipeline::Processors;
use curtail_core::processors::{Counting, Overhead, Pins, Question};
use curtail_core::small::{SMALL, read_small_text};
use curtail_io::FileError;
use curtail_lab::calibration::Figures;
use curtail_tokens::templates::ToolList;
use curtail_tokens::tokenizers;

/// The options of a processor.
pub(crate) trait Options: fmt::Debug {
    /// The processors that the options describe, in order. In a dry run, none of them runs a program or sends anything.
    ///
    /// # Errors
    /// An invalid pattern, an unknown tokenizer, or a file that cannot be read.
    fn processors(&self, dry_run: bool) -> anyhow::Result<Processors>;

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

/// The group of the flags whose keys only a file may set that the user wrote or named, besides those whose values are files:
/// they run a program, name a server, change what it is sent, or read the user's store. Their fields name the group.
pub(in crate::cli) const TRUSTED: &str = "trusted";

/// The group of the flags that name a tokenizer.
pub(in crate::cli) const TOKENIZERS: &str = "counter";

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

/// The text of a file that a flag names.
pub(in crate::cli) fn read_text(path: &Path) -> Result<String, FileError> {
    let read = File::open(path).and_then(|file| read_small_text(file, SMALL));
    read.map_err(|error| FileError::system(path.display().to_string(), &error))
}

// Numbers on the command line.

/// A number that must not be 0.
pub(in crate::cli) fn at_least_one(text: &str) -> Result<NonZeroUsize, String> {
    match text.parse::<i128>() {
        Ok(..=0) => Err(String::from("must be at least 1")),
        _ => text.parse().map_err(|_| String::from("expected a whole number, 1 or more")),
    }
}

/// A time such as `30d`, in one of these `units` of seconds, minutes, hours, days and weeks.
pub(in crate::cli) fn time_span(text: &str, units: &str) -> Option<Duration> {
    const SECONDS: [(char, u64); 5] = [('s', 1), ('m', 60), ('h', 3_600), ('d', 86_400), ('w', 604_800)];
    let (unit, seconds) = SECONDS.into_iter().find(|(unit, _)| units.contains(*unit) && text.ends_with(*unit))?;
    let number: u64 = text.strip_suffix(unit)?.parse().ok()?;
    number.checked_mul(seconds).map(Duration::from_secs)
}

/// Makes a flag accept a value that begins with a minus sign, so that the error is about the value and not about an unknown
/// flag.
pub(in crate::cli) fn signed(arg: clap::Arg) -> clap::Arg {
    let takes_value = arg.get_action().takes_values() && !arg.is_positional();
    arg.allow_negative_numbers(takes_value)
}

/// A number of tokens: `8000`, `8k` or `1.5m`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Tokens(pub(crate) usize);

impl fmt::Display for Tokens {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A number of tokens, or a share of those of each transcript: `50%`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Amount {
    /// A number.
    Tokens(Tokens),
    /// A share; 1 is all of them.
    Share(f64),
}

impl Amount {
    /// The number of tokens; `default` for a share.
    pub(crate) const fn or(self, default: usize) -> usize {
        match self {
            Self::Tokens(tokens) => tokens.0,
            Self::Share(_) => default,
        }
    }

    /// The share, if it is one.
    pub(crate) const fn share(self) -> Option<f64> {
        match self {
            Self::Tokens(_) => None,
            Self::Share(share) => Some(share),
        }
    }
}

impl FromStr for Amount {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let Some(percent) = text.strip_suffix('%') else { return text.parse().map(Self::Tokens) };
        let share = percent.parse().ok().filter(|percent: &f64| (0.0..=1000.0).contains(percent));
        let wrong = || String::from("expected a share of the tokens of each transcript, such as 50%");
        share.map(|percent| Self::Share(percent / 100.0)).ok_or_else(wrong)
    }
}

impl FromStr for Tokens {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || {
            let share =
                if text.ends_with('%') { "; only `limit` and the policies of `replay` take a share" } else { "" };
            format!("expected a whole number of tokens, such as 8000, 8k or 1.5m{share}")
        };
        scaled(text).map(Self).ok_or_else(wrong)
    }
}

/// A number of bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Bytes(pub(crate) u64);

impl FromStr for Bytes {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let bytes = scaled(text).ok_or("expected a whole number of bytes, such as 800000, 800k or 1.5m")?;
        Ok(Self(bytes as u64))
    }
}

/// A whole number, or one with a unit of a thousand or a million: `1.5m`.
fn scaled(text: &str) -> Option<usize> {
    let (digits, unit) = match text.char_indices().last() {
        Some((at, 'k' | 'K')) => (&text[..at], 1_000_usize),
        Some((at, 'm' | 'M')) => (&text[..at], 1_000_000),
        _ => (text, 1),
    };
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let mut number = whole.parse::<usize>().ok()?.checked_mul(unit)?;
    let mut place = unit;
    for digit in fraction.chars() {
        place /= 10;
        let digit = digit.to_digit(10).filter(|_| place > 0)?;
        number = number.checked_add(digit as usize * place)?;
    }
    Some(number)
}

// `--pin`: the messages that a cut keeps, and a split repeats, wherever they are.

/// The values of `--pin`.
pub(in crate::cli) const PINS: &[Choice<Pin>] = &[
    Choice::new("system", Pin::System, "System and developer messages"),
    Choice::new("first-user", Pin::FirstUser, "The first message that a person wrote, and what system pins"),
    Choice::new("last-user", Pin::LastUser, "The last one, and what system pins; while a round is in flight, always"),
    Choice::new("none", Pin::None, "Nothing"),
];

/// A value of `--pin`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::cli) enum Pin {
    System,
    FirstUser,
    LastUser,
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
    let question = match (which.contains(&Pin::LastUser), which.contains(&Pin::None)) {
        (true, _) => Question::Always,
        (_, true) => Question::Never,
        _ => Question::InFlight,
    };
    Ok(Pins { system: !which.contains(&Pin::None), first_user: which.contains(&Pin::FirstUser), question })
}

// How tokens are counted.

/// The values of `--overhead`.
const OVERHEADS: &[Choice<Overhead>] = &[
    Choice::new("none", Overhead::None, "Add nothing"),
    Choice::new("openai", Overhead::OpenAi, "Add 3 tokens per message and 3 that start the reply"),
];

/// How tokens are counted.
#[derive(Debug, Clone)]
pub(crate) struct CountingOptions {
    flags: Flags,
    /// Whether a tokenizer or a model was named, and not left at its default.
    is_named: bool,
    /// Whether the command line has any of these flags.
    is_given: bool,
}

#[derive(Debug, Clone, Args)]
struct Flags {
    /// Tokenizer: an encoding, `approx[:ENCODING]`, `usage[:NAME]` or the path of a `tokenizer.json`
    ///
    /// `curtail tokenizers` lists the encodings. `usage` calibrates the counts for each transcript with the provider's
    /// usage that its log contains; a transcript without it is an error.
    #[arg(
        long,
        value_name = "NAME",
        default_value = tokenizers::DEFAULT,
        env = "CURTAIL_TOKENIZER",
        value_hint = ValueHint::FilePath,
        help_heading = "Counting"
    )]
    tokenizer: String,

    /// Count with this model's tokenizer
    #[arg(long, value_name = "MODEL", help_heading = "Counting")]
    model: Option<String>,

    /// Tokens to add for the framing of messages
    #[arg(
        long,
        value_parser = one_of(OVERHEADS),
        default_value = "none",
        hide_short_help = true,
        help_heading = "Counting"
    )]
    overhead: Overhead,

    /// Tokens to hold back for the reply
    #[arg(long, value_name = "N", default_value_t = Tokens(0), hide_short_help = true, help_heading = "Counting")]
    reserve: Tokens,
}

impl CountingOptions {
    /// The counting that these options describe.
    ///
    /// # Errors
    /// An unknown tokenizer or model, or a file that is not a tokenizer.
    pub(crate) fn counting(&self) -> anyhow::Result<Counting> {
        let flags = &self.flags;
        let by_usage = tokenizers::tokenizer_by_usage(&flags.tokenizer).filter(|_| flags.model.is_none());
        let calibrate = by_usage.is_some().then_some(Figures::counting as Calibrate);
        let tokenizer = match (&flags.model, by_usage) {
            (Some(model), _) => tokenizers::tokenizer_for_model(model)?.tokenizer,
            (None, Some(tokenizer)) => tokenizer?,
            (None, None) => tokenizers::tokenizer_by_name(&flags.tokenizer)?,
        };
        let (overhead, reserve) = (flags.overhead, flags.reserve.0);
        Ok(Counting { overhead, reserve, by_usage: calibrate, ..Counting::new(tokenizer) })
    }

    /// The file of the tokenizer, if it is one.
    pub(crate) fn files(&self) -> Reads {
        let name = Some(&self.flags.tokenizer).filter(|_| self.flags.model.is_none());
        Reads::of_content(name.and_then(|name| tokenizer_file(name)))
    }

    /// Refuses a reserve that leaves nothing of `budget`.
    ///
    /// # Errors
    /// The reserve is not smaller than the budget.
    pub(crate) fn check_reserve(&self, budget: Tokens) -> anyhow::Result<()> {
        let reserve = self.flags.reserve;
        if reserve.0 > 0 && reserve.0 >= budget.0 {
            anyhow::bail!("--reserve {reserve} leaves nothing of the budget of {budget} tokens; lower --reserve");
        }
        Ok(())
    }

    /// Whether the command line says how to count.
    pub(crate) const fn is_given(&self) -> bool {
        self.is_given
    }

    /// A note about the counts, such as that they are estimates.
    pub(crate) fn note(&self) -> Option<String> {
        self.flags
            .model
            .as_ref()
            .and_then(|model| tokenizers::tokenizer_for_model(model).ok())
            .and_then(|picked| picked.note)
    }
}

// `--model` overrides a tokenizer from the environment and conflicts with `--tokenizer`: clap's own conflicts cannot
// distinguish the two.
impl FromArgMatches for CountingOptions {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let flags = Flags::from_arg_matches(matches)?;
        let named = matches.value_source("tokenizer") == Some(ValueSource::CommandLine);
        if named && flags.model.is_some() {
            let message = "model and tokenizer exclude each other; pass one of them";
            return Err(clap::Error::raw(ErrorKind::ArgumentConflict, message));
        }
        let default = matches.value_source("tokenizer") == Some(ValueSource::DefaultValue);
        let is_named = !default || flags.model.is_some();
        let flags_of_counting = ["tokenizer", "model", "overhead", "reserve"];
        let is_given =
            flags_of_counting.iter().any(|flag| matches.value_source(flag) == Some(ValueSource::CommandLine));
        Ok(Self { flags, is_named, is_given })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

impl Args for CountingOptions {
    fn augment_args(command: Command) -> Command {
        grouped(Flags::augment_args(command))
    }

    fn augment_args_for_update(command: Command) -> Command {
        grouped(Flags::augment_args_for_update(command))
    }
}

/// The tokenizer of texts that the program writes itself.
#[derive(Debug, Clone, Args)]
pub(in crate::cli) struct TokenizerFlag {
    /// Tokenizer: an encoding, `approx[:ENCODING]` or the path of a `tokenizer.json`
    ///
    /// `curtail tokenizers` lists the encodings.
    #[arg(
        long,
        value_name = "NAME",
        default_value = tokenizers::DEFAULT,
        env = "CURTAIL_TOKENIZER",
        value_hint = ValueHint::FilePath
    )]
    tokenizer: String,
}

impl TokenizerFlag {
    pub(in crate::cli) fn load(&self) -> anyhow::Result<Arc<dyn Tokenizer>> {
        Ok(tokenizers::tokenizer_by_name(&self.tokenizer)?)
    }

    /// The file of the tokenizer, if it is one.
    pub(in crate::cli) fn file(&self) -> Option<PathBuf> {
        tokenizer_file(&self.tokenizer)
    }
}

/// The file of a tokenizer, if its name is the path of one.
fn tokenizer_file(name: &str) -> Option<PathBuf> {
    let path = PathBuf::from(name.strip_prefix("usage:").unwrap_or(name));
    path.is_file().then_some(path)
}

/// Groups the two flags, which are two ways to name one tokenizer; the rule above decides which applies.
fn grouped(command: Command) -> Command {
    command.group(ArgGroup::new(TOKENIZERS).args(["tokenizer", "model"]).multiple(true))
}

/// Counting what a chat template renders.
#[derive(Debug, Clone, Args)]
pub(crate) struct TemplateOptions {
    /// Count what this chat template renders: a `chat_template.jinja`, `tokenizer_config.json` or model folder
    ///
    /// Totals then equal the tokens of `apply_chat_template`, tools included, and budgets hold for them. With the folder of a
    /// model, its `tokenizer.json` counts unless another tokenizer is named.
    #[arg(
        long,
        value_name = "PATH",
        value_hint = ValueHint::AnyPath,
        hide_short_help = true,
        help_heading = "Counting"
    )]
    template: Option<PathBuf>,

    /// Tools for the template, a JSON list, where a transcript contains none
    #[arg(long, value_name = "FILE", hide_short_help = true, help_heading = "Counting")]
    tools: Option<PathBuf>,

    /// Count the beginning of a reply that the template adds
    #[arg(long, hide_short_help = true, help_heading = "Counting")]
    add_generation_prompt: bool,
}

impl TemplateOptions {
    /// Whether there is a template.
    pub(crate) const fn is_given(&self) -> bool {
        self.template.is_some()
    }

    /// The files that affect the count: those of the template, the tools, and the tokenizer of `options`.
    pub(crate) fn files(&self, options: &CountingOptions) -> Reads {
        let mut reads = options.files();
        if let Some(path) = &self.template {
            let folder = if path.is_dir() { path } else { path.parent().unwrap_or(path) };
            let names = ["chat_template.jinja", "tokenizer_config.json", "tokenizer.json"];
            reads.content.extend(names.map(|name| folder.join(name)));
            reads.content.push(path.clone());
        }
        reads.content.extend(self.tools.clone());
        reads
    }

    /// The counting of `options`, with this template if there is one.
    ///
    /// # Errors
    /// As [`CountingOptions::counting`]; a template or a list of tools that cannot be read.
    pub(crate) fn counting(&self, options: &CountingOptions) -> anyhow::Result<Counting> {
        let counting = options.counting()?;
        let Some(path) = &self.template else { return Ok(counting) };
        anyhow::ensure!(
            counting.by_usage.is_none(),
            "--template and --tokenizer usage exclude each other; pass one of them"
        );
        let mut template = open_template(path)?;
        template.tools = self.tools.as_deref().map(ToolList::open).transpose()?;
        template.add_generation_prompt = self.add_generation_prompt;
        let model_tokenizer = path.join("tokenizer.json");
        let tokenizer = match !options.is_named && model_tokenizer.is_file() {
            true => tokenizers::tokenizer_by_name(&model_tokenizer.to_string_lossy())?,
            false => counting.tokenizer,
        };
        Ok(Counting { tokenizer, template: Some(Arc::new(template)), ..counting })
    }
}
