//! What is done with each unit of a batch: it is cut, checked, counted, outlined, drawn or compared.

pub(crate) mod agents;
pub(crate) mod answer;
pub(crate) mod check;
pub(crate) mod copies;
pub(crate) mod count;
pub(crate) mod count_rows;
pub(crate) mod count_usage;
pub(crate) mod counterpart;
pub(crate) mod cut;
pub(crate) mod explained;
mod given_back;
pub(crate) mod outline;
pub(crate) mod output;
pub(crate) mod rows;
pub(crate) mod text;
pub(crate) mod verdict;
pub(crate) mod verify;
pub(crate) mod view;
pub(crate) mod whole_file;
pub(crate) mod windows;

use curtail_core::dialects;
use curtail_io::batch::Unit;

/// The member by which the dialect of a unit was detected, in words.
pub(crate) fn mark_of(unit: &Unit<'_>) -> Option<String> {
    if unit.opened.reading.named {
        return None;
    }
    let document = unit.parse().ok()?;
    let transcripts = unit.transcripts(&document).ok()?;
    let (dialect, transcript) = transcripts.first()?;
    dialects::mark(*dialect, transcript)
}
