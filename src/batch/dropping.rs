//! Drops records with findings. Most rules need only the record itself; copies are found once the results are in order.

use std::collections::HashSet;
use std::ops::Range;

use super::checking::Examined;
use super::cutting::report;
use super::{Checking, CutOutput, Unit};
use curtail_core::checks::Finding;
use curtail_core::dialects::{Framing, ReadError};
use curtail_core::error::TextPlace;
use curtail_core::pipeline::{Cut, StageCount, Totals};
use curtail_io::RowResult;

/// Which findings drop a record, and what happens to it.
pub struct DropRecords {
    /// The check whose findings drop a record.
    pub checking: Checking,
    /// Whether dropped records are written elsewhere.
    pub keeps_records: bool,
    /// Whether the reason is written in place of each, for a program that awaits an answer.
    pub reports: bool,
}

/// A record that was dropped.
#[derive(Debug)]
pub struct DroppedRecord {
    /// Where it begins.
    pub place: TextPlace,
    /// The finding.
    pub reason: String,
    /// Its text, if it is written elsewhere.
    pub record: Option<String>,
}

/// A record that may be a copy of an earlier one, and where its output is.
#[derive(Debug)]
pub(super) struct Held {
    fingerprints: Vec<u128>,
    dropped: DroppedRecord,
    /// The text to write in its place if it is a copy.
    report: String,
    /// Its bytes in the text.
    text: Range<usize>,
    /// Its bytes in the output, which also has records that are not UTF-8.
    output: Range<usize>,
    /// Its row, in a table.
    row: Option<usize>,
    totals: Totals,
    stages: Vec<StageCount>,
}

impl DropRecords {
    /// Examines `unit`.
    ///
    /// # Errors
    /// It is not a record, or not a transcript.
    pub(super) fn examine(&self, unit: &Unit<'_>, out: &mut CutOutput) -> Result<Examined, ReadError> {
        if unit.row.is_none() && unit.opened.reading.framing != Framing::Records {
            let framing = unit.opened.reading.framing.name();
            let what =
                format!("--drop-records-with takes records, one per line, and this file has the framing `{framing}`");
            return Err(ReadError { offset: 0, what });
        }
        let verdicts = self.checking.verdicts(unit, &mut out.verdicts);
        self.checking.examine(&unit.opened.reading, &verdicts, unit.text)
    }

    /// The record `unit`, dropped because of `finding`.
    fn dropped(&self, unit: &Unit<'_>, finding: &Finding) -> DroppedRecord {
        DroppedRecord {
            place: TextPlace { line: unit.line, column: 1 },
            reason: reason(finding),
            record: self.keeps_records.then(|| unit.text.to_owned()),
        }
    }

    /// The text to write in place of `unit`.
    fn report(&self, unit: &Unit<'_>, finding: &Finding) -> String {
        let place = TextPlace { line: unit.line, column: 1 };
        if self.reports { report(Some(place), &reason(finding)) } else { String::new() }
    }
}

fn reason(finding: &Finding) -> String {
    format!("{} {}: {}", finding.rule.code, finding.rule.name, finding.message)
}

/// The lengths of the text and of the output of a block before a record was added.
#[derive(Clone, Copy)]
pub(super) struct LengthsBefore {
    pub(super) text: usize,
    pub(super) output: usize,
}

impl Held {
    /// The record `unit` with its result `cut`, which was written after the lengths `before`; `None` without a fingerprint.
    pub(super) fn new(
        drops: &DropRecords,
        unit: &Unit<'_>,
        examined: &Examined,
        cut: &mut Cut,
        before: LengthsBefore,
        out: &CutOutput,
    ) -> Option<Self> {
        let (_, first) = examined.fingerprints.first()?;
        Some(Self {
            fingerprints: examined.fingerprints.iter().map(|(print, _)| *print).collect(),
            dropped: drops.dropped(unit, first),
            report: drops.report(unit, first),
            text: before.text..out.text.len(),
            output: before.output..out.output_len(),
            row: unit.row.map(|_| out.rows.len()),
            totals: std::mem::take(&mut cut.totals),
            stages: std::mem::take(&mut cut.stages),
        })
    }
}

impl CutOutput {
    /// Drops the record `unit` because of `finding`.
    pub(super) fn drop_record(&mut self, drops: &DropRecords, unit: &Unit<'_>, finding: &Finding) {
        self.dropped.push(drops.dropped(unit, finding));
        self.text.push_str(&drops.report(unit, finding));
        self.row = unit.row.map(|_| RowResult::Dropped);
        self.changed = true;
        self.bytes += unit.text.len() as u64;
    }

    /// Drops the records whose fingerprints are all in `seen`, and adds the fingerprints of the others to it.
    pub fn drop_copies(&mut self, seen: &mut HashSet<u128>) {
        let (mut in_text, mut in_output) = (Replacements::default(), Replacements::default());
        for held in std::mem::take(&mut self.held) {
            let mut is_new = false;
            held.fingerprints.iter().for_each(|print| is_new |= seen.insert(*print));
            if is_new {
                self.totals.add(held.totals);
                StageCount::add(&mut self.stages, &held.stages);
                continue;
            }
            self.changed = true;
            self.dropped.push(held.dropped);
            in_text.add(held.text, held.report.clone());
            in_output.add(held.output, held.report);
            if let Some(row) = held.row.and_then(|row| self.rows.get_mut(row)) {
                self.row_count -= row.count();
                *row = RowResult::Dropped;
            }
        }
        if in_text.ranges.is_empty() {
            return;
        }
        self.dropped.sort_by_key(|dropped| dropped.place.line);
        self.text = in_text.apply(&self.text);
        self.garbled.iter_mut().for_each(|(place, _)| *place = in_text.moved(*place));
        for row in &mut self.rows {
            if let RowResult::Text(end) = row {
                *end = in_output.moved(*end);
            }
        }
    }
}

/// Ascending ranges of a text, each with what is written in its place.
#[derive(Default)]
struct Replacements {
    ranges: Vec<(Range<usize>, String)>,
    /// By how many bytes the replacements up to each make the text longer.
    sums: Vec<isize>,
}

impl Replacements {
    fn add(&mut self, range: Range<usize>, text: String) {
        let grown = text.len().cast_signed() - range.len().cast_signed();
        self.sums.push(self.sums.last().unwrap_or(&0) + grown);
        self.ranges.push((range, text));
    }

    /// Where the offset `at` is after the replacements.
    fn moved(&self, at: usize) -> usize {
        let count = self.ranges.partition_point(|(range, _)| range.end <= at);
        at.saturating_add_signed(count.checked_sub(1).map_or(0, |last| self.sums[last]))
    }

    fn apply(&self, text: &str) -> String {
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
