//! What the library shows: cutting, policies, reading and checking, with types of its own over the crate's machinery, so that
//! the machinery can change.

mod checking;
mod cutter;
mod error;
mod policies;
mod policy;
mod reading;
mod values;

pub use checking::check;
pub use cutter::{Cutter, CutterBuilder, Explanation, Report};
pub use error::{Error, Place};
pub use policies::{LimitPolicy, ToolPolicy, WindowPolicy};
pub use policy::{Action, Policy};
pub use reading::{MessageView, PartKind, PartView, Source, TranscriptView};
