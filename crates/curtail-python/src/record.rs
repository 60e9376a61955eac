//! A record as Python has it: a text, bytes, or a value; and one that failed.

use curtail_bindings::{Failure, Input, Outcome, failure_behind, text_of};
use pyo3::exceptions::{PyUnicodeEncodeError, PyValueError};
use pyo3::prelude::*;
use pyo3::pybacked::{PyBackedBytes, PyBackedStr};
use pyo3::types::{PyByteArray, PyBytes, PyMemoryView, PySlice, PyString};

use crate::build::Original;
use crate::write::Written;

/// A record that failed, in place of its answer.
#[pyclass(frozen, get_all)]
pub(crate) struct Failed {
    reason: String,
    line: usize,
    column: Option<usize>,
    record: Py<PyBytes>,
}

impl Failed {
    pub(crate) fn new(py: Python<'_>, failure: Failure, record: &[u8]) -> Self {
        let (line, column) = failure.place.map(|place| (place.line, place.column)).unzip();
        let record = PyBytes::new(py, record).unbind();
        Self { reason: failure.reason, line: line.unwrap_or(1), column, record }
    }
}

/// A record, and its text.
pub(crate) struct Record<'py> {
    record: Bound<'py, PyAny>,
    source: Source,
}

enum Source {
    /// There is none.
    Null,
    Text(PyBackedStr),
    Bytes(PyBackedBytes),
    Object(Written),
    Failed(Failure, Vec<u8>),
}

impl<'py> Record<'py> {
    pub(crate) fn new(record: &Bound<'py, PyAny>, sparse: bool) -> PyResult<Self> {
        let py = record.py();
        let mut record = record.clone();
        if record.is_instance_of::<PyByteArray>() || record.is_instance_of::<PyMemoryView>() {
            record = py.get_type::<PyBytes>().call1((record,))?;
        }
        let source = if record.is_none() {
            Source::Null
        } else if let Ok(text) = record.cast::<PyString>() {
            match PyBackedStr::try_from(text.clone()) {
                Ok(text) => Source::Text(text),
                Err(error) => no_text(py, &error)?,
            }
        } else if let Ok(bytes) = record.cast::<PyBytes>() {
            Source::Bytes(PyBackedBytes::from(bytes.clone()))
        } else {
            match Written::of(&record, sparse) {
                Ok(written) => Source::Object(written),
                Err(error) if error.is_instance_of::<pyo3::exceptions::PyException>(py) => no_json(&record, &error)?,
                Err(error) => return Err(error),
            }
        };
        Ok(Self { record, source })
    }

    /// Its text.
    pub(crate) fn text(&self) -> Result<&str, Failure> {
        match &self.source {
            Source::Null => Ok(""),
            Source::Text(text) => Ok(text),
            Source::Bytes(bytes) => text_of(bytes),
            Source::Object(written) => Ok(&written.text),
            Source::Failed(failure, _) => Err(failure.clone()),
        }
    }

    /// What is cut; nothing if it is no record or has no text.
    pub(crate) fn input(&self) -> Option<Input<'_>> {
        let text = self.text().ok().filter(|text| !text.trim_ascii().is_empty())?;
        let parts = match &self.source {
            Source::Object(written) => Some(&written.parts),
            _ => None,
        };
        Some(Input { text, parts })
    }

    /// The answer to it, or why there is none.
    pub(crate) fn answer(&self, result: Result<Outcome, Failure>) -> PyResult<Bound<'py, PyAny>> {
        let py = self.record.py();
        match self.text().and(result) {
            Ok(outcome) => {
                let parts = self.input().and_then(|input| input.parts);
                Original { record: &self.record, parts }.answer(outcome)
            }
            Err(failure) => {
                let sent: &[u8] = match &self.source {
                    Source::Null => b"",
                    Source::Text(text) => text.as_bytes(),
                    Source::Bytes(bytes) => bytes,
                    Source::Object(written) => written.text.as_bytes(),
                    Source::Failed(_, shown) => shown,
                };
                Ok(Bound::new(py, Failed::new(py, failure, sent))?.into_any())
            }
        }
    }
}

/// The exception for a failure of all records.
pub(crate) fn value_error(failure: Failure) -> PyErr {
    PyValueError::new_err(failure.reason)
}

/// A text with half of a pair of surrogates.
fn no_text(py: Python<'_>, error: &PyErr) -> PyResult<Source> {
    let value = error.value(py);
    if !error.is_instance_of::<PyUnicodeEncodeError>(py) {
        return Err(error.clone_ref(py));
    }
    let reason: String = value.getattr("reason")?.extract()?;
    let start: isize = value.getattr("start")?.extract()?;
    let beginning: String = value.getattr("object")?.get_item(PySlice::new(py, 0, start, 1))?.extract()?;
    let failure = failure_behind(beginning.as_bytes(), &format!("text that is not Unicode: {reason}"));
    Ok(Source::Failed(failure, Vec::new()))
}

/// A value that JSON cannot represent.
fn no_json(record: &Bound<'_, PyAny>, error: &PyErr) -> PyResult<Source> {
    let reason = format!("not JSON: {}", error.value(record.py()));
    let shown: String = record.repr()?.to_string_lossy().chars().take(200).collect();
    Ok(Source::Failed(Failure::new(reason), shown.into_bytes()))
}
