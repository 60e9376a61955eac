//! `curtail memory show`, `update`, `set`, `clear` and `spawn`: the stored state, and changes by hand.

use std::io::Read as _;
use std::process::ExitCode;

use anyhow::bail;
use serde_json::json;

use super::state_text;
use crate::console;
use crate::options::files::without_mark;
use crate::options::memory::{OwnerFlags, RuleFlags, StateOutput, note_missing, warn_unusable};
use curtail_io::FileError;
use curtail_memory::memory::{
    Loaded, MemoryError, Outcome, Replayed, Spawned, State, Update, amend, clear, load, replay, set, spawn,
};
use curtail_memory::store::{RecordKey, Scope, Store};

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
        let owner = self.owner_flags.owner()?;
        let key = owner.key()?;
        let store = self.owner_flags.place.open_existing()?;
        note_missing(store.as_ref(), key, true)?;
        if self.set_aside {
            return print_set_aside(store.as_ref(), key);
        }
        let Loaded { state, unusable } = match &store {
            Some(store) => load(store, owner, rules.rules())?,
            None => Loaded { state: rules.rules().initial(), unusable: None },
        };
        warn_unusable(unusable.as_ref());
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

/// Merge an object into the state and print the state
#[derive(Debug, clap::Args)]
pub(super) struct UpdateArgs {
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

impl UpdateArgs {
    pub(super) fn run(&self) -> anyhow::Result<ExitCode> {
        let rules = self.rules.load()?;
        let owner = self.owner_flags.owner()?;
        let object = argument(&self.object)?;
        let mut store = self.owner_flags.place.open()?;
        let Replayed { state, outcomes, unusable } = match self.call_id.as_deref() {
            Some(call_id) => replay(&mut store, owner, rules.rules(), &[Update { call_id, arguments: &object }])?,
            None => amend(&mut store, owner, rules.rules(), &object)?,
        };
        warn_unusable(unusable.as_ref());
        for outcome in outcomes {
            match outcome {
                Outcome::Applied => {}
                Outcome::AlreadyKnown => console::note(&"this call was applied before; nothing changed"),
                Outcome::Ignored => console::note(&"the memory is read-only; nothing changed"),
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
    console::error(&format!("the state does not match the schema: {reason}"));
    ExitCode::from(1)
}

fn argument(text: &str) -> anyhow::Result<String> {
    if text != "-" {
        return Ok(text.to_owned());
    }
    let mut read = String::new();
    let input = curtail_io::input().and_then(|mut input| input.read_to_string(&mut read));
    input.map_err(|error| FileError::system("stdin", &error))?;
    Ok(without_mark(read))
}

/// Replace the stored state
#[derive(Debug, clap::Args)]
pub(super) struct SetArgs {
    /// New state: text or a JSON object; `-` reads it from standard input
    #[arg(value_name = "STATE")]
    state: String,

    #[command(flatten)]
    owner_flags: OwnerFlags,

    #[command(flatten)]
    rules: RuleFlags,
}

impl SetArgs {
    pub(super) fn run(&self) -> anyhow::Result<ExitCode> {
        let rules = self.rules.load()?;
        let owner = self.owner_flags.owner()?;
        let state = State::given(&argument(&self.state)?);
        match set(&mut self.owner_flags.place.open()?, owner, rules.rules(), &state) {
            Ok(()) => Ok(ExitCode::SUCCESS),
            Err(MemoryError::Refused(reason)) => Ok(refused(&reason)),
            Err(error) => Err(error.into()),
        }
    }
}

/// Delete the state, but remember which updates were applied
#[derive(Debug, clap::Args)]
pub(super) struct ClearArgs {
    /// Also forget the applied updates and the states that were set aside
    #[arg(long)]
    forget: bool,

    #[command(flatten)]
    owner_flags: OwnerFlags,
}

impl ClearArgs {
    pub(super) fn run(&self) -> anyhow::Result<()> {
        let owner = self.owner_flags.owner()?;
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
pub(super) struct SpawnArgs {
    /// Thread of the child
    #[arg(long, value_name = "THREAD")]
    to: String,

    /// Replace an existing state of the child
    #[arg(long)]
    force: bool,

    #[command(flatten)]
    owner_flags: OwnerFlags,
}

impl SpawnArgs {
    pub(super) fn run(&self) -> anyhow::Result<()> {
        let parent = self.owner_flags.owner_else(Scope::Resource)?;
        match spawn(&mut self.owner_flags.place.open()?, parent, &self.to, self.force) {
            Ok(Spawned::Copied(_)) => {}
            Ok(Spawned::Nothing) => console::note(&"the resource has no state; nothing was copied"),
            Ok(Spawned::NotInherited) => {
                console::note(&"a thread's state is not inherited; pass --resource ID to copy a shared state");
            }
            Err(error @ MemoryError::Taken(_)) => bail!("{error}; pass --force to replace it"),
            Err(error @ MemoryError::Unusable(_)) => bail!("{error}; nothing was copied"),
            Err(error) => return Err(error.into()),
        }
        Ok(())
    }
}
