//! The sessions that agents keep on this machine: where they are, by which names commands take them, and what is read of them.

pub(crate) mod content;
pub(crate) mod found;
mod stored;
