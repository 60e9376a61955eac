//! The command line: each subcommand turns flags into values for the other modules. Several small ones share `catalog`.

mod catalog;
mod check;
mod config;
mod corrections;
mod count;
mod cut;
mod dialects;
mod elsewhere;
pub mod embedded;
mod filter;
mod help;
mod init;
mod memory;
mod repair;
mod replay;
mod run;
mod sessions;
mod show;
mod split;
mod store;
mod summarize;
mod verify;
mod view;

use std::ffi::OsString;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::process::{ExitCode, Termination as _};

use clap::{ArgMatches, Args as _, CommandFactory as _, FromArgMatches as _, Parser, Subcommand};

use crate::cutting::Cuts as _;
use crate::options::config::{Config, ConfigChoice};
use crate::options::effects;
use crate::options::global::Global;
use crate::options::limit::LimitOptions;
use crate::options::variables::Variables;
use crate::options::window::WindowOptions;
use crate::{console, process};
use curtail_core::visible::one_line;
use curtail_tokens::tokenizers::{tokenizer_panic, unencoded_text};

/// Cut LLM transcripts to size without breaking their tool calls.
#[derive(Debug, Parser)]
#[command(name = "curtail", version, max_term_width = 100, subcommand_required = true, arg_required_else_help = true)]
struct Root {
    #[command(flatten)]
    global: Global,
}

struct Cli {
    global: Global,
    command: Command,
    /// The flags of the command, as they were given.
    flags: ArgMatches,
    /// What to report about them.
    remark: Option<String>,
}

impl Cli {
    fn from_matches(matches: &ArgMatches, remark: Option<String>) -> Result<Self, clap::Error> {
        let global = Global::from_arg_matches(matches)?;
        let command = Command::from_arg_matches(matches)?;
        let flags = matches.subcommand().map(|(_, flags)| flags.clone()).unwrap_or_default();
        Ok(Self { global, command, flags, remark })
    }
}

