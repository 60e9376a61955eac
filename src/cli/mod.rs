//! What the user types: one file per subcommand, turning flags into values that are handed down.

mod check;
mod count;
mod counting;
mod cut;
mod dialects;
mod filter;
mod findings;
mod fold;
mod input;
mod interrupt;
mod limit;
mod memory;
mod out;
mod repair;
mod report;
mod rule;
mod show;
mod store;
mod summarize;
mod sums;
mod tokenizers;
mod window;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

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
    Count(count::Args),
    Tokenizers(tokenizers::Args),
    Summarize(Box<summarize::Args>),
    Show(show::Args),
    Dialects(dialects::Args),
    Memory(memory::Args),
    Store(store::Args),
}

/// The whole program: reads the command line, does what it says, tells how it went.
#[must_use]
pub fn main() -> ExitCode {
    let cli = Cli::parse();
    cli.global.apply();
    let done = match &cli.command {
        Command::Window(args) => args.chain().and_then(|chain| cut::run(&args.cutting, &cli.global, chain, None)),
        Command::Filter(args) => args.chain().and_then(|chain| cut::run(&args.cutting, &cli.global, chain, None)),
        Command::Limit(args) => args
            .chain()
            .and_then(|chain| cut::run(&args.cutting, &cli.global, chain, Some(args.counting()?))),
        Command::Repair(args) => args.chain().and_then(|chain| cut::run(&args.cutting, &cli.global, chain, None)),
        Command::Check(args) => check::run(args),
        Command::Rule(args) => rule::run(args),
        Command::Count(args) => count::run(args, &cli.global),
        Command::Tokenizers(args) => tokenizers::run(args),
        Command::Summarize(args) => args.run(&cli.global),
        Command::Show(args) => show::run(args),
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
