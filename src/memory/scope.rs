//! Whose state it is, and what a child gets of it.

use super::{MemoryError, State};
use crate::store::{RecordKey, Scope, Shelf, Store};

/// Whose state it is: the scope says which of the two ids names it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Owner<'a> {
    /// How far the state reaches.
    pub scope: Scope,
    /// The conversation.
    pub thread: Option<&'a str>,
    /// What several conversations belong to: a user, a project.
    pub resource: Option<&'a str>,
}

impl<'a> Owner<'a> {
    /// Where the state lies.
    ///
    /// # Errors
    /// [`MemoryError::NoId`] where the scope's id is not given.
    pub fn key(&self) -> Result<RecordKey<'a>, MemoryError> {
        let id = match self.scope {
            Scope::Thread => self.thread,
            Scope::Resource => self.resource,
        };
        Ok(RecordKey { shelf: Shelf::Memory, scope: self.scope, id: id.ok_or(MemoryError::NoId(self.scope))? })
    }

    /// What tells the conversations apart that share the state: the thread, where it is a resource's.
    #[must_use]
    pub fn origin(&self) -> &'a str {
        match self.scope {
            Scope::Thread => "",
            Scope::Resource => self.thread.unwrap_or_default(),
        }
    }
}

/// What a child got.
#[derive(Debug, Clone, PartialEq)]
pub enum Spawned {
    /// A copy of the resource's state.
    Copied(State),
    /// Nothing, for the resource has no state.
    Nothing,
    /// Nothing, for a thread's state is its own.
    NotInherited,
}

/// Gives the thread `child` a copy of the parent's `resource` state; of `thread` state it gets nothing.
///
/// # Errors
/// [`MemoryError::Taken`] where the child has a state and `replace` is not set, and where the store fails.
pub fn spawn(store: &mut Store, parent: Owner<'_>, child: &str, replace: bool) -> Result<Spawned, MemoryError> {
    let from = parent.key()?;
    if parent.scope == Scope::Thread {
        return Ok(Spawned::NotInherited);
    }
    let Some(state) = store.read(from)?.and_then(|body| State::parse(&body).ok()) else {
        return Ok(Spawned::Nothing);
    };
    let (scope, id) = (Scope::Thread, child);
    store.update(RecordKey { scope, id, ..from }, |record| {
        if record.body().is_some() && !replace {
            return Err(MemoryError::Taken(child.to_owned()));
        }
        Ok(record.write(&state.to_json())?)
    })?;
    Ok(Spawned::Copied(state))
}
