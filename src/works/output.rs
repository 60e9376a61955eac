//! The result of cutting a block, with everything that is reported of it.

use std::collections::HashSet;

use crate::works::copies::{DropRecords, DroppedRecord, Held, Lengths, Replacements};
use crate::works::explained::DecisionAt;
use crate::works::rows::CutRows;
use crate::works::text::CutText;
use crate::works::windows::CutWindows;
use curtail_core::checks::{Finding, Verdicts};
use curtail_core::pipeline::{StageCount, Totals};
use curtail_core::places::TextPlace;
use curtail_io::batch::Unit;
use curtail_io::{FileError, FileSink, RowResult, TableSink};

/// The result of a block.
#[derive(Debug, Default)]
pub(crate) struct CutOutput {
    /// The text after cutting.
    pub(crate) text: CutText,
    /// The result of each row, if the input is a table; their texts are in `text`.
    pub(crate) rows: CutRows,
    /// The windows of a split.
    pub(crate) windows: CutWindows,
    /// The records that were left out, and those that may be.
    pub(crate) drops: Drops,
    /// Whether anything changed.
    pub(crate) changed: bool,
    /// The explained decisions.
    pub(crate) explained: Vec<DecisionAt>,
    /// Notes for the user, each with its place.
    pub(crate) notes: Vec<(TextPlace, String)>,
    /// Counts before and after.
    pub(crate) totals: Totals,
    /// Messages and tokens after every stage.
    pub(crate) stages: Vec<StageCount>,
    /// Bytes of text that were read.
    pub(crate) bytes: u64,
    /// The dialect of the first transcript.
    pub(crate) dialect: Option<&'static str>,
    /// The member by which it was detected, with `--verbose`.
    pub(crate) mark: Option<String>,
    /// The folder that the session worked in, as the first record that says so has it, dropped or not.
    pub(crate) project: Option<String>,
    /// The result of writing, if the block was a whole file with its own output.
    pub(crate) written: Option<Result<(), FileError>>,
}

/// The records of a block that findings drop.
#[derive(Debug, Default)]
pub(crate) struct Drops {
    /// Those that were left out.
    pub(crate) records: Vec<DroppedRecord>,
    /// What was written for those that may be copies of earlier ones.
    pub(super) held: Vec<Held>,
    /// The levels of findings for the current file, with its number.
    pub(super) verdicts: Option<(usize, Verdicts)>,
}

impl CutOutput {
    /// How long it is so far.
    pub(super) fn lengths(&self) -> Lengths {
        Lengths { text: self.text.valid.len(), output: self.text.len(), rows: self.rows.results.len() }
    }

    /// Whether anything is left of its records.
    pub(crate) fn is_anything_left(&self) -> bool {
        !self.text.bytes().is_empty() || self.rows.results.iter().any(|row| !matches!(row, RowResult::Dropped))
    }

    /// Drops the record `unit` because of `finding`.
    pub(super) fn drop_record(&mut self, drops: &DropRecords, unit: &Unit<'_>, finding: &Finding) {
        let (dropped, report) = drops.dropped(unit, finding);
        self.drops.records.push(dropped);
        self.text.valid.push_str(&report);
        if unit.row.is_some() {
            self.rows.drop_current();
        }
        self.changed = true;
        self.bytes += unit.text.len() as u64;
    }

    /// Drops the records whose fingerprints are all in `seen`, and adds the fingerprints of the others to it.
    pub(crate) fn drop_copies(&mut self, seen: &mut HashSet<u128>) {
        let held = std::mem::take(&mut self.drops.held);
        let (copies, others): (Vec<Held>, Vec<Held>) = held.into_iter().partition(|held| held.is_copy(seen));
        for held in others {
            self.totals.add(held.totals);
            StageCount::add(&mut self.stages, &held.stages);
            self.notes.extend(held.notes);
            self.explained.extend(held.explained);
        }
        if copies.is_empty() {
            return;
        }
        self.changed = true;
        self.remove(&copies);
        self.drops.records.extend(copies.into_iter().map(|copy| copy.dropped));
        self.drops.records.sort_by_key(|dropped| dropped.place.line);
    }

    /// Takes `copies` out of the text and the rows.
    fn remove(&mut self, copies: &[Held]) {
        let in_text = Replacements::new(copies.iter().map(|copy| (copy.text.clone(), copy.report.as_str())));
        let in_output = Replacements::new(copies.iter().map(|copy| (copy.output.clone(), copy.report.as_str())));
        for at in copies.iter().filter_map(|copy| copy.row) {
            if let Some(row) = self.rows.results.get_mut(at) {
                *row = RowResult::Dropped;
            }
        }
        self.text.replace(&in_text);
        for row in &mut self.rows.results {
            if let RowResult::Text(end) = row {
                *end = in_output.moved(*end);
            }
        }
    }
}

/// The output of a file: text, or a table with new texts.
pub(crate) enum OutputSink {
    /// A file of text.
    File(Box<FileSink>),
    /// A table.
    Table(Box<dyn TableSink>),
}

impl OutputSink {
    /// Appends the output of a block.
    ///
    /// # Errors
    /// The system refused to write.
    pub(crate) fn write(&mut self, out: &CutOutput) -> Result<(), FileError> {
        match self {
            Self::File(sink) => sink.write(&out.text.bytes()),
            Self::Table(sink) => sink.write(&out.rows.results, &out.text.bytes(), out.changed),
        }
    }
}
