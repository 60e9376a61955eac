//! `curtail memory tool-schema`: the definition of the memory tool.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::ValueEnum;

use super::flags;
use crate::cli::out::print;
use crate::memory::{NAMES, Shape, definition};

/// Print the definition of the tool with which a model updates the memory
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// API whose tool format to use
    #[arg(long, value_enum, default_value = "openai")]
    dialect: ShapeFlag,

    /// Print only this name of the tool; most providers allow no `/` [default: both names]
    #[arg(long, value_name = "NAME", value_parser = NAMES)]
    name: Option<String>,

    /// JSON Schema file that every state must satisfy
    #[arg(long, value_name = "FILE")]
    schema: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ShapeFlag {
    /// `OpenAI` chat completions
    Openai,
    /// `OpenAI` Responses
    #[value(alias = "codex")]
    Responses,
    /// Anthropic Messages
    #[value(alias = "claude-code")]
    Anthropic,
    /// Gemini
    Gemini,
    /// Amazon Bedrock Converse
    Bedrock,
}

impl Args {
    pub(super) fn run(&self) -> anyhow::Result<ExitCode> {
        let schema = self.schema.as_deref().map(flags::schema).transpose()?;
        let shape = match self.dialect {
            ShapeFlag::Openai => Shape::OpenAi,
            ShapeFlag::Responses => Shape::Responses,
            ShapeFlag::Anthropic => Shape::Anthropic,
            ShapeFlag::Gemini => Shape::Gemini,
            ShapeFlag::Bedrock => Shape::Bedrock,
        };
        let names = NAMES.iter().filter(|name| self.name.as_deref().is_none_or(|only| only == **name));
        let tools: Vec<_> = names.map(|name| definition(shape, name, schema.as_ref())).collect();
        print(&format!("{:#}\n", serde_json::Value::from(tools)))?;
        Ok(ExitCode::SUCCESS)
    }
}
