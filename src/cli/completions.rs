//! `curtail completions`: scripts that make a shell complete commands and flags.

use std::process::ExitCode;

use crate::console;
use clap_complete::Shell;

/// Print a shell's completion script
#[derive(Debug, clap::Args)]
pub(super) struct CompletionsArgs {
    /// Shell that runs the script
    #[arg(value_enum, value_name = "SHELL")]
    shell: Shell,
}

/// Prints the script.
pub(super) fn run(args: &CompletionsArgs) -> anyhow::Result<ExitCode> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut super::command(), "curtail", &mut script);
    console::data(&String::from_utf8(script)?)?;
    Ok(ExitCode::SUCCESS)
}
