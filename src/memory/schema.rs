//! What a structured state has to look like: a JSON Schema, and what is wrong in the validator's own words.
//! Nothing outside the schema's own text is ever fetched.

// Without the feature no schema can exist.
#[cfg(not(feature = "schema"))]
use std::convert::Infallible as Validator;
use std::fmt;

#[cfg(feature = "schema")]
use jsonschema::Validator;
use serde_json::Value;

use super::State;

/// Faults named in one refusal; more would hide the first.
const NAMED: usize = 8;
/// A compiled JSON Schema (draft 4 to 2020-12, by its `$schema`).
#[derive(Debug)]
pub struct Schema {
    document: Value,
    validator: Validator,
}

/// Why a text is no schema to validate with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SchemaError {
    /// Not JSON, and why.
    NotJson(String),
    /// JSON, but no valid schema, and why.
    Invalid(String),
    /// This program was built without the validator.
    NotBuilt,
}

/// One thing wrong with a state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violation {
    /// JSON pointer into the state; empty for the state itself.
    pub path: String,
    /// The validator's words.
    pub words: String,
}

impl Schema {
    /// Compiles a schema.
    ///
    /// # Errors
    /// Where `text` is not JSON, is no valid schema, or refers to another document.
    pub fn parse(text: &str) -> Result<Schema, SchemaError> {
        let document = serde_json::from_str(text).map_err(|error| SchemaError::NotJson(error.to_string()))?;
        Self::compile(document)
    }

    #[cfg(feature = "schema")]
    fn compile(document: Value) -> Result<Schema, SchemaError> {
        let validator = jsonschema::validator_for(&document).map_err(|error| {
            let violation = Violation::new(&error);
            SchemaError::Invalid(violation.to_string())
        })?;
        Ok(Schema { document, validator })
    }

    #[cfg(not(feature = "schema"))]
    fn compile(_document: Value) -> Result<Schema, SchemaError> {
        Err(SchemaError::NotBuilt)
    }

    /// The schema as it was given.
    #[must_use]
    pub fn document(&self) -> &Value {
        &self.document
    }

    /// Everything that is wrong with `state`, in the validator's order.
    #[cfg(feature = "schema")]
    #[must_use]
    pub fn violations(&self, state: &Value) -> Vec<Violation> {
        let errors = self.validator.iter_errors(state);
        errors.map(|error| Violation::new(&error)).collect()
    }

    /// Everything that is wrong with `state`; without the validator there is no schema to ask.
    #[cfg(not(feature = "schema"))]
    #[must_use]
    pub fn violations(&self, _state: &Value) -> Vec<Violation> {
        match self.validator {}
    }

    /// Whether `state` passes.
    ///
    /// # Errors
    /// The violations on one line, where it does not; text never passes, for a schema is about an object.
    pub fn check(&self, state: &State) -> Result<(), String> {
        let State::Object(object) = state else {
            return Err("text, where the schema is about an object".to_owned());
        };
        let violations = self.violations(&Value::Object(object.clone()));
        if violations.is_empty() {
            return Ok(());
        }
        let mut named: Vec<String> = violations.iter().take(NAMED).map(Violation::to_string).collect();
        if violations.len() > NAMED {
            named.push(format!("and {} more", violations.len() - NAMED));
        }
        Err(named.join("; "))
    }
}

#[cfg(feature = "schema")]
impl Violation {
    fn new(error: &jsonschema::ValidationError<'_>) -> Violation {
        /// Characters of one fault's words, which may quote a whole state.
        const WORDS: usize = 300;
        let mut words = error.to_string();
        if let Some((end, _)) = words.char_indices().nth(WORDS) {
            words.truncate(end);
            words.push('…');
        }
        let path = error.instance_path().to_string();
        Violation { path, words }
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.path.is_empty() {
            return f.write_str(&self.words);
        }
        write!(f, "{}: {}", self.path, self.words)
    }
}

impl fmt::Display for SchemaError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SchemaError::NotJson(reason) => write!(f, "not JSON: {reason}"),
            SchemaError::Invalid(reason) => write!(f, "not a valid JSON Schema: {reason}"),
            SchemaError::NotBuilt => f.write_str("this curtail was built without the feature `schema`; build it with"),
        }
    }
}

impl std::error::Error for SchemaError {}
