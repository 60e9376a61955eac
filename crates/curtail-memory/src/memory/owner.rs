//! Whose a state in the store is.

use thiserror::Error;

use crate::store::{RecordKey, Scope, Shelf};

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

/// No id was given for the scope.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("no {} id given", .0.name())]
pub struct NoId(pub Scope);
