//! The values that a processor runs with, and where each comes from: an environment variable overrides the file, and the
//! file overrides the default.

use std::ops::Range;

use super::variables::Variables;
use crate::cli::options::{OptionKey, Shape};

/// A key that a file gives.
#[derive(Debug, Clone)]
pub(super) struct Given {
    /// The key.
    pub(super) key: OptionKey,
    /// Its name in the file.
    pub(super) name: String,
    /// Its value on one line.
    pub(super) value: String,
    /// Its line, from 1.
    pub(super) line: usize,
    /// Its bytes in the file.
    pub(super) span: Range<usize>,
}

/// The resulting value of a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Value {
    /// The key's name in the file.
    pub(crate) name: String,
    /// Its value, as it would be written in a file.
    pub(crate) value: String,
    /// Where it comes from.
    pub(crate) origin: Origin,
}

/// Where a value comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Origin {
    /// The line of the file, from 1.
    File(usize),
    /// The environment variable of this name.
    Variable(String),
    /// The default.
    Default,
}

/// The value of `key`, if it has one.
pub(super) fn value(key: &OptionKey, given: &[Given], variables: &Variables) -> Option<Value> {
    let value = |value: String, origin| Some(Value { name: key.name.clone(), value, origin });
    if let Some((variable, text)) = key.variable.as_ref().and_then(|name| Some((name, variables.text(name)?))) {
        return value(written(key, text), Origin::Variable(variable.clone()));
    }
    let given = given.iter().find(|given| given.key.name == key.name);
    if let Some(given) = given.filter(|_| !is_overridden(key, variables)) {
        let origin = Origin::File(given.line);
        return Some(Value { name: given.name.clone(), value: given.value.clone(), origin });
    }
    value(written(key, key.default.as_ref()?), Origin::Default)
}

/// Whether a variable overrides what a file says under `key`.
pub(super) fn is_overridden(key: &OptionKey, variables: &Variables) -> bool {
    key.overriding().any(|name| variables.is_set(name))
}

/// `text`, a value of the command line, in the form of the file.
fn written(key: &OptionKey, text: &str) -> String {
    match key.shape {
        Shape::Whole | Shape::Tokens | Shape::Bytes if text.parse::<u64>().is_ok() => text.to_owned(),
        _ => format!("{text:?}"),
    }
}
