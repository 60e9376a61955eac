//! Working memory in the store: loads, updates and saves a state in one transaction, and sets unusable states aside.

use thiserror::Error;

use super::{Outcome, Schema, Scratchpad, State, Update};
use crate::store::{RecordKey, Scope, Shelf, Store, StoreError};

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
    /// The scope's id is not given.
    pub fn key(&self) -> Result<RecordKey<'a>, NoId> {
        let id = match self.scope {
            Scope::Thread => self.thread,
            Scope::Resource => self.resource,
        };
        Ok(RecordKey { shelf: Shelf::Memory, scope: self.scope, id: id.ok_or(NoId(self.scope))? })
    }

    /// Distinguishes the threads that share a resource's state: the thread's id; empty for a thread's own state.
    pub fn origin(&self) -> &'a str {
        match self.scope {
            Scope::Thread => "",
            Scope::Resource => self.thread.unwrap_or_default(),
        }
    }
}

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
        match (self.template, self.schema) {
            (Some(template), _) => template.clone(),
            (None, Some(_)) => State::empty_object(),
            (None, None) => State::Text(String::new()),
        }
    }

    /// A scratchpad with `state` under these rules.
    pub fn scratchpad(&self, state: State) -> Scratchpad<'a> {
        Scratchpad::new(state, self.schema, self.read_only)
    }

    /// The state in a body, or the initial state if there is no body; the empty object if the body cannot be used, and why not.
    fn parse_or_initial(&self, body: Option<&str>) -> (State, Option<String>) {
        match body.map(|body| self.parse_body(body)) {
            None => (self.initial(), None),
            Some(Ok(state)) => (state, None),
            Some(Err(reason)) => (State::empty_object(), Some(reason)),
        }
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
    /// The state; `{}` if the stored one cannot be used.
    pub state: State,
    /// Why the stored state cannot be used.
    pub unusable: Option<Unusable>,
}

/// Why a stored state cannot be used, and what became of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unusable {
    /// It stays in the store as it is.
    Left(String),
    /// It was set aside, and the state after the updates takes its place.
    SetAside(String),
}

/// The result of a replay.
#[derive(Debug, Clone, PartialEq)]
pub struct Replayed {
    /// The state after it.
    pub state: State,
    /// The outcome of each update, in order.
    pub outcomes: Vec<Outcome>,
    /// Why the state before it cannot be used.
    pub unusable: Option<Unusable>,
}

/// Loads the state of `owner`. Changes nothing, even if the state cannot be used.
///
/// # Errors
/// [`MemoryError`] if the owner has no id or the store cannot be read.
pub fn load(store: &Store, owner: Owner<'_>, rules: Rules<'_>) -> Result<Loaded, MemoryError> {
    let (state, reason) = rules.parse_or_initial(store.read_body(owner.key()?)?.as_deref());
    Ok(Loaded { state, unusable: reason.map(Unusable::Left) })
}

/// Applies `updates` to the state of `owner` in one transaction. Updates that were applied before change nothing. A state
/// that cannot be used is treated as empty, and is set aside if an update is applied.
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
        let Loaded { state, unusable } = load(store, owner, rules)?;
        return Ok(Replayed { state, outcomes: vec![Outcome::Ignored; updates.len()], unusable });
    }
    store.update(owner.key()?, |record| {
        let (state, reason) = rules.parse_or_initial(record.body());
        let mut scratchpad = rules.scratchpad(state);
        if once {
            scratchpad = scratchpad.with_applied(record.applied_ids()?, owner.origin());
        }
        let outcomes: Vec<Outcome> = updates.iter().map(|update| scratchpad.apply(*update)).collect();
        for id in scratchpad.new_ids().iter().filter(|_| once) {
            record.add_applied_id(id)?;
        }
        if !outcomes.contains(&Outcome::Applied) {
            return Ok(Replayed { state: scratchpad.into_state(), outcomes, unusable: reason.map(Unusable::Left) });
        }
        if let Some(reason) = &reason {
            record.set_aside(reason)?;
        }
        record.write(&scratchpad.state().to_json())?;
        Ok(Replayed { state: scratchpad.into_state(), outcomes, unusable: reason.map(Unusable::SetAside) })
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
/// [`MemoryError::Unusable`] if the resource's state cannot be used; [`MemoryError::Taken`] if the child has a state and `replace`
/// is not set; [`MemoryError`] if the store fails.
pub fn spawn(store: &mut Store, parent: Owner<'_>, child: &str, replace: bool) -> Result<Spawned, MemoryError> {
    let from = parent.key()?;
    if parent.scope == Scope::Thread {
        return Ok(Spawned::NotInherited);
    }
    let Some(body) = store.read_body(from)? else { return Ok(Spawned::Nothing) };
    let state = State::parse(&body).map_err(MemoryError::Unusable)?;
    store.update(RecordKey { scope: Scope::Thread, id: child, ..from }, |record| {
        if record.body().is_some() && !replace {
            return Err(MemoryError::Taken(child.to_owned()));
        }
        Ok(record.write(&state.to_json())?)
    })?;
    Ok(Spawned::Copied(state))
}

/// Why a state could not be loaded or saved.
#[derive(Debug, Error)]
pub enum MemoryError {
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The owner has no id.
    #[error(transparent)]
    NoId(#[from] NoId),
    /// The state violates the schema, as the validator reports it.
    #[error("the state does not match the schema: {0}")]
    Refused(String),
    /// The state is read-only.
    #[error("the memory is read-only")]
    ReadOnly,
    /// The thread with that id already has a state.
    #[error("thread {0:?} already has a memory (not overwritten)")]
    Taken(String),
    /// The state to copy cannot be used.
    #[error("the stored state is unusable: {0}")]
    Unusable(String),
}

/// No id was given for the scope.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("no {} id given", .0.name())]
pub struct NoId(pub Scope);
