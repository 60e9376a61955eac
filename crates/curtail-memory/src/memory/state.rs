//! The state of working memory: text or an object. Calls, schemas and stores are not known here.

use std::fmt;

use serde_json::{Map, Value};

/// The key under which an object keeps the text that it replaced.
const PREVIOUS: &str = "_previous";

/// The state of working memory.
#[derive(Debug, Clone, PartialEq)]
pub enum State {
    /// Free-form notes.
    Text(String),
    /// Structured notes.
    Object(Map<String, Value>),
}

impl State {
    /// The empty object.
    #[must_use]
    pub fn empty_object() -> State {
        State::Object(Map::new())
    }

    /// The state in a text that a user wrote: an object if `text` is a JSON object, otherwise the text.
    #[must_use]
    pub fn given(text: &str) -> State {
        match serde_json::from_str(text) {
            Ok(Value::Object(object)) => State::Object(object).stripped(),
            _ => State::Text(text.to_owned()),
        }
    }

    /// The state in a JSON text: a string or an object.
    ///
    /// # Errors
    /// [`StateError`] if it is anything else.
    pub fn parse(json: &str) -> Result<State, StateError> {
        match serde_json::from_str(json) {
            Ok(Value::String(text)) => Ok(State::Text(text)),
            Ok(Value::Object(object)) => Ok(State::Object(object).stripped()),
            Ok(other) => Err(StateError(format!("{}, not an object or text", kind(&other)))),
            Err(error) => Err(StateError(format!("not JSON: {error}"))),
        }
    }

    /// The state as JSON text on one line, which [`State::parse`] reads.
    #[must_use]
    pub fn to_json(&self) -> String {
        match self {
            State::Text(text) => Value::String(text.clone()).to_string(),
            State::Object(object) => serde_json::to_string(object).unwrap_or_default(),
        }
    }

    /// The state for a person or a model: text unchanged, an object as indented JSON.
    #[must_use]
    pub fn to_text(&self) -> String {
        match self {
            State::Text(text) => text.clone(),
            State::Object(object) => serde_json::to_string_pretty(object).unwrap_or_default(),
        }
    }

    /// Whether the state is blank text or an object without keys.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        match self {
            State::Text(text) => text.trim().is_empty(),
            State::Object(object) => object.is_empty(),
        }
    }

    /// This state with `update` merged in. Text becomes an object that keeps it under `_previous`.
    #[must_use]
    pub fn updated(self, update: Map<String, Value>) -> State {
        let empty = self.is_empty();
        let mut object = match self {
            State::Object(object) => object,
            State::Text(_) if empty => Map::new(),
            State::Text(text) => Map::from_iter([(PREVIOUS.to_owned(), Value::String(text))]),
        };
        merge(&mut object, update);
        State::Object(object)
    }

    /// The state without the keys that are never kept.
    #[must_use]
    pub fn stripped(mut self) -> State {
        if let State::Object(object) = &mut self {
            strip(object);
        }
        self
    }
}

/// Why a text is not a state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StateError(String);

impl fmt::Display for StateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for StateError {}

/// The kind of a value, for messages.
pub(super) fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

// Merging an update into a state: objects are merged, everything else is replaced.
// The recursion relies on values of bounded depth; `serde_json` parses at most 128 levels.

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
