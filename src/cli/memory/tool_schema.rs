//! `curtail memory tool-schema`: the definition of the memory tool.

use std::path::PathBuf;
use std::process::ExitCode;

use super::flags;
use crate::cli::options::{Choice, one_of};
use crate::console;
use curtail_memory::memory::{NAMES, Shape, definition};

/// The values of `--dialect`.
const SHAPES: &[Choice<Shape>] = &[
    Choice::new("openai", Shape::OpenAi, "`OpenAI` chat completions"),
    Choice::new("responses", Shape::Responses, "`OpenAI` Responses").with_alias("codex"),
    Choice::new("anthropic", Shape::Anthropic, "Anthropic Messages").with_alias("claude-code"),
    Choice::new("gemini", Shape::Gemini, "Gemini"),
    Choice::new("bedrock", Shape::Bedrock, "Amazon Bedrock Converse"),
];

/// Print the definition of the tool with which a model updates the memory
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// API whose tool format to use
    #[arg(long, value_parser = one_of(SHAPES), default_value = "openai")]
    dialect: Shape,

    /// Print only this name of the tool; most providers allow no `/` [default: both names]
    #[arg(long, value_name = "NAME", value_parser = NAMES)]
    name: Option<String>,

    /// JSON Schema file that every state must satisfy
    #[arg(long, value_name = "FILE")]
    schema: Option<PathBuf>,
}

impl Args {
    pub(super) fn run(&self) -> anyhow::Result<ExitCode> {
        let schema = self.schema.as_deref().map(flags::schema).transpose()?;
        let names = NAMES.iter().filter(|name| self.name.as_deref().is_none_or(|only| only == **name));
        let tools: Vec<_> = names.map(|name| definition(self.dialect, name, schema.as_ref())).collect();
        console::out_json(&format!("{:#}\n", serde_json::Value::from(tools)))?;
        Ok(ExitCode::SUCCESS)
    }
}
