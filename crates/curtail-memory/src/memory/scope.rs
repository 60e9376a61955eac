//! The owner of a state, and the copy that a child thread gets.

use super::{MemoryError, State};
use crate::store::{RecordKey, Scope, Shelf, Store};

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
    #[must_use]
    pub fn origin(&self) -> &'a str {
        match self.scope {
            Scope::Thread => "",
            Scope::Resource => self.thread.unwrap_or_default(),
        }
    }
}

/// What a child thread received.
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
    let (scope, id) = (Scope::Thread, child);
    store.update(RecordKey { scope, id, ..from }, |record| {
        if record.body().is_some() && !replace {
            return Err(MemoryError::Taken(child.to_owned()));
        }
        Ok(record.write(&state.to_json())?)
    })?;
    Ok(Spawned::Copied(state))
}
