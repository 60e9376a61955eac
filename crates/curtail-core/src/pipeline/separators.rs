//! What is between the windows of a split: what is between the records of the text.

use std::ops::Range;

use super::cut::ReadTranscript;
use crate::dialects::{Framing, Reading};
use crate::transcript::Layout;

/// The separator between the windows of each record, which is that of the records. `None` if the transcript is a whole file.
pub(super) fn separators(reading: &Reading, text: &str, transcripts: &[ReadTranscript<'_>]) -> Vec<Option<String>> {
    let records: Vec<Range<usize>> = transcripts
        .iter()
        .map(|(_, transcript)| transcript.layout.record.start as usize..transcript.layout.record.end as usize)
        .collect();
    let line_end = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let separators = records.iter().enumerate().map(|(nth, record)| match reading.framing {
        Framing::Lines => None,
        Framing::Records => Some(line_end.to_owned()),
        Framing::Document if is_alone(record, text) => None,
        Framing::Document => Some(comma_beside(&records, nth, text).unwrap_or(", ").to_owned()),
    });
    separators.collect()
}

/// The comma before a record of a list, or after the first one, with the white space around it.
fn comma_beside<'t>(records: &[Range<usize>], nth: usize, text: &'t str) -> Option<&'t str> {
    let first = nth.saturating_sub(1);
    let gap = text.get(records.get(first)?.end..records.get(first + 1)?.start)?;
    (gap.trim() == ",").then_some(gap)
}

/// Whether `text` has nothing but white space around `record`.
fn is_alone(record: &Range<usize>, text: &str) -> bool {
    is_blank(&text[..record.start]) && is_blank(&text[record.end..])
}

fn is_blank(text: &str) -> bool {
    text.trim_start_matches('\u{feff}').trim().is_empty()
}

/// Whether a transcript is the value of a member, so that no other can stand beside it: what precedes a value in JSON is a colon
/// there, and a comma or a bracket in a list.
pub(super) fn is_member(layout: &Layout<'_>) -> bool {
    layout.source[..layout.record.start as usize].trim_end().ends_with(':')
}
