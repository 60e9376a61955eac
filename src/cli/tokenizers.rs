//! `curtail tokenizers`: the tokenizers and their models.

use std::process::ExitCode;

use clap::ValueEnum;
use comfy_table::{Table, presets};

use crate::console;
use curtail_tokens::tokenizers::{BY_USAGE, all};

/// List the tokenizers and their models
#[derive(Debug, clap::Args)]
pub(super) struct TokenizersArgs {
    /// Format of the list
    #[arg(long, value_enum, value_name = "FORMAT", default_value = "text")]
    output_format: TokenizersFormat,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum TokenizersFormat {
    /// A table
    Text,
    /// One JSON array
    Json,
}

/// Writes the list.
pub(super) fn run(args: &TokenizersArgs) -> anyhow::Result<ExitCode> {
    let text = if args.output_format == TokenizersFormat::Json { json().to_string() } else { text() };
    console::out(&(text + "\n"))?;
    Ok(ExitCode::SUCCESS)
}

fn text() -> String {
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_header(["name", "counts", "models"]);
    for listed in all() {
        let counts = if listed.exact { "exactly" } else { "an estimate" };
        table.add_row([listed.name, counts, &listed.models.join(", ")]);
    }
    table.add_row(["usage[:NAME]", "an estimate", "those whose logs contain the provider's usage"]);
    table.lines().map(|line| line.trim().to_owned()).collect::<Vec<_>>().join("\n")
}

fn json() -> serde_json::Value {
    let rows = all().into_iter().map(|listed| {
        serde_json::json!({"name": listed.name, "kind": listed.kind, "exact": listed.exact, "models": listed.models})
    });
    let by_usage = serde_json::json!({"name": BY_USAGE, "kind": "usage", "models": [], "exact": false});
    rows.chain([by_usage]).collect()
}
