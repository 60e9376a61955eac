//! A list of values as the text of a transcript, and back: what is kept is copied, not parsed.

use std::collections::{HashMap, VecDeque};

use serde_json::Value;

use crate::json::Document;

/// Values and the JSON list of them, in which value `n` is on line `n + 1`.
pub(super) struct List<'v> {
    /// The list as JSON.
    pub(super) text: String,
    /// For each value, itself and how long its JSON is.
    values: Vec<(&'v Value, usize)>,
}

/// What separates the values in the list.
const SEPARATOR: &str = ",\n";

impl<'v> List<'v> {
    pub(super) fn from_values(values: &'v [Value]) -> Self {
        let mut text = String::from("[");
        let written = values.iter().enumerate().map(|(nth, value)| {
            if nth > 0 {
                text.push_str(SEPARATOR);
            }
            let json = value.to_string();
            text.push_str(&json);
            (value, json.len())
        });
        let values = written.collect();
        text.push(']');
        Self { text, values }
    }

    /// The values of `shorter`, what a cut made of the list: each is the value that was given, if its JSON is still the same. Parsing
    /// it again could round its numbers, and refuses what is nested too deep.
    pub(super) fn cut_to(self, shorter: &str) -> Vec<Value> {
        let mut at = 1;
        let mut given: HashMap<&str, VecDeque<&Value>> = HashMap::new();
        for (value, len) in self.values {
            given.entry(&self.text[at..at + len]).or_default().push_back(value);
            at += len + SEPARATOR.len();
        }
        let Ok(document) = Document::parse(shorter) else { return Vec::new() };
        let items = document.roots().flat_map(|list| list.items().collect::<Vec<_>>());
        let values = items.map(|item| match given.get_mut(item.raw()).and_then(VecDeque::pop_front) {
            Some(value) => value.clone(),
            // What is written is JSON.
            None => serde_json::from_str(item.raw()).unwrap_or_default(),
        });
        values.collect()
    }
}
