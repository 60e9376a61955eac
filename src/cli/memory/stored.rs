//! `curtail memory list`, `prune`, `show`, `update`, `set`, `clear` and `spawn`: the stored states, and changes by hand, each one
//! transaction.

use std::io::Read as _;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::bail;
use serde_json::json;

use super::{OwnerFlags, RuleFlags, SCOPES, StateOutput, note_missing, state_text, warn_set_aside};
use crate::batch::TextOrJson;
use crate::cli::input::text_or_json;
use crate::cli::options::{one_of, time_span};
use crate::cli::report;
use crate::cli::store::StoreFlag;
use crate::cli::table::{self, Columns, trimmed};
use crate::console;
use curtail_core::error::FileError;
use curtail_core::visible::one_line;
use curtail_memory::memory::{
    self, Loaded, MemoryError, Outcome, Replayed, Spawned, State, amend, clear, load, replay, set, spawn,
};
use curtail_memory::store::{Filter, RecordKey, Scope, Shelf, Store, StoreEntry};

// `curtail memory list` and `prune`: lists stored states and deletes old ones.

/// List the stored states
#[derive(Debug, clap::Args)]
pub(super) struct ListArgs {
    #[command(flatten)]
    which: Selection,

    /// List only states unchanged for this long, such as 90s, 45m, 12h, 30d or 8w
    #[arg(long, value_name = "AGE", value_parser = age, allow_hyphen_values = true)]
    older_than: Option<Duration>,

    /// Format of the list
    #[arg(long, value_parser = text_or_json("A table", "One JSON object per state"), value_name = "FORMAT", default_value = "text")]
    output_format: TextOrJson,
}

/// Delete and list states that have not changed for a while
#[derive(Debug, clap::Args)]
pub(super) struct Prune {
    /// Minimum time since the last change, such as 90s, 45m, 12h, 30d or 8w
    #[arg(long, value_name = "AGE", value_parser = age, allow_hyphen_values = true)]
    older_than: Duration,

    /// List the states and delete nothing
    #[arg(long)]
    dry_run: bool,

    #[command(flatten)]
    which: Selection,

    /// Format of the list
    #[arg(long, value_parser = text_or_json("A table", "One JSON object per state"), value_name = "FORMAT", default_value = "text")]
    output_format: TextOrJson,
}

#[derive(Debug, Clone, clap::Args)]
struct Selection {
    #[command(flatten)]
    place: StoreFlag,

    /// Select only states of this scope
    #[arg(long, value_parser = one_of(SCOPES), value_name = "SCOPE")]
    scope: Option<Scope>,
}

impl Selection {
    fn filter(&self, older_than: Option<Duration>) -> Filter {
        Filter { shelf: Some(Shelf::Memory), scope: self.scope, older_than }
    }
}

impl ListArgs {
    pub(super) fn run(&self) -> anyhow::Result<()> {
        if let Some(store) = self.which.place.open_existing()? {
            print(&store.list(self.which.filter(self.older_than))?, self.output_format)?;
        }
        Ok(())
    }
}

impl Prune {
    pub(super) fn run(&self) -> anyhow::Result<()> {
        let filter = self.which.filter(Some(self.older_than));
        let Some(store) = self.which.place.open_existing()? else { return Ok(()) };
        let entries = if self.dry_run {
            store.list(filter)?
        } else {
            drop(store);
            self.which.place.open()?.prune(filter)?
        };
        print(&entries, self.output_format)?;
        Ok(())
    }
}

fn print(entries: &[StoreEntry], format: TextOrJson) -> anyhow::Result<()> {
    let json = || entries.iter().map(|entry| json_line(entry) + "\n").collect::<String>();
    let printed = if format == TextOrJson::Json { console::out_json(&json()) } else { console::out(&table(entries)) };
    Ok(printed?)
}

