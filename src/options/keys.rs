//! The tables of `curtail.toml`. The keys of a table are the flags of a command, so a table is read as a command line: the
//! names, defaults, values and conflicts of a key are those of its flag, and the type of the flag says what a file may contain.

use std::any::TypeId;
use std::collections::HashMap;
use std::ffi::{OsStr, OsString};
use std::fmt::Display;
use std::num::NonZeroUsize;
use std::ops::Range;
use std::path::{Path, PathBuf};

use clap::error::ContextKind;
use clap::{Arg, ArgAction, ArgMatches, Args, Command, ValueHint};
use serde_json::{Map, Value as Json, json};
use toml::Spanned;
use toml::de::{DeInteger, DeTable, DeValue};

use crate::options::counting::TOKENIZERS;
use crate::options::effects::{Ineffective, ineffective};
use crate::options::numbers::{Amount, Bytes, Tokens, signed};
use crate::options::processor::{Options, TRUSTED};
use curtail_core::error::TextPlace;
use curtail_core::suggest::unknown;
use curtail_core::visible::one_line;
use curtail_io::{ErrorKind, FileError};
use curtail_memory::summarizers::shown_endpoint;
use curtail_tokens::tokenizers::names_tokenizer_file;

/// A table of a file, whose keys are flags that are read as a `T`.
pub(crate) struct TableSpec<T> {
    /// The name of the table, which is that of the command with these flags.
    pub(crate) name: &'static str,
    /// What precedes the name in messages.
    article: &'static str,
    /// Its keys that are not flags.
    others: &'static [&'static str],
    augment: fn(Command) -> Command,
    read: fn(&ArgMatches) -> Result<T, clap::Error>,
}

/// A kind of processor, by the name of its command.
pub(crate) type ProcessorSpec = TableSpec<Box<dyn Options>>;

/// What flags say.
pub(crate) struct Parsed<T> {
    /// Their values.
    pub(crate) options: T,
    /// The first flag that has no effect.
    pub(crate) ineffective: Option<Ineffective>,
}

/// What a table says.
pub(crate) struct TableRead<T> {
    /// The values of its keys.
    pub(crate) options: T,
    /// The same as text, and the values of all other keys that have one, in the order of the command's help.
    pub(crate) values: Vec<Value>,
    /// The keys in effect that only a trusted file may set, each with its place.
    pub(crate) need_trust: Vec<(String, TextPlace)>,
    /// The error of the first key that has no effect.
    pub(crate) ineffective: Option<FileError>,
}

impl ProcessorSpec {
    /// The kind of processor whose options are `O`.
    pub(crate) const fn of_processor<O: Options + Args + 'static>(name: &'static str) -> Self {
        let read = |matches: &ArgMatches| -> Result<Box<dyn Options>, clap::Error> {
            Ok(Box::new(O::from_arg_matches(matches)?))
        };
        Self { name, article: "a ", others: &["type"], augment: O::augment_args, read }
    }
}

impl<T: Args> TableSpec<T> {
    /// The table `name`, whose keys are the flags of `T` and `others`.
    pub(crate) const fn of(name: &'static str, others: &'static [&'static str]) -> Self {
        Self { name, article: "", others, augment: T::augment_args, read: T::from_arg_matches }
    }
}

impl<T> TableSpec<T> {
    fn command(&self) -> Command {
        let command = Command::new(self.name).no_binary_name(true).disable_help_flag(true);
        let mut command = (self.augment)(command).mut_args(signed);
        command.build();
        command
    }

    /// Reads `flags`, without a command before them.
    ///
    /// # Errors
    /// As on the command line.
    pub(crate) fn parse(&self, flags: &[OsString]) -> Result<Parsed<T>, clap::Error> {
        let matches = self.command().try_get_matches_from(flags)?;
        Ok(Parsed { options: (self.read)(&matches)?, ineffective: ineffective(self.name, &matches) })
    }

