//! A JSON Schema of `curtail.toml`, with which editors complete and check the file.

use serde_json::{Map, Value, json};

use crate::cli::options::{OptionKey, ProcessorSpec, Shape};

/// The schema (draft 2020-12) of a file with processors of these kinds; `check` is the schema of the table of `curtail check`.
#[must_use]
pub(crate) fn schema(specs: &[ProcessorSpec], check: &Value) -> Value {
    let processors = json!({"type": "array", "items": {"$ref": "#/$defs/processor"}});
    let level = json!({"type": "object", "additionalProperties": false, "properties": {"processors": processors}});
    let agents = json!({"type": "object", "additionalProperties": {"$ref": "#/$defs/level"}});
    let mut definitions = Map::new();
    definitions.insert(String::from("level"), level);
    let names: Vec<Value> = specs.iter().map(|spec| json!({"$ref": format!("#/$defs/{}", spec.name)})).collect();
    let types: Vec<&str> = specs.iter().map(|spec| spec.name).collect();
    definitions.insert(String::from("processor"), one_of_types(&types, &names));
    definitions.extend(specs.iter().map(|spec| (spec.name.to_owned(), processor(spec))));
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "curtail.toml",
        "type": "object",
        "additionalProperties": false,
        "properties": {
            "history": reference("Processors for every transcript, first in the chain", "level"),
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
fn one_of_types(types: &[&str], definitions: &[Value]) -> Value {
    let conditions = types.iter().zip(definitions).map(|(name, definition)| {
        let has_type = json!({"required": ["type"], "properties": {"type": {"const": name}}});
        json!({"if": has_type, "then": definition})
    });
    json!({
        "type": "object",
        "required": ["type"],
        "properties": {"type": {"enum": types}},
        "allOf": conditions.collect::<Vec<_>>(),
    })
}

fn reference(description: &str, definition: &str) -> Value {
    json!({"description": description, "$ref": format!("#/$defs/{definition}")})
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