fn table(entries: &[StoreEntry]) -> String {
    if entries.is_empty() {
        return String::new();
    }
    let rows = entries.iter().map(|entry| {
        let bytes = entry.bytes.map_or_else(|| String::from("cleared"), |bytes| bytes.to_string());
        let (updates, set_aside) = (entry.applied_ids.to_string(), entry.set_aside.to_string());
        let (scope, id) = (entry.scope.name().to_owned(), shown_id(&entry.id));
        [scope, id, bytes, updates, set_aside, entry.updated.clone()]
    });
    let header = ["scope", "id", "bytes", "updates", "set aside", "changed"];
    trimmed(&table::table(header, rows, Columns::Texts)).join("\n") + "\n"
}

fn json_line(entry: &StoreEntry) -> String {
    let StoreEntry { scope, id, bytes, applied_ids, set_aside, updated, .. } = entry;
    json!({"scope": scope.name(), "id": id, "bytes": bytes, "updates": applied_ids, "set_aside": set_aside,
        "changed": updated})
    .to_string()
}

/// An id on one line, the empty id as `""`.
fn shown_id(id: &str) -> String {
    if id.is_empty() { String::from("\"\"") } else { one_line(id).into_owned() }
}

fn age(text: &str) -> Result<Duration, &'static str> {
    time_span(text, "smhdw").ok_or("expected a number with s, m, h, d or w, such as 30d")
}

// `curtail memory show`: the stored state, and states that were set aside.

/// Print the stored state
#[derive(Debug, clap::Args)]
pub(super) struct StateArgs {
    #[command(flatten)]
    owner_flags: OwnerFlags,

    #[command(flatten)]
    rules: RuleFlags,

    #[command(flatten)]
    output: StateOutput,

    /// Print states that were set aside as unusable instead, one line of JSON each
    #[arg(long)]
    set_aside: bool,
}

impl StateArgs {
    pub(super) fn run(&self) -> anyhow::Result<()> {
        let rules = self.rules.load()?;
        let owner = self.owner_flags.owner();
        let key = owner.key()?;
        let store = self.owner_flags.place.open_existing()?;
        note_missing(store.as_ref(), key, true)?;
        if self.set_aside {
            return print_set_aside(store.as_ref(), key);
        }
        let Loaded { state, corrupt } = match &store {
            Some(store) => load(store, owner, rules.rules())?,
            None => Loaded { state: rules.rules().initial(), corrupt: None },
        };
        if let Some(reason) = corrupt {
            report::warning(&format!("the stored state is unusable and is treated as empty: {reason}"));
        }
        Ok(console::data(&state_text(self.output.output_format, &state))?)
    }
}

fn print_set_aside(store: Option<&Store>, key: RecordKey<'_>) -> anyhow::Result<()> {
    let asides = store.map(|store| store.set_aside(key)).transpose()?.unwrap_or_default();
    for aside in asides {
        let line = json!({"at": aside.at, "reason": aside.reason, "body": aside.body});
        console::out_json(&format!("{line}\n"))?;
    }
    Ok(())
}

// `curtail memory update`, `set`, `clear` and `spawn`: manual changes.

/// Merge an object into the state and print the state
#[derive(Debug, clap::Args)]
pub(super) struct Update {
    /// JSON object to merge; `-` reads it from standard input
    #[arg(value_name = "JSON")]
    object: String,

    /// Id of the tool call; an id that was applied before changes nothing
    #[arg(long, value_name = "ID")]
    call_id: Option<String>,

    #[command(flatten)]
    owner_flags: OwnerFlags,

    #[command(flatten)]
    rules: RuleFlags,

    #[command(flatten)]
    output: StateOutput,
}

