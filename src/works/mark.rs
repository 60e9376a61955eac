//! The member by which the dialect of a unit was detected, in words.

use curtail_core::dialects::{Dialect, mark};
use curtail_core::transcript::Transcript;
use curtail_io::batch::Unit;

/// The mark of a unit whose transcripts something else has read and does not return, so that it is read again.
pub(super) fn mark_of(unit: &Unit<'_>) -> Option<String> {
    if unit.opened.reading.named {
        return None;
    }
    let document = unit.parse().ok()?;
    mark_in(unit, &unit.transcripts(&document).ok()?)
}

/// The mark of a unit with these transcripts; `None` if its dialect was given.
pub(super) fn mark_in(unit: &Unit<'_>, transcripts: &[(&dyn Dialect, Transcript<'_>)]) -> Option<String> {
    let (dialect, transcript) = transcripts.first().filter(|_| !unit.opened.reading.named)?;
    mark(*dialect, transcript)
}
