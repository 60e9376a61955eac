//! The windows of a split, and where each is in the input and in the output.

use crate::works::rows::{CutRows, WindowRow};
use crate::works::text::CutText;
use curtail_core::pipeline::Window;
use curtail_io::batch::Unit;

/// The windows of a block.
#[derive(Debug, Default)]
pub(crate) struct CutWindows {
    pub(crate) places: Vec<WindowPlace>,
    /// Whether there are several, each in a file of its own.
    pub(crate) are_parts: bool,
}

/// A window, and where it is.
#[derive(Debug)]
pub(crate) struct WindowPlace {
    /// The window; its byte ranges are relative to its block.
    pub(crate) window: Window,
    /// The line of the input on which its record begins, from 1.
    pub(crate) line: usize,
    /// The row that it is in, if the input is a table.
    pub(crate) row: Option<WindowRow>,
}

impl CutWindows {
    /// Adds the windows of `unit`, which is this `row`, or else a record, a log or a document.
    pub(super) fn add(&mut self, unit: &Unit<'_>, row: Option<WindowRow>, windows: Vec<Window>) {
        let mut places = unit.locator();
        let places = windows.into_iter().map(|window| {
            let line = if row.is_some() { unit.line } else { places.place(window.offset).line };
            WindowPlace { window, line, row }
        });
        self.places.extend(places);
    }

    /// For each window, the line of the block's output on which it begins, from 1; in a table, the row.
    pub(crate) fn output_lines(&self, text: &CutText, rows: &CutRows) -> Vec<usize> {
        let mut lines = text.lines();
        let rows_before = rows.counts_before();
        let before = self.places.iter().map(|WindowPlace { window, row, .. }| match row {
            Some(row) => rows_before[row.at] + if row.is_several { window.number - 1 } else { 0 },
            None => lines.ended_before(window.written.start),
        });
        before.map(|before| before + 1).collect()
    }
}
