//! Columns of Arrow tables, through the C data interface: their buffers are read where they are, and no Python object is made of a
//! row that only loses messages.

use std::ops::Range;
use std::time::Instant;

use arrow_array::{Array as _, make_array};
use arrow_data::ArrayData;
use arrow_pyarrow::{FromPyArrow as _, ToPyArrow as _};
use curtail_bindings::{Does, Failure, Input, Item, Outcome, Parts, Pieces, Run};
use curtail_tables::{MemoryColumn, NewRow};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::gate::detached;
use crate::reader::{Failed, Note, Reader, SLICE, text_of, threads};

/// The array after the cut, if it changed; the rows that failed; the rows that change in another way than losing messages, or that
/// have values without a form in JSON; and notes.
type Cut<'py> = (Option<Bound<'py, PyAny>>, Vec<(usize, Py<Failed>)>, Vec<usize>, Vec<Note>);

/// Cuts an array of texts or of lists of structs; `None` if it is stored in a way that is not read here.
#[pyfunction]
pub(crate) fn cut_array<'py>(
    py: Python<'py>,
    reader: &Bound<'py, Reader>,
    array: &Bound<'py, PyAny>,
    jobs: usize,
) -> PyResult<Option<Cut<'py>>> {
    let reader = &reader.get().reader;
    let array = make_array(ArrayData::from_pyarrow_bound(array)?);
    let column = MemoryColumn::new(array).filter(|_| reader.command().does() == Does::Cut);
    let Some(column) = column else { return Ok(None) };
    let rows = detached(py, || Rows::read(&column));
    let inputs: Vec<Option<Input<'_>>> = (0..column.rows()).map(|row| rows.input(&column, row)).collect();
    let run = Run::new(reader, &inputs, threads(jobs)).map_err(|failure| PyValueError::new_err(failure.reason))?;
    while !detached(py, || run.advance(Instant::now() + SLICE)) {
        py.check_signals()?;
    }
    let mut cut = Cutting::default();
    for (row, result) in run.results().enumerate() {
        cut.add(py, row, failure(&column, row).map_or(result, Err), inputs[row].map_or("", |input| input.text))?;
    }
    cut.others.extend(&rows.others);
    cut.others.sort_unstable();
    let new = cut.is_changed.then(|| detached(py, || column.with(&cut.rows))).transpose();
    let new = new.map_err(PyValueError::new_err)?;
    let new = new.map(|array| array.to_data().to_pyarrow(py)).transpose()?;
    Ok(Some((new, cut.failed, cut.others, cut.notes)))
}

/// What becomes of the rows.
#[derive(Default)]
struct Cutting {
    rows: Vec<NewRow>,
    is_changed: bool,
    failed: Vec<(usize, Py<Failed>)>,
    others: Vec<usize>,
    notes: Vec<Note>,
}

impl Cutting {
    fn add(&mut self, py: Python<'_>, row: usize, result: curtail_bindings::Result, text: &str) -> PyResult<()> {
        let new = match result {
            Err(failure) => {
                self.failed.push((row, Py::new(py, Failed::new(py, failure, text.as_bytes()))?));
                NewRow::Same
            }
            Ok((outcome, notes)) => {
                self.notes.extend(notes.into_iter().map(|(place, note)| (row, place.line, place.column, note)));
                match outcome {
                    Outcome::Same | Outcome::Windows(_) => NewRow::Same,
                    Outcome::Text(text) => NewRow::Text(text),
                    Outcome::Pieces(pieces) => kept(&pieces).map_or_else(
                        || {
                            self.others.push(row);
                            NewRow::Same
                        },
                        NewRow::Elements,
                    ),
                }
            }
        };
        self.is_changed |= new != NewRow::Same;
        self.rows.push(new);
        Ok(())
    }
}

/// Which messages are kept, up to the last of them; `None` if any is new.
fn kept(pieces: &Pieces) -> Option<Vec<bool>> {
    let Pieces::Messages { items, before } = pieces else { return None };
    let mut kept = vec![false; *before];
    for item in items {
        let Item::Kept(index) = item else { return None };
        kept[*index] = true;
    }
    Some(kept)
}

/// The lists of a column as JSON.
#[derive(Default)]
struct Rows {
    text: String,
    /// For each row, its JSON and where its messages are.
    lists: Vec<Option<(Range<usize>, Parts)>>,
    /// Rows with values that JSON does not have.
    others: Vec<usize>,
}

impl Rows {
    fn read(column: &MemoryColumn) -> Self {
        let mut rows = Self::default();
        if !column.has_structs() {
            return rows;
        }
        for row in 0..column.rows() {
            let start = rows.text.len();
            let list = match column.write(row, &mut rows.text) {
                Ok(Some(places)) => {
                    let messages = places.into_iter().map(|place| place.start - start..place.end - start);
                    Some((start..rows.text.len(), Parts { messages: messages.collect(), ..Parts::default() }))
                }
                Ok(None) => None,
                Err(_) => {
                    rows.text.truncate(start);
                    rows.others.push(row);
                    None
                }
            };
            rows.lists.push(list);
        }
        rows
    }

    fn input<'r>(&'r self, column: &'r MemoryColumn, row: usize) -> Option<Input<'r>> {
        if column.has_structs() {
            let (place, parts) = self.lists[row].as_ref()?;
            return Some(Input { text: &self.text[place.clone()], parts: Some(parts) });
        }
        let text = text_of(column.text(row)?).ok()?;
        (!text.trim_ascii().is_empty()).then_some(Input { text, parts: None })
    }
}

/// Why a row has no text.
fn failure(column: &MemoryColumn, row: usize) -> Option<Failure> {
    if column.has_structs() { None } else { text_of(column.text(row)?).err() }
}
