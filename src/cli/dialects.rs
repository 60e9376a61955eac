//! `curtail dialects`: the wire formats that are read, and what tells each from the others.

use std::process::ExitCode;

use serde::Serialize;

use super::out;
use super::show::OutputFormat;
use crate::dialects::ALL;

/// List the dialects, with what tells each from the others
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// How to write it
    #[arg(long, value_enum, value_name = "FORMAT", default_value = "text")]
    output_format: OutputFormat,
}

#[derive(Serialize)]
struct Listed {
    name: &'static str,
    marks: &'static str,
}

/// Lists every dialect.
pub(super) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let mut list = String::new();
    let width = ALL.iter().map(|dialect| dialect.name().len()).max().unwrap_or(0);
    for dialect in ALL {
        let listed = Listed { name: dialect.name(), marks: dialect.signature() };
        match args.output_format {
            OutputFormat::Text => list += &format!("{:width$}  {}\n", listed.name, listed.marks),
            OutputFormat::Json => list += &(serde_json::to_string(&listed)? + "\n"),
        }
    }
    out::print(&list)?;
    Ok(ExitCode::SUCCESS)
}
