//! Writes Python values as JSON, as `json.dumps` does with `ensure_ascii=False` and without spaces.

use std::fmt::Write as _;

use curtail_bindings::{Part, Parts};
use curtail_tables::quote_into;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyString, PyTuple};

/// The deepest nesting; a value that contains itself has no end.
const MAX_DEPTH: usize = 900;

/// Converts a value that JSON lacks, such as a time.
static DEFAULT: PyOnceLock<Py<PyAny>> = PyOnceLock::new();

/// Writes a text that is not Unicode.
static ESCAPE: PyOnceLock<Py<PyAny>> = PyOnceLock::new();

/// A record as JSON, and where its parts are.
#[derive(Default)]
pub(crate) struct Written {
    pub(crate) text: String,
    pub(crate) parts: Parts,
}

impl Written {
    /// Writes `record`. With `sparse`, members that are `None` are left out, as in a table, where they mean that there are none,
    /// and numbers that JSON lacks are null.
    pub(crate) fn of(record: &Bound<'_, PyAny>, sparse: bool) -> PyResult<Self> {
        let mut writer = Writer { out: String::new(), sparse };
        let parts = if let Ok(list) = record.cast_exact::<PyList>()
            && is_list_of_objects(list)
        {
            Parts::List(writer.objects(list, 0)?)
        } else if let Ok(object) = record.cast_exact::<PyDict>()
            && object.keys().iter().all(|key| is_unicode(&key))
        {
            let mut parts = Vec::new();
            writer.object(object, 0, Some(&mut parts))?;
            Parts::Object(parts)
        } else {
            writer.value(record, 0)?;
            Parts::Other
        };
        Ok(Self { text: writer.out, parts })
    }
}

/// Whether a key has the same name in JSON. Other members cannot be told by their keys.
fn is_unicode(key: &Bound<'_, PyAny>) -> bool {
    key.cast::<PyString>().is_ok_and(|text| text.to_str().is_ok())
}

fn is_list_of_objects(list: &Bound<'_, PyList>) -> bool {
    !list.is_empty() && list.iter().all(|item| item.is_instance_of::<PyDict>() || is_model(&item))
}

/// Whether a value is a message as pydantic models it, which many libraries have in their histories.
fn is_model(value: &Bound<'_, PyAny>) -> bool {
    !value.is_exact_instance_of::<PyString>() && value.hasattr(intern!(value.py(), "model_dump")).unwrap_or(false)
}

struct Writer {
    out: String,
    sparse: bool,
}

impl Writer {
    fn value(&mut self, value: &Bound<'_, PyAny>, depth: usize) -> PyResult<()> {
        if let Ok(text) = value.cast_exact::<PyString>() {
            self.text(text)
        } else if value.is_none() {
            self.out.push_str("null");
            Ok(())
        } else if let Ok(object) = value.cast_exact::<PyDict>() {
            self.object(object, depth, None)
        } else if let Ok(list) = value.cast_exact::<PyList>() {
            self.list(list.iter(), depth)
        } else if let Ok(truth) = value.cast_exact::<PyBool>() {
            self.out.push_str(if truth.is_true() { "true" } else { "false" });
            Ok(())
        } else {
            self.other(value, depth)
        }
    }

    /// Writes a value of any other type.
    fn other(&mut self, value: &Bound<'_, PyAny>, depth: usize) -> PyResult<()> {
        if let Ok(number) = value.cast::<PyInt>() {
            self.integer(number)
        } else if let Ok(number) = value.cast::<PyFloat>() {
            self.float(number)
        } else if let Ok(text) = value.cast::<PyString>() {
            self.text(text)
        } else if let Ok(object) = value.cast::<PyDict>() {
            self.object(object, depth, None)
        } else if let Ok(list) = value.cast::<PyList>() {
            self.list(list.iter(), depth)
        } else if let Ok(tuple) = value.cast::<PyTuple>() {
            self.list(tuple.iter(), depth)
        } else {
            let default = DEFAULT.import(value.py(), "curtail._values", "default")?;
            self.value(&default.call1((value,))?, deeper(depth)?)
        }
    }