/// The commands by name.
macro_rules! commands {
    ($($word:literal => $name:ident($args:ty),)*) => {
        #[derive(Debug, Subcommand)]
        enum Command {
            $(#[command(name = $word)] $name($args),)*
        }

        impl Command {
            fn run(&self, global: &Global) -> anyhow::Result<ExitCode> {
                Ok(match self {
                    $(Self::$name(args) => args.run(global)?.report(),)*
                })
            }
        }

        /// The flags of the command `name`.
        fn flags_of(name: &str) -> Option<clap::Command> {
            match name {
                $($word => Some(<$args as clap::Args>::augment_args(clap::Command::new($word))),)*
                _ => None,
            }
        }
    };
}

commands! {
    "window" => Window(cut::CutArgs<WindowOptions>),
    "filter" => Filter(Box<filter::FilterArgs>),
    "limit" => Limit(cut::CutArgs<LimitOptions>),
    "split" => Split(Box<split::SplitArgs>),
    "repair" => Repair(repair::RepairArgs),
    "check" => Check(check::CheckArgs),
    "rule" => Rule(catalog::RuleArgs),
    "schema" => Schema(catalog::SchemaArgs),
    "run" => Run(run::RunArgs),
    "init" => Init(init::InitArgs),
    "config" => Config(config::ConfigArgs),
    "count" => Count(count::CountArgs),
    "verify" => Verify(Box<verify::VerifyArgs>),
    "replay" => Replay(Box<replay::ReplayArgs>),
    "tokenizers" => Tokenizers(catalog::TokenizersArgs),
    "summarize" => Summarize(Box<summarize::SummarizeArgs>),
    "sessions" => Sessions(sessions::SessionsArgs),
    "show" => Show(show::ShowArgs),
    "view" => View(Box<view::ViewArgs>),
    "dialects" => Dialects(dialects::DialectsArgs),
    "memory" => Memory(memory::MemoryArgs),
    "store" => Store(store::StoreArgs),
    "completions" => Completions(catalog::CompletionsArgs),
    "man" => Man(catalog::ManArgs),
}

/// The command line, with every command and flag.
pub(crate) fn command() -> clap::Command {
    help::with_pages(Command::augment_subcommands(Root::command().long_version(help::long_version())))
}

/// Whether the configuration file at `path` is read and every processor in it can be built. Fuzz targets call it.
#[must_use]
pub fn reads_configuration(path: &std::path::Path) -> bool {
    let config = Config::load(path, ConfigChoice::Named, &Variables::default());
    config.is_ok_and(|config| config.chain(&config.everywhere(), false).is_ok())
}

/// The whole program: reads the command line, runs the command and returns its exit status.
#[must_use]
pub fn main() -> ExitCode {
    let given: Vec<OsString> = std::env::args_os().collect();
    if given.get(1).is_some_and(|first| first == process::RENDER_COMMAND) {
        return process::serve_templates();
    }
    if let Ok(program) = std::env::current_exe() {
        process::set_program(program);
    }
    let cli = match parse_one(&given).map_or_else(|| parse(&given), Ok) {
        Ok(cli) => cli,
        Err(error) => return report_usage(error, &given),
    };
    #[cfg(unix)]
    process::survive_file_size_limit();
    cli.global.apply();
    cli.remark.iter().for_each(console::warning);
    // A tokenizer that was loaded from a file can panic on a text, which is an error of the file.
    let done = catch_unwind(AssertUnwindSafe(|| cli.command.run(&cli.global))).unwrap_or_else(|panic| {
        match tokenizer_panic() {
            Some(why) => Err(anyhow::anyhow!(why)),
            None => resume_unwind(panic),
        }
    });
    unencoded_text().iter().for_each(console::warning);
    done.unwrap_or_else(|error| failed(&error))
}

fn failed(error: &anyhow::Error) -> ExitCode {
    console::error(&format!("{error:#}"));
    ExitCode::from(2)
}

/// Parses a command line that begins with a command, with only that command's flags: building those of all commands takes a
/// millisecond. `None` for any other command line, and for an invalid one, whose error [`parse`] reports.
fn parse_one(given: &[OsString]) -> Option<Cli> {
    let command = flags_of(given.get(1)?.to_str()?)?;
    let root = Global::augment_args(clap::Command::new("curtail")).subcommand(command);
    let mut root = help::with_flags(root);
    let matches = root.try_get_matches_from_mut(given).ok()?;
    let remark = effects::check(&root, &matches, given).ok()?;
    Cli::from_matches(&matches, remark).ok()
}

fn parse(given: &[OsString]) -> Result<Cli, clap::Error> {
    let mut all = command();
    let matches = all.try_get_matches_from_mut(given)?;
    let remark = effects::check(&all, &matches, given)?;
    Cli::from_matches(&matches, remark).map_err(|error| error.format(&mut all))
}

/// Prints the error, or the help that was requested. Arguments with control characters, which a terminal would obey, are made
/// visible and parsed again.
fn report_usage(error: clap::Error, given: &[OsString]) -> ExitCode {
    let given: Vec<_> = given.iter().map(|argument| argument.to_string_lossy()).collect();
    let visible: Vec<String> = given.iter().map(|argument| one_line(argument).into_owned()).collect();
    let error = match given == visible {
        true if !error.use_stderr() => {
            return match console::usage(&error) {
                Ok(()) => ExitCode::SUCCESS,
                Err(error) => failed(&error.into()),
            };
        }
        true => error,
        // If the visible arguments are valid, the error is one of the same kind that quotes no argument.
        false => {
            let visible: Vec<OsString> = visible.iter().map(OsString::from).collect();
            let other = parse(&visible).err();
            other.unwrap_or_else(|| clap::Error::new(error.kind()).with_cmd(&command()))
        }
    };
    let all = command();
    let error =
        corrections::corrected(error, corrections::subcommand(&all, visible.get(1..).unwrap_or_default()), &visible);
    // Where standard error is closed, only the exit status remains.
    drop(console::usage(&error));
    ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The flags of `name` in `root`, and of the commands below it.
    fn described(root: &clap::Command, name: &str) -> Vec<String> {
        let command = root.find_subcommand(name).unwrap();
        let below = command.get_subcommands().flat_map(|inner| described(command, inner.get_name()));
        command.get_arguments().map(|arg| format!("{arg:?}")).chain(below).collect()
    }

    #[test]
    fn a_command_takes_the_same_flags_alone_as_among_all() {
        let mut all = command();
        all.build();
        let names: Vec<&str> =
            all.get_subcommands().map(clap::Command::get_name).filter(|name| *name != "help").collect();
        assert!(names.len() > 20);
        for name in names {
            let root = Global::augment_args(clap::Command::new("curtail"));
            let mut alone = help::with_flags(root.subcommand(flags_of(name).unwrap()));
            alone.build();
            assert_eq!(described(&alone, name), described(&all, name), "{name}");
        }
    }
}
