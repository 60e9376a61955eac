//! Commands and readers as Python has them: lists of records in, lists of answers out.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use curtail_bindings::{
    Failure, Framed, Input, Outcome, Run, Setting, explained, framing_of, guarded, text_of, whole, words,
};
use pyo3::exceptions::{PyUnicodeEncodeError, PyValueError};
use pyo3::prelude::*;
use pyo3::pybacked::{PyBackedBytes, PyBackedStr};
use pyo3::types::{PyBool, PyByteArray, PyBytes, PyDict, PyList, PyMemoryView, PySet, PyString, PyTuple};

use crate::build::Original;
use crate::gate::detached;
use crate::write::Written;

/// How long records are cut before Python may handle a signal.
pub(crate) const SLICE: Duration = Duration::from_millis(50);

/// A command with its flags.
#[pyclass(frozen)]
pub(crate) struct Command {
    command: Arc<curtail_bindings::Command>,
}

#[pymethods]
impl Command {
    #[new]
    #[pyo3(signature = (words, explain = false))]
    #[expect(clippy::needless_pass_by_value, reason = "Python's list becomes this vector")]
    fn new(py: Python<'_>, words: Vec<String>, explain: bool) -> PyResult<Self> {
        let parsed = detached(py, || curtail_bindings::Command::parse(&words, explain));
        Ok(Self { command: Arc::new(parsed.map_err(PyValueError::new_err)?) })
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
        let (before, after) = sides.map_err(|failure| PyValueError::new_err(failure.reason))?;
        let report = detached(py, || guarded(|| self.command.verify(before, after)));
        report.map_err(|failure| PyValueError::new_err(failure.reason))
    }
}

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

/// A note about a record: its index, line and column, and what there is to say.
pub(crate) type Note = (usize, usize, usize, String);

/// What a command knows of the records that it has read.
#[pyclass(frozen)]
pub(crate) struct Reader {
    pub(crate) reader: curtail_bindings::Reader,
}

#[pymethods]
impl Reader {
    #[new]
    fn new(command: &Bound<'_, Command>) -> Self {
        Self { reader: curtail_bindings::Reader::new(Arc::clone(&command.get().command)) }
    }

    /// Cuts records. Returns the answer to each, and notes.
    fn cut<'py>(
        &self,
        py: Python<'py>,
        records: &Bound<'py, PyList>,
        sparse: bool,
        jobs: usize,
    ) -> PyResult<(Bound<'py, PyList>, Vec<Note>)> {
        let read: Vec<Record<'py>> =
            records.iter().map(|record| Record::new(&record, sparse)).collect::<PyResult<_>>()?;
        let inputs: Vec<Option<Input<'_>>> = read.iter().map(Record::input).collect();
        let run = Run::new(&self.reader, &inputs, jobs).map_err(|failure| PyValueError::new_err(failure.reason))?;
        while !detached(py, || run.advance(Instant::now() + SLICE)) {
            py.check_signals()?;
        }
        let answers = PyList::empty(py);
        let mut notes = Vec::new();
        for (index, (record, result)) in read.iter().zip(run.results()).enumerate() {
            let answer = record.answer(result.map(|(outcome, said)| {
                notes.extend(said.into_iter().map(|(place, note)| (index, place.line, place.column, note)));
                outcome
            }))?;
            answers.append(answer)?;
        }
        Ok((answers, notes))
    }

    /// Cuts a log or a document as one transcript.
    fn whole<'py>(
        &self,
        py: Python<'py>,
        data: &Bound<'py, PyAny>,
        framing: &str,
    ) -> PyResult<(Bound<'py, PyAny>, Vec<Note>)> {
        let framing = framing_of(framing).map_err(|failure| PyValueError::new_err(failure.reason))?;
        let record = Record::new(data, false)?;
        let text = match record.text() {
            Ok(text) => text,
            Err(failure) => return Ok((record.answer(Err(failure))?, Vec::new())),
        };
        let mut notes = Vec::new();
        let outcome = detached(py, || whole(&self.reader, text, framing)).map(|(outcome, said)| {
            notes.extend(said.into_iter().map(|(place, note)| (0, place.line, place.column, note)));
            outcome
        });
        Ok((record.answer(outcome)?, notes))
    }

    /// The findings in each record, as JSON.
    #[expect(clippy::redundant_closure_for_method_calls, reason = "the method is for one lifetime")]
    fn check<'py>(&self, py: Python<'py>, records: &Bound<'py, PyList>) -> PyResult<Bound<'py, PyList>> {
        self.each(py, records, |texts, text| texts.check(text))
    }

    /// The number of tokens in each record.
    #[expect(clippy::redundant_closure_for_method_calls, reason = "the method is for one lifetime")]
    fn count<'py>(&self, py: Python<'py>, records: &Bound<'py, PyList>) -> PyResult<Bound<'py, PyList>> {
        self.each(py, records, |texts, text| texts.count(text))
    }

    /// The answer to a record, what was decided about its messages, and messages and tokens before and after.
    fn explain<'py>(&self, py: Python<'py>, record: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let record = Record::new(record, false)?;
        let text = match record.text() {
            Ok(text) => text,
            Err(failure) => return record.answer(Err(failure)),
        };
        let answer = match detached(py, || explained(&self.reader, text)) {
            Ok(answer) => answer,
            Err(failure) => return record.answer(Err(failure)),
        };
        let decisions: Vec<_> = answer
            .explained
            .into_iter()
            .map(|decision| (decision.message, decision.policy, decision.subject, decision.outcome))
            .collect();
        let tokens = answer.tokens.unwrap_or_default();
        Ok((answer.messages, tokens, decisions).into_pyobject(py)?.into_any())
    }
}

