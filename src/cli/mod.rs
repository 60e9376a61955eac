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

use clap::{Args as _, CommandFactory as _, FromArgMatches as _, Parser, Subcommand};

use crate::options::config::{Config, ConfigChoice};
use crate::options::effects;
use crate::options::global::Global;
use crate::options::limit::LimitOptions;
use crate::options::variables::Variables;
use crate::options::window::WindowOptions;
use crate::reports::remarks;
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
    /// What to report about the flags.
    remark: Option<String>,
}

impl Cli {
    fn from_matches(matches: &clap::ArgMatches, remark: Option<String>) -> Result<Self, clap::Error> {
        let global = Global::from_arg_matches(matches)?;
        let command = Command::from_arg_matches(matches)?;
        Ok(Self { global, command, remark })
    }
}

/// The commands by name, each with its summary on the first screen.
macro_rules! commands {
    ($($word:literal, $about:literal => $name:ident($args:ty),)*) => {
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

        /// The commands without their flags.
        fn outlines() -> Vec<clap::Command> {
            vec![$(clap::Command::new($word).about($about),)*]
        }
    };
}

commands! {
    "window", "Keep the last N items, a complete exchange and complete pairs" => Window(cut::CutArgs<WindowOptions>),
    "filter", "Drop tool calls with results, strip parts, clear old results" => Filter(Box<filter::FilterArgs>),
    "limit", "Keep the newest complete segments that fit a token budget" => Limit(cut::CutArgs<LimitOptions>),
    "split", "Split long transcripts into windows that fit a token budget" => Split(Box<split::SplitArgs>),
    "repair", "Repair broken pairs of tool calls and results" => Repair(repair::RepairArgs),
    "check", "Report broken tool pairs and other faults; exit with 1 if denied" => Check(check::CheckArgs),
    "rule", "Show a rule's documentation, or list all rules" => Rule(catalog::RuleArgs),
    "schema", "Print the JSON Schema of an output, or list the outputs" => Schema(catalog::SchemaArgs),
    "run", "Run the processors of a configuration file or a preset" => Run(run::RunArgs),
    "init", "Write a starter `curtail.toml` with commented examples" => Init(init::InitArgs),
    "config", "Show the configuration in use, or a JSON Schema of `curtail.toml`" => Config(config::ConfigArgs),
    "count", "Count tokens, messages and calls" => Count(count::CountArgs),
    "verify", "Show what a cut lost: rules, to-dos, files, checks, decisions" => Verify(Box<verify::VerifyArgs>),
    "replay", "Replay sessions under other policies: tokens, cost, losses" => Replay(Box<replay::ReplayArgs>),
    "tokenizers", "List the tokenizers and their models" => Tokenizers(catalog::TokenizersArgs),
    "summarize", "Keep the newest interactions, and summaries of the older ones" => Summarize(Box<summarize::SummarizeArgs>),
    "sessions", "List the sessions of coding agents on this machine, newest first" => Sessions(sessions::SessionsArgs),
    "show", "Show how a transcript is read: dialect, messages, parts, pairs" => Show(show::ShowArgs),
    "view", "Show a transcript, or the effect of a policy, as a page" => View(Box<view::ViewArgs>),
    "dialects", "List the dialects, print one, or try one on samples" => Dialects(dialects::DialectsArgs),
    "memory", "Store what a model notes, and insert it into later requests" => Memory(memory::MemoryArgs),
    "store", "Export and import the store of `memory` and `summarize`" => Store(store::StoreArgs),
    "completions", "Print a shell's completion script" => Completions(catalog::CompletionsArgs),
    "man", "Print the manual page, or write one page for each command" => Man(catalog::ManArgs),
}

/// The command line, with every command and flag.
pub(crate) fn command() -> clap::Command {
    help::with_pages(Command::augment_subcommands(root()))
}

/// The command line without the flags of commands, which the first screen does not show.
fn outline() -> clap::Command {
    help::outlined(root().subcommands(outlines()))
}

fn root() -> clap::Command {
    Root::command().long_version(help::long_version())
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
    let cli = match parse_one(&given).map_or_else(|| parse(&given), Ok) {
        Ok(cli) => cli,
        Err(error) => return report_usage(error, &given),
    };
    cli.global.apply();
    if let Some(remark) = cli.remark.as_ref().filter(|_| !cli.global.quiet) {
        console::warning(remark);
    }
    // A tokenizer that was loaded from a file can panic on a text, which is an error of the file.
    let done = catch_unwind(AssertUnwindSafe(|| cli.command.run(&cli.global))).unwrap_or_else(|panic| {
        match tokenizer_panic() {
            Some(why) => Err(anyhow::anyhow!(why)),
            None => resume_unwind(panic),
        }
    });
    remarks::finish();
    if let Some(refusal) = unencoded_text().filter(|_| !cli.global.quiet) {
        console::warning(&refusal);
    }
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
    if let [_, flag] = given
        && ["-h", "--help", "-V", "--version"].iter().any(|known| flag == known)
    {
        outline().try_get_matches_from(given)?;
    }
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
    fn the_first_screen_is_that_of_all_commands() {
        assert_eq!(outline().render_help().to_string(), command().render_help().to_string());
        assert_eq!(outline().render_long_help().to_string(), command().render_long_help().to_string());
        assert_eq!(outline().render_long_version(), command().render_long_version());
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
