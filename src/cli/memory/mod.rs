//! `curtail memory`: stores what a model notes with the memory tool, and inserts it into later requests.

mod apply;
mod change;
mod flags;
mod list;
mod recall;
mod show;
mod tool_schema;

use crate::cli::input::Global;
use std::process::ExitCode;

pub(super) use recall::RecallOptions;

/// Store what a model notes with the memory tool, and insert it into later requests
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    Apply(apply::Args),
    Recall(recall::Args),
    Update(change::Update),
    Show(show::Args),
    Set(change::Set),
    Clear(change::Clear),
    Spawn(change::Spawn),
    List(list::Args),
    Prune(list::Prune),
    ToolSchema(tool_schema::Args),
}

impl Args {
    pub(super) fn run(&self, global: &Global) -> anyhow::Result<ExitCode> {
        match &self.command {
            Command::Apply(args) => args.run(),
            Command::Recall(args) => args.run(global),
            Command::Update(args) => args.run(),
            Command::Show(args) => args.run(),
            Command::Set(args) => args.run(),
            Command::Clear(args) => args.run(),
            Command::Spawn(args) => args.run(),
            Command::List(args) => args.run(),
            Command::Prune(args) => args.run(),
            Command::ToolSchema(args) => args.run(),
        }
    }
}