    fn list<'py>(&mut self, items: impl Iterator<Item = Bound<'py, PyAny>>, depth: usize) -> PyResult<()> {
        let depth = deeper(depth)?;
        self.out.push('[');
        for (nth, item) in items.enumerate() {
            if nth > 0 {
                self.out.push(',');
            }
            self.value(&item, depth)?;
        }
        self.out.push(']');
        Ok(())
    }

    /// Writes a list of objects, and returns where each is.
    fn objects(&mut self, list: &Bound<'_, PyList>, depth: usize) -> PyResult<Vec<std::ops::Range<usize>>> {
        let depth = deeper(depth)?;
        let mut places = Vec::with_capacity(list.len());
        self.out.push('[');
        for (nth, item) in list.iter().enumerate() {
            if nth > 0 {
                self.out.push(',');
            }
            let start = self.out.len();
            self.value(&item, depth)?;
            places.push(start..self.out.len());
        }
        self.out.push(']');
        Ok(places)
    }

    /// Writes an object; where its members are, is noted in `parts`.
    fn object(&mut self, object: &Bound<'_, PyDict>, depth: usize, mut parts: Option<&mut Vec<Part>>) -> PyResult<()> {
        let depth = deeper(depth)?;
        self.out.push('{');
        let mut is_first = true;
        for (key, value) in object {
            if self.sparse && value.is_none() {
                continue;
            }
            if !std::mem::take(&mut is_first) {
                self.out.push(',');
            }
            self.key(&key)?;
            self.out.push(':');
            let start = self.out.len();
            match &mut parts {
                None => self.value(&value, depth)?,
                Some(parts) => {
                    let items = match value.cast_exact::<PyList>() {
                        Ok(list) if is_list_of_objects(list) => self.objects(list, depth)?,
                        _ => {
                            self.value(&value, depth)?;
                            Vec::new()
                        }
                    };
                    let key = key.cast::<PyString>()?.to_str()?.to_owned();
                    parts.push(Part { key, place: start..self.out.len(), items });
                }
            }
        }
        self.out.push('}');
        Ok(())
    }

    fn key(&mut self, key: &Bound<'_, PyAny>) -> PyResult<()> {
        if let Ok(text) = key.cast::<PyString>() {
            return self.text(text);
        }
        let is_scalar = key.is_none() || key.is_instance_of::<PyInt>() || key.is_instance_of::<PyFloat>();
        if !is_scalar {
            let kind = key.get_type().name()?;
            return Err(PyTypeError::new_err(format!("keys must be str, int, float, bool or None, not {kind}")));
        }
        self.out.push('"');
        self.value(key, 0)?;
        self.out.push('"');
        Ok(())
    }

    fn integer(&mut self, number: &Bound<'_, PyInt>) -> PyResult<()> {
        if let Ok(number) = number.extract::<i64>() {
            // A string can be written.
            let _ = write!(self.out, "{number}");
            return Ok(());
        }
        let digits = number.py().get_type::<PyInt>().call_method1("__repr__", (number,))?;
        self.out.push_str(digits.cast::<PyString>()?.to_str()?);
        Ok(())
    }

    fn float(&mut self, number: &Bound<'_, PyFloat>) -> PyResult<()> {
        if !number.value().is_finite() {
            if !self.sparse {
                return Err(PyValueError::new_err("Out of range float values are not JSON compliant"));
            }
            self.out.push_str("null");
            return Ok(());
        }
        let digits = number.py().get_type::<PyFloat>().call_method1("__repr__", (number,))?;
        self.out.push_str(digits.cast::<PyString>()?.to_str()?);
        Ok(())
    }

    fn text(&mut self, text: &Bound<'_, PyString>) -> PyResult<()> {
        if let Ok(unicode) = text.to_str() {
            quote_into(unicode, &mut self.out);
            return Ok(());
        }
        let escape = ESCAPE.import(text.py(), "json.encoder", "encode_basestring_ascii")?;
        self.out.push_str(escape.call1((text,))?.cast::<PyString>()?.to_str()?);
        Ok(())
    }
}

fn deeper(depth: usize) -> PyResult<usize> {
    if depth >= MAX_DEPTH {
        return Err(PyValueError::new_err(format!("nested more than {MAX_DEPTH} levels deep, or it contains itself")));
    }
    Ok(depth + 1)
}
