//! Working memory in the store: loads, updates and saves a state in one transaction, and sets unusable states aside.

use thiserror::Error;

use super::{Outcome, Schema, Scratchpad, State, Update};
use crate::store::{RecordKey, Scope, Shelf, Store, StoreError};

/// The rules for a state and its updates.
#[derive(Debug, Clone, Copy, Default)]
pub struct Rules<'a> {
    /// The schema of a structured state.
    pub schema: Option<&'a Schema>,
    /// The initial state; see [`Rules::initial`].
    pub template: Option<&'a State>,
    /// Whether updates are refused.
    pub read_only: bool,
}

impl<'a> Rules<'a> {
    /// The initial state: the template, else an empty object if there is a schema, else empty text.
    pub fn initial(&self) -> State {
        let none = || match self.schema {
            Some(_) => State::empty_object(),
            None => State::Text(String::new()),
        };
        self.template.cloned().unwrap_or_else(none)
    }

    /// A scratchpad with `state` under these rules.
    pub fn scratchpad(&self, state: State) -> Scratchpad<'a> {
        Scratchpad::new(state, self.schema, self.read_only)
    }

    /// The state in a body, or why it cannot be used. The empty object always passes, because updates start from it.
    fn parse_body(&self, body: &str) -> Result<State, String> {
        let state = State::parse(body)?;
        match self.schema {
            Some(schema) if state != State::empty_object() => schema.check(&state).map(|()| state),
            _ => Ok(state),
        }
    }
}

/// A loaded state.
#[derive(Debug, Clone, PartialEq)]
pub struct Loaded {
    /// The state; `{}` if the kept state cannot be used.
    pub state: State,
    /// Why the kept state cannot be used.
    pub corrupt: Option<String>,
}

/// The result of a replay.
#[derive(Debug, Clone, PartialEq)]
pub struct Replayed {
    /// The state after it.
    pub state: State,
    /// The outcome of each update, in order.
    pub outcomes: Vec<Outcome>,
    /// Why the previously stored state was set aside.
    pub set_aside: Option<String>,
}

/// Loads the state of `owner`. Changes nothing, even if the state is corrupt.
///
/// # Errors
/// [`MemoryError`] if the owner has no id or the store cannot be read.
pub fn load(store: &Store, owner: Owner<'_>, rules: Rules<'_>) -> Result<Loaded, MemoryError> {
    Ok(loaded(store.read_body(owner.key()?)?.as_deref(), rules))
}

