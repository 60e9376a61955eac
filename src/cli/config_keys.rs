//! The flags of a command as keys of a table: the name of each, its values, and their JSON Schema.

use std::any::TypeId;
use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::{Arg, ArgAction, ArgGroup, Command, ValueHint};

use serde_json::{Map, Value, json};

use super::options::{Amount, Bytes, ProcessorSpec, Tokens};

/// A flag, as a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct OptionKey {
    /// The flag's long name, without dashes.
    pub(crate) name: String,
    /// Other names of the flag.
    pub(crate) aliases: Vec<String>,
    /// Its help, on one line.
    pub(crate) help: String,
    /// The kind of its values.
    pub(crate) shape: Shape,
    /// Whether it takes several values.
    pub(crate) is_list: bool,
    /// The default.
    pub(crate) default: Option<String>,
    /// Whether it must be given.
    pub(crate) is_required: bool,
    /// The opposite flag, for a switch that has one.
    pub(crate) opposite: Option<String>,
    /// Whether a value names a file, which is then resolved against the configuration file's folder.
    pub(crate) path: FileValue,
    /// The environment variable that sets the flag.
    pub(crate) variable: Option<String>,
    /// The minimum of an integer.
    pub(crate) minimum: u64,
    /// The keys that exclude it.
    pub(crate) conflicts: Vec<String>,
    /// The variables of equivalent flags.
    pub(crate) rivals: Vec<String>,
    /// Whether only a trusted file may set it: its value runs a program, reads the store, or names a server, a key or a file.
    pub(crate) needs_trust: bool,
}

/// The keys that need trust although their values do not name a file. `extra-body` can replace the instructions of a request and
/// give the model tools that reach other servers; `thread`, `resource` and `scope` read the user's store.
const NEED_TRUST: [&str; 7] = ["summarizer-cmd", "endpoint", "extra-body", "allow-http", "thread", "resource", "scope"];

/// The kind of a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Shape {
    /// True or false.
    Switch,
    /// An integer.
    Whole,
    /// A number of bytes.
    Bytes,
    /// An integer, or a text such as `16k`.
    Tokens,
    /// One of these values.
    Choice(Vec<String>),
    /// Any text.
    Text,
    /// A text or a number.
    Any,
}

/// Whether a value names a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FileValue {
    /// Never.
    Never,
    /// If such a file exists; otherwise it is a name.
    IfExists,
    /// Always.
    Always,
}

impl Shape {
    /// The expected kind, for messages.
    pub(crate) fn description(&self) -> String {
        match self {
            Self::Switch => String::from("true or false"),
            Self::Whole => String::from("a whole number"),
            Self::Bytes => String::from("a number of bytes, such as 800000 or \"800k\""),
            Self::Tokens => String::from("a number of tokens, such as 16000 or \"16k\""),
            Self::Choice(choices) => format!("one of \"{}\"", choices.join("\", \"")),
            Self::Text => String::from("a string"),
            Self::Any => String::from("a string or a number"),
        }
    }
}

impl OptionKey {
    /// The keys of `command`, in the order of its help.
    pub(super) fn all(command: &Command) -> Vec<Self> {
        let flags = command.get_arguments().filter(|flag| flag.get_long().is_some());
        flags.map(|flag| Self::from_flag(command, flag)).collect()
    }

    /// Whether `name` is its name or an alias.
    pub(crate) fn is_called(&self, name: &str) -> bool {
        self.name == name || self.aliases.iter().any(|alias| alias == name)
    }

    /// The variables that override what a file says under this key.
    pub(super) fn overriding_variables(&self) -> impl Iterator<Item = &str> {
        self.variable.iter().chain(&self.rivals).map(String::as_str)
    }

    fn from_flag(command: &Command, flag: &Arg) -> Self {
        let name = flag.get_long().unwrap_or_default().to_owned();
        let shape = shape(flag);
        let defaults: Vec<_> = flag.get_default_values().iter().map(|value| value.to_string_lossy()).collect();
        Self {
            aliases: flag.get_all_aliases().unwrap_or_default().into_iter().map(str::to_owned).collect(),
            help: flag.get_help().map(ToString::to_string).unwrap_or_default(),
            is_list: matches!(flag.get_action(), ArgAction::Append),
            default: (shape != Shape::Switch && !defaults.is_empty()).then(|| defaults.join(",")),
            is_required: flag.is_required_set(),
            opposite: opposite(&name).filter(|_| shape == Shape::Switch).filter(|other| has_flag(command, other)),
            path: path(flag),
            variable: flag.get_env().map(|name| name.to_string_lossy().into_owned()),
            minimum: 0,
            conflicts: conflicts(command, flag),
            rivals: rivals(command, flag),
            needs_trust: path(flag) == FileValue::Always || NEED_TRUST.contains(&name.as_str()),
            name,
            shape,
        }
    }
}

fn shape(flag: &Arg) -> Shape {
    let choices: Vec<String> = flag
        .get_possible_values()
        .iter()
        .filter(|value| !value.is_hide_set())
        .map(|v| v.get_name().to_owned())
        .collect();
    match flag.get_action() {
        ArgAction::SetTrue | ArgAction::SetFalse => Shape::Switch,
        _ if !choices.is_empty() => Shape::Choice(choices),
        _ if has_type::<usize>(flag)
            || has_type::<NonZeroUsize>(flag)
            || has_type::<u64>(flag)
            || has_type::<u32>(flag) =>
        {
            Shape::Whole
        }
        _ if has_type::<Bytes>(flag) => Shape::Bytes,
        _ if has_type::<Tokens>(flag) || has_type::<Amount>(flag) => Shape::Tokens,
        _ if has_type::<String>(flag) || has_type::<PathBuf>(flag) => Shape::Text,
        _ => Shape::Any,
    }
}

