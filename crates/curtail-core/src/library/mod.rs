//! What the library shows: cutting, policies, reading and checking, with types of its own over the crate's machinery, so that
//! the machinery can change.

mod checking;
mod cutter;
mod error;
mod policy;
mod reading;

pub use checking::check;
pub use cutter::{Cutter, CutterBuilder, Explanation, Report};
pub use error::{Error, Place};
pub use policy::{Action, LimitPolicy, Policy, ToolPolicy, WindowPolicy};
pub use reading::{MessageView, PartKind, PartView, Source, TranscriptView};
