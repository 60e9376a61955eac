//! Shows a transcript to people: as one HTML page that opens anywhere, or as text for a terminal. It decides nothing about a
//! transcript, which was read, counted, checked and cut elsewhere.
//!
//! [`Conversation::from_transcript`] collects everything that is drawn of a transcript. [`render`] draws it as a section of a
//! [`page`], and [`chat`] as text with colors. Text of the transcript is escaped in both, so that neither a browser nor a
//! terminal obeys it.

#![forbid(unsafe_code)]
#![allow(clippy::must_use_candidate, reason = "only crates of this workspace call it")]

mod alignment;
mod capped;
mod charts;
mod comparison;
mod content;
mod conversation;
mod diffs;
mod effect;
mod exposed;
mod images;
mod keys;
mod losses;
mod markdown;
mod messages;
mod output;
mod outside;
mod overview;
mod page;
mod prompts;
mod replay;
mod requests;
mod searched;
mod sides;
mod spending;
mod story;
mod terminal;
mod times;
mod tools;
mod totals;
mod unread;
mod visible;
mod writers;

pub use comparison::{Compared, comparison};
pub use conversation::{Conversation, Place, Sources};
pub use effect::Policy;
pub use keys::{ExposedKey, Exposure, masked};
pub use losses::{Loss, Losses, losses, remaining};
pub use messages::Limits;
pub use page::{Extras, LIST_END, List, Listed, Rendered, Sums, page, render};
pub use replay::{ReplayColumn, ReplayVerdict, ReplayVerdicts, replayed_page, replayed_session};
pub use searched::TextBlock;
pub use terminal::{Terminal, chat};
