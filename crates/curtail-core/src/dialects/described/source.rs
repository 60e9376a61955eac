//! The text of a description: its tables and keys, each with its place, and what is wrong with it.

use std::cell::RefCell;
use std::fmt;
use std::ops::Range;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::paths::Path;
use crate::places::TextPlace;
use crate::suggest;

/// What is wrong with a description, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DescriptionError {
    /// The place in the text of the description.
    pub place: TextPlace,
    /// What is wrong, and what would be right.
    pub what: String,
}

impl fmt::Display for DescriptionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.place.line, self.place.column, self.what)
    }
}

impl std::error::Error for DescriptionError {}

/// What is wrong at some bytes of a description.
#[derive(Debug)]
pub(super) struct Fault {
    pub(super) at: usize,
    pub(super) what: String,
}

impl Fault {
    pub(super) fn new(at: &Range<usize>, what: impl Into<String>) -> Self {
        Self { at: at.start, what: what.into() }
    }

    /// The same, with its line and column in `text`.
    pub(super) fn in_text(self, text: &str) -> DescriptionError {
        DescriptionError { place: TextPlace::locate(text.as_bytes(), self.at, 1), what: self.what }
    }
}

/// A value of a description, and its place.
#[derive(Debug, Clone)]
pub(super) struct At<T> {
    pub(super) value: T,
    pub(super) span: Range<usize>,
}

/// A table of a description, which knows the keys that were asked for.
pub(super) struct Table<'t> {
    name: &'static str,
    members: &'t DeTable<'t>,
    pub(super) span: Range<usize>,
    asked: RefCell<Vec<&'static str>>,
}

impl<'t> Table<'t> {
    pub(super) fn new(name: &'static str, table: &'t Spanned<DeTable<'t>>) -> Self {
        Self { name, members: table.get_ref(), span: table.span(), asked: RefCell::default() }
    }

    /// The table `name`, which a description usually writes below `header`.
    fn of_value(name: &'static str, header: &str, value: &'t Spanned<DeValue<'t>>) -> Result<Self, Fault> {
        match value.get_ref() {
            DeValue::Table(members) => Ok(Self { name, members, span: value.span(), asked: RefCell::default() }),
            _ => Err(Fault::new(&value.span(), format!("`{name}` is a table, such as `{header}`"))),
        }
    }

    /// The same table, as a description of its own.
    pub(super) fn nameless(self) -> Self {
        Self { name: "", ..self }
    }

    fn value(&self, key: &'static str) -> Option<&'t Spanned<DeValue<'t>>> {
        let mut asked = self.asked.borrow_mut();
        if !asked.contains(&key) {
            asked.push(key);
        }
        self.members.get(key)
    }

    /// The string under `key`.
    pub(super) fn text(&self, key: &'static str) -> Result<Option<At<&'t str>>, Fault> {
        let Some(value) = self.value(key) else { return Ok(None) };
        string(value).map(Some).ok_or_else(|| Fault::new(&value.span(), format!("`{key}` is a string")))
    }

    /// The string or the strings under `key`; none if there is no such key.
    pub(super) fn texts(&self, key: &'static str) -> Result<Vec<At<&'t str>>, Fault> {
        let Some(value) = self.value(key) else { return Ok(Vec::new()) };
        strings(key, value)
    }

    /// Whether `key` is `true`.
    pub(super) fn flag(&self, key: &'static str) -> Result<bool, Fault> {
        let Some(value) = self.value(key) else { return Ok(false) };
        value.get_ref().as_bool().ok_or_else(|| Fault::new(&value.span(), format!("`{key}` is true or false")))
    }

    /// The path under `key`.
    pub(super) fn path(&self, key: &'static str) -> Result<Option<Path>, Fault> {
        self.text(key)?.map(|text| path(&text)).transpose()
    }

    /// The path or the paths under `key`; none if there is no such key.
    pub(super) fn paths(&self, key: &'static str) -> Result<Vec<Path>, Fault> {
        let Some(value) = self.value(key) else { return Ok(Vec::new()) };
        let texts = strings(key, value).map_err(|_| {
            Fault::new(&value.span(), format!("`{key}` is a list of paths, as in `{key} = [\"a.b\", \"c[]\"]`"))
        })?;
        texts.iter().map(path).collect()
    }

    /// The table under `key`.
    pub(super) fn table(&self, key: &'static str) -> Result<Option<Table<'t>>, Fault> {
        self.value(key).map(|value| Table::of_value(key, &format!("[{key}]"), value)).transpose()
    }

    /// The tables under `key`: one, or a list of them.
    pub(super) fn tables(&self, key: &'static str) -> Result<Vec<Table<'t>>, Fault> {
        let Some(value) = self.value(key) else { return Ok(Vec::new()) };
        let header = format!("[[{key}]]");
        match value.get_ref() {
            DeValue::Array(list) => list.iter().map(|one| Table::of_value(key, &header, one)).collect(),
            _ => Ok(vec![Table::of_value(key, &header, value)?]),
        }
    }

    /// The names and values of a table whose keys the writer chooses.
    pub(super) fn members(&self) -> impl Iterator<Item = (At<&'t str>, &'t Spanned<DeValue<'t>>)> {
        self.members.iter().map(|(key, value)| (At { value: key.get_ref().as_ref(), span: key.span() }, value))
    }

    /// Refuses keys that nobody asked for.
    pub(super) fn finish(self) -> Result<(), Fault> {
        let known = self.asked.into_inner();
        let unknown = self.members.keys().find(|key| !known.contains(&key.get_ref().as_ref()));
        let Some(key) = unknown else { return Ok(()) };
        let lack = match self.name {
            "" => String::from("a description has no key"),
            name => format!("`{name}` has no key"),
        };
        Err(Fault::new(&key.span(), suggest::unknown(&lack, key.get_ref(), &known)))
    }
}

/// The root table of `text`.
pub(super) fn root(text: &str) -> Result<Spanned<DeTable<'_>>, Fault> {
    DeTable::parse(text).map_err(|error| Fault::new(&error.span().unwrap_or_default(), error.message()))
}

fn string<'t>(value: &'t Spanned<DeValue<'t>>) -> Option<At<&'t str>> {
    Some(At { value: value.get_ref().as_str()?, span: value.span() })
}

/// A string, or a list of strings.
pub(super) fn strings<'t>(key: &str, value: &'t Spanned<DeValue<'t>>) -> Result<Vec<At<&'t str>>, Fault> {
    let wrong = || Fault::new(&value.span(), format!("`{key}` is a string or a list of strings"));
    match value.get_ref() {
        DeValue::Array(list) => list.iter().map(|one| string(one).ok_or_else(wrong)).collect(),
        _ => Ok(vec![string(value).ok_or_else(wrong)?]),
    }
}

/// The path that a text of a description writes.
pub(super) fn path(text: &At<&str>) -> Result<Path, Fault> {
    Path::parse(text.value).map_err(|what| Fault::new(&text.span, what))
}