impl Reader {
    /// What `work` makes of each record.
    fn each<'py, T: IntoPyObject<'py> + Send>(
        &self,
        py: Python<'py>,
        records: &Bound<'py, PyList>,
        work: impl Fn(&curtail_bindings::Texts<'_>, &str) -> Result<T, Failure> + Sync,
    ) -> PyResult<Bound<'py, PyList>> {
        let read: Vec<Record<'py>> =
            records.iter().map(|record| Record::new(&record, false)).collect::<PyResult<_>>()?;
        let heads = read.iter().filter_map(|record| record.text().ok());
        let texts = Framed::new(&self.reader, heads).map_err(|failure| PyValueError::new_err(failure.reason))?;
        let answers = PyList::empty(py);
        for record in &read {
            let done = record.text().and_then(|text| detached(py, || texts.with(text, &work)));
            match done {
                Ok(done) => answers.append(done)?,
                Err(failure) => answers.append(record.answer(Err(failure))?)?,
            }
            py.check_signals()?;
        }
        Ok(answers)
    }
}

/// A record, and its text.
struct Record<'py> {
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
    fn new(record: &Bound<'py, PyAny>, sparse: bool) -> PyResult<Self> {
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
    fn text(&self) -> Result<&str, Failure> {
        match &self.source {
            Source::Null => Ok(""),
            Source::Text(text) => Ok(text),
            Source::Bytes(bytes) => text_of(bytes),
            Source::Object(written) => Ok(&written.text),
            Source::Failed(failure, _) => Err(failure.clone()),
        }
    }

    /// What is cut; nothing if it is no record or has no text.
    fn input(&self) -> Option<Input<'_>> {
        let text = self.text().ok().filter(|text| !text.trim_ascii().is_empty())?;
        let parts = match &self.source {
            Source::Object(written) => Some(&written.parts),
            _ => None,
        };
        Some(Input { text, parts })
    }

    fn answer(&self, result: Result<Outcome, Failure>) -> PyResult<Bound<'py, PyAny>> {
        let py = self.record.py();
        let result = self.text().map(|_| ()).and(result);
        match result {
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

/// A text with half of a pair of surrogates.
fn no_text(py: Python<'_>, error: &PyErr) -> PyResult<Source> {
    let value = error.value(py);
    if !error.is_instance_of::<PyUnicodeEncodeError>(py) {
        return Err(error.clone_ref(py));
    }
    let reason: String = value.getattr("reason")?.extract()?;
    let start: usize = value.getattr("start")?.extract()?;
    Ok(Source::Failed(Failure::at(start + 1, &format!("text that is not Unicode: {reason}")), Vec::new()))
}

/// A value that JSON cannot represent.
fn no_json(record: &Bound<'_, PyAny>, error: &PyErr) -> PyResult<Source> {
    let reason = format!("not JSON: {}", error.value(record.py()));
    let shown: String = record.repr()?.to_string_lossy().chars().take(200).collect();
    Ok(Source::Failed(Failure::new(reason), shown.into_bytes()))
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
        } else if [value.is_instance_of::<PyList>(), value.is_instance_of::<PyTuple>(), value.is_instance_of::<PySet>()]
            .contains(&true)
        {
            let values = value.try_iter()?.map(|value| Ok(value?.str()?.to_cow()?.into_owned()));
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
