//! What the user types: one file per subcommand, turning flags into values that are handed down.

mod check;
mod check_reporter;
mod config;
mod count;
mod cut;
mod cut_reporter;
mod dialects;
mod filter;
mod init;
mod input;
mod interrupt;
mod limit;
mod memory;
mod out;
mod processor_specs;
mod repair;
mod report;
mod rule;
mod run;
mod show;
mod store;
mod summarize;
mod sums;
mod tokenizers;
mod window;

use std::process::ExitCode;

use clap::{CommandFactory as _, Parser, Subcommand};

pub use processor_specs::PROCESSOR_SPECS;

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
    Repair(repair::Args),
    Check(check::Args),
    Rule(rule::Args),
    Run(run::Args),
    Init(init::Args),
    Config(config::Args),
    Count(count::Args),
    Tokenizers(tokenizers::Args),
    Summarize(Box<summarize::Args>),
    Show(show::Args),
    Dialects(dialects::Args),
    Memory(memory::Args),
    Store(store::Args),
}

/// The command line, with every command and flag.
#[must_use]
pub fn command() -> clap::Command {
    Cli::command()
}

/// The whole program: reads the command line, does what it says, tells how it went.
#[must_use]
pub fn main() -> ExitCode {
    let cli = Cli::parse();
    cli.global.apply();
    let done = match &cli.command {
        Command::Window(args) => cut::with(&args.cutting, &cli.global, &args.options),
        Command::Filter(args) => cut::with(&args.cutting, &cli.global, &args.options),
        Command::Limit(args) => cut::with(&args.cutting, &cli.global, &args.options),
        Command::Repair(args) => cut::with(&args.cutting, &cli.global, &args.options),
        Command::Check(args) => check::run(args, &cli.global),
        Command::Rule(args) => rule::run(args),
        Command::Run(args) => run::run(args, &cli.global),
        Command::Init(args) => init::run(args),
        Command::Config(args) => config::run(args),
        Command::Count(args) => count::run(args, &cli.global),
        Command::Tokenizers(args) => tokenizers::run(args),
        Command::Summarize(args) => args.run(&cli.global),
        Command::Show(args) => show::run(args, &cli.global),
        Command::Dialects(args) => dialects::run(args),
        Command::Memory(args) => args.run(&cli.global),
        Command::Store(args) => args.run(),
    };
    match done {
        Ok(status) => status,
        Err(error) => {
            report::error(&format!("{error:#}"));
            ExitCode::from(2)
        }
    }
}
