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
        let mut values = new_values(&pieces, self.record)?.into_iter();
        match pieces {
            Pieces::Json(_) => Ok(values.next().unwrap_or_else(|| self.record.clone())),
            Pieces::List(items) => self.messages(self.record.cast::<PyList>()?, &items, &mut values),
            Pieces::Object(members) => {
                let object = self.record.cast::<PyDict>()?.copy()?;
                let old = if let Some(Parts::Object(old)) = self.parts { old.as_slice() } else { &[] };
                for part in old.iter().filter(|part| members.iter().all(|(kept, _)| *kept != part.key)) {
                    object.del_item(&part.key)?;
                }
                for (key, member) in members {
                    let value = match member {
                        Member::Kept(_) => continue,
                        Member::New(_) => values.next(),
                        Member::List(items) => {
                            let old = self.record.get_item(&key)?;
                            Some(self.messages(old.cast::<PyList>()?, &items, &mut values)?)
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
        new: &mut impl Iterator<Item = Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let messages = PyList::empty(self.record.py());
        for item in items {
            match item {
                Item::Kept(index) => messages.append(old.get_item(*index)?)?,
                Item::New(_) => messages.append(new.next())?,
            }
        }
        Ok(messages.into_any())
    }
}

/// The values of an answer that are new, in order.
fn new_values<'py>(pieces: &Pieces, record: &Bound<'py, PyAny>) -> PyResult<Vec<Bound<'py, PyAny>>> {
    let texts: Vec<&str> = match pieces {
        Pieces::Json(text) => vec![text],
        Pieces::List(items) => new_items(items).collect(),
        Pieces::Object(members) => members.iter().flat_map(|(_, member)| new_of_member(member)).collect(),
    };
    if texts.is_empty() {
        return Ok(Vec::new());
    }
    let loads = LOADS.import(record.py(), "curtail._values", "loads_all")?;
    loads.call1((texts, record))?.extract()
}

/// The JSON of what is new in a member.
fn new_of_member(member: &Member) -> Vec<&str> {
    match member {
        Member::Kept(_) => Vec::new(),
        Member::New(text) => vec![text],
        Member::List(items) => new_items(items).collect(),
    }
}

fn new_items(items: &[Item]) -> impl Iterator<Item = &str> {
    items.iter().filter_map(|item| if let Item::New(text) = item { Some(text.as_str()) } else { None })
}
