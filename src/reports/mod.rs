//! What is printed or written about a run: findings, cuts, counts, replays, pages, remarks and progress.

pub(crate) mod answer;
pub(crate) mod baseline;
pub(crate) mod check;
pub(crate) mod count_table;
pub(crate) mod counts;
mod csv;
pub(crate) mod cut;
pub(crate) mod explained;
pub(crate) mod findings;
pub(crate) mod lines;
pub(crate) mod new_session;
mod notes;
pub(crate) mod outline;
pub(crate) mod pager;
pub(crate) mod pages;
pub(crate) mod progress;
pub(crate) mod remarks;
mod repeats;
pub(crate) mod replay;
pub(crate) mod screen;
mod search_texts;
pub(crate) mod session_list;
pub(crate) mod split_map;
mod spool;
mod stdout;
pub(crate) mod table;
pub(crate) mod texts;
mod totals;
pub(crate) mod verify;

#[doc(hidden)]
pub use findings::FORMATS;
