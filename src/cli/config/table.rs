//! A processor's table: its keys become the flags of its command, so that the same rules apply to both.

use std::collections::HashMap;
use std::ffi::{OsStr, OsString};
use std::ops::Range;
use std::path::{Path, PathBuf};

use clap::ArgMatches;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use toml::de::{DeInteger, DeTable, DeValue};

use super::keys::{FileValue, OptionKey, Shape};
use super::{ConfigSource, Item, Key, MAX_FOUND_PROCESSORS, NAMING_ADVICE, TableReader};
use crate::cli::options::{ProcessorSpec, Reads};
use curtail_core::error::{FileError, TextPlace};
use curtail_core::suggest::unknown;
use curtail_tokens::tokenizers::names_tokenizer_file;

/// A processor with its configuration.
#[derive(Debug, Clone)]
pub(crate) struct ProcessorEntry {
    /// The processor.
    pub(crate) spec: &'static ProcessorSpec,
    /// The values of all keys that have one, in the order of the command's help.
    pub(crate) values: Vec<Value>,
    /// The place of its table.
    pub(crate) place: TextPlace,
    /// The keys in effect that only a trusted file may set, each with its place.
    pub(super) need_trust: Vec<(String, TextPlace)>,
    /// The values of the keys, as parsed flags.
    pub(super) flags: ArgMatches,
}

impl ProcessorEntry {
    /// The files that it reads.
    pub(crate) fn files(&self) -> Reads {
        self.spec.files(&self.flags)
    }
}

/// Reads the table of a processor.
pub(super) fn read_processor(reader: TableReader<'_>, table: &Item<'_>) -> Result<ProcessorEntry, FileError> {
    let TableReader { source, folder, specs, variables, remaining } = reader;
    let Some(rest) = remaining.get().checked_sub(1) else {
        let what =
            format!("a file that was found may contain at most {MAX_FOUND_PROCESSORS} processors; {NAMING_ADVICE}");
        return Err(source.error(table.span(), what));
    };
    remaining.set(rest);
    let DeValue::Table(members) = table.get_ref() else {
        return Err(source.error(table.span(), format!("expected a table, found {}", found(table.get_ref()))));
    };
    let spec = spec(source, specs, table.span(), members)?;
    let keys = spec.keys();
    let mut given: Vec<Given> = Vec::new();
    let (mut flags, mut need_trust) = (Vec::new(), Vec::new());
    for (name, value) in members.iter().filter(|(name, _)| name.get_ref() != "type") {
        let key = key(reader, spec, &keys, name)?;
        refuse_repeated(source, &given, key, name)?;
        let values = flag_values(source, name.get_ref(), key, value)?;
        if !is_overridden(key, variables) {
            flags.extend(values.iter().filter_map(|value| flag(key, value, folder)));
            let needs_trust = key.needs_trust || values.iter().any(|value| names_file(key, value, folder));
            need_trust.extend(needs_trust.then(|| (name.get_ref().to_string(), source.place(name.span().start))));
        }
        let (key, name, span) = (key.clone(), name.get_ref().to_string(), name.span());
        given.push(Given { key, name, value: shown(value.get_ref()), line: source.place(span.start).line, span });
    }
    let flags = spec.parse_flags(&flags).map_err(|error| flag_error(source, spec, &given, table.span(), &error))?;
    let values = keys.iter().filter_map(|key| value(key, &given, variables)).collect();
    Ok(ProcessorEntry { spec, values, place: source.place(table.span().start), need_trust, flags })
}

fn spec(
    source: ConfigSource<'_>,
    specs: &'static [ProcessorSpec],
    span: Range<usize>,
    members: &DeTable<'_>,
) -> Result<&'static ProcessorSpec, FileError> {
    let names: Vec<&str> = specs.iter().map(|spec| spec.name).collect();
    let Some(value) = members.get("type") else {
        return Err(source.error(span, format!("a processor needs a `type`: one of {}", names.join(", "))));
    };
    let Some(name) = value.get_ref().as_str() else {
        let what = format!("`type` takes a string, found {}", found(value.get_ref()));
        return Err(source.error(value.span(), what));
    };
    specs
        .iter()
        .find(|spec| spec.name == name)
        .ok_or_else(|| source.error(value.span(), unknown("there is no processor", name, &names)))
}

fn key<'k>(
    reader: TableReader<'_>,
    spec: &ProcessorSpec,
    keys: &'k [OptionKey],
    name: &Key<'_>,
) -> Result<&'k OptionKey, FileError> {
    let wanted: &str = name.get_ref();
    if let Some(key) = keys.iter().find(|key| key.is_called(wanted)) {
        return Ok(key);
    }
    let names = keys.iter().flat_map(|key| std::iter::once(&key.name).chain(&key.aliases));
    let known: Vec<&str> = std::iter::once("type").chain(names.map(String::as_str)).collect();
    let mut what = unknown(&format!("a `{}` has no key", spec.name), wanted, &known);
    let elsewhere = reader.specs.iter().find(|other| other.keys().iter().any(|key| key.is_called(wanted)));
    if let Some(other) = elsewhere {
        what = format!("`{wanted}` is a key of a `{}`; a `{}` takes {}", other.name, spec.name, known.join(", "));
    }
    Err(reader.source.error(name.span(), what))
}

