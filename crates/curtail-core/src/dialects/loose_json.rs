//! Values as `serde_json` has them, whatever it refuses of them: half a character, or 10,000 levels.

use serde_json::Value as Json;

use crate::json::{Member, Value, ValueKind};

/// How many levels of a value are divided that `serde_json` refuses, which it does with more than 128.
const DEEPEST: usize = 100;

/// `value`, in which what `serde_json` refuses is a string.
pub(super) fn loose(value: Value<'_>) -> Json {
    divided(value, DEEPEST)
}

fn divided(value: Value<'_>, depth: usize) -> Json {
    if let Ok(json) = serde_json::from_str(value.raw()) {
        return json;
    }
    match value.kind() {
        ValueKind::Array if depth > 0 => value.items().map(|item| divided(item, depth - 1)).collect(),
        ValueKind::Object if depth > 0 => {
            let members = value.members().map(|Member { key, value, .. }| (key.into_decoded().into_owned(), value));
            Json::Object(members.map(|(key, value)| (key, divided(value, depth - 1))).collect())
        }
        _ => Json::String(value.text().map_or_else(|| value.raw().to_owned(), |text| text.into_decoded().into_owned())),
    }
}
