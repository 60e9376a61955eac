//! What a cut makes of the rows of a table: of each one text or several, or a list of structs with other elements.

use std::ops::Range;

use crate::works::text::CutText;
use curtail_core::dialects::ReadError;
use curtail_core::pipeline::{Cut, Window};
use curtail_io::{Fit, RowPlace, RowResult, Shape};

/// The results of the rows of a block.
#[derive(Debug, Default)]
pub(crate) struct CutRows {
    /// The result of each row that is complete.
    pub(crate) results: Vec<RowResult>,
    /// The result of the row that is being cut; `None` if it is one row of text.
    current: Option<RowResult>,
    /// Where the text of the last row that has one ends.
    end: usize,
}

/// The new text of a row: the text from `before` on, which a cut made of `old`.
pub(super) struct RowText<'t> {
    pub(super) old: &'t str,
    pub(super) before: usize,
    pub(super) cut: &'t Cut,
}

impl CutRows {
    /// Drops the row that is being cut.
    pub(super) fn drop_current(&mut self) {
        self.current = Some(RowResult::Dropped);
    }

    /// Records the result of the row that is being cut, whose text is at the end of `text`. The elements of its column have
    /// `shape`, if it is one of lists of structs. The windows of one transcript become separate rows, whose texts follow each
    /// other.
    ///
    /// # Errors
    /// A list of structs changed in a way that does not fit its column.
    pub(super) fn cut_current(
        &mut self,
        shape: Option<&Shape>,
        row: &RowText<'_>,
        text: &mut CutText,
    ) -> Result<(), ReadError> {
        let &RowText { old, before, cut } = row;
        let windows = windows_of_one(&cut.windows);
        if shape.is_none() && windows.is_empty() {
            return Ok(());
        }
        let new = text.valid.split_off(before);
        let texts = windows.iter().map(|window| &new[window.start - before..window.end - before]);
        self.current = Some(match shape {
            Some(_) if windows.is_empty() && !cut.changed => RowResult::Unchanged,
            Some(shape) if windows.is_empty() => fitted(shape, old, &new, text)?,
            _ => {
                let rows = texts.map(|new| match shape {
                    Some(shape) => fitted(shape, old, new, text),
                    None => Ok(added(new, text)),
                });
                let rows: Result<_, _> = rows.collect();
                RowResult::Rows(rows.inspect_err(|_| text.valid.truncate(before))?)
            }
        });
        Ok(())
    }

    /// Where the row that is being cut is in the output, and how many rows it becomes.
    pub(super) fn current_place(&self, input: RowPlace) -> WindowRow {
        let is_several = matches!(self.current, Some(RowResult::Rows(_)));
        WindowRow { input, at: self.results.len(), is_several }
    }

    /// Ends the row at `place`, which was read with this `result`.
    pub(super) fn end(&mut self, place: RowPlace, result: RowResult, text: &mut CutText) {
        let done = match (result, self.current.take()) {
            (RowResult::Text(_), Some(row)) => row,
            (RowResult::Text(_), None) if place.structs => {
                // A list that stays has no text.
                text.valid.truncate(self.end);
                RowResult::Unchanged
            }
            (RowResult::Text(_), None) => RowResult::Text(text.len()),
            (other, _) => other,
        };
        self.end = end_of_text(&done).unwrap_or(self.end);
        self.results.push(done);
    }

    /// The number of rows in the output.
    pub(crate) fn count(&self) -> usize {
        self.results.iter().map(RowResult::count).sum()
    }

    /// For each row, the number of rows in the output before it.
    pub(crate) fn counts_before(&self) -> Vec<usize> {
        let before = self.results.iter().scan(0, |count, row| Some(std::mem::replace(count, *count + row.count())));
        before.collect()
    }
}

/// The row that a window is in.
#[derive(Debug, Clone, Copy)]
pub(crate) struct WindowRow {
    /// Its place in the input.
    pub(crate) input: RowPlace,
    /// Its index among the rows of its block.
    pub(crate) at: usize,
    /// Whether each of its windows becomes a row.
    pub(crate) is_several: bool,
}

/// The list `new`, which a cut made of `old`.
fn fitted(shape: &Shape, old: &str, new: &str, text: &mut CutText) -> Result<RowResult, ReadError> {
    match shape.fit(old, new) {
        Ok(Fit::Kept(kept)) => Ok(RowResult::Elements(kept)),
        Ok(Fit::New(elements)) => Ok(added(&elements, text)),
        Err(what) => Err(ReadError { offset: 0, what }),
    }
}

fn added(new: &str, text: &mut CutText) -> RowResult {
    text.valid.push_str(new);
    RowResult::Text(text.len())
}

/// Where the last text of a row ends, if it has one.
fn end_of_text(row: &RowResult) -> Option<usize> {
    match row {
        RowResult::Text(end) => Some(*end),
        RowResult::Rows(rows) => rows.iter().rev().find_map(end_of_text),
        _ => None,
    }
}

/// Where the windows of a transcript were written, if there are several and it is the only transcript of its row.
fn windows_of_one(windows: &[Window]) -> Vec<Range<usize>> {
    match windows {
        [first, _, ..] if first.count == windows.len() => windows.iter().map(|window| window.written.clone()).collect(),
        _ => Vec::new(),
    }
}