/// Refuses a key that is also given under another name, or together with its opposite.
fn refuse_repeated(
    source: ConfigSource<'_>,
    given: &[Given],
    key: &OptionKey,
    name: &Key<'_>,
) -> Result<(), FileError> {
    let same = |other: &&Given| other.key.name == key.name || key.opposite.as_ref() == Some(&other.key.name);
    given.iter().find(same).map_or(Ok(()), |other| {
        let what = format!("`{}` and `{}` set the same option; keep one of them", other.name, name.get_ref());
        Err(source.error(name.span(), what))
    })
}

/// The values of a key, each as the command line takes it.
fn flag_values(
    source: ConfigSource<'_>,
    name: &str,
    key: &OptionKey,
    value: &Item<'_>,
) -> Result<Vec<String>, FileError> {
    let DeValue::Array(values) = value.get_ref() else { return Ok(vec![flag_value(source, name, key, value)?]) };
    if !key.is_list {
        let what = format!("`{name}` takes {}, found an array", key.shape.description());
        return Err(source.error(value.span(), what));
    }
    if values.is_empty() {
        let what = format!("`{name}` is empty; give at least one value, or remove the key");
        return Err(source.error(value.span(), what));
    }
    values.iter().map(|value| flag_value(source, name, key, value)).collect()
}

fn flag_value(source: ConfigSource<'_>, name: &str, key: &OptionKey, value: &Item<'_>) -> Result<String, FileError> {
    let word = match (&key.shape, value.get_ref()) {
        (Shape::Switch, DeValue::Boolean(on)) => Some(on.to_string()),
        (Shape::Whole | Shape::Tokens | Shape::Bytes | Shape::Any, DeValue::Integer(number)) => whole(number),
        (Shape::Any, DeValue::Float(number)) => Some(number.as_str().to_owned()),
        (Shape::Tokens | Shape::Bytes | Shape::Text | Shape::Any | Shape::Choice(_), DeValue::String(text)) => {
            Some(text.to_string())
        }
        _ => None,
    };
    let listed = if key.is_list { ", or several in an array" } else { "" };
    let word = word.ok_or_else(|| {
        let what = format!("`{name}` takes {}{listed}, found {}", key.shape.description(), found(value.get_ref()));
        source.error(value.span(), what)
    })?;
    if let Shape::Choice(choices) = &key.shape {
        let known: Vec<&str> = choices.iter().map(String::as_str).collect();
        if !known.contains(&word.as_str()) {
            return Err(source.error(value.span(), unknown(&format!("`{name}` cannot be"), &word, &known)));
        }
    }
    Ok(word)
}

/// Whether `word`, which may be a name or a path, is the path of a file.
fn names_file(key: &OptionKey, word: &str, folder: &Path) -> bool {
    key.path == FileValue::IfExists && (names_tokenizer_file(word) || folder.join(word).exists())
}

/// The flag for the value `word`; for a switch that is off, its opposite if it has one.
fn flag(key: &OptionKey, word: &str, folder: &Path) -> Option<OsString> {
    match (&key.shape, word) {
        (Shape::Switch, "true") => Some(OsString::from(format!("--{}", key.name))),
        (Shape::Switch, _) => key.opposite.as_ref().map(|other| OsString::from(format!("--{other}"))),
        _ => {
            let mut flag = OsString::from(format!("--{}=", key.name));
            let beside = folder.join(word);
            match key.path {
                FileValue::Always => flag.push(beside),
                FileValue::IfExists if beside.exists() => flag.push(beside),
                _ => flag.push(word),
            }
            Some(flag)
        }
    }
}

