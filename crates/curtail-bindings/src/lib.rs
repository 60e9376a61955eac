//! What the modules for other languages share: values of the host language in, as JSON with the place of each part; what becomes
//! of them out, as the parts that are kept, by their indexes, and the JSON of the parts that are new. A module writes and builds
//! values of its language, and nothing else: every policy is that of the program.

#![forbid(unsafe_code)]

mod parts;
mod run;
mod settings;
mod texts;

pub use curtail::embedded::{Answer, Command, Does, Failure, Reader, Texts, has_flag, set_program};
pub use curtail_core::dialects::Framing;
pub use curtail_core::places::TextPlace;
pub use parts::{Item, Member, Part, Parts, Pieces};
pub use run::{CutResult, Framed, Input, Outcome, Run, explained, guarded, whole};
pub use settings::{Setting, parsed, words};
pub use texts::{failure_behind, framing_of, text_of};
