//! `curtail memory`: stores what a model notes with the memory tool, and inserts it into later requests.

mod stored;
mod transcripts;

pub(super) use transcripts::RecallOptions;

use std::path::{Path, PathBuf};
use std::process::{ExitCode, Termination as _};

use anyhow::{Context as _, bail};

use super::input::{Global, text_or_json};
use super::options::{Choice, one_of, read_text};
use super::report;
use super::store::StoreFlag;
use crate::batch::TextOrJson;
use crate::console;
use curtail_memory::memory::{NAMES, Owner, Rules, Schema, Shape, State, definition};
use curtail_memory::store::{Filter, RecordKey, Scope, Shelf, Store, StoreError};

/// Store what a model notes with the memory tool, and insert it into later requests
#[derive(Debug, clap::Args)]
pub(super) struct MemoryArgs {
    #[command(subcommand)]
    command: MemoryCommand,
}

#[derive(Debug, clap::Subcommand)]
enum MemoryCommand {
    Apply(transcripts::ApplyArgs),
    Recall(transcripts::RecallArgs),
    Update(stored::Update),
    Show(stored::StateArgs),
    Set(stored::Set),
    Clear(stored::Clear),
    Spawn(stored::Spawn),
    List(stored::ListArgs),
    Prune(stored::Prune),
    ToolSchema(ToolSchemaArgs),
}

impl MemoryArgs {
    pub(super) fn run(&self, global: &Global) -> anyhow::Result<ExitCode> {
        Ok(match &self.command {
            MemoryCommand::Apply(args) => args.run()?.report(),
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

// `curtail memory tool-schema`: the definition of the memory tool.

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
        let schema = self.schema.as_deref().map(schema).transpose()?;
        let names = NAMES.iter().filter(|name| self.name.as_deref().is_none_or(|only| only == **name));
        let tools: Vec<_> = names.map(|name| definition(self.dialect, name, schema.as_ref())).collect();
        Ok(console::out_json(&format!("{:#}\n", serde_json::Value::from(tools)))?)
    }
}

// The flags that the memory commands share: owner, rules and output format.

/// The values of `--scope`.
const SCOPES: &[Choice<Scope>] = &[
    Choice::new(Scope::Thread.name(), Scope::Thread, "The state of one thread"),
    Choice::new(Scope::Resource.name(), Scope::Resource, "The state of a resource, shared by its threads"),
];

/// The owner of the state.
#[derive(Debug, Clone, clap::Args)]
struct OwnerFlags {
    #[command(flatten)]
    place: StoreFlag,

    /// Thread (conversation) that the state belongs to
    #[arg(long, value_name = "ID", help_heading = "Store")]
    thread: Option<String>,

    /// Resource that several threads share, such as a user or a project
    #[arg(long, value_name = "ID", help_heading = "Store")]
    resource: Option<String>,

    /// Scope of the state [default: thread, or resource if only --resource is given]
    #[arg(long, value_parser = one_of(SCOPES), value_name = "SCOPE", hide_short_help = true, help_heading = "Store")]
    scope: Option<Scope>,
}

impl OwnerFlags {
    fn owner(&self) -> Owner<'_> {
        self.owner_else(Scope::Thread)
    }

    /// The owner, whose scope is `default` if neither a flag nor the only id that is given tells it.
    fn owner_else(&self, default: Scope) -> Owner<'_> {
        let (thread, resource) = (self.thread.as_deref(), self.resource.as_deref());
        let implied = match (thread, resource) {
            (Some(_), None) => Scope::Thread,
            (None, Some(_)) => Scope::Resource,
            _ => default,
        };
        Owner { scope: self.scope.unwrap_or(implied), thread, resource }
    }

    /// Whether any flag names a stored state.
    const fn is_given(&self) -> bool {
        self.place.store.is_some() || self.thread.is_some() || self.resource.is_some() || self.scope.is_some()
    }
}

