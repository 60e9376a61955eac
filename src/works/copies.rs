//! Records that are dropped because of findings. Most rules need only the record itself; copies are found once the results are in
//! order.

use std::collections::HashSet;
use std::ops::Range;

use crate::works::check::Checking;
use crate::works::explained::DecisionAt;
use crate::works::failed_record::report;
use curtail_core::checks::{Examination, Finding, Verdicts};
use curtail_core::dialects::{Framing, ReadError};
use curtail_core::pipeline::{Cut, StageCount, Totals};
use curtail_core::places::TextPlace;
use curtail_io::batch::Unit;

/// Which findings drop a record, and what happens to it.
pub(crate) struct DropRecords {
    /// The check whose findings drop a record.
    pub(crate) checking: Checking,
    /// Whether dropped records are written elsewhere.
    pub(crate) keeps_records: bool,
    /// Whether the reason is written in place of each, for a program that awaits an answer.
    pub(crate) reports: bool,
}

/// A record that was dropped.
#[derive(Debug)]
pub(crate) struct DroppedRecord {
    /// Where it begins.
    pub(crate) place: TextPlace,
    /// The finding.
    pub(crate) reason: String,
    /// Its text, if it is written elsewhere.
    pub(crate) record: Option<String>,
}

/// A record that may be a copy of an earlier one, and where its output is.
#[derive(Debug)]
pub(super) struct Held {
    fingerprints: Vec<u128>,
    pub(super) dropped: DroppedRecord,
    /// The text to write in its place if it is a copy.
    pub(super) report: String,
    /// Its bytes in the text.
    pub(super) text: Range<usize>,
    /// Its bytes in the output, which also has records that are not UTF-8.
    pub(super) output: Range<usize>,
    /// Its row, in a table.
    pub(super) row: Option<usize>,
    pub(super) totals: Totals,
    pub(super) stages: Vec<StageCount>,
    pub(super) notes: Vec<(TextPlace, String)>,
    pub(super) explained: Vec<DecisionAt>,
}

impl DropRecords {
    /// Examines `unit`; `known` are the verdicts for the file that was examined last.
    ///
    /// # Errors
    /// It is not a record, or not a transcript.
    pub(crate) fn examine(
        &self,
        unit: &Unit<'_>,
        known: &mut Option<(usize, Verdicts)>,
    ) -> Result<Examination, ReadError> {
        if unit.row.is_none() && unit.opened.reading.framing != Framing::Records {
            let framing = unit.opened.reading.framing.name();
            let reason =
                format!("--drop-records-with takes records, one per line, and this file has the framing `{framing}`");
            return Err(ReadError { offset: 0, what: reason });
        }
        let verdicts = self.checking.verdicts(unit, known);
        self.checking.inspection.examine(&unit.opened.reading, &verdicts, unit.text)
    }

    /// The record `unit`, dropped because of `finding`, and the text to write in its place.
    pub(crate) fn dropped(&self, unit: &Unit<'_>, finding: &Finding) -> (DroppedRecord, String) {
        let place = TextPlace { line: unit.line, column: 1 };
        let reason = format!("{} {}: {}", finding.rule.code, finding.rule.name, finding.message);
        let report = if self.reports { report(Some(place), &reason) } else { String::new() };
        (DroppedRecord { place, reason, record: self.keeps_records.then(|| unit.text.to_owned()) }, report)
    }
}

/// How long the output of a block is, before or after a record was added.
#[derive(Clone, Copy)]
pub(super) struct Lengths {
    pub(super) text: usize,
    pub(super) output: usize,
    pub(super) rows: usize,
}

impl Held {
    /// The record `unit` with its result `cut`, which was written between two lengths; `None` without a fingerprint.
    pub(super) fn new(
        drops: &DropRecords,
        unit: &Unit<'_>,
        examined: &Examination,
        cut: &mut Cut,
        (before, after): (Lengths, Lengths),
    ) -> Option<Self> {
        let (_, first) = examined.fingerprints.first()?;
        let (dropped, report) = drops.dropped(unit, first);
        Some(Self {
            fingerprints: examined.fingerprints.iter().map(|(print, _)| *print).collect(),
            dropped,
            report,
            text: before.text..after.text,
            output: before.output..after.output,
            row: unit.row.map(|_| after.rows),
            totals: std::mem::take(&mut cut.totals),
            stages: std::mem::take(&mut cut.stages),
            notes: Vec::new(),
            explained: Vec::new(),
        })
    }

    /// Whether it is a copy of earlier ones, whose fingerprints are `seen`.
    pub(super) fn is_copy(&self, seen: &mut HashSet<u128>) -> bool {
        all_seen(self.fingerprints.iter().copied(), seen)
    }
}

/// Adds fingerprints to those that were `seen`. A record is a copy if all of its were there.
pub(crate) fn all_seen(fingerprints: impl Iterator<Item = u128>, seen: &mut HashSet<u128>) -> bool {
    fingerprints.filter(|print| seen.insert(*print)).count() == 0
}

/// Ascending ranges of a text, each with what is written in its place.
pub(super) struct Replacements<'t> {
    ranges: Vec<(Range<usize>, &'t str)>,
    /// By how many bytes the replacements up to each make the text longer.
    sums: Vec<isize>,
}

impl<'t> Replacements<'t> {
    pub(super) fn new(ranges: impl IntoIterator<Item = (Range<usize>, &'t str)>) -> Self {
        let ranges: Vec<(Range<usize>, &str)> = ranges.into_iter().collect();
        let grown = ranges.iter().map(|(range, text)| text.len().cast_signed() - range.len().cast_signed());
        let sums = grown.scan(0, |sum, grown| {
            *sum += grown;
            Some(*sum)
        });
        Self { sums: sums.collect(), ranges }
    }

    /// Where the offset `at` is after the replacements.
    pub(super) fn moved(&self, at: usize) -> usize {
        let count = self.ranges.partition_point(|(range, _)| range.end <= at);
        at.saturating_add_signed(count.checked_sub(1).map_or(0, |last| self.sums[last]))
    }

    pub(super) fn apply(&self, text: &str) -> String {
        let mut result = String::with_capacity(text.len());
        let mut at = 0;
        for (range, replacement) in &self.ranges {
            result.push_str(&text[at..range.start]);
            result.push_str(replacement);
            at = range.end;
        }
        result.push_str(&text[at..]);
        result
    }
}
