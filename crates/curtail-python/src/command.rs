//! Commands with their flags.

use std::path::PathBuf;
use std::sync::Arc;

use curtail_bindings::{Setting, guarded, parsed, words};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyString};

use crate::gate::detached;
use crate::record::{Record, value_error};

/// A command with its flags.
#[pyclass(frozen)]
pub(crate) struct Command {
    pub(crate) command: Arc<curtail_bindings::Command>,
}

#[pymethods]
impl Command {
    #[new]
    #[pyo3(signature = (words, explain = false))]
    #[expect(clippy::needless_pass_by_value, reason = "Python's list becomes this vector")]
    fn new(py: Python<'_>, words: Vec<String>, explain: bool) -> PyResult<Self> {
        let parsed = detached(py, || parsed(&words, explain));
        Ok(Self { command: Arc::new(parsed.map_err(value_error)?) })
    }

    /// What it does.
    #[getter]
    fn does(&self) -> &'static str {
        self.command.does().name()
    }

    /// What there is to say about its flags.
    #[getter]
    fn remarks(&self) -> Vec<String> {
        self.command.remarks.clone()
    }

    /// Compares two transcripts; returns the report as JSON.
    fn verify(&self, py: Python<'_>, before: &Bound<'_, PyAny>, after: &Bound<'_, PyAny>) -> PyResult<String> {
        let before = Record::new(before, false)?;
        let after = Record::new(after, false)?;
        let sides = before.text().and_then(|before| Ok((before.to_owned(), after.text()?.to_owned())));
        let (before, after) = sides.map_err(value_error)?;
        detached(py, || guarded(|| self.command.verify(before, after))).map_err(value_error)
    }
}

/// The command line of the command `name` with options by name.
#[pyfunction]
pub(crate) fn command_line(name: &str, options: &Bound<'_, PyDict>) -> PyResult<Vec<String>> {
    let mut settings = Vec::new();
    for (option, value) in options {
        let setting = if value.is_none() {
            continue;
        } else if let Ok(truth) = value.cast::<PyBool>() {
            Setting::Switch(truth.is_true())
        } else if let Ok(values) = value.try_iter()
            && !value.is_instance_of::<PyString>()
        {
            let values = values.map(|value| Ok(value?.str()?.to_cow()?.into_owned()));
            Setting::Values(values.collect::<PyResult<_>>()?)
        } else {
            Setting::Value(value.str()?.to_cow()?.into_owned())
        };
        settings.push((option.extract()?, setting));
    }
    Ok(words(name, &settings))
}

/// Names the program, which renders chat templates.
#[pyfunction]
pub(crate) fn set_program(path: PathBuf) {
    curtail_bindings::set_program(path);
}
