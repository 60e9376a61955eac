//! The values of a key: what a file may contain, and what a table results in.

use std::any::TypeId;
use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::Arg;
use serde_json::{Value as Json, json};
use toml::de::{DeInteger, DeValue};

use super::flags::{is_list, is_switch};
use super::{KeyReader, TomlValue};
use crate::options::numbers::{Amount, Bytes, Tokens};
use curtail_core::suggest::unknown;
use curtail_core::visible::one_line;
use curtail_io::FileError;
use curtail_memory::summarizers::shown_endpoint;

/// What a key takes.
pub(super) struct Kind {
    description: &'static str,
    /// The types of its values, by their names in a JSON Schema.
    pub(super) types: &'static [&'static str],
    /// The smallest number.
    pub(super) minimum: Option<u64>,
    /// What its strings match, as a regular expression of JSON Schema.
    pub(super) pattern: Option<&'static str>,
}

impl Kind {
    /// Whether a value of this type is one.
    fn has_type(&self, name: &str) -> bool {
        self.types.contains(&name) || name == "integer" && self.types.contains(&"number")
    }
}

const SWITCH: Kind = Kind { description: "true or false", types: &["boolean"], minimum: None, pattern: None };
const WHOLE: Kind = Kind { description: "a whole number", types: &["integer"], minimum: Some(0), pattern: None };
const POSITIVE: Kind = Kind { minimum: Some(1), ..WHOLE };
const BYTES: Kind = Kind {
    description: "a number of bytes, such as 800000 or \"800k\"",
    types: &["integer", "string"],
    minimum: Some(0),
    pattern: Some(r"^[0-9]+((\.[0-9]+)?[kKmMgG])?$"),
};
const TOKENS: Kind = Kind { description: "a number of tokens, such as 16000 or \"16k\"", ..BYTES };
const AMOUNT: Kind = Kind { pattern: Some(r"^[0-9]+((\.[0-9]+)?[kKmMgG]|(\.[0-9]+)? *%)?$"), ..TOKENS };
const TEXT: Kind = Kind { description: "a string", types: &["string"], minimum: None, pattern: None };
const ANY: Kind = Kind { description: "a string or a number", types: &["string", "number"], ..TEXT };

/// What a key takes, by the type of the flag's values.
pub(super) fn kind(flag: &Arg) -> &'static Kind {
    let kinds: [(TypeId, &Kind); 9] = [
        (TypeId::of::<usize>(), &WHOLE),
        (TypeId::of::<u64>(), &WHOLE),
        (TypeId::of::<u32>(), &WHOLE),
        (TypeId::of::<NonZeroUsize>(), &POSITIVE),
        (TypeId::of::<Bytes>(), &BYTES),
        (TypeId::of::<Tokens>(), &TOKENS),
        (TypeId::of::<Amount>(), &AMOUNT),
        (TypeId::of::<String>(), &TEXT),
        (TypeId::of::<PathBuf>(), &TEXT),
    ];
    let of_type = kinds.iter().find(|(id, _)| flag.get_value_parser().type_id() == *id);
    match flag {
        _ if is_switch(flag) => &SWITCH,
        _ if !choices(flag).is_empty() => &TEXT,
        _ => of_type.map_or(&ANY, |(_, kind)| kind),
    }
}

/// The values that a key may have, if they are listed.
pub(super) fn choices(flag: &Arg) -> Vec<String> {
    let listed = flag.get_possible_values().into_iter().filter(|value| !is_switch(flag) && !value.is_hide_set());
    listed.map(|value| value.get_name().to_owned()).collect()
}

/// The values of a key, each as the command line takes it.
pub(super) fn values(
    reader: KeyReader<'_>,
    flag: &Arg,
    name: &str,
    value: &TomlValue<'_>,
) -> Result<Vec<String>, FileError> {
    let values = match value.get_ref() {
        DeValue::Array(values) if is_list(flag) => values,
        _ => std::slice::from_ref(value),
    };
    if values.is_empty() {
        let reason = format!("`{name}` is empty; give at least one value, or remove the key");
        return Err(reader.error(value.span(), reason));
    }
    values.iter().map(|value| one_value(reader, flag, name, value)).collect()
}

