//! The flags that the memory commands share: owner, rules and output format.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};
use clap::ValueEnum;

use crate::cli::options::{Choice, one_of};
use crate::cli::report;
use crate::cli::store::StoreFlag;
use curtail_memory::memory::{Owner, Rules, Schema, State};
use curtail_memory::store::{Filter, RecordKey, Scope, Shelf, Store, StoreError};

/// The values of `--scope`.
pub(super) const SCOPES: &[Choice<Scope>] = &[
    Choice::new(Scope::Thread.name(), Scope::Thread, "The state of one thread"),
    Choice::new(Scope::Resource.name(), Scope::Resource, "The state of a resource, shared by its threads"),
];

/// The owner of the state.
#[derive(Debug, Clone, clap::Args)]
pub(super) struct Whose {
    #[command(flatten)]
    pub(super) place: StoreFlag,

    /// Thread (conversation) that the state belongs to
    #[arg(long, value_name = "ID", help_heading = "Store")]
    pub(super) thread: Option<String>,

    /// Resource that several threads share, such as a user or a project
    #[arg(long, value_name = "ID", help_heading = "Store")]
    pub(super) resource: Option<String>,

    /// Scope of the state [default: thread, or resource if only --resource is given]
    #[arg(long, value_parser = one_of(SCOPES), value_name = "SCOPE", help_heading = "Store")]
    pub(super) scope: Option<Scope>,
}

impl Whose {
    pub(super) fn owner(&self) -> Owner<'_> {
        let only_resource = self.resource.is_some() && self.thread.is_none();
        let implied = if only_resource { Scope::Resource } else { Scope::Thread };
        let scope = self.scope.unwrap_or(implied);
        Owner { scope, thread: self.thread.as_deref(), resource: self.resource.as_deref() }
    }

    /// Whether any flag names a stored state.
    pub(super) const fn is_given(&self) -> bool {
        self.place.store.is_some() || self.thread.is_some() || self.resource.is_some() || self.scope.is_some()
    }
}

/// Reports that the store has no state of `key`, if it has one whose name differs by a slip of the pen. Numbers are no slips: new
/// threads are often numbered.
pub(super) fn note_misspelled(store: Option<&Store>, key: RecordKey<'_>) -> Result<(), StoreError> {
    let filter = Filter { shelf: Some(Shelf::Memory), scope: Some(key.scope), older_than: None };
    let entries = store.map(|store| store.list(filter)).transpose()?.unwrap_or_default();
    if entries.iter().any(|entry| entry.id == key.id) {
        return Ok(());
    }
    let name = |id: &str| id.replace(|letter: char| letter.is_ascii_digit(), "");
    let is_slip = |id: &str| id.len() >= 4 && name(id) != name(key.id) && strsim::osa_distance(id, key.id) <= 2;
    if let Some(similar) = entries.iter().find(|entry| is_slip(&entry.id)) {
        let (scope, id) = (key.scope.name(), key.id);
        report::note(&format!("nothing is stored for {scope} {id:?}; did you mean {:?}?", similar.id));
    }
    Ok(())
}

/// The rules of a state.
#[derive(Debug, Clone, clap::Args)]
pub(super) struct RuleFlags {
    /// JSON Schema file that every state must satisfy
    #[arg(long, value_name = "FILE")]
    pub(super) schema: Option<PathBuf>,

    /// File with the state to use while none is stored: text or a JSON object
    #[arg(long, value_name = "FILE")]
    template: Option<PathBuf>,

    /// Ignore all updates
    #[arg(long)]
    read_only: bool,
}

/// The rules with their files read.
#[derive(Debug)]
pub(super) struct LoadedRules {
    pub(super) schema: Option<Schema>,
    template: Option<State>,
    pub(super) read_only: bool,
}

impl RuleFlags {
    /// The files that they name.
    pub(super) fn files(&self) -> impl Iterator<Item = PathBuf> {
        self.schema.iter().chain(&self.template).cloned()
    }

    /// Reads the files; an invalid schema is an error before anything else happens.
    pub(super) fn load(&self) -> anyhow::Result<LoadedRules> {
        let schema = self.schema.as_deref().map(schema).transpose()?;
        let template = self.template.as_deref().map(|path| state(path, schema.as_ref())).transpose()?;
        Ok(LoadedRules { schema, template, read_only: self.read_only })
    }
}

impl LoadedRules {
    pub(super) fn rules(&self) -> Rules<'_> {
        Rules { schema: self.schema.as_ref(), template: self.template.as_ref(), read_only: self.read_only }
    }
}

/// Reads a schema.
pub(super) fn schema(path: &Path) -> anyhow::Result<Schema> {
    Schema::parse(&read_text(path)?).with_context(|| path.display().to_string())
}

/// Reads a state, which must satisfy the schema.
pub(super) fn state(path: &Path, schema: Option<&Schema>) -> anyhow::Result<State> {
    let state = State::given(&read_text(path)?);
    if let Some(Err(reason)) = schema.map(|schema| schema.check(&state)) {
        bail!("{}: the state does not match the schema: {reason}", path.display());
    }
    Ok(state)
}

fn read_text(path: &Path) -> anyhow::Result<String> {
    std::fs::read_to_string(path).with_context(|| path.display().to_string())
}

/// How a state is written.
#[derive(Debug, Clone, clap::Args)]
pub(super) struct Output {
    /// Format of the state
    #[arg(long, value_enum, value_name = "FORMAT", default_value = "text")]
    pub(super) output_format: Format,
}

/// `--output-format`
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Format {
    /// Text unchanged, an object as indented JSON
    Text,
    /// JSON on one line
    Json,
}

/// `--output-format` of a list
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum ListFormat {
    /// A table
    Text,
    /// One JSON object per state
    Json,
}

impl Format {
    /// The state and a newline; nothing for an empty text.
    pub(super) fn write(self, state: &State) -> String {
        match (self, state) {
            (Format::Json, _) => state.to_json() + "\n",
            (Format::Text, State::Text(text)) if text.is_empty() || text.ends_with('\n') => text.clone(),
            (Format::Text, _) => state.to_text() + "\n",
        }
    }
}
