//! `curtail filter`: tools, roles and parts that go, whatever the size.

use super::input::Cutting;
use crate::pipeline::options::FilterOptions;

/// Drop tool calls with their results, all or by name; strip parts; clear old results
///
/// With neither --exclude-tool nor --include-tool all tools go, unless one of --role, --strip and --keep-last-results says
/// what else is wanted.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    pub(super) options: FilterOptions,

    #[command(flatten)]
    pub(super) cutting: Cutting,
}
