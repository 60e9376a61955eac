//! The scratchpad in the store: loads, replays and saves in one transaction, and sets corrupt states aside.

use super::{MemoryError, Outcome, Owner, Schema, Scratchpad, State, Update};
use crate::store::{Record, Store};

/// The rules that a state follows.
#[derive(Debug, Clone, Copy, Default)]
pub struct Rules<'a> {
    /// The schema of a structured state.
    pub schema: Option<&'a Schema>,
    /// The initial state.
    pub template: Option<&'a State>,
    /// Whether updates are refused.
    pub read_only: bool,
}

impl<'a> Rules<'a> {
    /// The initial state: the template, else an empty object if there is a schema, else empty text.
    #[must_use]
    pub fn initial(&self) -> State {
        let none = || match self.schema {
            Some(_) => State::empty_object(),
            None => State::Text(String::new()),
        };
        self.template.cloned().unwrap_or_else(none)
    }

    /// A scratchpad with `state` under these rules.
    #[must_use]
    pub fn scratchpad(&self, state: State) -> Scratchpad<'a> {
        Scratchpad::new(state, self.schema, self.read_only)
    }

    /// The state in a body, or why it cannot be used. The empty object always passes, because updates start from it.
    fn parse_body(&self, body: &str) -> Result<State, String> {
        let state = State::parse(body).map_err(|error| error.to_string())?;
        match self.schema {
            Some(schema) if state != State::empty_object() => {
                schema.check(&state).map(|()| state).map_err(|error| error.to_string())
            }
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
    Ok(judge(store.read_body(owner.key()?)?.as_deref(), rules))
}

/// Applies `updates` to the state of `owner` in one transaction. Updates that were applied before change nothing. A state
/// that cannot be used is set aside first.
///
/// # Errors
/// [`MemoryError`] if the owner has no id or the store fails. Nothing changed then.
pub fn replay(
    store: &mut Store,
    owner: Owner<'_>,
    rules: Rules<'_>,
    updates: &[Update<'_>],
) -> Result<Replayed, MemoryError> {
    if rules.read_only {
        let Loaded { state, corrupt } = load(store, owner, rules)?;
        let outcomes = vec![Outcome::Ignored; updates.len()];
        let set_aside = corrupt;
        return Ok(Replayed { state, outcomes, set_aside });
    }
    store.update(owner.key()?, |record| {
        let (state, set_aside) = take(record, rules)?;
        let mut scratchpad = rules.scratchpad(state).with_applied(record.applied_ids()?, owner.origin());
        let outcomes: Vec<Outcome> = updates.iter().map(|update| scratchpad.apply(*update)).collect();
        for id in scratchpad.new_ids() {
            record.add_applied_id(id)?;
        }
        save(record, scratchpad, outcomes, set_aside)
    })
}

/// Applies one update without a call id to the state of `owner`. It applies every time, however often it is repeated.
///
/// # Errors
/// As [`replay`].
pub fn amend(store: &mut Store, owner: Owner<'_>, rules: Rules<'_>, arguments: &str) -> Result<Replayed, MemoryError> {
    let update = Update { call_id: "", arguments };
    if rules.read_only {
        return replay(store, owner, rules, &[update]);
    }
    store.update(owner.key()?, |record| {
        let (state, set_aside) = take(record, rules)?;
        let mut scratchpad = rules.scratchpad(state);
        let outcomes = vec![scratchpad.apply(update)];
        save(record, scratchpad, outcomes, set_aside)
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
        schema.check(state).map_err(|error| MemoryError::Refused(error.to_string()))?;
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

fn judge(body: Option<&str>, rules: Rules<'_>) -> Loaded {
    match body.map(|body| rules.parse_body(body)) {
        None => Loaded { state: rules.initial(), corrupt: None },
        Some(Ok(state)) => Loaded { state, corrupt: None },
        Some(Err(reason)) => {
            let (state, corrupt) = (State::empty_object(), Some(reason));
            Loaded { state, corrupt }
        }
    }
}

/// The state in `record`. If it cannot be used, sets it aside and returns the reason.
fn take(record: &mut Record<'_>, rules: Rules<'_>) -> Result<(State, Option<String>), MemoryError> {
    let Loaded { state, corrupt } = judge(record.body(), rules);
    if let Some(reason) = &corrupt {
        record.set_aside(reason)?;
        record.write(&state.to_json())?;
    }
    Ok((state, corrupt))
}

fn save(
    record: &mut Record<'_>,
    scratchpad: Scratchpad<'_>,
    outcomes: Vec<Outcome>,
    set_aside: Option<String>,
) -> Result<Replayed, MemoryError> {
    if outcomes.contains(&Outcome::Applied) {
        record.write(&scratchpad.state().to_json())?;
    }
    let state = scratchpad.into_state();
    Ok(Replayed { state, outcomes, set_aside })
}