/// Reports that the store has no state for `key`, with the stored id that is probably meant. Ids that differ only in digits are
/// not similar: new threads are often numbered. Without a similar id, only a resource is reported, and only if the state
/// `must_exist`: a thread may be new.
fn note_missing(store: Option<&Store>, key: RecordKey<'_>, must_exist: bool) -> Result<(), StoreError> {
    let filter = Filter { shelf: Some(Shelf::Memory), scope: Some(key.scope), older_than: None };
    let entries = store.map(|store| store.list(filter)).transpose()?.unwrap_or_default();
    if entries.iter().any(|entry| entry.id == key.id) {
        return Ok(());
    }
    let name = |id: &str| id.replace(|letter: char| letter.is_ascii_digit(), "");
    let is_similar = |id: &str| {
        let most = if id.len() < 4 { 1 } else { 2 };
        id.len() >= 3 && name(id) != name(key.id) && strsim::osa_distance(id, key.id) <= most
    };
    let missing = format!("nothing is stored for {} {:?}", key.scope.name(), key.id);
    match entries.iter().find(|entry| is_similar(&entry.id)) {
        Some(similar) => report::note(&format!("{missing}; did you mean {:?}?", similar.id)),
        None if must_exist && key.scope == Scope::Resource => {
            report::note(&format!("{missing}; `curtail memory list` lists the stored states"));
        }
        None => {}
    }
    Ok(())
}

/// Warns about an unusable state.
fn warn_set_aside(reason: &str) {
    report::warning(&format!(
        "the stored state is unusable and was set aside (see `memory show --set-aside`): {reason}"
    ));
}

/// The rules of a state.
#[derive(Debug, Clone, clap::Args)]
struct RuleFlags {
    /// JSON Schema file that every state must satisfy
    #[arg(long, value_name = "FILE")]
    schema: Option<PathBuf>,

    /// File with the state to use while none is stored: text or a JSON object
    #[arg(long, value_name = "FILE", hide_short_help = true)]
    template: Option<PathBuf>,

    /// Ignore all updates
    #[arg(long, hide_short_help = true)]
    read_only: bool,
}

/// The rules with their files read.
#[derive(Debug)]
struct LoadedRules {
    schema: Option<Schema>,
    template: Option<State>,
    read_only: bool,
}

impl RuleFlags {
    /// The files that the flags name.
    fn files(&self) -> impl Iterator<Item = PathBuf> {
        self.schema.iter().chain(&self.template).cloned()
    }

    /// Reads the files; an invalid schema is an error before anything else happens.
    fn load(&self) -> anyhow::Result<LoadedRules> {
        let schema = self.schema.as_deref().map(schema).transpose()?;
        let template = self.template.as_deref().map(|path| state(path, schema.as_ref())).transpose()?;
        Ok(LoadedRules { schema, template, read_only: self.read_only })
    }
}

impl LoadedRules {
    fn rules(&self) -> Rules<'_> {
        Rules { schema: self.schema.as_ref(), template: self.template.as_ref(), read_only: self.read_only }
    }
}

/// Reads a schema.
fn schema(path: &Path) -> anyhow::Result<Schema> {
    Schema::parse(&read_text(path)?).with_context(|| path.display().to_string())
}

/// Reads a state, which must satisfy the schema.
fn state(path: &Path, schema: Option<&Schema>) -> anyhow::Result<State> {
    let state = State::given(&read_text(path)?);
    if let Some(Err(reason)) = schema.map(|schema| schema.check(&state)) {
        bail!("{}: the state does not match the schema: {reason}", path.display());
    }
    Ok(state)
}

/// How a state is written.
#[derive(Debug, Clone, clap::Args)]
struct StateOutput {
    /// Format of the state
    #[arg(long, value_parser = text_or_json("Text unchanged, an object as indented JSON", "JSON on one line"), value_name = "FORMAT", default_value = "text")]
    output_format: TextOrJson,
}

/// The state and a newline; nothing for an empty text.
fn state_text(format: TextOrJson, state: &State) -> String {
    match (format, state) {
        (TextOrJson::Json, _) => state.to_json() + "\n",
        (TextOrJson::Text, State::Text(text)) if text.is_empty() || text.ends_with('\n') => text.clone(),
        (TextOrJson::Text, _) => state.to_text() + "\n",
    }
}
