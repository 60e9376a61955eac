//! Merging an update into a state: objects are merged, everything else is replaced.
//! The recursion relies on values of bounded depth; `serde_json` parses at most 128 levels.

use serde_json::{Map, Value};

/// The depth, in keys, down to which objects are merged. Below, values are replaced.
pub const DEPTH: usize = 32;

/// Keys that change an object's prototype if JavaScript loads the state.
const STRIPPED: [&str; 2] = ["__proto__", "constructor"];

/// Merges `update` into `state` key by key, at every depth down to [`DEPTH`]. Lists and primitive values are replaced.
/// Keys keep their order; new keys are appended. `__proto__` and `constructor` are dropped at every depth.
pub fn merge(state: &mut Map<String, Value>, mut update: Map<String, Value>) {
    strip(&mut update);
    merge_at(state, update, 1);
}

/// `depth` is the depth in keys of the values of `update`.
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

/// Removes `__proto__` and `constructor` from `map` at every depth, also within lists.
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
