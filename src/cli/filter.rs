//! `curtail filter`: drops tools, roles and parts, whatever the size.

use super::input::Cutting;
use crate::cli::options::FilterOptions;

/// Drop tool calls with their results, strip parts, clear old results
///
/// Without --exclude-tool and --include-tool, the calls of all tools are dropped, unless another flag says what to drop or
/// clear: --role, --strip, --keep-last-results, --supersede-reads, --dedupe-results, --range,
/// --drop or --drop-turn.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    pub(super) options: FilterOptions,

    #[command(flatten)]
    pub(super) cutting: Cutting,
}
