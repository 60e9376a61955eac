//! Validates a structured state with a JSON Schema, and reports violations in the words of the validator.
//! References to other documents are not fetched. The tool with which a model updates the state takes what the schema allows.

use curtail_core::json::Document;
use curtail_core::places::TextPlace;
use curtail_core::visible::cut_after;
use jsonschema::error::ValidationErrorKind;
use jsonschema::{ReferencingError, Validator};
use serde_json::Value;
use thiserror::Error;

use super::State;

/// The most violations that an error lists.
const MAX_LISTED: usize = 8;

/// The most characters of one violation, which may quote a whole state.
const MAX_CHARS: usize = 300;

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
    /// Refers to another document, and which.
    #[error("refers to another document ({0}), which is not fetched")]
    External(String),
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
        let validator = jsonschema::validator_for(&document).map_err(|error| refusal(&error))?;
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

/// Why a schema cannot be compiled.
fn refusal(error: &jsonschema::ValidationError<'_>) -> SchemaError {
    /// What the validator resolves a reference without a scheme against.
    const BASE: &str = "json-schema:///";
    match error.kind() {
        ValidationErrorKind::Referencing(ReferencingError::Unretrievable { uri, .. }) => {
            SchemaError::External(cut_after(uri.strip_prefix(BASE).unwrap_or(uri), MAX_CHARS).into_owned())
        }
        ValidationErrorKind::Referencing(ReferencingError::UnknownSpecification { specification }) => {
            SchemaError::External(cut_after(specification, MAX_CHARS).into_owned())
        }
        _ => SchemaError::Invalid(violation(error)),
    }
}

/// One violation of a schema: its place in the state, and what the validator reports.
fn violation(error: &jsonschema::ValidationError<'_>) -> String {
    let message = error.to_string();
    let message = cut_after(&message, MAX_CHARS);
    let path = error.instance_path().to_string();
    if path.is_empty() { message.into_owned() } else { format!("{path}: {message}") }
}
