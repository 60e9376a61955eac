//! Validates a structured state with a JSON Schema, and reports violations in the words of the validator.
//! References to other documents are not fetched. The tool with which a model updates the state takes what the schema allows.

use curtail_core::error::TextPlace;
use curtail_core::json::Document;
use jsonschema::Validator;
use serde_json::{Map, Value, json};
use thiserror::Error;

use super::State;

/// The most violations that an error lists.
const MAX_LISTED: usize = 8;

/// A compiled JSON Schema (draft 4 to 2020-12, by its `$schema`).
#[derive(Debug)]
pub struct Schema {
    document: Value,
    validator: Validator,
}

/// Why a text cannot be used as a schema.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum SchemaError {
    /// Not JSON, and why.
    #[error("not JSON: {0}")]
    NotJson(String),
    /// JSON, but not a valid schema, and why.
    #[error("not a valid JSON Schema: {0}")]
    Invalid(String),
}

/// Why serde does not read `text` as JSON, with the place of the fault.
pub(super) fn json_fault(text: &str, error: &serde_json::Error) -> String {
    match Document::parse(text) {
        Err(fault) => {
            let TextPlace { line, column } = TextPlace::locate(text.as_bytes(), fault.offset, 1);
            format!("line {line}, column {column}: {}", fault.kind)
        }
        // It is JSON, but serde's limits on numbers, characters and nesting are lower.
        Ok(_) => {
            let message = error.to_string();
            match message.starts_with("recursion limit") {
                true => String::from("arrays or objects are nested too deeply"),
                false => message,
            }
        }
    }
}

impl Schema {
    /// Compiles a schema.
    ///
    /// # Errors
    /// [`SchemaError`] if `text` is not JSON, is not a valid schema or refers to another document.
    pub fn parse(text: &str) -> Result<Schema, SchemaError> {
        let document = serde_json::from_str(text).map_err(|error| SchemaError::NotJson(json_fault(text, &error)))?;
        let validator =
            jsonschema::validator_for(&document).map_err(|error| SchemaError::Invalid(violation(&error)))?;
        Ok(Schema { document, validator })
    }

    /// The schema's own text, parsed.
    pub fn document(&self) -> &Value {
        &self.document
    }

    /// Checks that `state` matches the schema. Text never matches.
    ///
    /// # Errors
    /// The violations on one line, in the validator's order.
    pub fn check(&self, state: &State) -> Result<(), String> {
        let State::Object(object) = state else {
            return Err("the state is text, but the schema describes an object".to_owned());
        };
        let state = Value::Object(object.clone());
        let violations: Vec<String> = self.validator.iter_errors(&state).map(|error| violation(&error)).collect();
        if violations.is_empty() {
            return Ok(());
        }
        let surplus = violations.len().saturating_sub(MAX_LISTED);
        let more = if surplus > 0 { format!("; and {surplus} more") } else { String::new() };
        Err(violations[..violations.len() - surplus].join("; ") + &more)
    }
}

/// One violation of a schema: its place in the state, and what the validator reports.
fn violation(error: &jsonschema::ValidationError<'_>) -> String {
    /// The most characters of one violation, which may quote a whole state.
    const MAX_CHARS: usize = 300;
    let mut message = error.to_string();
    if let Some((end, _)) = message.char_indices().nth(MAX_CHARS) {
        message.truncate(end);
        message.push('…');
    }
    let path = error.instance_path().to_string();
    if path.is_empty() { message } else { format!("{path}: {message}") }
}

// The tool with which a model updates its working memory: its name, its description, and the JSON Schema of its arguments, in the
// format of each provider.

/// The names of calls that update working memory: Noetic's call convention, and Noetic's tool.
pub const NAMES: [&str; 2] = ["updateWorkingMemory", "working-memory/update"];

const TASK: &str = "Update the working memory, which you see in <working_memory>. Send only what changes: \
    objects are merged key by key, lists and plain values replace what was there.";

/// The format in which a provider defines tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// `OpenAI` chat completions, and the many servers that are compatible with them.
    OpenAi,
    /// `OpenAI` Responses.
    Responses,
    /// Anthropic Messages.
    Anthropic,
    /// Gemini: one entry of `tools`, with a function declaration.
    Gemini,
    /// Amazon Bedrock Converse.
    Bedrock,
}

/// The tool called `name`, as one element of the request's list of tools. Its arguments are those of `schema`, none of them
/// required, because an update may be partial. Without a schema, any object is allowed.
pub fn definition(shape: Shape, name: &str, schema: Option<&Schema>) -> Value {
    let parameters = parameters(schema);
    let task = task(schema);
    match shape {
        Shape::OpenAi => json!({"type": "function", "function":
            {"name": name, "description": task, "parameters": parameters}}),
        Shape::Responses => json!({"type": "function", "name": name, "description": task,
            "parameters": parameters, "strict": false}),
        Shape::Anthropic => json!({"name": name, "description": task, "input_schema": parameters}),
        Shape::Gemini => json!({"functionDeclarations":
            [{"name": name, "description": task, "parametersJsonSchema": parameters}]}),
        Shape::Bedrock => json!({"toolSpec":
            {"name": name, "description": task, "inputSchema": {"json": parameters}}}),
    }
}

/// The description of the tool. If the schema has required keys, the first update must already contain them.
fn task(schema: Option<&Schema>) -> String {
    let required = schema.and_then(|schema| schema.document().get("required")?.as_array());
    let names: Vec<&str> = required.into_iter().flatten().filter_map(Value::as_str).collect();
    if names.is_empty() {
        return TASK.to_owned();
    }
    format!("{TASK} After the update, the memory must have: {}.", names.join(", "))
}

fn parameters(schema: Option<&Schema>) -> Value {
    let mut parameters = match schema.map(Schema::document) {
        Some(Value::Object(document)) => document.clone(),
        _ => Map::new(),
    };
    parameters.shift_insert(0, "type".to_owned(), json!("object"));
    let mut parameters = Value::Object(parameters);
    make_partial(&mut parameters);
    parameters
}

/// Removes the keywords that would forbid a partial update, wherever objects are merged. Items of lists are not changed,
/// because a list is replaced as a whole.
fn make_partial(schema: &mut Value) {
    let Value::Object(schema) = schema else {
        return;
    };
    for word in ["required", "minProperties", "dependentRequired"] {
        schema.shift_remove(word);
    }
    for word in ["properties", "patternProperties"] {
        if let Some(Value::Object(named)) = schema.get_mut(word) {
            named.values_mut().for_each(make_partial);
        }
    }
    if let Some(others) = schema.get_mut("additionalProperties") {
        make_partial(others);
    }
    if let Some(Value::Array(all)) = schema.get_mut("allOf") {
        all.iter_mut().for_each(make_partial);
    }
}