    /// Reads `table`, the value of `name`.
    ///
    /// # Errors
    /// The first error in the table, with its place.
    pub(crate) fn read(
        &self,
        reader: KeyReader<'_>,
        name: &str,
        table: &TomlValue<'_>,
    ) -> Result<TableRead<T>, FileError> {
        let members = reader.table(name, table)?;
        let command = self.command();
        let mut given = Vec::new();
        for (name, value) in members.iter().filter(|(name, _)| !self.others.contains(&name.get_ref().as_ref())) {
            let key = self.given(reader, &command, name, value)?;
            refuse_exclusive(reader, &command, &given, &key)?;
            given.push(key);
        }
        let is_missing = |flag: &&Arg| flag.is_required_set() && given.iter().all(|key| key.flag != *flag);
        if let Some(missing) = keys(&command).find(is_missing) {
            return Err(reader.error(table.span(), format!("this `{}` needs `{}`", self.name, name_of(missing))));
        }
        given.retain(|key| !reader.is_overridden(&command, key.flag));
        let flags: Vec<OsString> = given.iter().flat_map(|key| key.words.clone()).collect();
        let parsed = self.parse(&flags).map_err(|error| refused(reader, &given, table, &error))?;
        let ineffective = parsed.ineffective.map(|flag| {
            let key = given.iter().find(|key| name_of(key.flag) == flag.flag);
            reader.error(key.map_or(table.span(), |key| key.span.clone()), flag.in_file())
        });
        let trusted = given.iter().filter(|key| key.needs_trust);
        let need_trust: Vec<_> = trusted.map(|key| (key.name.clone(), reader.place(key.span.start))).collect();
        // Whether the file may have these keys is the first question.
        if let (Some(error), true) = (&ineffective, need_trust.is_empty()) {
            return Err(error.clone());
        }
        let values = keys(&command).filter_map(|flag| reader.value(flag, &given)).collect();
        Ok(TableRead { options: parsed.options, values, need_trust, ineffective })
    }

    /// Reads a key with its value.
    fn given<'c>(
        &self,
        reader: KeyReader<'_>,
        command: &'c Command,
        name: &TomlKey<'_>,
        value: &TomlValue<'_>,
    ) -> Result<Given<'c>, FileError> {
        let Some(flag) = flag_named(command, name.get_ref()) else {
            return Err(reader.error(name.span(), self.unknown_key(reader, command, name.get_ref())));
        };
        let values = values(reader, flag, name.get_ref(), value)?;
        Ok(Given {
            flag,
            name: name.get_ref().to_string(),
            span: name.span(),
            shown: shown(value.get_ref()),
            words: values.iter().filter_map(|value| reader.word(command, flag, value)).collect(),
            needs_trust: reader.needs_trust(command, flag, &values),
        })
    }

    fn unknown_key(&self, reader: KeyReader<'_>, command: &Command, name: &str) -> String {
        let called = format!("{}`{}`", self.article, self.name);
        let known: Vec<&str> = self.others.iter().copied().chain(keys(command).flat_map(names)).collect();
        match reader.specs.iter().find(|other| flag_named(&other.command(), name).is_some()) {
            Some(other) => format!("`{name}` is a key of a `{}`; {called} takes {}", other.name, known.join(", ")),
            None => unknown(&format!("{called} has no key"), name, &known),
        }
    }
}

// A key of a table is a flag with a long name.

pub(crate) type TomlKey<'i> = Spanned<std::borrow::Cow<'i, str>>;

pub(crate) type TomlValue<'i> = Spanned<DeValue<'i>>;

/// A key that a table has.
struct Given<'c> {
    flag: &'c Arg,
    /// Its name in the file, which may be an alias.
    name: String,
    /// The bytes of the name in the file.
    span: Range<usize>,
    /// The value on one line.
    shown: String,
    /// The same as words of a command line.
    words: Vec<OsString>,
    needs_trust: bool,
}

/// The keys of a table, in the order of the command's help.
fn keys(command: &Command) -> impl Iterator<Item = &Arg> {
    command.get_arguments().filter(|flag| flag.get_long().is_some())
}

fn name_of(flag: &Arg) -> &str {
    flag.get_long().unwrap_or_default()
}

/// The name of a key, and its aliases.
fn names(flag: &Arg) -> Vec<&str> {
    flag.get_long_and_visible_aliases().unwrap_or_default()
}

fn flag_named<'c>(command: &'c Command, name: &str) -> Option<&'c Arg> {
    keys(command).find(|flag| names(flag).contains(&name))
}

fn is_switch(flag: &Arg) -> bool {
    !flag.get_action().takes_values()
}

fn is_list(flag: &Arg) -> bool {
    matches!(flag.get_action(), ArgAction::Append)
}

