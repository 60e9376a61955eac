//! Readers: lists of records in, lists of answers out.

use std::sync::Arc;
use std::time::{Duration, Instant};

use curtail_bindings::{Failure, Framed, Input, Run, TextPlace, explained, framing_of, whole};
use pyo3::prelude::*;
use pyo3::types::PyList;

use crate::command::Command;
use crate::gate::detached;
use crate::record::{Record, value_error};

/// How long records are cut before Python may handle a signal.
pub(crate) const SLICE: Duration = Duration::from_millis(50);

/// A note about a record: its index, line and column, and what there is to say.
pub(crate) type Note = (usize, usize, usize, String);

/// The notes about the record with this index.
pub(crate) fn notes_of(index: usize, said: Vec<(TextPlace, String)>) -> impl Iterator<Item = Note> {
    said.into_iter().map(move |(place, note)| (index, place.line, place.column, note))
}

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
        let run = Run::new(&self.reader, &inputs, jobs).map_err(value_error)?;
        while !detached(py, || run.advance(Some(Instant::now() + SLICE))) {
            py.check_signals()?;
        }
        let answers = PyList::empty(py);
        let mut notes = Vec::new();
        for (index, (record, result)) in read.iter().zip(run.results()).enumerate() {
            answers.append(answer(record, index, result, &mut notes)?)?;
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
        let framing = framing_of(framing).map_err(value_error)?;
        let record = Record::new(data, false)?;
        let result = record.text().and_then(|text| detached(py, || whole(&self.reader, text, framing)));
        let mut notes = Vec::new();
        Ok((answer(&record, 0, result, &mut notes)?, notes))
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

    /// The number of messages and of tokens of a record before and after the cut, and what was decided about its messages. The
    /// record in place of that, as one that failed.
    fn explain<'py>(&self, py: Python<'py>, record: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let record = Record::new(record, false)?;
        let answer = match record.text().and_then(|text| detached(py, || explained(&self.reader, text))) {
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
        let texts = Framed::new(&self.reader, heads).map_err(value_error)?;
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

/// The answer to the record with this index. What there is to say about it is added to `notes`.
fn answer<'py>(
    record: &Record<'py>,
    index: usize,
    result: curtail_bindings::CutResult,
    notes: &mut Vec<Note>,
) -> PyResult<Bound<'py, PyAny>> {
    record.answer(result.map(|(outcome, said)| {
        notes.extend(notes_of(index, said));
        outcome
    }))
}
