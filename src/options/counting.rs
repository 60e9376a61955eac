//! How tokens are counted.

use std::path::PathBuf;
use std::sync::Arc;

use clap::error::ErrorKind;
use clap::parser::ValueSource;
use clap::{ArgGroup, ArgMatches, Args, Command, FromArgMatches, ValueHint};

use crate::options::choices::{Choice, one_of};
use crate::options::files::Reads;
use crate::options::numbers::Tokens;
use crate::options::variables::Variables;
use crate::process::open_template;
use curtail_core::checks::Budget;
use curtail_core::counting::Tokenizer;
use curtail_core::processors::{Calibrate, Counting, Overhead};
use curtail_io::sweep;
use curtail_lab::figures::Figures;
use curtail_tokens::templates::ToolList;
use curtail_tokens::tokenizers;

/// The group of the flags that name a tokenizer.
pub(crate) const TOKENIZERS: &str = "counter";

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
#[command(group = ArgGroup::new(TOKENIZERS).multiple(true))]
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
        group = TOKENIZERS,
        help_heading = "Counting"
    )]
    tokenizer: String,

    /// Count with this model's tokenizer
    #[arg(long, value_name = "MODEL", group = TOKENIZERS, help_heading = "Counting")]
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
        keep_tokenizers();
        let by_usage = tokenizers::tokenizer_by_usage(&flags.tokenizer).filter(|_| flags.model.is_none());
        let calibrate = by_usage.is_some().then_some(Figures::counting as Calibrate);
        let tokenizer = match (&flags.model, by_usage) {
            (Some(model), _) => tokenizers::tokenizer_for_model(model)?,
            (None, Some(tokenizer)) => tokenizer?,
            (None, None) => tokenizers::tokenizer_by_name(&flags.tokenizer)?,
        };
        let overhead = flags.overhead;
        let reserve = flags.reserve.0;
        Ok(Counting { overhead, reserve, by_usage: calibrate, ..Counting::new(tokenizer) })
    }

    /// The counting of a command without a budget, which a reserve is a part of.
    ///
    /// # Errors
    /// As [`counting`](Self::counting).
    pub(crate) fn without_reserve(&self) -> anyhow::Result<Counting> {
        Ok(Counting { reserve: 0, ..self.counting()? })
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
        Flags::augment_args(command)
    }

    fn augment_args_for_update(command: Command) -> Command {
        Flags::augment_args_for_update(command)
    }
}

/// The tokenizer of texts that the program writes itself.
#[derive(Debug, Clone, Args)]
pub(crate) struct TokenizerFlag {
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

/// Keeps what is made of large tokenizer files in the user's cache folder, and removes what killed runs left there.
fn keep_tokenizers() {
    if let Some(folder) = Variables::of_process().cache_folder("tokenizers") {
        sweep(&folder);
        tokenizers::keep_prepared_in(folder);
    }
}

impl TokenizerFlag {
    pub(crate) fn load(&self) -> anyhow::Result<Arc<dyn Tokenizer>> {
        keep_tokenizers();
        Ok(tokenizers::tokenizer_by_name(&self.tokenizer)?)
    }

    /// The file of the tokenizer, if it is one.
    pub(crate) fn file(&self) -> Option<PathBuf> {
        tokenizer_file(&self.tokenizer)
    }
}

/// What precedes the name of a tokenizer, which can be a file, in `usage:NAME`; nothing in a name alone.
pub(crate) fn way_of_counting(name: &str) -> &str {
    const BY_USAGE: &str = "usage:";
    if name.starts_with(BY_USAGE) { BY_USAGE } else { "" }
}

/// The file of a tokenizer, if its name is the path of one.
fn tokenizer_file(name: &str) -> Option<PathBuf> {
    let path = PathBuf::from(&name[way_of_counting(name).len()..]);
    path.is_file().then_some(path)
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

    /// A budget of `max_tokens`, counted as [`counting`](Self::counting) does.
    ///
    /// # Errors
    /// As [`counting`](Self::counting), and as [`CountingOptions::check_reserve`].
    pub(crate) fn budget(&self, options: &CountingOptions, max_tokens: Tokens) -> anyhow::Result<Budget> {
        options.check_reserve(max_tokens)?;
        Ok(Budget { max_tokens: max_tokens.0, counting: self.counting(options)? })
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
