//! Builds Python values of what a cut left of a record: the same objects where nothing changed, and new ones from JSON.

use curtail_bindings::{Item, Member, Outcome, Parts, Pieces};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBytes, PyDict, PyList, PyString};

/// Reads texts of JSON, with the values of a record that JSON lacks.
static LOADS: PyOnceLock<Py<PyAny>> = PyOnceLock::new();

/// A record, and how its answer is built.
pub(crate) struct Original<'r, 'py> {
    pub(crate) record: &'r Bound<'py, PyAny>,
    /// Where its parts are in its JSON, if it is an object.
    pub(crate) parts: Option<&'r Parts>,
}

impl<'py> Original<'_, 'py> {
    /// The answer to the record.
    pub(crate) fn answer(&self, outcome: Outcome) -> PyResult<Bound<'py, PyAny>> {
        let py = self.record.py();
        Ok(match outcome {
            Outcome::Same => self.record.clone(),
            Outcome::Text(text) if self.record.is_instance_of::<PyString>() => PyString::new(py, &text).into_any(),
            Outcome::Text(text) => PyBytes::new(py, text.as_bytes()).into_any(),
            Outcome::Pieces(pieces) => self.object(pieces)?,
            Outcome::Windows(windows) => {
                let windows: Vec<_> = windows.into_iter().map(|window| self.answer(window)).collect::<PyResult<_>>()?;
                PyList::new(py, windows)?.into_any()
            }
        })
    }

    fn object(&self, pieces: Pieces) -> PyResult<Bound<'py, PyAny>> {
        let mut new = New::default();
        pieces.collect(&mut new.texts);
        let mut values = new.values(self.record)?.into_iter();
        let mut next = move || values.next();
        match pieces {
            Pieces::Json(_) => Ok(next().unwrap_or_else(|| self.record.clone())),
            Pieces::List(items) => self.messages(self.record.cast::<PyList>()?, &items, &mut next),
            Pieces::Object(members) => {
                let object = self.record.cast::<PyDict>()?.copy()?;
                let old = if let Some(Parts::Object(old)) = self.parts { old.as_slice() } else { &[] };
                for part in old.iter().filter(|part| members.iter().all(|(kept, _)| *kept != part.key)) {
                    object.del_item(&part.key)?;
                }
                for (key, member) in members {
                    let value = match member {
                        Member::Kept(_) => continue,
                        Member::New(_) => next(),
                        Member::List(items) => {
                            let old = self.record.get_item(&key)?;
                            Some(self.messages(old.cast::<PyList>()?, &items, &mut next)?)
                        }
                    };
                    object.set_item(key, value)?;
                }
                Ok(object.into_any())
            }
        }
    }

    fn messages(
        &self,
        old: &Bound<'py, PyList>,
        items: &[Item],
        next: &mut dyn FnMut() -> Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let messages = PyList::empty(self.record.py());
        for item in items {
            match item {
                Item::Kept(index) => messages.append(old.get_item(*index)?)?,
                Item::New(_) => messages.append(next())?,
            }
        }
        Ok(messages.into_any())
    }
}

/// The values of an answer that are new.
#[derive(Default)]
struct New {
    texts: Vec<String>,
}

impl New {
    fn values<'py>(self, record: &Bound<'py, PyAny>) -> PyResult<Vec<Bound<'py, PyAny>>> {
        if self.texts.is_empty() {
            return Ok(Vec::new());
        }
        let loads = LOADS.import(record.py(), "curtail._values", "loads_all")?;
        loads.call1((self.texts, record))?.extract()
    }
}

/// Lists the texts of JSON in what is left of a record, in order.
trait Collect {
    fn collect(&self, texts: &mut Vec<String>);
}

impl Collect for Pieces {
    fn collect(&self, texts: &mut Vec<String>) {
        match self {
            Self::Json(text) => texts.push(text.clone()),
            Self::List(items) => items.iter().for_each(|item| item.collect(texts)),
            Self::Object(members) => members.iter().for_each(|(_, member)| match member {
                Member::Kept(_) => {}
                Member::New(text) => texts.push(text.clone()),
                Member::List(items) => items.iter().for_each(|item| item.collect(texts)),
            }),
        }
    }
}

impl Collect for Item {
    fn collect(&self, texts: &mut Vec<String>) {
        if let Self::New(text) = self {
            texts.push(text.clone());
        }
    }
}
