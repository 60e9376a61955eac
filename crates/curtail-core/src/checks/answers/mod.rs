//! What a provider answered, as somebody quotes it: which rule finds the cause in a transcript, and where it is there.
//!
//! The text is unwrapped (`quoted`) and compared with the words of providers (`wording`); the path (`paths`) or the id
//! (`naming`) that it names is looked up in the transcript as it was sent (`request`), where the rules say what is wrong
//! (`search`).

mod answer;
mod diagnosis;
mod naming;
mod paths;
mod quoted;
mod request;
mod search;
mod wording;

pub use answer::Answer;
pub use diagnosis::Diagnosis;
