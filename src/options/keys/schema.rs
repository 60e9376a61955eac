//! A JSON Schema of `curtail.toml`, with which editors complete and check the file.

use clap::Arg;
use serde_json::{Map, Value as Json, json};

use super::flags::{exclusion, is_list, keys, name_of, names};
use super::values::{choices, default_of, kind, written};
use super::{ProcessorSpec, TableSpec};

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
    if let Some(pattern) = kind.pattern {
        one["pattern"] = json!(pattern);
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
