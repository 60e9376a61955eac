//! `curtail window`: the newest part of a transcript, by number of items.

use super::input::Cutting;
use crate::cli::options::WindowOptions;

/// Keep the last N items, with at least one user/assistant exchange and no orphaned tool results
///
/// `history` keeps the last N items, reaches further back until the window contains a user and an assistant message, and adds
/// the in-flight round on top. `sliding` keeps at most N messages, including system messages.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    pub(super) options: WindowOptions,

    #[command(flatten)]
    pub(super) cutting: Cutting,
}
