//! `curtail window`: the newest part of a transcript, by count.

use super::input::Cutting;
use crate::pipeline::options::WindowOptions;

/// Keep the last N items, at least one exchange, and no orphan
///
/// `history` takes the last N, walks back until a user and an assistant message are in, and adds the round in flight on
/// top. `sliding` keeps at most N messages, system messages among them.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    pub(super) options: WindowOptions,

    #[command(flatten)]
    pub(super) cutting: Cutting,
}
