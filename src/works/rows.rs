//! What a cut makes of a row of a table: one text or several, or a list of structs that lost some of its elements.

use std::ops::Range;

use crate::works::output::CutOutput;
use curtail_core::dialects::ReadError;
use curtail_core::json::{Document, Value};
use curtail_core::pipeline::{Cut, Window};
use curtail_io::{RowPlace, RowResult};

impl CutOutput {
    /// Records the result of the row at `place`, whose text was `old` and is now the text from `before` on. The windows of one
    /// transcript become separate rows, whose texts follow each other.
    ///
    /// # Errors
    /// A list of structs changed in a way that is not dropping elements.
    pub(super) fn note_row(&mut self, place: RowPlace, old: &str, before: usize, cut: &Cut) -> Result<(), ReadError> {
        let windows = windows_of_one(&cut.windows);
        if !place.structs && windows.is_empty() {
            return Ok(());
        }
        let new = self.text.split_off(before);
        let texts = windows.iter().map(|window| &new[window.start - before..window.end - before]);
        if place.structs {
            self.row = Some(match windows.is_empty() {
                true => kept_elements(old, &new, cut.changed)?,
                false => RowResult::Rows(texts.map(|text| kept_elements(old, text, true)).collect::<Result<_, _>>()?),
            });
            return Ok(());
        }
        let mut rows = Vec::with_capacity(windows.len());
        for text in texts {
            self.text.push_str(text);
            rows.push(RowResult::Text(self.output_len()));
        }
        self.row = Some(RowResult::Rows(rows));
        Ok(())
    }
}

/// Where the windows of a transcript were written, if there are several and it is the only transcript of its row.
fn windows_of_one(windows: &[Window]) -> Vec<Range<usize>> {
    match windows {
        [first, _, ..] if first.count == windows.len() => windows.iter().map(|window| window.written.clone()).collect(),
        _ => Vec::new(),
    }
}

/// Which elements of the list `before` are kept in `after`.
///
/// # Errors
/// A message was changed or added, which a column of structs cannot hold.
fn kept_elements(before: &str, after: &str, changed: bool) -> Result<RowResult, ReadError> {
    if !changed {
        return Ok(RowResult::Unchanged);
    }
    let old = Document::parse_all(before)?;
    let new = Document::parse_all(after)?;
    let elements = old.roots().flat_map(Value::items);
    let mut wanted = new.roots().flat_map(Value::items).map(Value::raw).peekable();
    let kept = elements.map(|element| wanted.next_if(|next| *next == element.raw()).is_some()).collect();
    if wanted.next().is_none() {
        return Ok(RowResult::Elements(kept));
    }
    let what = String::from(
        "this cut changes or adds messages, and a column of structs can only lose some; convert the column to JSON text first",
    );
    Err(ReadError { offset: 0, what })
}
