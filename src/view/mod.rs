//! A transcript for people: one HTML page that opens anywhere, or text for a terminal. It decides nothing about a
//! transcript, which was read, counted, checked and cut elsewhere.

mod arguments;
mod charts;
mod content;
mod context;
mod conversation;
mod effect;
mod messages;
mod overview;
mod page;
mod replay;
mod shares;
mod terminal;
mod visible;

pub use conversation::{Conversation, Place, Policy, Sources};
pub use messages::Limits;
pub use page::{LIST_END, Listed, Rendered, page, render};
pub use replay::{replayed_page, replayed_session};
pub use terminal::{Terminal, chat};
