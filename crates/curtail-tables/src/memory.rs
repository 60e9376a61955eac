//! Columns in memory: the rows of an array as texts, and the array with other rows. What is unchanged is copied as bytes, and no
//! value is built.

use std::ops::Range;

use arrow_array::{Array as _, ArrayRef};
use arrow_schema::DataType;

use crate::arrow::{elements_of, has_speaker, is_text, rewrite, shorten, text_at, write_json};
use crate::{NewRows, write_items};
use curtail_io::RowResult;

/// An array of texts, or of lists of structs.
#[derive(Debug, Clone)]
pub struct MemoryColumn {
    array: ArrayRef,
    structs: bool,
}

/// What becomes of a row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NewRow {
    /// It stays as it is.
    Same,
    /// It has this text.
    Text(String),
    /// It keeps the elements for which this is true.
    Elements(Vec<bool>),
}

impl MemoryColumn {
    /// The column of this array; `None` if its rows are no transcripts, or are stored in another way.
    pub fn new(array: ArrayRef) -> Option<Self> {
        let structs = match array.data_type() {
            kind if is_text(kind) => false,
            DataType::List(element) | DataType::LargeList(element) if has_speaker(element) => true,
            _ => return None,
        };
        Some(Self { array, structs })
    }

    /// Whether its rows are lists of structs.
    pub const fn has_structs(&self) -> bool {
        self.structs
    }

    /// The number of its rows.
    pub fn rows(&self) -> usize {
        self.array.len()
    }

    /// The bytes of a text; `None` if the row is null.
    pub fn text(&self, row: usize) -> Option<&[u8]> {
        if self.array.is_null(row) { None } else { text_at(&self.array, row) }
    }

    /// Writes a list of structs as JSON, and returns where each is; `None` if the row is null.
    ///
    /// # Errors
    /// A value is of a type that JSON does not have.
    pub fn write(&self, row: usize, out: &mut String) -> Result<Option<Vec<Range<usize>>>, String> {
        if self.array.is_null(row) {
            return Ok(None);
        }
        let elements = elements_of(&self.array, row);
        let mut places = Vec::with_capacity(elements.len());
        write_items(['[', ']'], 0..elements.len(), out, |index, out| {
            let start = out.len();
            write_json(&elements, index, out)?;
            places.push(start..out.len());
            Ok(())
        })?;
        Ok(Some(places))
    }

    /// The array with these rows.
    ///
    /// # Errors
    /// It would have more bytes than its type can have.
    pub fn with(&self, rows: &[NewRow]) -> Result<ArrayRef, String> {
        let mut new = NewRows::in_memory();
        for row in rows {
            let row = match row {
                NewRow::Same => RowResult::Unchanged,
                NewRow::Elements(kept) => RowResult::Elements(kept.clone()),
                NewRow::Text(text) => {
                    let kept = new.texts.keep(&RowResult::Text(text.len()), text.as_bytes(), &mut 0);
                    kept.map_err(|error| error.to_string())?
                }
            };
            new.rows.push(row);
        }
        let done = if self.structs { shorten(&self.array, &new) } else { rewrite(&self.array, &mut new) };
        done.map_err(|error| error.to_string())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow_array::StringArray;

    use super::*;

    #[test]
    fn rows_get_new_texts() {
        let array: ArrayRef = Arc::new(StringArray::from(vec![Some("a"), None, Some("c")]));
        let column = MemoryColumn::new(array).unwrap();
        assert_eq!((column.text(0), column.text(1)), (Some(&b"a"[..]), None));
        let cut = column.with(&[NewRow::Text("longer".to_owned()), NewRow::Same, NewRow::Same]).unwrap();
        assert_eq!(*cut, StringArray::from(vec![Some("longer"), None, Some("c")]));
    }
}