fn path(flag: &Arg) -> FileValue {
    match flag.get_value_hint() {
        _ if has_type::<PathBuf>(flag) => FileValue::Always,
        ValueHint::FilePath => FileValue::IfExists,
        _ => FileValue::Never,
    }
}

fn has_type<T: 'static>(flag: &Arg) -> bool {
    flag.get_value_parser().type_id() == TypeId::of::<T>()
}

fn opposite(name: &str) -> Option<String> {
    name.strip_prefix("no-").map_or_else(|| Some(format!("no-{name}")), |bare| Some(bare.to_owned()))
}

fn has_flag(command: &Command, name: &str) -> bool {
    command.get_arguments().any(|flag| flag.get_long() == Some(name))
}

/// The flags that cannot be given with `flag`.
fn conflicts(command: &Command, flag: &Arg) -> Vec<String> {
    let others = command.get_arg_conflicts_with(flag).into_iter().filter_map(Arg::get_long_and_visible_aliases);
    others.flatten().map(str::to_owned).collect()
}

/// The variables of the flags that are in a named group with `flag`. Clap's own group of a struct's flags has the name of
/// the struct, which begins with a capital.
fn rivals(command: &Command, flag: &Arg) -> Vec<String> {
    let named = |group: &&ArgGroup| group.get_id().as_str().starts_with(char::is_lowercase);
    let groups = command.get_groups().filter(named).map(|group| group.get_args().collect::<Vec<_>>());
    let ids: Vec<_> = groups.filter(|ids| ids.contains(&flag.get_id())).flatten().collect();
    let others =
        command.get_arguments().filter(|other| other.get_id() != flag.get_id() && ids.contains(&other.get_id()));
    others.filter_map(Arg::get_env).map(|name| name.to_string_lossy().into_owned()).collect()
}

// A JSON Schema of `curtail.toml`, with which editors complete and check the file.

/// The schema (draft 2020-12) of a file with processors of these kinds; `check` is the schema of the table of `curtail check`.
pub(crate) fn schema(specs: &[ProcessorSpec], check: &Value) -> Value {
    let processors = json!({"type": "array", "items": {"$ref": "#/$defs/processor"}});
    let level = json!({"type": "object", "additionalProperties": false, "properties": {"processors": processors}});
    let agents = json!({"type": "object", "additionalProperties": {"$ref": "#/$defs/level"}});
    let shared = [("level", level), ("processor", any_processor(specs))];
    let kinds = specs.iter().map(|spec| (spec.name, processor(spec)));
    let definitions: Map<_, _> =
        shared.into_iter().chain(kinds).map(|(name, value)| (name.to_owned(), value)).collect();
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
        },
        "$defs": definitions,
    })
}

/// A schema in which the type of a processor selects its definition. An editor then reports the errors of a window, and not
/// that it is not a filter.
fn any_processor(specs: &[ProcessorSpec]) -> Value {
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

fn processor(spec: &ProcessorSpec) -> Value {
    let keys = spec.keys();
    let mut properties = Map::new();
    properties.insert(String::from("type"), json!({"const": spec.name}));
    for key in &keys {
        for name in std::iter::once(&key.name).chain(&key.aliases) {
            properties.insert(name.clone(), property(key));
        }
    }
    let required: Vec<&str> =
        std::iter::once("type").chain(keys.iter().filter(|key| key.is_required).map(|key| key.name.as_str())).collect();
    let mut processor = json!({
        "description": spec.about(),
        "type": "object",
        "additionalProperties": false,
        "required": required,
        "properties": properties,
    });
    let exclusions = exclusions(&keys);
    // An empty list is not a valid schema.
    if !exclusions.is_empty() {
        processor["allOf"] = json!(exclusions);
    }
    processor
}

/// Keys that exclude each other: contradictory ones, and two names of one key.
fn exclusions(keys: &[OptionKey]) -> Vec<Value> {
    let mut pairs = Vec::new();
    for key in keys {
        let names: Vec<&String> = std::iter::once(&key.name).chain(&key.aliases).collect();
        let opposite = key.opposite.as_ref().filter(|other| **other > key.name);
        let others = key.conflicts.iter().chain(&key.aliases).chain(opposite);
        let combinations = others.flat_map(|other| names.iter().map(move |name| (*name, other)));
        pairs.extend(combinations.filter(|(name, other)| name != other));
    }
    pairs.into_iter().map(|(one, other)| json!({"not": {"required": [one, other]}})).collect()
}

fn property(key: &OptionKey) -> Value {
    let one = match &key.shape {
        Shape::Switch => json!({"type": "boolean"}),
        Shape::Whole => json!({"type": "integer", "minimum": key.minimum}),
        Shape::Tokens | Shape::Bytes => json!({"type": ["integer", "string"]}),
        Shape::Choice(choices) => json!({"enum": choices}),
        Shape::Text => json!({"type": "string"}),
        Shape::Any => json!({"type": ["string", "number"]}),
    };
    let mut property =
        if key.is_list { json!({"anyOf": [one, {"type": "array", "minItems": 1, "items": one}]}) } else { one };
    property["description"] = json!(key.help);
    if let Some(default) = &key.default {
        property["default"] = match key.shape {
            Shape::Whole | Shape::Tokens | Shape::Bytes => {
                default.parse::<u64>().map_or_else(|_| json!(default), |number| json!(number))
            }
            _ => json!(default),
        };
    }
    property
}
