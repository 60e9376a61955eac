//! The result of a row of a table: a new text, elements of its list, or several rows.

use std::ffi::OsStr;
use std::ops::Range;
use std::path::Path;

use super::CutOutput;
use curtail_core::dialects::ReadError;
use curtail_core::error::{ErrorKind, FileError};
use curtail_core::json::{Document, Value};
use curtail_core::pipeline::{Cut, Window};
use curtail_io::{Packing, RowPlace, RowResult, TableFormat};

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
    let refuse = || ReadError {
        offset: 0,
        what: String::from(
            "this cut changes or adds messages, and a column of structs can only lose some; convert the column to JSON text first",
        ),
    };
    let (old, new) = (Document::parse_all(before)?, Document::parse_all(after)?);
    let (old, new) = (old.roots().flat_map(Value::items), new.roots().flat_map(Value::items));
    let mut wanted = new.map(Value::raw).peekable();
    let kept = old.map(|element| wanted.next_if(|next| *next == element.raw()).is_some()).collect();
    match wanted.next() {
        None => Ok(RowResult::Elements(kept)),
        Some(_) => Err(refuse()),
    }
}

/// Refuses an output name whose extension does not fit a table of this format.
pub(super) fn refuse_name(path: &Path, format: TableFormat) -> Result<(), FileError> {
    let extension = path.extension().and_then(OsStr::to_str).unwrap_or_default();
    let name = format.name();
    let what = if Packing::of_name(path) != Packing::Plain {
        format!("this format ({name}) is compressed inside; name the output without this ending")
    } else if format.fits(&extension.to_ascii_lowercase()) {
        return Ok(());
    } else {
        format!("the output has the format of the input, {name}; name it accordingly")
    };
    Err(FileError::new(ErrorKind::Usage, path.to_string_lossy(), what))
}
