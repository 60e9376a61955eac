//! Whose state of the working memory is meant, which rules it has, and how it is inserted.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context as _, bail};
use clap::ArgGroup;

use crate::console;
use crate::options::choices::{Choice, TextOrJson, one_of, text_or_json};
use crate::options::counting::TokenizerFlag;
use crate::options::files::{Reads, read_text};
use crate::options::numbers::Tokens;
use crate::options::processor::{Options, TRUSTED};
use crate::options::store::StoreFlag;
use curtail_core::pipeline::Processors;
use curtail_memory::memory::{BUDGET, Loaded, Owner, Rules, Schema, State, StateSource, Unusable, WorkingMemory, load};
use curtail_memory::store::{Filter, RecordKey, Scope, Shelf, Store, StoreError};

/// Insert the state into a transcript, after the leading instructions
///
/// The state comes from the store with --thread or --resource, from a file with --state, and otherwise from the updates in the
/// transcript itself.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct RecallOptions {
    /// File with the state: text or a JSON object
    #[arg(long, value_name = "FILE", conflicts_with_all = ["store", "thread", "resource", "scope"])]
    state: Option<PathBuf>,

    /// Maximum number of tokens of the block; a longer state is cut and marked
    #[arg(long, value_name = "N", default_value_t = Tokens(BUDGET))]
    budget: Tokens,

    #[command(flatten)]
    tokenizer: TokenizerFlag,

    #[command(flatten)]
    owner_flags: OwnerFlags,

    #[command(flatten)]
    rules: RuleFlags,
}

impl Options for RecallOptions {
    fn processors(&self, _: bool) -> anyhow::Result<Processors> {
        let rules = self.rules.load()?;
        let source = self.source(&rules)?;
        let memory = WorkingMemory {
            source,
            read_only: rules.read_only,
            schema: rules.schema.map(Arc::new),
            budget: self.budget.0,
            tokenizer: self.tokenizer.load()?,
        };
        Ok(vec![Box::new(memory)])
    }

    fn files(&self) -> Reads {
        let store = if self.owner_flags.is_given() { self.owner_flags.place.path().ok() } else { None };
        let rules = self.rules.files();
        Reads::of_content(self.state.iter().cloned().chain(rules).chain(store).chain(self.tokenizer.file()))
    }
}

impl RecallOptions {
    fn source(&self, rules: &LoadedRules) -> anyhow::Result<StateSource> {
        if let Some(path) = &self.state {
            return Ok(StateSource::Given(read_state(path, rules.schema.as_ref())?));
        }
        if self.owner_flags.is_given() {
            return self.stored_state(rules).map(StateSource::Given);
        }
        Ok(StateSource::Replayed(rules.rules().initial()))
    }

    /// The state in the store; `{}` for an unusable one, which stays there.
    fn stored_state(&self, loaded: &LoadedRules) -> anyhow::Result<State> {
        let rules = loaded.rules();
        let owner = self.owner_flags.owner()?;
        let store = self.owner_flags.place.open_existing()?;
        note_missing(store.as_ref(), owner.key()?, false)?;
        let Some(store) = store else { return Ok(rules.initial()) };
        let Loaded { state, unusable } = load(&store, owner, rules)?;
        warn_unusable(unusable.as_ref());
        Ok(state)
    }
}

/// The values of `--scope`.
pub(crate) const SCOPES: &[Choice<Scope>] = &[
    Choice::new(Scope::Thread.name(), Scope::Thread, "The state of one thread"),
    Choice::new(Scope::Resource.name(), Scope::Resource, "The state of a resource, shared by its threads"),
];

/// The owner of the state.
#[derive(Debug, Clone, clap::Args)]
#[command(group = ArgGroup::new(TRUSTED).multiple(true))]
pub(crate) struct OwnerFlags {
    #[command(flatten)]
    pub(crate) place: StoreFlag,

    /// Thread (conversation) that the state belongs to
    #[arg(long, value_name = "ID", group = TRUSTED, help_heading = "Store")]
    thread: Option<String>,

    /// Resource that several threads share, such as a user or a project
    #[arg(long, value_name = "ID", group = TRUSTED, help_heading = "Store")]
    resource: Option<String>,

    /// Scope of the state [default: thread, or resource if only --resource is given]
    #[arg(
        long,
        value_parser = one_of(SCOPES),
        value_name = "SCOPE",
        group = TRUSTED,
        hide_short_help = true,
        help_heading = "Store"
    )]
    scope: Option<Scope>,
}