/// Whether a value is always a file.
fn is_file(flag: &Arg) -> bool {
    flag.get_value_parser().type_id() == TypeId::of::<PathBuf>()
}

/// Whether a value may be a file or a name.
fn may_be_file(flag: &Arg) -> bool {
    flag.get_value_hint() == ValueHint::FilePath
}

fn in_group(command: &Command, group: &str, flag: &Arg) -> bool {
    let mut groups = command.get_groups().filter(|other| other.get_id() == group);
    groups.any(|group| group.get_args().any(|id| id == flag.get_id()))
}

/// Whether the switch `one` is the switch `other` with `no-`.
fn negates(one: &Arg, other: &Arg) -> bool {
    is_switch(one) && is_switch(other) && name_of(one).strip_prefix("no-") == Some(name_of(other))
}

fn are_opposite(one: &Arg, other: &Arg) -> bool {
    negates(one, other) || negates(other, one)
}

/// Why a table cannot have both keys, if it cannot.
fn exclusion(command: &Command, one: &Arg, other: &Arg) -> Option<&'static str> {
    if one == other || are_opposite(one, other) {
        return Some("set the same option");
    }
    let conflicts =
        [(one, other), (other, one)].map(|(one, other)| command.get_arg_conflicts_with(one).contains(&other));
    conflicts.contains(&true).then_some("exclude each other")
}

fn refuse_exclusive(
    reader: KeyReader<'_>,
    command: &Command,
    given: &[Given<'_>],
    key: &Given<'_>,
) -> Result<(), FileError> {
    for other in given {
        if let Some(reason) = exclusion(command, other.flag, key.flag) {
            let first = if other.span.start < key.span.start { other } else { key };
            let reason = format!("`{}` and `{}` {reason}; keep one of them", other.name, key.name);
            return Err(reader.error(first.span.clone(), reason));
        }
    }
    Ok(())
}

/// The error of a value that its flag refuses.
fn refused(reader: KeyReader<'_>, given: &[Given<'_>], table: &TomlValue<'_>, error: &clap::Error) -> FileError {
    let flag = error.get(ContextKind::InvalidArg).map(ToString::to_string);
    let reason = std::error::Error::source(error).map_or_else(|| first_line(error), ToString::to_string);
    match given.iter().find(|key| flag.as_ref() == Some(&key.flag.to_string())) {
        Some(key) => reader.error(key.span.clone(), format!("`{}`: {reason}", key.name)),
        None => reader.error(table.span(), reason),
    }
}

/// The error without usage and hints.
pub(crate) fn first_line(error: &clap::Error) -> String {
    let text = error.to_string();
    // They follow the first empty line.
    let lines: Vec<&str> = text.lines().map(str::trim).take_while(|line| !line.is_empty()).collect();
    lines.join(" ").trim_start_matches("error: ").to_owned()
}

// The values of a key.

/// What a key takes.
struct Kind {
    description: &'static str,
    /// The types of its values, by their names in a JSON Schema.
    types: &'static [&'static str],
    /// The smallest number.
    minimum: Option<u64>,
}

impl Kind {
    /// Whether a value of this type is one.
    fn has_type(&self, name: &str) -> bool {
        self.types.contains(&name) || name == "integer" && self.types.contains(&"number")
    }
}

const SWITCH: Kind = Kind { description: "true or false", types: &["boolean"], minimum: None };
const WHOLE: Kind = Kind { description: "a whole number", types: &["integer"], minimum: Some(0) };
const POSITIVE: Kind = Kind { minimum: Some(1), ..WHOLE };
const BYTES: Kind =
    Kind { description: "a number of bytes, such as 800000 or \"800k\"", types: &["integer", "string"], minimum: None };
const TOKENS: Kind = Kind { description: "a number of tokens, such as 16000 or \"16k\"", ..BYTES };
const TEXT: Kind = Kind { description: "a string", types: &["string"], minimum: None };
const ANY: Kind = Kind { description: "a string or a number", types: &["string", "number"], minimum: None };

