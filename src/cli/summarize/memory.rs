//! The thread that a run appends to, and how its input is read.

use std::collections::HashSet;
use std::path::Path;

use anyhow::{anyhow, bail};

use super::super::input::Input;
use super::super::store::store_path;
use curtail_core::dialects::{self, Reading, detect_framing};
use curtail_core::error::TextPlace;
use curtail_memory::rolling::RollingSummary;
use curtail_memory::rolling::{Taken, Thread, ThreadError, append, current};
use curtail_memory::store::Store;

/// A thread in the store, or one that ends with this run.
pub(super) enum ThreadMemory {
    Store { store: Store, id: String },
    Run(Box<Thread>, HashSet<String>),
}

impl ThreadMemory {
    /// Opens the thread `id` of the store in `file`; without an id, an empty thread in memory.
    pub(super) fn open(id: Option<&str>, file: Option<&Path>) -> anyhow::Result<Self> {
        let Some(id) = id else { return Ok(Self::Run(Box::default(), HashSet::new())) };
        if id.is_empty() {
            bail!("--thread needs a name");
        }
        let store = Store::open(&store_path(file)?)?;
        Ok(Self::Store { store, id: id.to_owned() })
    }

    /// The thread as it is now; `None` if the store does not contain it.
    pub(super) fn current(&self) -> Result<Option<Thread>, ThreadError> {
        match self {
            Self::Store { store, id } => current(store, id),
            Self::Run(thread, _) => Ok(Some((**thread).clone())),
        }
    }

    /// Appends messages and returns the thread after that.
    pub(super) fn append(&mut self, summary: &RollingSummary, taken: Taken<'_>) -> Result<Thread, ThreadError> {
        match self {
            Self::Store { store, id } => append(store, id, summary, taken),
            Self::Run(thread, marks) => {
                let (after, fresh) =
                    Thread::after(Some((**thread).clone()), summary, taken, &|mark| marks.contains(mark))?;
                marks.extend(fresh);
                **thread = after.clone();
                Ok(after)
            }
        }
    }
}

/// How to read the input: as the flags specify, else as detected from `text`.
pub(super) fn reading(input: &Input, text: &str) -> Reading {
    let key = input.messages_key.as_deref();
    let framing = input.framing.0.unwrap_or_else(|| detect_framing(text, key));
    let dialect = Some(input.dialect.as_str()).filter(|name| *name != "auto").and_then(dialects::dialect_named);
    Reading { framing, dialect, named: dialect.is_some(), messages_key: input.messages_key.clone() }
}

/// The error with its file, and its place in the file if it has one.
pub(super) fn placed(name: &str, text: &str, error: ThreadError) -> anyhow::Error {
    match error {
        ThreadError::Input(offset, what) => {
            let TextPlace { line, column } = TextPlace::locate(text.as_bytes(), offset, 1);
            anyhow!("{name}:{line}:{column}: {what}")
        }
        ThreadError::Store(error) => anyhow!(error),
        error => anyhow!("{name}: {error}"),
    }
}
