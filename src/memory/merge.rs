//! How an update becomes part of a state: objects merge, everything else replaces.
//! It knows values only, and relies on their depth being bounded, as `serde_json`'s parser bounds it at 128.

use serde_json::{Map, Value};

/// How many keys below the top an object may lie and still be merged; further down the value replaces.
pub const DEPTH: usize = 32;

/// Names that reach an object's prototype where such a state is loaded by JavaScript.
const STRIPPED: [&str; 2] = ["__proto__", "constructor"];

/// Merges `update` into `state` key by key, at every depth down to [`DEPTH`]. Lists and primitives replace.
/// Keys keep their place; new ones come last. `__proto__` and `constructor` are left out at every depth.
pub fn merge(state: &mut Map<String, Value>, mut update: Map<String, Value>) {
    strip(&mut update);
    merge_at(state, update, 1);
}

/// `depth` is how many keys below the top the values of `update` lie.
fn merge_at(state: &mut Map<String, Value>, update: Map<String, Value>, depth: usize) {
    for (key, new) in update {
        match (state.get_mut(&key), new) {
            (Some(Value::Object(old)), Value::Object(new)) if depth <= DEPTH => {
                merge_at(old, new, depth + 1);
            }
            (Some(old), new) => *old = new,
            (None, new) => {
                state.insert(key, new);
            }
        }
    }
}

/// Takes `__proto__` and `constructor` out of `map` at every depth, within lists too.
pub fn strip(map: &mut Map<String, Value>) {
    map.retain(|key, _| !STRIPPED.contains(&key.as_str()));
    map.values_mut().for_each(strip_value);
}

fn strip_value(value: &mut Value) {
    match value {
        Value::Object(map) => strip(map),
        Value::Array(items) => items.iter_mut().for_each(strip_value),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}