fn one_value(reader: KeyReader<'_>, flag: &Arg, name: &str, value: &TomlValue<'_>) -> Result<String, FileError> {
    let choices = choices(flag);
    let Some((_, text)) = scalar(value.get_ref()).filter(|(of, _)| kind(flag).has_type(of)) else {
        let wanted = match choices.is_empty() {
            true => kind(flag).description.to_owned(),
            false => format!("one of \"{}\"", choices.join("\", \"")),
        };
        let listed = if is_list(flag) { ", or several in an array" } else { "" };
        return Err(reader.expected(value, name, &(wanted + listed)));
    };
    // A name that the help does not list is accepted, as on the command line.
    if !choices.is_empty() && !flag.get_possible_values().iter().any(|value| value.matches(&text, false)) {
        let known: Vec<&str> = choices.iter().map(String::as_str).collect();
        return Err(reader.error(value.span(), unknown(&format!("`{name}` cannot be"), &text, &known)));
    }
    if kind(flag).minimum.is_some() && text.starts_with('-') {
        return Err(reader.error(value.span(), format!("`{name}` must not be negative")));
    }
    Ok(text)
}

/// The type of `value` in a JSON Schema, and its text; nothing for what no flag takes.
fn scalar(value: &DeValue<'_>) -> Option<(&'static str, String)> {
    Some(match value {
        DeValue::Boolean(on) => ("boolean", on.to_string()),
        DeValue::Integer(number) => ("integer", whole(number)?),
        DeValue::Float(number) => ("number", number.as_str().to_owned()),
        DeValue::String(text) => ("string", text.to_string()),
        DeValue::Datetime(_) | DeValue::Array(_) | DeValue::Table(_) => return None,
    })
}

/// A whole number in decimal digits, whatever its radix in the file.
fn whole(number: &DeInteger<'_>) -> Option<String> {
    i64::from_str_radix(number.as_str(), number.radix()).ok().map(|number| number.to_string())
}

/// `value` on one line.
pub(super) fn shown(value: &DeValue<'_>) -> String {
    match (value, scalar(value)) {
        (DeValue::Array(values), _) => {
            let values: Vec<String> = values.iter().map(|value| shown(value.get_ref())).collect();
            format!("[{}]", values.join(", "))
        }
        (_, Some(("string", text))) => format!("{text:?}"),
        (_, Some((_, text))) => text,
        (other, None) => found(other),
    }
}

/// The kind of `value`, or the value itself if it is short.
pub(super) fn found(value: &DeValue<'_>) -> String {
    match value {
        DeValue::String(_) => String::from("a string"),
        DeValue::Integer(number) => format!("the number {number}"),
        DeValue::Float(number) => format!("the number {}", number.as_str()),
        DeValue::Boolean(on) => on.to_string(),
        DeValue::Datetime(_) => String::from("a date"),
        DeValue::Array(_) => String::from("an array"),
        DeValue::Table(_) => String::from("a table"),
    }
}

/// A value that a table results in: an environment variable overrides the file, and the file overrides the default.
#[derive(Debug, Clone)]
pub(crate) struct Value {
    /// The key's name in the file.
    pub(crate) name: String,
    /// Its value, as it would be written in a file.
    pub(crate) value: String,
    /// Where it comes from.
    pub(crate) origin: Origin,
}

impl Value {
    /// The value on one line; an endpoint without its password.
    pub(crate) fn shown(&self) -> String {
        match self.name.as_str() {
            "endpoint" => format!("\"{}\"", one_line(&shown_endpoint(self.value.trim_matches('"')))),
            _ => one_line(&self.value).into_owned(),
        }
    }
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

/// The default of a key as text.
pub(super) fn default_of(flag: &Arg) -> Option<String> {
    let defaults: Vec<_> = flag.get_default_values().iter().map(|value| value.to_string_lossy()).collect();
    (!is_switch(flag) && !defaults.is_empty()).then(|| defaults.join(","))
}

/// `text`, a value of the command line, as a number if a file would have one.
pub(super) fn written(flag: &Arg, text: &str) -> Json {
    let number = text.parse::<u64>().ok().filter(|_| kind(flag).has_type("integer"));
    number.map_or_else(|| json!(text), |number| json!(number))
}