impl OwnerFlags {
    /// # Errors
    /// No flag gives the owner's id.
    pub(crate) fn owner(&self) -> anyhow::Result<Owner<'_>> {
        self.owner_else(Scope::Thread)
    }

    /// The owner, whose scope is `default` if neither a flag nor the only id that is given tells it.
    ///
    /// # Errors
    /// No flag gives the owner's id.
    pub(crate) fn owner_else(&self, default: Scope) -> anyhow::Result<Owner<'_>> {
        let thread = self.thread.as_deref();
        let resource = self.resource.as_deref();
        let implied = match (thread, resource) {
            (Some(_), None) => Scope::Thread,
            (None, Some(_)) => Scope::Resource,
            _ => default,
        };
        let owner = Owner { scope: self.scope.unwrap_or(implied), thread, resource };
        owner.key().map_err(|error| anyhow::anyhow!("{error}; pass --{} ID", error.0.name()))?;
        Ok(owner)
    }

    /// Whether any flag names a stored state.
    pub(crate) const fn is_given(&self) -> bool {
        self.place.store.is_some() || self.thread.is_some() || self.resource.is_some() || self.scope.is_some()
    }
}

/// Reports that the store has no state for `key`, with the stored id that is probably meant. Without a similar id, only a resource
/// is reported, and only if the state `must_exist`: a thread may be new.
pub(crate) fn note_missing(store: Option<&Store>, key: RecordKey<'_>, must_exist: bool) -> Result<(), StoreError> {
    let filter = Filter { shelf: Some(Shelf::Memory), scope: Some(key.scope), older_than: None };
    let entries = store.map(|store| store.list(filter)).transpose()?.unwrap_or_default();
    if entries.iter().any(|entry| entry.id == key.id) {
        return Ok(());
    }
    let missing = format!("nothing is stored for {} {:?}", key.scope.name(), key.id);
    match entries.iter().find(|entry| is_similar(&entry.id, key.id)) {
        Some(similar) => console::note(&format!("{missing}; did you mean {:?}?", similar.id)),
        None if must_exist && key.scope == Scope::Resource => {
            console::note(&format!("{missing}; `curtail memory list` lists the stored states"));
        }
        None => {}
    }
    Ok(())
}

/// Whether `id` is probably what `meant` should be. Ids that differ only in digits are not similar: new threads are often numbered.
fn is_similar(id: &str, meant: &str) -> bool {
    let most = if id.len() < 4 { 1 } else { 2 };
    id.len() >= 3 && without_digits(id) != without_digits(meant) && strsim::osa_distance(id, meant) <= most
}

fn without_digits(id: &str) -> String {
    id.replace(|letter: char| letter.is_ascii_digit(), "")
}

/// Warns about an unusable state.
pub(crate) fn warn_unusable(unusable: Option<&Unusable>) {
    let (fate, reason) = match unusable {
        None => return,
        Some(Unusable::Left(reason)) => ("is treated as empty", reason),
        Some(Unusable::SetAside(reason)) => ("was set aside (see `memory show --set-aside`)", reason),
    };
    console::warning(&format!("the stored state is unusable and {fate}: {reason}"));
}

/// The rules of a state.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct RuleFlags {
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
pub(crate) struct LoadedRules {
    pub(crate) schema: Option<Schema>,
    template: Option<State>,
    read_only: bool,
}

impl RuleFlags {
    /// The files that the flags name.
    fn files(&self) -> impl Iterator<Item = PathBuf> {
        self.schema.iter().chain(&self.template).cloned()
    }

    /// Reads the files; an invalid schema is an error before anything else happens.
    pub(crate) fn load(&self) -> anyhow::Result<LoadedRules> {
        let schema = self.schema.as_deref().map(read_schema).transpose()?;
        let template = self.template.as_deref().map(|path| read_state(path, schema.as_ref())).transpose()?;
        Ok(LoadedRules { schema, template, read_only: self.read_only })
    }
}

impl LoadedRules {
    pub(crate) fn rules(&self) -> Rules<'_> {
        Rules { schema: self.schema.as_ref(), template: self.template.as_ref(), read_only: self.read_only }
    }
}

/// Reads a schema.
pub(crate) fn read_schema(path: &Path) -> anyhow::Result<Schema> {
    Schema::parse(&read_text(path)?).with_context(|| path.display().to_string())
}

/// Reads a state, which must satisfy the schema.
pub(crate) fn read_state(path: &Path, schema: Option<&Schema>) -> anyhow::Result<State> {
    let state = State::given(&read_text(path)?);
    if let Some(Err(reason)) = schema.map(|schema| schema.check(&state)) {
        bail!("{}: the state does not match the schema: {reason}", path.display());
    }
    Ok(state)
}

/// How a state is written.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct StateOutput {
    /// Format of the state
    #[arg(
        long,
        value_parser = text_or_json("Text unchanged, an object as indented JSON", "JSON on one line"),
        value_name = "FORMAT",
        default_value = "text"
    )]
    pub(crate) output_format: TextOrJson,
}
