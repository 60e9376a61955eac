//! Columns of Arrow tables, through the C data interface: their buffers are read where they are, and no Python object is made of a
//! row.

use std::ops::Range;
use std::time::Instant;

use arrow_array::{Array as _, make_array};
use arrow_data::ArrayData;
use arrow_pyarrow::{FromPyArrow as _, ToPyArrow as _};
use curtail_bindings::{Failure, Input, Outcome, Run, text_of};
use curtail_tables::{MemoryColumn, NewRow};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::gate::detached;
use crate::reader::{Note, Reader, SLICE, notes_of};
use crate::record::{Failed, value_error};

/// The array after the cut, if it changed; the rows that failed; the row that each row comes from, if some became several or
/// none; and notes.
type Cut<'py> = (Option<Bound<'py, PyAny>>, Vec<(usize, Py<Failed>)>, Option<Vec<usize>>, Vec<Note>);

/// Cuts an array of transcripts.
#[pyfunction]
pub(crate) fn cut_array<'py>(
    py: Python<'py>,
    reader: &Bound<'py, Reader>,
    array: &Bound<'py, PyAny>,
    jobs: usize,
) -> PyResult<Cut<'py>> {
    let reader = &reader.get().reader;
    let array = make_array(ArrayData::from_pyarrow_bound(array)?);
    let column = MemoryColumn::new(array).map_err(PyValueError::new_err)?;
    let rows = detached(py, || Rows::read(&column));
    let inputs: Vec<Option<Input<'_>>> = (0..column.rows()).map(|row| rows.input(&column, row)).collect();
    let run = Run::new(reader, &inputs, jobs).map_err(value_error)?;
    while !detached(py, || run.advance(Some(Instant::now() + SLICE))) {
        py.check_signals()?;
    }
    let mut new_rows = vec![NewRow::Same; column.rows()];
    let mut failed = Vec::new();
    let mut said = Vec::new();
    for (row, result) in run.results().enumerate() {
        let text = inputs[row].map_or("", |input| input.text);
        let result = rows.failure(&column, row).map_or(result, Err);
        let fitted = result.and_then(|(outcome, notes)| Ok((fitted(&column, text, outcome)?, notes)));
        match fitted {
            Err(failure) => {
                let record = inputs[row].map(|input| input.text.as_bytes()).or_else(|| column.text(row));
                failed.push((row, Py::new(py, Failed::new(py, failure, record.unwrap_or_default()))?));
            }
            Ok((new, notes)) => {
                said.extend(notes_of(row, notes));
                new_rows[row] = new;
            }
        }
    }
    let is_changed = new_rows.iter().any(|row| *row != NewRow::Same);
    let new = is_changed.then(|| detached(py, || column.with(&new_rows))).transpose();
    let new = new.map_err(PyValueError::new_err)?;
    let new = new.map(|array| array.to_data().to_pyarrow(py)).transpose()?;
    Ok((new, failed, origins(&new_rows), said))
}

/// The row of the column that a text was, from what became of the text.
fn fitted(column: &MemoryColumn, before: &str, outcome: Outcome) -> Result<NewRow, Failure> {
    Ok(match outcome {
        Outcome::Same | Outcome::Pieces(_) => NewRow::Same,
        Outcome::Text(after) => column.fit(before, after).map_err(Failure::new)?,
        Outcome::Windows(windows) => {
            let rows = windows.into_iter().map(|window| fitted(column, before, window));
            NewRow::Rows(rows.collect::<Result<_, _>>()?)
        }
    })
}

/// The row that each new row comes from; `None` if each comes from its own.
fn origins(rows: &[NewRow]) -> Option<Vec<usize>> {
    let is_reshaped = rows.iter().any(|row| row.count() != 1);
    let origins = rows.iter().enumerate().flat_map(|(origin, row)| std::iter::repeat_n(origin, row.count()));
    is_reshaped.then(|| origins.collect())
}

/// The rows of a column that are no texts, as JSON.
#[derive(Default)]
struct Rows {
    text: String,
    /// For each row, where its JSON is, or why it has none; nothing if it is null.
    places: Vec<Option<Result<Range<usize>, String>>>,
}

impl Rows {
    fn read(column: &MemoryColumn) -> Self {
        let mut rows = Self::default();
        if column.has_texts() {
            return rows;
        }
        for row in 0..column.rows() {
            let start = rows.text.len();
            let place = match column.write(row, &mut rows.text) {
                Ok(true) => Some(Ok(start..rows.text.len())),
                Ok(false) => None,
                Err(reason) => {
                    rows.text.truncate(start);
                    Some(Err(reason))
                }
            };
            rows.places.push(place);
        }
        rows
    }

    fn input<'r>(&'r self, column: &'r MemoryColumn, row: usize) -> Option<Input<'r>> {
        let text = match self.places.get(row) {
            Some(place) => &self.text[place.as_ref()?.as_ref().ok()?.clone()],
            None => text_of(column.text(row)?).ok()?,
        };
        (!text.trim_ascii().is_empty()).then_some(Input { text, parts: None })
    }

    /// Why a row has no text.
    fn failure(&self, column: &MemoryColumn, row: usize) -> Option<Failure> {
        match self.places.get(row) {
            Some(place) => place.as_ref()?.as_ref().err().map(|reason| Failure::new(reason.clone())),
            None => text_of(column.text(row)?).err(),
        }
    }
}
