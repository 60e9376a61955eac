//! Working memory: notes that a model writes with tool calls, replayed, validated and put back into its context.
//! Only `tool` knows wire formats, those in which providers define tools: an update is a call id and JSON text. `stored` keeps the
//! notes in the store between runs.

mod block;
mod merging;
mod schema;
mod scratchpad;
mod stored;
mod tool;
mod working_memory;

use serde_json::{Map, Value};

pub use block::{Block, TooSmall, fit, is_block};
pub use merging::{DEPTH, merge, strip};
pub use schema::{Schema, SchemaError};
pub use scratchpad::{Outcome, Scratchpad, Update};
pub use stored::{
    Loaded, MemoryError, NoId, Owner, Replayed, Rules, Spawned, Unusable, amend, clear, load, replay, set, spawn,
};
pub use tool::{NAMES, Shape, definition};
pub use working_memory::{FoundUpdate, StateSource, WorkingMemory, updates};

/// The default budget of a block, in tokens.
pub const BUDGET: usize = 1500;

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
    pub fn empty_object() -> State {
        State::Object(Map::new())
    }

    /// The state in a text that a user wrote: an object if `text` is a JSON object, otherwise the text.
    pub fn given(text: &str) -> State {
        match serde_json::from_str(text) {
            Ok(Value::Object(object)) => State::Object(object).stripped(),
            _ => State::Text(text.to_owned()),
        }
    }

    /// The state in a JSON text: a string or an object.
    ///
    /// # Errors
    /// Why it is not a state, if it is anything else.
    pub fn parse(json: &str) -> Result<State, String> {
        match serde_json::from_str(json) {
            Ok(Value::String(text)) => Ok(State::Text(text)),
            Ok(Value::Object(object)) => Ok(State::Object(object).stripped()),
            Ok(other) => Err(format!("{}, not an object or text", kind(&other))),
            Err(error) => Err(format!("not JSON: {error}")),
        }
    }

    /// The state as JSON text on one line, which [`State::parse`] reads.
    pub fn to_json(&self) -> String {
        match self {
            State::Text(text) => Value::String(text.clone()).to_string(),
            State::Object(object) => serde_json::to_string(object).unwrap_or_default(),
        }
    }

    /// The state for a person or a model: text unchanged, an object as indented JSON.
    pub fn to_text(&self) -> String {
        match self {
            State::Text(text) => text.clone(),
            State::Object(object) => serde_json::to_string_pretty(object).unwrap_or_default(),
        }
    }

    /// Whether the state is blank text or an object without keys.
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

/// The kind of a value, for messages.
fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}