/// What a key takes, by the type of the flag's values.
fn kind(flag: &Arg) -> &'static Kind {
    let kinds: [(TypeId, &Kind); 9] = [
        (TypeId::of::<usize>(), &WHOLE),
        (TypeId::of::<u64>(), &WHOLE),
        (TypeId::of::<u32>(), &WHOLE),
        (TypeId::of::<NonZeroUsize>(), &POSITIVE),
        (TypeId::of::<Bytes>(), &BYTES),
        (TypeId::of::<Tokens>(), &TOKENS),
        (TypeId::of::<Amount>(), &TOKENS),
        (TypeId::of::<String>(), &TEXT),
        (TypeId::of::<PathBuf>(), &TEXT),
    ];
    let of_type = || kinds.iter().find(|(id, _)| flag.get_value_parser().type_id() == *id);
    match flag {
        _ if is_switch(flag) => &SWITCH,
        _ if !choices(flag).is_empty() => &TEXT,
        _ => of_type().map_or(&ANY, |(_, kind)| kind),
    }
}

/// The values that a key may have, if they are listed.
fn choices(flag: &Arg) -> Vec<String> {
    let listed = flag.get_possible_values().into_iter().filter(|value| !is_switch(flag) && !value.is_hide_set());
    listed.map(|value| value.get_name().to_owned()).collect()
}

/// The values of a key, each as the command line takes it.
fn values(reader: KeyReader<'_>, flag: &Arg, name: &str, value: &TomlValue<'_>) -> Result<Vec<String>, FileError> {
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
    if !choices.is_empty() && !choices.contains(&text) {
        let known: Vec<&str> = choices.iter().map(String::as_str).collect();
        return Err(reader.error(value.span(), unknown(&format!("`{name}` cannot be"), &text, &known)));
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
fn shown(value: &DeValue<'_>) -> String {
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
fn found(value: &DeValue<'_>) -> String {
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
fn default_of(flag: &Arg) -> Option<String> {
    let defaults: Vec<_> = flag.get_default_values().iter().map(|value| value.to_string_lossy()).collect();
    (!is_switch(flag) && !defaults.is_empty()).then(|| defaults.join(","))
}

/// `text`, a value of the command line, as a number if a file would have one.
fn written(flag: &Arg, text: &str) -> Json {
    let number = text.parse::<u64>().ok().filter(|_| kind(flag).types.contains(&"integer"));
    number.map_or_else(|| json!(text), |number| json!(number))
}

/// What reading a table needs: its file, to compute the places of errors, the folder that its paths are resolved against, the
/// processors whose keys may be meant, and the environment.
#[derive(Clone, Copy)]
pub(crate) struct KeyReader<'r> {
    pub(crate) file: &'r str,
    pub(crate) text: &'r str,
    pub(crate) folder: &'r Path,
    pub(crate) specs: &'static [ProcessorSpec],
    pub(crate) variables: &'r Variables,
}

impl KeyReader<'_> {
    /// An error of the whole file.
    pub(crate) fn whole(self, reason: impl Display) -> FileError {
        FileError::new(ErrorKind::Content, self.file, reason.to_string())
    }

    /// An error at `span`.
    pub(crate) fn error(self, span: Range<usize>, reason: impl Display) -> FileError {
        self.whole(reason).at(self.place(span.start))
    }

    /// The error of a `value` that is not what `name` takes.
    pub(crate) fn expected(self, value: &TomlValue<'_>, name: &str, wanted: &str) -> FileError {
        self.error(value.span(), format!("`{name}` takes {wanted}, found {}", found(value.get_ref())))
    }

    pub(crate) fn place(self, offset: usize) -> TextPlace {
        TextPlace::locate(self.text.as_bytes(), offset, 1)
    }

    /// The file as a table.
    pub(crate) fn root(&self) -> Result<Spanned<DeTable<'_>>, FileError> {
        DeTable::parse(self.text).map_err(|error| {
            let reason = match error.message().trim().replace('\n', "; ") {
                message if message.contains("recursion depth") => {
                    String::from("arrays or tables are nested too deeply; no setting needs more than four levels")
                }
                message => message,
            };
            self.error(error.span().unwrap_or_default(), reason)
        })
    }

    /// The table that is the value of `name`.
    pub(crate) fn table<'t, 'i>(self, name: &str, value: &'t TomlValue<'i>) -> Result<&'t DeTable<'i>, FileError> {
        value.get_ref().as_table().ok_or_else(|| self.expected(value, name, "a table"))
    }

    /// The tables of the array under `name`, which a file writes under `header`; none if it is absent.
    pub(crate) fn tables<'t, 'i>(
        self,
        members: &'t DeTable<'i>,
        name: &str,
        header: &str,
    ) -> Result<&'t [TomlValue<'i>], FileError> {
        let Some(value) = members.get(name) else { return Ok(&[]) };
        let tables = value.get_ref().as_array().ok_or(value);
        let other = |tables: &'t [TomlValue<'i>]| tables.iter().find(|table| !table.get_ref().is_table());
        tables.and_then(|tables| other(tables).map_or(Ok(&**tables), Err)).map_err(|other| {
            self.expected(other, name, &format!("an array of tables, each under a `[[{header}]]` of its own"))
        })
    }

    /// Whether only a trusted file may set the key to these values.
    fn needs_trust(self, command: &Command, flag: &Arg, values: &[String]) -> bool {
        let mut files = values.iter().filter(|value| names_tokenizer_file(value) || self.folder.join(value).exists());
        is_file(flag) || in_group(command, TRUSTED, flag) || may_be_file(flag) && files.next().is_some()
    }

    /// The word of a command line for `value`; for a switch that is off, that of its opposite if it has one.
    fn word(self, command: &Command, flag: &Arg, value: &str) -> Option<OsString> {
        if is_switch(flag) {
            let opposite = || keys(command).find(|other| are_opposite(flag, other));
            let flag = if value == "true" { Some(flag) } else { opposite() };
            return flag.map(|flag| OsString::from(format!("--{}", name_of(flag))));
        }
        let mut word = OsString::from(format!("--{}=", name_of(flag)));
        let path = self.folder.join(value);
        let is_path = is_file(flag) || may_be_file(flag) && path.exists();
        word.push(if is_path { path.as_os_str() } else { OsStr::new(value) });
        Some(word)
    }

    /// Whether a variable overrides what a file says under this key. A variable that names a tokenizer overrides a model as
    /// well.
    fn is_overridden(self, command: &Command, flag: &Arg) -> bool {
        let rivals =
            keys(command).filter(|other| [*other, flag].iter().all(|flag| in_group(command, TOKENIZERS, flag)));
        rivals.chain([flag]).filter_map(Arg::get_env).any(|name| self.variables.0.contains_key(name))
    }

    /// The value of `flag` in the end, if it has one.
    fn value(self, flag: &Arg, given: &[Given<'_>]) -> Option<Value> {
        let variable = flag.get_env().and_then(|name| Some((name, self.variables.0.get(name)?.to_str()?)));
        let key = given.iter().find(|key| key.flag == flag);
        let (value, origin) = match (variable, key) {
            (Some((name, text)), _) => {
                (written(flag, text).to_string(), Origin::Variable(name.to_string_lossy().into_owned()))
            }
            (None, Some(key)) => (key.shown.clone(), Origin::File(self.place(key.span.start).line)),
            (None, None) => (written(flag, &default_of(flag)?).to_string(), Origin::Default),
        };
        Some(Value { name: key.map_or_else(|| name_of(flag).to_owned(), |key| key.name.clone()), value, origin })
    }
}

