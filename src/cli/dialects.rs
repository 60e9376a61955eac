//! `curtail dialects`: the dialects and how each is detected.

use std::process::ExitCode;

use clap::ValueEnum;
use serde::Serialize;

use crate::console;
use curtail_core::dialects::ALL;

/// List the dialects and how each is detected
#[derive(Debug, clap::Args)]
pub(super) struct DialectsArgs {
    /// Format of the list
    #[arg(long, value_enum, value_name = "FORMAT", default_value = "text")]
    output_format: DialectsFormat,
}

/// `--output-format`
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum DialectsFormat {
    /// A table
    Text,
    /// One JSON object per dialect
    Json,
}

#[derive(Serialize)]
struct DialectEntry {
    name: &'static str,
    signature: &'static str,
    /// Whether no command writes it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    only_read: bool,
}

/// Lists every dialect.
pub(super) fn run(args: &DialectsArgs) -> anyhow::Result<ExitCode> {
    let mut list = String::new();
    let width = ALL.iter().map(|dialect| dialect.name().len()).max().unwrap_or(0);
    for dialect in ALL {
        let listed =
            DialectEntry { name: dialect.name(), signature: dialect.signature(), only_read: !dialect.is_writable() };
        let only_read = if listed.only_read { " (read-only)" } else { "" };
        match args.output_format {
            DialectsFormat::Text => list += &format!("{:width$}  {}{only_read}\n", listed.name, listed.signature),
            DialectsFormat::Json => list += &(serde_json::to_string(&listed)? + "\n"),
        }
    }
    console::out(&list)?;
    Ok(ExitCode::SUCCESS)
}