/// A clap error, worded for a file.
fn flag_error(
    source: ConfigSource<'_>,
    spec: &ProcessorSpec,
    given: &[Given],
    table: Range<usize>,
    error: &clap::Error,
) -> FileError {
    let flags_in = |context| match error.get(context) {
        Some(ContextValue::String(flag)) => vec![flag_name(flag)],
        Some(ContextValue::Strings(flags)) => flags.iter().map(|flag| flag_name(flag)).collect(),
        _ => Vec::new(),
    };
    let wrong = flags_in(ContextKind::InvalidArg);
    let culprit = wrong.first().and_then(|name| given.iter().find(|given| given.key.name == *name));
    let name_in_file = |name: &str| {
        given.iter().find(|given| given.key.name == name).map_or(name.to_owned(), |given| given.name.clone())
    };
    let what = match error.kind() {
        ErrorKind::ArgumentConflict if !wrong.is_empty() => {
            let prior = flags_in(ContextKind::PriorArg);
            let names: Vec<String> =
                wrong.iter().chain(&prior).map(|name| format!("`{}`", name_in_file(name))).collect();
            format!("{} exclude each other; keep one of them", names.join(" and "))
        }
        ErrorKind::MissingRequiredArgument => {
            format!(
                "this `{}` needs {}",
                spec.name,
                wrong.iter().map(|name| quoted(name)).collect::<Vec<_>>().join(" and ")
            )
        }
        _ => {
            let message = std::error::Error::source(error).map_or_else(|| first_line(error), ToString::to_string);
            culprit.map_or_else(|| message.clone(), |culprit| format!("`{}`: {message}", culprit.name))
        }
    };
    source.error(culprit.map_or(table, |culprit| culprit.span.clone()), what)
}

/// A name in quotes. A group of flags, `<--a <N>|--b>`, is each of its names.
fn quoted(name: &str) -> String {
    let names: Vec<_> = name.trim_matches(['<', '>']).split('|').map(|flag| format!("`{}`", flag_name(flag))).collect();
    names.join(" or ")
}

/// The name of a flag, without dashes and value: `max-tokens` of `--max-tokens <N>`. A group of flags keeps all of its text.
fn flag_name(flag: &str) -> String {
    if flag.contains('|') {
        return flag.to_owned();
    }
    flag.trim_start_matches('-').split([' ', '=', '[']).next().unwrap_or_default().to_owned()
}

fn first_line(error: &clap::Error) -> String {
    let text = error.to_string();
    let line = text.lines().next().unwrap_or_default();
    line.strip_prefix("error: ").unwrap_or(line).to_owned()
}

// The values that a processor runs with, and where each comes from: an environment variable overrides the file, and the
// file overrides the default.

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

/// Whether a variable overrides the value that a file has for `key`.
fn is_overridden(key: &OptionKey, variables: &Variables) -> bool {
    key.overriding_variables().any(|name| variables.is_set(name))
}

/// `text`, a value of the command line, as it would be written in the file.
fn written(key: &OptionKey, text: &str) -> String {
    match key.shape {
        Shape::Whole | Shape::Tokens | Shape::Bytes if text.parse::<u64>().is_ok() => text.to_owned(),
        _ => format!("{text:?}"),
    }
}

// The environment, read once and passed down.

/// Environment variables by name.
#[derive(Debug, Clone, Default)]
pub(crate) struct Variables(HashMap<OsString, OsString>);

impl Variables {
    /// The variables of this process.
    pub(crate) fn of_process() -> Self {
        Self(std::env::vars_os().collect())
    }

    /// Whether the variable is set, even to nothing.
    pub(super) fn is_set(&self, name: &str) -> bool {
        self.0.contains_key(OsStr::new(name))
    }

    /// The variable's text, if it is set and is Unicode.
    pub(super) fn text(&self, name: &str) -> Option<&str> {
        self.0.get(OsStr::new(name)).and_then(|value| value.to_str())
    }

    /// The folder that `variable` names, else the folder `below` the user's home, by the XDG base directory specification.
    pub(in crate::cli) fn user_folder(&self, variable: &str, below: &str) -> Option<PathBuf> {
        let set = |name| self.0.get(OsStr::new(name)).map(PathBuf::from).filter(|path| path.is_absolute());
        set(variable).or_else(|| set("HOME").map(|home| home.join(below)))
    }
}

// Values of a TOML file in messages.

/// The kind of `value`, or the value itself if it is short.
pub(super) fn found(value: &DeValue<'_>) -> String {
    match value {
        DeValue::String(_) => String::from("a string"),
        DeValue::Integer(number) => format!("the number {}", number.as_str()),
        DeValue::Float(number) => format!("the number {}", number.as_str()),
        DeValue::Boolean(on) => on.to_string(),
        DeValue::Datetime(_) => String::from("a date"),
        DeValue::Array(_) => String::from("an array"),
        DeValue::Table(_) => String::from("a table"),
    }
}

/// A whole number in decimal digits, whatever its radix in the file.
pub(super) fn whole(number: &DeInteger<'_>) -> Option<String> {
    i64::from_str_radix(number.as_str(), number.radix()).ok().map(|number| number.to_string())
}

/// `value` on one line.
pub(super) fn shown(value: &DeValue<'_>) -> String {
    match value {
        DeValue::Array(values) => {
            let values: Vec<String> = values.iter().map(|value| shown(value.get_ref())).collect();
            format!("[{}]", values.join(", "))
        }
        DeValue::String(text) => format!("{:?}", text.as_ref()),
        DeValue::Integer(number) => whole(number).unwrap_or_else(|| number.as_str().to_owned()),
        DeValue::Float(number) => number.as_str().to_owned(),
        other => found(other),
    }
}
