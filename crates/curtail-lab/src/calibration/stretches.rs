//! Stretches of requests in which the history only grew.

use super::Observed;

/// Requests that follow each other, each of which sent what the one before it sent and more.
pub(crate) struct Stretch<'r> {
    pub(super) requests: &'r [Observed],
    /// Whether it begins at a drop that the log does not record. It then ends where the count is again as if nothing had been
    /// dropped.
    pub(crate) drops: bool,
}

/// The stretches of `requests`. They end at compactions and at drops that the log does not record.
pub(crate) fn stretches(requests: &[Observed]) -> Vec<Stretch<'_>> {
    requests.chunk_by(|one, next| one.stretch == next.stretch).flat_map(stretches_by_drops).collect()
}

/// The same for requests without a compaction between them.
fn stretches_by_drops(requests: &[Observed]) -> Vec<Stretch<'_>> {
    let mut stretches = Vec::new();
    let mut start = 0;
    let mut last: Option<&Observed> = None;
    // The last request before the drop at `start`.
    let mut whole: Option<&Observed> = None;
    for (nth, request) in requests.iter().enumerate().filter(|(_, request)| request.input.is_some()) {
        let Some(before) = last.replace(request) else { continue };
        let falls = request.falls_after(before);
        let jumps = !before.is_continued_by(request);
        let is_restored = jumps && whole.is_some_and(|whole| whole.is_continued_by(request));
        if falls || is_restored {
            stretches.push(Stretch { requests: &requests[start..nth], drops: whole.is_some() });
            whole = falls.then_some(whole.unwrap_or(before));
            start = nth;
        }
    }
    stretches.push(Stretch { requests: &requests[start..], drops: whole.is_some() });
    stretches
}
