//! A JSON Schema of the file, so that editors complete and check it as it is written.

use serde_json::{Map, Value, json};

use crate::pipeline::options::{Key, Kind, Shape};

/// The schema (draft 2020-12) of a file that may hold processors of these kinds; `check` is that of the table of `curtail check`.
#[must_use]
pub fn schema(kinds: &[Kind], check: &Value) -> Value {
    let processors = json!({"type": "array", "items": {"$ref": "#/$defs/processor"}});
    let level = json!({"type": "object", "additionalProperties": false, "properties": {"processors": processors}});
    let agents = json!({"type": "object", "additionalProperties": {"$ref": "#/$defs/level"}});
    let mut definitions = Map::new();
    definitions.insert(String::from("level"), level);
    let names: Vec<Value> = kinds.iter().map(|kind| json!({"$ref": format!("#/$defs/{}", kind.name)})).collect();
    definitions.insert(String::from("processor"), json!({"oneOf": names}));
    definitions.extend(kinds.iter().map(|kind| (kind.name.to_owned(), processor(kind))));
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "curtail.toml",
        "type": "object",
        "additionalProperties": false,
        "properties": {
            "history": described("Processors for every transcript, first in the chain", "level"),
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

fn described(words: &str, definition: &str) -> Value {
    json!({"description": words, "$ref": format!("#/$defs/{definition}")})
}

fn processor(kind: &Kind) -> Value {
    let keys = kind.keys();
    let mut properties = Map::new();
    properties.insert(String::from("type"), json!({"const": kind.name}));
    for key in &keys {
        for name in std::iter::once(&key.name).chain(&key.aliases) {
            properties.insert(name.clone(), property(key));
        }
    }
    let required: Vec<&str> =
        std::iter::once("type").chain(keys.iter().filter(|key| key.is_required).map(|key| key.name.as_str())).collect();
    json!({
        "description": kind.about(),
        "type": "object",
        "additionalProperties": false,
        "required": required,
        "properties": properties,
    })
}

fn property(key: &Key) -> Value {
    let one = match &key.shape {
        Shape::Switch => json!({"type": "boolean"}),
        Shape::Whole => json!({"type": "integer", "minimum": 0}),
        Shape::Tokens => json!({"type": ["integer", "string"]}),
        Shape::Choice(words) => json!({"enum": words}),
        Shape::Text => json!({"type": "string"}),
        Shape::Any => json!({"type": ["string", "number"]}),
    };
    let mut property =
        if key.is_list { json!({"anyOf": [one, {"type": "array", "minItems": 1, "items": one}]}) } else { one };
    property["description"] = json!(key.help);
    if let Some(default) = &key.default {
        property["default"] = match key.shape {
            Shape::Whole | Shape::Tokens => {
                default.parse::<u64>().map_or_else(|_| json!(default), |number| json!(number))
            }
            _ => json!(default),
        };
    }
    property
}
