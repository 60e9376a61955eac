//! Shows a transcript to people: as one HTML page that opens anywhere, or as text for a terminal. It decides nothing about a
//! transcript, which was read, counted, checked and cut elsewhere.

mod charts;
mod comparison;
mod content;
mod conversation;
mod markdown;
mod messages;
mod output;
mod overview;
mod page;
mod replay;
mod story;
mod terminal;
mod tools;
mod visible;

pub(crate) use comparison::{Outline, comparison};
pub(crate) use conversation::{Conversation, Place, Policy, Sources, tool_name};
pub(crate) use messages::Limits;
pub(crate) use page::{LIST_END, Listed, Rendered, page, render};
pub(crate) use replay::{ReplayColumn, replayed_page, replayed_session};
pub(crate) use terminal::{Terminal, chat};
pub(crate) use visible::{counted, figure};
