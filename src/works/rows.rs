//! What a cut makes of a row of a table: one text or several, or a list of structs with other elements.

use std::ops::Range;

use crate::works::output::CutOutput;
use curtail_core::dialects::ReadError;
use curtail_core::pipeline::{Cut, Window};
use curtail_io::{Fit, RowResult, Shape};

impl CutOutput {
    /// Records the result of a row whose text was `old` and is now the text from `before` on. The elements of its column have
    /// `shape`, if it is one of lists of structs. The windows of one transcript become separate rows, whose texts follow each
    /// other.
    ///
    /// # Errors
    /// A list of structs changed in a way that does not fit its column.
    pub(super) fn note_row(
        &mut self,
        shape: Option<&Shape>,
        old: &str,
        before: usize,
        cut: &Cut,
    ) -> Result<(), ReadError> {
        let windows = windows_of_one(&cut.windows);
        if shape.is_none() && windows.is_empty() {
            return Ok(());
        }
        let new = self.text.split_off(before);
        let texts = windows.iter().map(|window| &new[window.start - before..window.end - before]);
        self.row = Some(match shape {
            Some(_) if windows.is_empty() && !cut.changed => RowResult::Unchanged,
            Some(shape) if windows.is_empty() => self.fit(shape, old, &new)?,
            _ => {
                let rows = texts.map(|text| match shape {
                    Some(shape) => self.fit(shape, old, text),
                    None => Ok(self.add_text(text)),
                });
                RowResult::Rows(rows.collect::<Result<_, _>>().inspect_err(|_| self.text.truncate(before))?)
            }
        });
        Ok(())
    }

    /// The list `new`, which a cut made of `old`.
    fn fit(&mut self, shape: &Shape, old: &str, new: &str) -> Result<RowResult, ReadError> {
        match shape.fit(old, new) {
            Ok(Fit::Kept(kept)) => Ok(RowResult::Elements(kept)),
            Ok(Fit::New(elements)) => Ok(self.add_text(&elements)),
            Err(what) => Err(ReadError { offset: 0, what }),
        }
    }

    fn add_text(&mut self, text: &str) -> RowResult {
        self.text.push_str(text);
        RowResult::Text(self.output_len())
    }

    /// Where the text of the last row that has one ends.
    pub(super) fn end_of_texts(&self) -> usize {
        self.rows.iter().rev().find_map(end_of_text).unwrap_or_default()
    }
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
