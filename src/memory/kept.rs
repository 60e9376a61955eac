//! The scratchpad that outlives a run: load, replay and save in one transaction, and what is corrupt set aside.

use super::{MemoryError, Outcome, Owner, Schema, Scratchpad, State, Update};
use crate::store::{Record, Store};

/// What holds for a state, wherever it comes from.
#[derive(Debug, Clone, Copy, Default)]
pub struct Rules<'a> {
    /// What an object has to look like.
    pub schema: Option<&'a Schema>,
    /// What stands where nothing was kept yet.
    pub template: Option<&'a State>,
    /// Whether updates are left unheard.
    pub read_only: bool,
}

impl<'a> Rules<'a> {
    /// The state where nothing was kept yet: the template, else an empty object with a schema, else empty text.
    #[must_use]
    pub fn initial(&self) -> State {
        let none = || match self.schema {
            Some(_) => State::empty_object(),
            None => State::Text(String::new()),
        };
        self.template.cloned().unwrap_or_else(none)
    }

    /// A scratchpad that holds `state` under these rules.
    #[must_use]
    pub fn scratchpad(&self, state: State) -> Scratchpad<'a> {
        Scratchpad::new(state, self.schema, self.read_only)
    }

    /// What a kept body says, or why it cannot be used. The empty object is what an update starts from, so no
    /// schema speaks against it.
    fn prepend_parts(&self, body: &str) -> Result<State, String> {
        let state = State::parse(body)?;
        match self.schema {
            Some(schema) if state != State::empty_object() => schema.check(&state).map(|()| state),
            _ => Ok(state),
        }
    }
}

/// A state as it was found.
#[derive(Debug, Clone, PartialEq)]
pub struct Loaded {
    /// The state, which is `{}` where what was kept cannot be used.
    pub state: State,
    /// Why what was kept cannot be used.
    pub corrupt: Option<String>,
}

/// What a replay came to.
#[derive(Debug, Clone, PartialEq)]
pub struct Replayed {
    /// The state after it.
    pub state: State,
    /// What became of each update, in their order.
    pub outcomes: Vec<Outcome>,
    /// Why what was kept before was set aside.
    pub set_aside: Option<String>,
}

/// Reads the state of `owner` and changes nothing, not even what is corrupt.
///
/// # Errors
/// Where the owner has no id or the store cannot be read.
pub fn load(store: &Store, owner: Owner<'_>, rules: Rules<'_>) -> Result<Loaded, MemoryError> {
    Ok(judge(store.read(owner.key()?)?.as_deref(), rules))
}

/// Takes `updates` into the state of `owner`, in one transaction. Those that are known from before change
/// nothing. A state that cannot be used is set aside first.
///
/// # Errors
/// Where the owner has no id or the store fails; then nothing happened.
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

/// Takes one update by hand into the state of `owner`: it has no call id, and counts however often it comes.
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

/// Puts `state` in the place of what `owner` has.
///
/// # Errors
/// Where the schema refuses it, the rules are read-only, the owner has no id or the store fails.
pub fn set(store: &mut Store, owner: Owner<'_>, rules: Rules<'_>, state: &State) -> Result<(), MemoryError> {
    if rules.read_only {
        return Err(MemoryError::ReadOnly);
    }
    if let Some(schema) = rules.schema {
        schema.check(state).map_err(MemoryError::Refused)?;
    }
    store.update(owner.key()?, |record| Ok(record.write(&state.to_json())?))
}

/// Forgets the state of `owner`. Its updates stay known, so that a replay does not bring it back.
///
/// # Errors
/// Where the owner has no id or the store fails.
pub fn clear(store: &mut Store, owner: Owner<'_>) -> Result<(), MemoryError> {
    store.update(owner.key()?, |record| Ok(record.clear()?))
}

fn judge(body: Option<&str>, rules: Rules<'_>) -> Loaded {
    match body.map(|body| rules.prepend_parts(body)) {
        None => Loaded { state: rules.initial(), corrupt: None },
        Some(Ok(state)) => Loaded { state, corrupt: None },
        Some(Err(reason)) => {
            let (state, corrupt) = (State::empty_object(), Some(reason));
            Loaded { state, corrupt }
        }
    }
}

/// The state in `record`; one that cannot be used is set aside, and why is told.
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
