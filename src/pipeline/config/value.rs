//! The values that a processor runs with, and where each comes from: a variable of the environment beats the file, and the
//! file beats the default.

use toml::de::DeValue;

use super::table::{ProcessorEntry, found, whole};
use crate::pipeline::options::{OptionKey, Shape};

/// What a key comes to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Value {
    /// The key, as the file calls it.
    pub name: String,
    /// Its value, as it would be written in a file.
    pub value: String,
    /// Where it comes from.
    pub origin: Origin,
}

/// Where a value comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    /// The line of the file, from 1.
    File(usize),
    /// The environment variable of this name.
    Variable(String),
    /// Nothing was said.
    Default,
}

impl ProcessorEntry {
    /// The values of all keys that have one, in the order of the command's help.
    #[must_use]
    pub fn values(&self) -> Vec<Value> {
        let keys = self.spec.keys();
        keys.iter().filter_map(|key| self.value(key)).collect()
    }

    fn value(&self, key: &OptionKey) -> Option<Value> {
        let value = |value: String, origin| Some(Value { name: key.name.clone(), value, origin });
        if let Some((variable, text)) = key.variable.as_ref().and_then(|name| Some((name, std::env::var(name).ok()?))) {
            return value(written(key, &text), Origin::Variable(variable.clone()));
        }
        let given = self.given.iter().find(|given| given.key.name == key.name);
        if let Some(given) = given.filter(|given| given.key.beaten_by().is_none()) {
            let origin = Origin::File(given.line);
            return Some(Value { name: given.name.clone(), value: given.value.clone(), origin });
        }
        value(written(key, key.default.as_ref()?), Origin::Default)
    }
}

/// `text`, which the command line takes, as a file says it.
fn written(key: &OptionKey, text: &str) -> String {
    match key.shape {
        Shape::Whole | Shape::Tokens if text.parse::<u64>().is_ok() => text.to_owned(),
        _ => format!("{text:?}"),
    }
}

/// `value` on one line.
pub(super) fn shown(value: &DeValue<'_>) -> String {
    match value {
        DeValue::Array(values) => {
            let values: Vec<String> = values.iter().map(|value| shown(value.get_ref())).collect();
            format!("[{}]", values.join(", "))
        }
        DeValue::String(text) => format!("{:?}", text.as_ref()),
        DeValue::Integer(number) => whole(number).unwrap_or_else(|| number.as_str().to_owned()),
        other => found(other).replace("the number ", ""),
    }
}