/// Environment variables by name, read once and passed down.
#[derive(Debug, Clone, Default)]
pub(crate) struct Variables(HashMap<OsString, OsString>);

impl Variables {
    /// The variables of this process.
    pub(crate) fn of_process() -> Self {
        Self(std::env::vars_os().collect())
    }

    /// The variable's text, if it is set and is Unicode.
    pub(crate) fn text(&self, name: &str) -> Option<&str> {
        self.0.get(OsStr::new(name)).and_then(|value| value.to_str())
    }

    /// The folder that `variable` names, else the folder `below` the user's home, by the XDG base directory specification.
    pub(crate) fn user_folder(&self, variable: &str, below: &str) -> Option<PathBuf> {
        let set = |name| self.0.get(OsStr::new(name)).map(PathBuf::from).filter(|path| path.is_absolute());
        set(variable).or_else(|| set("HOME").map(|home| home.join(below)))
    }
}

// A JSON Schema of `curtail.toml`, with which editors complete and check the file.

/// The schema (draft 2020-12) of a file with processors of these kinds; `check` is the schema of the table of `curtail check`.
pub(crate) fn schema(specs: &[ProcessorSpec], check: &Json) -> Json {
    let processors = json!({"type": "array", "items": {"$ref": "#/$defs/processor"}});
    let level = json!({"type": "object", "additionalProperties": false, "properties": {"processors": processors}});
    let agents = json!({"type": "object", "additionalProperties": {"$ref": "#/$defs/level"}});
    let kinds = specs.iter().map(|spec| (spec.name, spec.schema(json!({"type": {"const": spec.name}}), &["type"])));
    let definitions: Map<_, _> = [("level", level), ("processor", any_processor(specs))]
        .into_iter()
        .chain(kinds)
        .map(|(name, value)| (name.to_owned(), value))
        .collect();
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "curtail.toml",
        "type": "object",
        "additionalProperties": false,
        "properties": {
            "history": {
                "description": "Processors for every transcript, first in the chain",
                "$ref": "#/$defs/level",
            },
            "networks": {
                "description": "Networks by name; their processors come after those of history",
                "type": "object",
                "additionalProperties": {
                    "type": "object",
                    "additionalProperties": false,
                    "properties": {"processors": processors, "agents": agents},
                },
            },
            "agents": agents,
            "check": check,
            "dialects": {
                "description": "Dialects that are described here, with the keys of a description",
                "type": "array",
                "items": {
                    "type": "object",
                    "required": ["name"],
                    "properties": {"name": {"description": "The name that --dialect takes", "type": "string"}},
                },
            },
        },
        "$defs": definitions,
    })
}