impl Update {
    pub(super) fn run(&self) -> anyhow::Result<ExitCode> {
        let rules = self.rules.load()?;
        let owner = self.owner_flags.owner();
        owner.key()?;
        let object = argument(&self.object)?;
        let mut store = self.owner_flags.place.open()?;
        let Replayed { state, outcomes, set_aside } = match self.call_id.as_deref() {
            Some(call_id) => {
                replay(&mut store, owner, rules.rules(), &[memory::Update { call_id, arguments: &object }])?
            }
            None => amend(&mut store, owner, rules.rules(), &object)?,
        };
        set_aside.iter().for_each(|reason| warn_set_aside(reason));
        for outcome in outcomes {
            match outcome {
                Outcome::Applied => {}
                Outcome::AlreadyKnown => report::note(&"this call was applied before; nothing changed"),
                Outcome::Ignored => report::note(&"the memory is read-only; nothing changed"),
                Outcome::Malformed(reason) => bail!("{reason}"),
                Outcome::Refused(reason) => return Ok(refused(&reason)),
            }
        }
        console::data(&state_text(self.output.output_format, &state))?;
        Ok(ExitCode::SUCCESS)
    }
}

/// Reports that the schema rejects the change; the state is unchanged.
fn refused(reason: &str) -> ExitCode {
    report::error(&format!("the state does not match the schema: {reason}"));
    ExitCode::from(1)
}

fn argument(text: &str) -> anyhow::Result<String> {
    if text != "-" {
        return Ok(text.to_owned());
    }
    let mut read = String::new();
    let input = curtail_io::input().and_then(|mut input| input.read_to_string(&mut read));
    input.map_err(|error| FileError::system("stdin", &error))?;
    Ok(read)
}

/// Replace the stored state
#[derive(Debug, clap::Args)]
pub(super) struct Set {
    /// New state: text or a JSON object; `-` reads it from standard input
    #[arg(value_name = "STATE")]
    state: String,

    #[command(flatten)]
    owner_flags: OwnerFlags,

    #[command(flatten)]
    rules: RuleFlags,
}

impl Set {
    pub(super) fn run(&self) -> anyhow::Result<ExitCode> {
        let rules = self.rules.load()?;
        self.owner_flags.owner().key()?;
        let state = State::given(&argument(&self.state)?);
        match set(&mut self.owner_flags.place.open()?, self.owner_flags.owner(), rules.rules(), &state) {
            Ok(()) => Ok(ExitCode::SUCCESS),
            Err(MemoryError::Refused(reason)) => Ok(refused(&reason)),
            Err(error) => Err(error.into()),
        }
    }
}

/// Delete the state, but remember which updates were applied
#[derive(Debug, clap::Args)]
pub(super) struct Clear {
    /// Also forget the applied updates and the states that were set aside
    #[arg(long)]
    forget: bool,

    #[command(flatten)]
    owner_flags: OwnerFlags,
}

impl Clear {
    pub(super) fn run(&self) -> anyhow::Result<()> {
        let owner = self.owner_flags.owner();
        let key = owner.key()?;
        let existing = self.owner_flags.place.open_existing()?;
        note_missing(existing.as_ref(), key, false)?;
        if existing.is_none() {
            return Ok(());
        }
        drop(existing);
        let mut store = self.owner_flags.place.open()?;
        if self.forget {
            store.remove(key)?;
        } else {
            clear(&mut store, owner)?;
        }
        Ok(())
    }
}

/// Copy a resource's state to a child thread; a thread's state is not inherited
#[derive(Debug, clap::Args)]
pub(super) struct Spawn {
    /// Thread of the child
    #[arg(long, value_name = "THREAD")]
    to: String,

    /// Replace an existing state of the child
    #[arg(long)]
    force: bool,

    #[command(flatten)]
    owner_flags: OwnerFlags,
}

impl Spawn {
    pub(super) fn run(&self) -> anyhow::Result<()> {
        let parent = self.owner_flags.owner_else(Scope::Resource);
        parent.key()?;
        let spawned = spawn(&mut self.owner_flags.place.open()?, parent, &self.to, self.force)?;
        match spawned {
            Spawned::Copied(_) => {}
            Spawned::Nothing => report::note(&"the resource has no state; nothing was copied"),
            Spawned::NotInherited => {
                report::note(&"a thread's state is not inherited; pass --resource ID to copy a shared state");
            }
        }
        Ok(())
    }
}
