//! `curtail schema`: prints the JSON Schemas of outputs, which are also published with the documentation.

use std::process::ExitCode;

use anyhow::bail;
use curtail_core::suggest::unknown;

use crate::cli::config_command;
use crate::console;

/// The outputs by name, each with its schema.
macro_rules! schemas {
    ($($name:literal,)*) => {
        const SCHEMAS: &[(&str, &str)] = &[$(($name, include_str!(concat!("../../docs/schemas/", $name, ".json"))),)*];
    };
}

schemas! {
    "check", "count", "dialects", "explain", "rejects", "replay", "sessions", "show", "split-map", "stats", "tokenizers",
}

/// Print the JSON Schema of an output, or list the outputs
#[derive(Debug, clap::Args)]
pub(super) struct SchemaArgs {
    /// Name of the output; without it, all outputs are listed
    #[arg(value_name = "OUTPUT")]
    output: Option<String>,
}

/// Prints the schema or the list.
pub(super) fn run(args: &SchemaArgs) -> anyhow::Result<ExitCode> {
    match args.output.as_deref() {
        None => console::out(&list()?)?,
        Some("configuration") => console::out_json(&config_command::schema_text())?,
        Some(name) => match SCHEMAS.iter().find(|(known, _)| *known == name) {
            Some((_, schema)) => console::out_json(schema)?,
            None => bail!(unknown("there is no output", name, &names())),
        },
    }
    Ok(ExitCode::SUCCESS)
}

fn names() -> Vec<&'static str> {
    SCHEMAS.iter().map(|(name, _)| *name).chain(["configuration"]).collect()
}

/// The outputs, each with the description in its schema.
fn list() -> anyhow::Result<String> {
    let mut list = format!("{:<14} A `curtail.toml`.\n", "configuration");
    for (name, schema) in SCHEMAS {
        let schema: serde_json::Value = serde_json::from_str(schema)?;
        list += &format!("{name:<14} {}\n", schema["description"].as_str().unwrap_or_default());
    }
    Ok(list)
}
