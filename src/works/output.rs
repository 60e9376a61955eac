//! The result of cutting a block: its text, or its rows, with everything that is reported of it.

use std::borrow::Cow;
use std::collections::HashSet;

use crate::works::copies::{DropRecords, DroppedRecord, Held, Lengths, Replacements};
use crate::works::explained::DecisionAt;
use curtail_core::checks::{Finding, Verdicts};
use curtail_core::error::TextPlace;
use curtail_core::pipeline::{StageCount, Totals, Window};
use curtail_core::steps;
use curtail_io::batch::Unit;
use curtail_io::{FileError, FileSink, RowPlace, RowResult, TableSink};

/// The result of a block.
#[derive(Debug, Default)]
pub(crate) struct CutOutput {
    /// The text after cutting.
    pub(crate) text: String,
    /// Records that are not UTF-8 and were kept unchanged, each with its place in `text`.
    pub(crate) garbled: Vec<(usize, Vec<u8>)>,
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
    /// The windows of a split.
    pub(crate) windows: Vec<WindowPlace>,
    /// Whether there are several windows, each in a file of its own.
    pub(crate) parts: bool,
    /// The dialect of the first transcript.
    pub(crate) dialect: Option<&'static str>,
    /// The member by which it was detected, with `--verbose`.
    pub(crate) mark: Option<String>,
    /// The folder that the session worked in, as the first record that says so has it, dropped or not.
    pub(crate) project: Option<String>,
    /// The result of the current row; `None` if it is one row of text.
    pub(super) row: Option<RowResult>,
    /// The number of output rows in `rows`.
    pub(crate) row_count: usize,
    /// The result of each row, if the input is a table.
    pub(crate) rows: Vec<RowResult>,
    /// Records that were left out.
    pub(crate) dropped: Vec<DroppedRecord>,
    /// What was written for records that may be copies of earlier ones.
    pub(super) held: Vec<Held>,
    /// The levels of findings for the current file, with its number.
    pub(super) verdicts: Option<(usize, Verdicts)>,
    /// The result of writing, if the block was a whole file with its own output.
    pub(crate) written: Option<Result<(), FileError>>,
}

/// A window of a split, and where it is.
#[derive(Debug)]
pub(crate) struct WindowPlace {
    /// The window; its byte ranges are relative to its block.
    pub(crate) window: Window,
    /// The line of the input on which its record begins, from 1.
    pub(crate) line: usize,
    /// The line of the output of its block on which it begins, from 1; in a table, the row.
    pub(crate) output_line: usize,
    /// The row of the input, if it is a table.
    pub(crate) row: Option<RowPlace>,
}

impl CutOutput {
    /// How long [`CutOutput::output`] is.
    pub(super) fn output_len(&self) -> usize {
        self.text.len() + self.garbled.iter().map(|(_, bytes)| bytes.len()).sum::<usize>()
    }

    /// Adds the windows of `unit`.
    pub(super) fn add_windows(&mut self, unit: &Unit<'_>, windows: Vec<Window>) {
        let mut places = unit.locator();
        for window in windows {
            let line = places.place(window.offset).line;
            let output_line = self.output_line(window.written.start);
            self.windows.push(WindowPlace { line, output_line, row: None, window });
        }
    }

    /// The line of the output, from 1, on which the text at `start` begins, which the last window precedes.
    fn output_line(&self, start: usize) -> usize {
        let last = self.windows.last();
        let from = last.map_or(0, |last| last.window.written.start);
        let first = self.garbled.partition_point(|(place, _)| *place <= from);
        let end = self.garbled.partition_point(|(place, _)| *place <= start);
        let in_garbled: usize = self.garbled[first..end].iter().map(|(_, bytes)| lines(bytes)).sum();
        last.map_or(1, |last| last.output_line) + lines(&self.text.as_bytes()[from..start]) + in_garbled
    }

    /// Adds the windows of `unit`, a row.
    pub(super) fn add_rows(&mut self, unit: &Unit<'_>, row: RowPlace, windows: Vec<Window>) {
        let several = matches!(self.row, Some(RowResult::Rows(_)));
        let output_line = |nth: usize| self.row_count + 1 + if several { nth } else { 0 };
        let places = windows.into_iter().enumerate();
        let places = places.map(|(nth, window)| WindowPlace {
            line: unit.line,
            output_line: output_line(nth),
            row: Some(row),
            window,
        });
        self.windows.extend(places);
    }

    /// The bytes to write.
    #[must_use]
    pub(crate) fn output(&self) -> Cow<'_, [u8]> {
        if self.garbled.is_empty() {
            return Cow::Borrowed(self.text.as_bytes());
        }
        let mut output = Vec::with_capacity(self.text.len());
        let mut at = 0;
        for (place, bytes) in &self.garbled {
            output.extend_from_slice(&self.text.as_bytes()[at..*place]);
            output.extend_from_slice(bytes);
            at = *place;
        }
        output.extend_from_slice(&self.text.as_bytes()[at..]);
        Cow::Owned(output)
    }

    /// How long it is so far.
    pub(super) fn lengths(&self) -> Lengths {
        Lengths { text: self.text.len(), output: self.output_len(), rows: self.rows.len() }
    }

    /// Drops the record `unit` because of `finding`.
    pub(super) fn drop_record(&mut self, drops: &DropRecords, unit: &Unit<'_>, finding: &Finding) {
        let (dropped, report) = drops.dropped(unit, finding);
        self.dropped.push(dropped);
        self.text.push_str(&report);
        self.row = unit.row.map(|_| RowResult::Dropped);
        self.changed = true;
        self.bytes += unit.text.len() as u64;
    }

    /// Drops the records whose fingerprints are all in `seen`, and adds the fingerprints of the others to it.
    pub(crate) fn drop_copies(&mut self, seen: &mut HashSet<u128>) {
        let held = std::mem::take(&mut self.held);
        let (copies, others): (Vec<Held>, Vec<Held>) = held.into_iter().partition(|held| held.is_copy(seen));
        for held in others {
            self.totals.add(held.totals);
            StageCount::add(&mut self.stages, &held.stages);
        }
        if copies.is_empty() {
            return;
        }
        self.changed = true;
        self.remove(&copies);
        self.dropped.extend(copies.into_iter().map(|copy| copy.dropped));
        self.dropped.sort_by_key(|dropped| dropped.place.line);
    }

    /// Takes `copies` out of the text and the rows.
    fn remove(&mut self, copies: &[Held]) {
        let in_text = Replacements::new(copies.iter().map(|copy| (copy.text.clone(), copy.report.as_str())));
        let in_output = Replacements::new(copies.iter().map(|copy| (copy.output.clone(), copy.report.as_str())));
        for at in copies.iter().filter_map(|copy| copy.row) {
            if let Some(row) = self.rows.get_mut(at) {
                self.row_count -= row.count();
                *row = RowResult::Dropped;
            }
        }
        self.text = in_text.apply(&self.text);
        for (place, _) in &mut self.garbled {
            *place = in_text.moved(*place);
        }
        for row in &mut self.rows {
            if let RowResult::Text(end) = row {
                *end = in_output.moved(*end);
            }
        }
    }
}

fn lines(text: &[u8]) -> usize {
    steps::count(text.len());
    memchr::memchr_iter(b'\n', text).count()
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
            Self::File(sink) => sink.write(&out.output()),
            Self::Table(sink) => sink.write(&out.rows, &out.output(), out.changed),
        }
    }
}
