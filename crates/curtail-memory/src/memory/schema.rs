//! Validates a structured state with a JSON Schema, and reports violations in the words of the validator.
//! References to other documents are not fetched.

use std::fmt;

use curtail_core::error::TextPlace;
use curtail_core::json::Document;
use jsonschema::Validator;
use serde_json::Value;

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
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SchemaError {
    /// Not JSON, and why.
    NotJson(String),
    /// JSON, but not a valid schema, and why.
    Invalid(String),
}

/// The violations of a schema on one line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mismatched(String);

impl fmt::Display for Mismatched {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Mismatched {}

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

/// One violation of a schema.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violation {
    /// JSON pointer into the state; empty for the state itself.
    pub path: String,
    /// What the validator reports.
    pub message: String,
}

impl Schema {
    /// Compiles a schema.
    ///
    /// # Errors
    /// [`SchemaError`] if `text` is not JSON, is not a valid schema or refers to another document.
    pub fn parse(text: &str) -> Result<Schema, SchemaError> {
        let document = serde_json::from_str(text).map_err(|error| SchemaError::NotJson(json_fault(text, &error)))?;
        Self::compile(document)
    }

    fn compile(document: Value) -> Result<Schema, SchemaError> {
        let validator = jsonschema::validator_for(&document).map_err(|error| {
            let violation = Violation::new(&error);
            SchemaError::Invalid(violation.to_string())
        })?;
        Ok(Schema { document, validator })
    }

    /// The schema's own text, parsed.
    #[must_use]
    pub fn document(&self) -> &Value {
        &self.document
    }

    /// All violations in `state`, in the validator's order.
    #[must_use]
    pub fn violations(&self, state: &Value) -> Vec<Violation> {
        let errors = self.validator.iter_errors(state);
        errors.map(|error| Violation::new(&error)).collect()
    }

    /// Checks that `state` matches the schema. Text never matches.
    ///
    /// # Errors
    /// [`Mismatched`] with the violations.
    pub fn check(&self, state: &State) -> Result<(), Mismatched> {
        let State::Object(object) = state else {
            return Err(Mismatched("the state is text, but the schema describes an object".to_owned()));
        };
        let violations = self.violations(&Value::Object(object.clone()));
        if violations.is_empty() {
            return Ok(());
        }
        let mut listed: Vec<String> = violations.iter().take(MAX_LISTED).map(Violation::to_string).collect();
        if violations.len() > MAX_LISTED {
            listed.push(format!("and {} more", violations.len() - MAX_LISTED));
        }
        Err(Mismatched(listed.join("; ")))
    }
}

impl Violation {
    fn new(error: &jsonschema::ValidationError<'_>) -> Violation {
        /// The most characters of one violation, which may quote a whole state.
        const MAX_CHARS: usize = 300;
        let mut message = error.to_string();
        if let Some((end, _)) = message.char_indices().nth(MAX_CHARS) {
            message.truncate(end);
            message.push('…');
        }
        let path = error.instance_path().to_string();
        Violation { path, message }
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.path.is_empty() {
            return f.write_str(&self.message);
        }
        write!(f, "{}: {}", self.path, self.message)
    }
}

impl fmt::Display for SchemaError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SchemaError::NotJson(reason) => write!(f, "not JSON: {reason}"),
            SchemaError::Invalid(reason) => write!(f, "not a valid JSON Schema: {reason}"),
        }
    }
}

impl std::error::Error for SchemaError {}
