//! `curtail memory update`, `set`, `clear` and `spawn`: manual changes, each one transaction.

use std::io::Read as _;
use std::process::ExitCode;

use anyhow::bail;

use super::{OwnerFlags, RuleFlags, StateOutput, note_misspelled};
use crate::cli::report;
use crate::console;
use curtail_core::error::FileError;
use curtail_memory::memory::{
    self, MemoryError, Outcome, Owner, Replayed, Spawned, State, amend, clear, replay, set, spawn,
};
use curtail_memory::store::Scope;

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
        if let Some(reason) = set_aside {
            report::warning(&super::apply::set_aside_note(&reason));
        }
        for outcome in outcomes {
            match outcome {
                Outcome::Applied => {}
                Outcome::AlreadyKnown => report::note(&"this call was applied before; nothing changed"),
                Outcome::Ignored => report::note(&"the memory is read-only; nothing changed"),
                Outcome::Malformed(reason) => bail!("{reason}"),
                Outcome::Refused(reason) => return Ok(refused(&reason)),
            }
        }
        console::data(&self.output.output_format.write(&state))?;
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
    pub(super) fn run(&self) -> anyhow::Result<ExitCode> {
        let owner = self.owner_flags.owner();
        let key = owner.key()?;
        let existing = self.owner_flags.place.open_existing()?;
        note_misspelled(existing.as_ref(), key)?;
        if existing.is_none() {
            return Ok(ExitCode::SUCCESS);
        }
        drop(existing);
        let mut store = self.owner_flags.place.open()?;
        if self.forget {
            store.remove(key)?;
        } else {
            clear(&mut store, owner)?;
        }
        Ok(ExitCode::SUCCESS)
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
    pub(super) fn run(&self) -> anyhow::Result<ExitCode> {
        let only_thread = self.owner_flags.thread.is_some() && self.owner_flags.resource.is_none();
        let implied = if only_thread { Scope::Thread } else { Scope::Resource };
        let scope = self.owner_flags.scope.unwrap_or(implied);
        let parent = Owner { scope, ..self.owner_flags.owner() };
        parent.key()?;
        let spawned = spawn(&mut self.owner_flags.place.open()?, parent, &self.to, self.force)?;
        match spawned {
            Spawned::Copied(_) => {}
            Spawned::Nothing => report::note(&"the resource has no state; nothing was copied"),
            Spawned::NotInherited => {
                report::note(&"a thread's state is not inherited; pass --resource ID to copy a shared state");
            }
        }
        Ok(ExitCode::SUCCESS)
    }
}
