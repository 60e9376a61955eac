//! What the user types: one file per subcommand, turning flags into values that are handed down.

mod check;
mod counting;
mod cut;
mod dialects;
mod filter;
mod findings;
mod input;
mod limit;
mod repair;
mod rule;
mod memory;
mod out;
mod show;
mod store;
mod tokenizers;
mod window;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Cut LLM transcripts to size without breaking their tool calls.
#[derive(Debug, Parser)]
#[command(name = "curtail", version, max_term_width = 100)]
struct Cli {
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
    Show(show::Args),
    Dialects(dialects::Args),
    Memory(memory::Args),
    Store(store::Args),
}

/// The whole program: reads the command line, does what it says, tells how it went.
#[must_use]
pub fn main() -> ExitCode {
    let cli = Cli::parse();
    let done = match &cli.command {
        Command::Window(args) => args.chain().and_then(|chain| cut::run(&args.cutting, chain)),
        Command::Filter(args) => args.chain().and_then(|chain| cut::run(&args.cutting, chain)),
        Command::Limit(args) => args.chain().and_then(|chain| cut::run(&args.cutting, chain)),
        Command::Repair(args) => args.chain().and_then(|chain| cut::run(&args.cutting, chain)),
        Command::Check(args) => check::run(args),
        Command::Rule(args) => rule::run(args),
        Command::Show(args) => show::run(args),
        Command::Dialects(args) => dialects::run(args),
        Command::Memory(args) => args.run(),
        Command::Store(args) => args.run(),
    };
    match done {
        Ok(status) => status,
        Err(error) => {
            anstream::eprintln!("curtail: {error:#}");
            ExitCode::from(2)
        }
    }
}
