//! `curtail memory`: stores what a model notes with the memory tool, and inserts it into later requests.

mod apply;
mod list;
mod state;

use std::path::PathBuf;
use std::process::{ExitCode, Termination as _};

use super::cut::CutArgs;
use crate::console;
use crate::cutting::Cuts as _;
use crate::options::choices::{Choice, TextOrJson, one_of};
use crate::options::global::Global;
use crate::options::memory::{RecallOptions, read_schema};
use curtail_memory::memory::{NAMES, Shape, State, definition};

/// Store what a model notes, and insert it into later requests
#[derive(Debug, clap::Args)]
pub(super) struct MemoryArgs {
    #[command(subcommand)]
    command: MemoryCommand,
}

#[derive(Debug, clap::Subcommand)]
enum MemoryCommand {
    Apply(apply::ApplyArgs),
    Recall(CutArgs<RecallOptions>),
    Update(state::UpdateArgs),
    Show(state::StateArgs),
    Set(state::SetArgs),
    Clear(state::ClearArgs),
    Spawn(state::SpawnArgs),
    List(list::ListArgs),
    Prune(list::PruneArgs),
    ToolSchema(ToolSchemaArgs),
}

impl MemoryArgs {
    pub(super) fn run(&self, global: &Global) -> anyhow::Result<ExitCode> {
        Ok(match &self.command {
            MemoryCommand::Apply(args) => args.run(global)?.report(),
            MemoryCommand::Recall(args) => args.run(global)?.report(),
            MemoryCommand::Update(args) => args.run()?.report(),
            MemoryCommand::Show(args) => args.run()?.report(),
            MemoryCommand::Set(args) => args.run()?.report(),
            MemoryCommand::Clear(args) => args.run()?.report(),
            MemoryCommand::Spawn(args) => args.run()?.report(),
            MemoryCommand::List(args) => args.run()?.report(),
            MemoryCommand::Prune(args) => args.run()?.report(),
            MemoryCommand::ToolSchema(args) => args.run()?.report(),
        })
    }
}

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
struct ToolSchemaArgs {
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

impl ToolSchemaArgs {
    fn run(&self) -> anyhow::Result<()> {
        let schema = self.schema.as_deref().map(read_schema).transpose()?;
        let names = NAMES.iter().filter(|name| self.name.as_deref().is_none_or(|only| only == **name));
        let tools: Vec<_> = names.map(|name| definition(self.dialect, name, schema.as_ref())).collect();
        Ok(console::out_json(&format!("{:#}\n", serde_json::Value::from(tools)))?)
    }
}

/// The state and a newline; nothing for an empty text.
fn state_text(format: TextOrJson, state: &State) -> String {
    match (format, state) {
        (TextOrJson::Json, _) => state.to_json() + "\n",
        (TextOrJson::Text, State::Text(text)) if text.is_empty() || text.ends_with('\n') => text.clone(),
        (TextOrJson::Text, _) => state.to_text() + "\n",
    }
}
