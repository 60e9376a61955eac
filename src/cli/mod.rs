//! The command line: one file per subcommand, which turns flags into values for the other rooms.

mod check;
mod check_reporter;
mod completions;
pub(crate) mod config;
mod config_command;
mod corrections;
mod count;
mod csv;
mod cut;
mod cut_reporter;
mod cut_stdout;
mod dialects;
mod environment;
mod examples;
mod filter;
mod help;
mod init;
mod input;
mod interrupt;
mod limit;
mod man;
mod memory;
pub(crate) mod options;
mod policy;
mod processor_specs;
mod repair;
mod replay;
mod report;
mod rule;
mod run;
mod show;
mod split;
mod split_map;
mod store;
mod summarize;
mod sums;
mod tokenizers;
mod version;
mod view;
mod window;

use std::process::ExitCode;

use crate::console;
use crate::visible::one_line;
use clap::{CommandFactory as _, FromArgMatches as _, Parser, Subcommand};

pub(crate) use processor_specs::PROCESSOR_SPECS;

/// Cut LLM transcripts to size without breaking their tool calls.
#[derive(Debug, Parser)]
#[command(name = "curtail", version, max_term_width = 100)]
struct Cli {
    #[command(flatten)]
    global: input::Global,

    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Window(window::Args),
    Filter(filter::Args),
    Limit(limit::Args),
    Split(Box<split::Args>),
    Repair(repair::Args),
    Check(check::Args),
    Rule(rule::Args),
    Run(run::Args),
    Init(init::Args),
    Config(config_command::Args),
    Count(count::Args),
    Replay(Box<replay::Args>),
    Tokenizers(tokenizers::Args),
    Summarize(Box<summarize::Args>),
    Show(show::Args),
    View(Box<view::Args>),
    Dialects(dialects::Args),
    Memory(memory::Args),
    Store(store::Args),
    Completions(completions::Args),
    Man(man::Args),
}

/// The command line, with every command and flag.
#[must_use]
pub(crate) fn command() -> clap::Command {
    help::with_pages(Cli::command().long_version(version::long()))
}

/// Whether the configuration file at `path` is read and every processor in it can be built. Fuzz targets call it.
#[must_use]
pub fn reads_configuration(path: &std::path::Path) -> bool {
    let config = config::Config::load(path, PROCESSOR_SPECS, &config::Variables::default());
    config.is_ok_and(|config| config.chain(&config.everywhere(), false).is_ok())
}

/// The whole program: reads the command line, runs the command and returns its exit status.
#[must_use]
pub fn main() -> ExitCode {
    let parsed = command().try_get_matches().and_then(|matches| Cli::from_arg_matches(&matches));
    let mut cli = match parsed.map_err(|error| error.format(&mut command())) {
        Ok(cli) => cli,
        Err(error) => return refused(error),
    };
    cli.global.environment = environment::Environment::of_process();
    cli.global.apply();
    let done = match &cli.command {
        Command::Window(args) => cut::with(&args.cutting, &cli.global, &args.options),
        Command::Filter(args) => cut::with(&args.cutting, &cli.global, &args.options),
        Command::Limit(args) => cut::with(&args.cutting, &cli.global, &args.options),
        Command::Split(args) => args.run(&cli.global),
        Command::Repair(args) => cut::with(&args.cutting, &cli.global, &args.options),
        Command::Check(args) => check::run(args, &cli.global),
        Command::Rule(args) => rule::run(args),
        Command::Run(args) => run::run(args, &cli.global),
        Command::Init(args) => init::run(args),
        Command::Config(args) => config_command::run(args),
        Command::Count(args) => count::run(args, &cli.global),
        Command::Replay(args) => replay::run(args, &cli.global),
        Command::Tokenizers(args) => tokenizers::run(args),
        Command::Summarize(args) => args.run(&cli.global),
        Command::Show(args) => show::run(args, &cli.global),
        Command::View(args) => view::run(args, &cli.global),
        Command::Dialects(args) => dialects::run(args),
        Command::Memory(args) => args.run(&cli.global),
        Command::Store(args) => args.run(),
        Command::Completions(args) => completions::run(args),
        Command::Man(args) => man::run(args),
    };
    match done {
        Ok(status) => status,
        Err(error) => {
            report::error(&format!("{error:#}"));
            ExitCode::from(2)
        }
    }
}

/// Prints the error, or the help that was requested. What the command line says is shown and not obeyed: it is made visible
/// before it is parsed once more.
fn refused(error: clap::Error) -> ExitCode {
    let given: Vec<String> = std::env::args_os().map(|argument| argument.to_string_lossy().into_owned()).collect();
    let visible: Vec<String> = given.iter().map(|argument| one_line(argument).into_owned()).collect();
    let error = match given == visible {
        true => error,
        false => command().try_get_matches_from(&visible).err().unwrap_or_else(|| unnamed(&error)),
    };
    let known = corrections::flags_of(&command(), visible.into_iter().skip(1));
    let error = corrections::corrected(error, &known);
    console::usage(&error);
    ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2))
}

/// An error without what the command line says.
fn unnamed(error: &clap::Error) -> clap::Error {
    clap::Error::new(error.kind()).with_cmd(&command())
}