/// Applies `updates` to the state of `owner` in one transaction. Updates that were applied before change nothing. A state
/// that cannot be used is set aside first.
///
/// # Errors
/// [`MemoryError`] if the owner has no id or the store fails; the state is then unchanged.
pub fn replay(
    store: &mut Store,
    owner: Owner<'_>,
    rules: Rules<'_>,
    updates: &[Update<'_>],
) -> Result<Replayed, MemoryError> {
    apply_updates(store, owner, rules, updates, true)
}

/// Applies one update without a call id to the state of `owner`. Unlike in [`replay`], a repeated update is applied again.
///
/// # Errors
/// As [`replay`].
pub fn amend(store: &mut Store, owner: Owner<'_>, rules: Rules<'_>, arguments: &str) -> Result<Replayed, MemoryError> {
    apply_updates(store, owner, rules, &[Update { call_id: "", arguments }], false)
}

/// Applies `updates`, each of them only `once` or whenever it comes.
fn apply_updates(
    store: &mut Store,
    owner: Owner<'_>,
    rules: Rules<'_>,
    updates: &[Update<'_>],
    once: bool,
) -> Result<Replayed, MemoryError> {
    if rules.read_only {
        let Loaded { state, corrupt: set_aside } = load(store, owner, rules)?;
        return Ok(Replayed { state, outcomes: vec![Outcome::Ignored; updates.len()], set_aside });
    }
    store.update(owner.key()?, |record| {
        let Loaded { state, corrupt: set_aside } = loaded(record.body(), rules);
        if let Some(reason) = &set_aside {
            record.set_aside(reason)?;
            record.write(&state.to_json())?;
        }
        let mut scratchpad = rules.scratchpad(state);
        if once {
            scratchpad = scratchpad.with_applied(record.applied_ids()?, owner.origin());
        }
        let outcomes: Vec<Outcome> = updates.iter().map(|update| scratchpad.apply(*update)).collect();
        for id in scratchpad.new_ids().iter().filter(|_| once) {
            record.add_applied_id(id)?;
        }
        if outcomes.contains(&Outcome::Applied) {
            record.write(&scratchpad.state().to_json())?;
        }
        Ok(Replayed { state: scratchpad.into_state(), outcomes, set_aside })
    })
}

/// Replaces the state of `owner`.
///
/// # Errors
/// [`MemoryError`] if the state violates the schema, the rules are read-only, the owner has no id or the store fails.
pub fn set(store: &mut Store, owner: Owner<'_>, rules: Rules<'_>, state: &State) -> Result<(), MemoryError> {
    if rules.read_only {
        return Err(MemoryError::ReadOnly);
    }
    if let Some(schema) = rules.schema {
        schema.check(state).map_err(MemoryError::Refused)?;
    }
    store.update(owner.key()?, |record| Ok(record.write(&state.to_json())?))
}

/// Clears the state of `owner`. The ids of its updates are kept, so that a replay does not bring it back.
///
/// # Errors
/// [`MemoryError`] if the owner has no id or the store fails.
pub fn clear(store: &mut Store, owner: Owner<'_>) -> Result<(), MemoryError> {
    store.update(owner.key()?, |record| Ok(record.clear()?))
}

/// The state in a body, or the initial state if there is no body.
fn loaded(body: Option<&str>, rules: Rules<'_>) -> Loaded {
    match body.map(|body| rules.parse_body(body)) {
        None => Loaded { state: rules.initial(), corrupt: None },
        Some(Ok(state)) => Loaded { state, corrupt: None },
        Some(Err(reason)) => Loaded { state: State::empty_object(), corrupt: Some(reason) },
    }
}

/// Why a state could not be loaded or saved.
#[derive(Debug, Error)]
pub enum MemoryError {
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// No id was given for the scope.
    #[error("no {} id given; pass --{} ID", .0.name(), .0.name())]
    NoId(Scope),
    /// The state violates the schema, as the validator reports it.
    #[error("the state does not match the schema: {0}")]
    Refused(String),
    /// The state is read-only.
    #[error("the memory is read-only")]
    ReadOnly,
    /// The thread with that id already has a state.
    #[error("thread {0:?} already has a memory (not overwritten); pass --force to replace it")]
    Taken(String),
}

// The owner of a state, and the copy that a child thread gets.

/// The owner of a state: a thread or a resource, as the scope says.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Owner<'a> {
    /// Which of the two ids names the owner.
    pub scope: Scope,
    /// The thread's id.
    pub thread: Option<&'a str>,
    /// The resource's id: a user, a project.
    pub resource: Option<&'a str>,
}

impl<'a> Owner<'a> {
    /// The key of the state in the store.
    ///
    /// # Errors
    /// [`MemoryError::NoId`] if the scope's id is not given.
    pub fn key(&self) -> Result<RecordKey<'a>, MemoryError> {
        let id = match self.scope {
            Scope::Thread => self.thread,
            Scope::Resource => self.resource,
        };
        Ok(RecordKey { shelf: Shelf::Memory, scope: self.scope, id: id.ok_or(MemoryError::NoId(self.scope))? })
    }

    /// Distinguishes the threads that share a resource's state: the thread's id; empty for a thread's own state.
    pub fn origin(&self) -> &'a str {
        match self.scope {
            Scope::Thread => "",
            Scope::Resource => self.thread.unwrap_or_default(),
        }
    }
}

/// What a child thread inherited.
#[derive(Debug, Clone, PartialEq)]
pub enum Spawned {
    /// A copy of the resource's state.
    Copied(State),
    /// Nothing: the resource has no state.
    Nothing,
    /// Nothing: the state of a thread is not inherited.
    NotInherited,
}

/// Copies the state of the parent's resource to the thread `child`. The state of a thread is not copied.
///
/// # Errors
/// [`MemoryError::Taken`] if the child has a state and `replace` is not set; [`MemoryError`] if the store fails.
pub fn spawn(store: &mut Store, parent: Owner<'_>, child: &str, replace: bool) -> Result<Spawned, MemoryError> {
    let from = parent.key()?;
    if parent.scope == Scope::Thread {
        return Ok(Spawned::NotInherited);
    }
    let Some(state) = store.read_body(from)?.and_then(|body| State::parse(&body).ok()) else {
        return Ok(Spawned::Nothing);
    };
    let scope = Scope::Thread;
    let id = child;
    store.update(RecordKey { scope, id, ..from }, |record| {
        if record.body().is_some() && !replace {
            return Err(MemoryError::Taken(child.to_owned()));
        }
        Ok(record.write(&state.to_json())?)
    })?;
    Ok(Spawned::Copied(state))
}
