//! The thread that a run appends to.

use std::collections::HashSet;

use anyhow::bail;

use crate::options::store::StoreFlag;
use curtail_memory::rolling::{RollingSummary, Taken, Thread, ThreadError, append, current};
use curtail_memory::store::Store;

/// A thread in the store, or one that exists only during this run.
pub(super) enum ThreadMemory {
    Store { store: Store, id: String },
    Run { thread: Box<Thread>, marks: HashSet<String> },
}

impl ThreadMemory {
    /// Opens the thread `id` of the store at `place`; without an id, an empty thread in memory.
    pub(super) fn open(id: Option<&str>, place: &StoreFlag) -> anyhow::Result<Self> {
        let Some(id) = id else { return Ok(Self::Run { thread: Box::default(), marks: HashSet::new() }) };
        if id.is_empty() {
            bail!("--thread needs a name");
        }
        Ok(Self::Store { store: place.open()?, id: id.to_owned() })
    }

    /// The thread as it is now; `None` if the store does not contain it.
    pub(super) fn current(&self) -> Result<Option<Thread>, ThreadError> {
        match self {
            Self::Store { store, id } => current(store, id),
            Self::Run { thread, .. } => Ok(Some((**thread).clone())),
        }
    }

    /// Appends messages and returns the thread after that.
    pub(super) fn append(&mut self, summary: &RollingSummary, taken: Taken<'_>) -> Result<Thread, ThreadError> {
        match self {
            Self::Store { store, id } => append(store, id, summary, taken),
            Self::Run { thread, marks } => {
                let (after, fresh) =
                    Thread::after(Some((**thread).clone()), summary, taken, &|mark| marks.contains(mark))?;
                marks.extend(fresh);
                **thread = after.clone();
                Ok(after)
            }
        }
    }
}
