//! The scratchpad, which applies updates.

use std::collections::{HashMap, HashSet};

use serde_json::{Map, Value};

use super::schema::json_fault;
use super::{Schema, State, kind};
use curtail_core::digest::fnv1a_128;

/// One call that changes the state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Update<'a> {
    /// The call's id; empty if the wire format has none.
    pub call_id: &'a str,
    /// The arguments as JSON text. If the wire format has them in a string, this is the content of the string.
    pub arguments: &'a str,
}

/// The outcome of an update.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// It was merged into the state.
    Applied,
    /// It was applied before. The state did not change.
    AlreadyKnown,
    /// The state is read-only and did not change.
    Ignored,
    /// The merged state would violate the schema, as the validator reports. The state did not change.
    Refused(String),
    /// The arguments are not a JSON object, with the reason. The state did not change.
    Malformed(String),
}

impl Outcome {
    /// Whether the update was dropped because of its arguments.
    pub const fn is_fault(&self) -> bool {
        matches!(self, Outcome::Refused(_) | Outcome::Malformed(_))
    }

    /// The name of the outcome, and why an update was not applied.
    pub fn described(&self) -> (&'static str, Option<&str>) {
        match self {
            Outcome::Applied => ("applied", None),
            Outcome::AlreadyKnown => ("known", None),
            Outcome::Ignored => ("ignored", Some("the memory is read-only")),
            Outcome::Refused(reason) => ("refused", Some(reason)),
            Outcome::Malformed(reason) => ("malformed", Some(reason)),
        }
    }
}

/// A state that updates are applied to.
///
/// ```
/// use curtail_memory::memory::{Outcome, Scratchpad, State, Update};
///
/// let mut scratchpad = Scratchpad::new(State::empty_object(), None, false);
/// let update = Update { call_id: "call-1", arguments: r#"{"city": "Bern"}"# };
/// assert_eq!(scratchpad.apply(update), Outcome::Applied);
/// assert_eq!(scratchpad.into_state().to_json(), r#"{"city":"Bern"}"#);
/// ```
#[derive(Debug)]
pub struct Scratchpad<'s> {
    state: State,
    schema: Option<&'s Schema>,
    read_only: bool,
    origin: String,
    /// The ids of updates that were applied before.
    known: HashSet<String>,
    /// How often an update with this digest came.
    seen: HashMap<u128, u32>,
    /// The ids of the updates that were applied or refused here.
    fresh: Vec<String>,
}

impl<'s> Scratchpad<'s> {
    /// A scratchpad with `state` that accepts what `schema` allows, or nothing if it is `read_only`.
    pub fn new(state: State, schema: Option<&'s Schema>, read_only: bool) -> Scratchpad<'s> {
        Scratchpad {
            state: state.stripped(),
            schema,
            read_only,
            origin: String::new(),
            known: HashSet::new(),
            seen: HashMap::new(),
            fresh: Vec::new(),
        }
    }

    /// The same, with the ids of updates that were applied before. `origin` distinguishes the threads that share the state,
    /// because their call ids may be equal.
    #[must_use]
    pub fn with_applied(mut self, known: HashSet<String>, origin: &str) -> Scratchpad<'s> {
        self.known = known;
        origin.clone_into(&mut self.origin);
        self
    }

    /// The state after all updates so far.
    pub fn state(&self) -> &State {
        &self.state
    }

    /// The state, taken out.
    #[must_use]
    pub fn into_state(self) -> State {
        self.state
    }

    /// The ids of the updates that were applied or refused here, for the next [`Scratchpad::with_applied`].
    pub fn new_ids(&self) -> &[String] {
        &self.fresh
    }

    /// Applies one update and returns the outcome. Updates of one thread must come in order, from its start.
    pub fn apply(&mut self, update: Update<'_>) -> Outcome {
        if self.read_only {
            return Outcome::Ignored;
        }
        let arguments = match arguments(update.arguments) {
            Ok(arguments) => arguments,
            Err(reason) => return Outcome::Malformed(reason),
        };
        let id = self.update_id(update.call_id, &arguments);
        if self.known.contains(&id) {
            return Outcome::AlreadyKnown;
        }
        // A refused update is recorded too: on a replay the state may differ and accept it.
        self.fresh.push(id);
        self.merge(arguments)
    }

    fn merge(&mut self, arguments: Map<String, Value>) -> Outcome {
        let Some(schema) = self.schema else {
            let state = std::mem::replace(&mut self.state, State::empty_object());
            self.state = state.updated(arguments);
            return Outcome::Applied;
        };
        let merged = self.state.clone().updated(arguments);
        match schema.check(&merged) {
            Ok(()) => {
                self.state = merged;
                Outcome::Applied
            }
            Err(reason) => Outcome::Refused(reason),
        }
    }

    /// The id of an update: its call id, a digest of its origin and arguments, and how often it came. Call ids are missing in
    /// some formats, and restart with every message in others.
    fn update_id(&mut self, call_id: &str, arguments: &Map<String, Value>) -> String {
        let arguments = serde_json::to_string(arguments).unwrap_or_default();
        // 0xff occurs in no UTF-8 text, so it separates the parts unambiguously.
        let parts = [self.origin.as_str(), call_id, &arguments];
        let digest = fnv1a_128(parts.iter().flat_map(|part| part.bytes().chain([u8::MAX])));
        let times = self.seen.entry(digest).or_default();
        *times += 1;
        format!("{call_id} {times} {digest:032x}")
    }
}

/// The members of the arguments, or why they are not an object.
fn arguments(text: &str) -> Result<Map<String, Value>, String> {
    match serde_json::from_str(text) {
        Ok(Value::Object(arguments)) => Ok(arguments),
        Ok(other) => Err(format!("arguments are {}, not an object", kind(&other))),
        Err(_) if text.trim().is_empty() => Err("arguments are empty, not an object".to_owned()),
        Err(error) => Err(format!("arguments are not JSON: {}", json_fault(text, &error))),
    }
}
