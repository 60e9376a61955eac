//! The sessions that agents keep on this machine: where they are, by which names commands take them, which of them a list has,
//! and what is read of them.

pub(crate) mod content;
pub(crate) mod found;
pub(crate) mod listed;
mod stored;
