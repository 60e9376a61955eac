//! Columns in memory: the rows of an array as texts, and the array with other rows. What is unchanged is copied as bytes, and no
//! value is built.

use arrow_array::{Array as _, ArrayRef};
use arrow_schema::DataType;
use arrow_select::take::take;

use crate::NewRows;
use crate::arrays::write_json;
use crate::arrow::is_struct;
use crate::build::shape_of;
use crate::dictionary::{encoded, is_dictionary, plain};
use crate::elements::{replace_elements, replace_values};
use crate::texts::{is_text, rewrite, text_at};
use curtail_io::{Fit, RowResult, Shape};

/// An array of texts, of lists of structs, or of other values that are transcripts.
#[derive(Debug, Clone)]
pub struct MemoryColumn {
    /// The rows; those of a dictionary as their values.
    array: ArrayRef,
    /// The type of the array that was given.
    kind: DataType,
    holds: Holds,
}

/// What the rows of a column are.
#[derive(Debug, Clone)]
enum Holds {
    Texts,
    /// Lists of elements of this shape.
    Lists(Shape),
    /// Values of this shape.
    Values(Shape),
}

/// What becomes of a row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NewRow {
    /// It stays as it is.
    Same,
    /// It has this text; of values, what [`MemoryColumn::fit`] returns.
    Text(String),
    /// It keeps the elements for which this is true.
    Elements(Vec<bool>),
    /// It becomes several.
    Rows(Vec<NewRow>),
}

impl NewRow {
    /// The number of rows that it becomes.
    pub const fn count(&self) -> usize {
        match self {
            Self::Rows(rows) => rows.len(),
            _ => 1,
        }
    }
}

impl MemoryColumn {
    /// The column of this array.
    ///
    /// # Errors
    /// Its dictionary is damaged.
    pub fn new(array: ArrayRef) -> Result<Self, String> {
        let kind = array.data_type().clone();
        let array = plain(array).map_err(|error| error.to_string())?;
        let holds = match array.data_type() {
            kind if is_text(kind) => Holds::Texts,
            DataType::List(element) | DataType::LargeList(element) if is_struct(element) => {
                Holds::Lists(shape_of(element.data_type()))
            }
            kind => Holds::Values(shape_of(kind)),
        };
        Ok(Self { array, kind, holds })
    }

    /// Whether its rows are texts.
    pub const fn has_texts(&self) -> bool {
        matches!(self.holds, Holds::Texts)
    }

    /// The number of its rows.
    pub fn rows(&self) -> usize {
        self.array.len()
    }

    /// The bytes of a text; `None` if the row is null.
    pub fn text(&self, row: usize) -> Option<&[u8]> {
        if self.array.is_null(row) { None } else { text_at(&self.array, row) }
    }

    /// Writes a row as JSON, and returns whether it is not null.
    ///
    /// # Errors
    /// A value is of a type that JSON does not have.
    pub fn write(&self, row: usize, out: &mut String) -> Result<bool, String> {
        if self.array.is_null(row) {
            return Ok(false);
        }
        write_json(&self.array, row, out).map(|()| true)
    }

    /// The row that was `before` and is `after`, as the column can have it.
    ///
    /// # Errors
    /// It does not fit the type of the column.
    pub fn fit(&self, before: &str, after: String) -> Result<NewRow, String> {
        match &self.holds {
            Holds::Texts => Ok(NewRow::Text(after)),
            Holds::Values(shape) => shape.fit_whole(before, &after).map(NewRow::Text),
            Holds::Lists(shape) => Ok(match shape.fit(before, &after)? {
                Fit::Kept(kept) => NewRow::Elements(kept),
                Fit::New(elements) => NewRow::Text(elements),
            }),
        }
    }

    /// The array with these rows.
    ///
    /// # Errors
    /// It would have more bytes than its type can have.
    pub fn with(&self, rows: &[NewRow]) -> Result<ArrayRef, String> {
        let mut new = NewRows::new(usize::MAX);
        for row in rows {
            let row = new.keep(row).map_err(|error| error.to_string())?;
            new.rows.push(row);
        }
        let array = match new.origins() {
            Some(origins) => take(&self.array, &origins, None).map_err(|error| error.to_string())?,
            None => self.array.clone(),
        };
        let done = match &self.holds {
            Holds::Texts => rewrite(&array, &mut new),
            Holds::Lists(_) => replace_elements(&array, &mut new),
            Holds::Values(_) => replace_values(&array, &mut new),
        };
        let done =
            if is_dictionary(&self.kind) { done.and_then(|array| encoded(&array, &self.kind, None)) } else { done };
        done.map_err(|error| error.to_string())
    }
}

impl NewRows {
    /// Keeps the text of a row.
    fn keep(&mut self, row: &NewRow) -> std::io::Result<RowResult> {
        Ok(match row {
            NewRow::Same => RowResult::Unchanged,
            NewRow::Elements(kept) => RowResult::Elements(kept.clone()),
            NewRow::Text(text) => self.texts.keep(&RowResult::Text(text.len()), text.as_bytes(), &mut 0)?,
            NewRow::Rows(rows) => {
                RowResult::Rows(rows.iter().map(|row| self.keep(row)).collect::<std::io::Result<_>>()?)
            }
        })
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
