//! Leaves out records with findings: most rules look at a record by itself, and duplicates show when the records are in order.

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

/// The findings for which records are left out.
pub struct DropRecords {
    /// What is looked for.
    pub checking: Checking,
    /// Whether the records that are left out are written elsewhere.
    pub keeps_records: bool,
    /// Whether the reason is written in place of each, for a program that awaits an answer.
    pub reports: bool,
}

/// A record that was left out.
#[derive(Debug)]
pub struct DroppedRecord {
    /// Where it begins.
    pub place: TextPlace,
    /// The finding.
    pub reason: String,
    /// Its text, if it is written elsewhere.
    pub record: Option<String>,
}

/// What was written for a record that may be a copy of an earlier one.
#[derive(Debug)]
pub(super) struct Held {
    prints: Vec<u128>,
    dropped: DroppedRecord,
    /// What is written in place of a copy.
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
    /// What is found in `unit`.
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
        let number = unit.opened.number;
        let verdicts = match &out.verdicts {
            Some((own, verdicts)) if *own == number => verdicts.clone(),
            _ => self.checking.levels.for_path(&unit.opened.source.name),
        };
        let examined = self.checking.examine(&unit.opened.reading, &verdicts, unit.text);
        out.verdicts = Some((number, verdicts));
        examined
    }

    /// The record `unit`, left out because of `finding`.
    pub(super) fn dropped(&self, unit: &Unit<'_>, finding: &Finding) -> DroppedRecord {
        DroppedRecord {
            place: TextPlace { line: unit.line, column: 1 },
            reason: reason(finding),
            record: self.keeps_records.then(|| unit.text.to_owned()),
        }
    }

    /// What is written in place of `unit`.
    pub(super) fn report(&self, unit: &Unit<'_>, finding: &Finding) -> String {
        let place = TextPlace { line: unit.line, column: 1 };
        if self.reports { report(Some(place), &reason(finding)) } else { String::new() }
    }
}

fn reason(finding: &Finding) -> String {
    format!("{} {}: {}", finding.rule.code, finding.rule.name, finding.message)
}

impl Held {
    /// What `cut` wrote for `unit` behind the places `from` of the text and the output.
    pub(super) fn new(
        drops: &DropRecords,
        unit: &Unit<'_>,
        examined: &Examined,
        cut: &mut Cut,
        from: [usize; 2],
        out: &CutOutput,
    ) -> Option<Self> {
        let (_, first) = examined.prints.first()?;
        Some(Self {
            prints: examined.prints.iter().map(|(print, _)| *print).collect(),
            dropped: drops.dropped(unit, first),
            report: drops.report(unit, first),
            text: from[0]..out.text.len(),
            output: from[1]..out.output_len(),
            row: unit.row.map(|_| out.rows.len()),
            totals: std::mem::take(&mut cut.totals),
            stages: std::mem::take(&mut cut.stages),
        })
    }
}

impl CutOutput {
    /// Takes out the records whose messages are among those `seen`, and adds all others to these.
    pub fn drop_copies(&mut self, seen: &mut HashSet<u128>) {
        let mut gone = [Gone::default(), Gone::default()];
        for held in std::mem::take(&mut self.held) {
            let mut is_new = false;
            held.prints.iter().for_each(|print| is_new |= seen.insert(*print));
            if is_new {
                self.totals.add(held.totals);
                StageCount::add(&mut self.stages, &held.stages);
                continue;
            }
            self.changed = true;
            self.dropped.push(held.dropped);
            gone[0].add(held.text, held.report.clone());
            gone[1].add(held.output, held.report);
            if let Some(row) = held.row.and_then(|row| self.rows.get_mut(row)) {
                self.row_count -= row.count();
                *row = RowResult::Dropped;
            }
        }
        let [in_text, in_output] = gone;
        if in_text.ranges.is_empty() {
            return;
        }
        self.dropped.sort_by_key(|dropped| dropped.place.line);
        self.text = in_text.cut(&self.text);
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
struct Gone {
    ranges: Vec<(Range<usize>, String)>,
    /// By how many bytes the ranges up to each make the text longer.
    sums: Vec<isize>,
}

impl Gone {
    fn add(&mut self, range: Range<usize>, text: String) {
        let grown = text.len().cast_signed() - range.len().cast_signed();
        self.sums.push(self.sums.last().unwrap_or(&0) + grown);
        self.ranges.push((range, text));
    }

    /// Where the place `at` is without the ranges.
    fn moved(&self, at: usize) -> usize {
        let count = self.ranges.partition_point(|(range, _)| range.end <= at);
        at.saturating_add_signed(count.checked_sub(1).map_or(0, |last| self.sums[last]))
    }

    fn cut(&self, text: &str) -> String {
        let mut left = String::with_capacity(text.len());
        let mut at = 0;
        for (range, instead) in &self.ranges {
            left.push_str(&text[at..range.start]);
            left.push_str(instead);
            at = range.end;
        }
        left.push_str(&text[at..]);
        left
    }
}