/// A schema in which the type of a processor selects its definition. An editor then reports the errors of a window, and not
/// that it is not a filter.
fn any_processor(specs: &[ProcessorSpec]) -> Json {
    let conditions = specs.iter().map(|ProcessorSpec { name, .. }| {
        let has_type = json!({"required": ["type"], "properties": {"type": {"const": name}}});
        json!({"if": has_type, "then": {"$ref": format!("#/$defs/{name}")}})
    });
    json!({
        "type": "object",
        "required": ["type"],
        "properties": {"type": {"enum": specs.iter().map(|spec| spec.name).collect::<Vec<_>>()}},
        "allOf": conditions.collect::<Vec<_>>(),
    })
}

impl<T> TableSpec<T> {
    /// The schema of the table, with these `properties` besides its flags, of which some are `required`.
    pub(crate) fn schema(&self, mut properties: Json, required: &[&str]) -> Json {
        let command = self.command();
        let keys: Vec<(&str, &Arg)> =
            keys(&command).flat_map(|flag| names(flag).into_iter().map(move |name| (name, flag))).collect();
        for (name, flag) in &keys {
            properties[*name] = property(flag);
        }
        let needed = keys.iter().filter(|(name, flag)| flag.is_required_set() && *name == name_of(flag));
        let required: Vec<&str> = required.iter().copied().chain(needed.map(|(name, _)| *name)).collect();
        let mut table = json!({"type": "object", "additionalProperties": false, "properties": properties});
        if let Some(about) = command.get_about() {
            table["description"] = json!(about.to_string());
        }
        let pairs = keys.iter().enumerate().flat_map(|(nth, one)| keys[..nth].iter().map(move |other| (other, one)));
        let exclusive = pairs.filter(|((_, one), (_, other))| exclusion(&command, one, other).is_some());
        let exclusions: Vec<Json> =
            exclusive.map(|((one, _), (other, _))| json!({"not": {"required": [one, other]}})).collect();
        // An empty list is not a valid schema.
        for (name, list) in [("required", json!(required)), ("allOf", json!(exclusions))] {
            if list != json!([]) {
                table[name] = list;
            }
        }
        table
    }
}

fn property(flag: &Arg) -> Json {
    let kind = kind(flag);
    let choices = choices(flag);
    let mut one = match kind.types {
        _ if !choices.is_empty() => json!({"enum": choices}),
        [only] => json!({"type": only}),
        several => json!({"type": several}),
    };
    if let Some(minimum) = kind.minimum {
        one["minimum"] = json!(minimum);
    }
    let mut property = match is_list(flag) {
        true => json!({"anyOf": [one, {"type": "array", "minItems": 1, "items": one}]}),
        false => one,
    };
    property["description"] = json!(flag.get_help().map(ToString::to_string).unwrap_or_default());
    if let Some(default) = default_of(flag) {
        property["default"] = written(flag, &default);
    }
    property
}
