//! Flags whose values select a value of the library: one table for each flag, with the names and their help.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};

/// A value of a flag, and the value of the library that it selects.
#[derive(Debug)]
pub(crate) struct Choice<T: 'static> {
    name: &'static str,
    alias: Option<&'static str>,
    help: Option<&'static str>,
    value: T,
}

impl<T: Copy + Send + Sync> Choice<T> {
    /// The name `name`, which selects `value`, with a line of help.
    pub(crate) const fn new(name: &'static str, value: T, help: &'static str) -> Self {
        Self { name, alias: None, help: Some(help), value }
    }

    /// A name that needs no help.
    pub(crate) const fn plain(name: &'static str, value: T) -> Self {
        Self { name, alias: None, help: None, value }
    }

    /// The same, under a second name that the help does not list.
    pub(crate) const fn with_alias(self, alias: &'static str) -> Self {
        Self { name: self.name, alias: Some(alias), help: self.help, value: self.value }
    }

    /// Its name in the help.
    pub(crate) const fn name(&self) -> &'static str {
        self.name
    }

    /// Whether `name` is its name, or its second name.
    pub(crate) fn is_called(&self, name: &str) -> bool {
        self.name == name || self.alias == Some(name)
    }
}

/// Reads the value of a flag as one of `choices`.
pub(crate) fn one_of<T>(choices: &'static [Choice<T>]) -> impl TypedValueParser<Value = T>
where
    T: Copy + Send + Sync,
{
    let values = choices.iter().map(|choice| {
        let value = PossibleValue::new(choice.name).aliases(choice.alias);
        match choice.help {
            Some(help) => value.help(help),
            None => value,
        }
    });
    PossibleValuesParser::new(values).try_map(move |name| {
        let chosen = choices.iter().find(|choice| choice.is_called(&name));
        chosen.map(|choice| choice.value).ok_or("unknown value")
    })
}

/// The format of what programs also read: a list, a report, or how decisions are explained.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TextOrJson {
    /// For people.
    Text,
    /// For programs.
    Json,
}

/// The parser of a flag for a format, with the help of each.
pub(crate) fn text_or_json(text: &'static str, json: &'static str) -> impl TypedValueParser<Value = TextOrJson> {
    let formats = [PossibleValue::new("text").help(text), PossibleValue::new("json").help(json)];
    PossibleValuesParser::new(formats).map(|name| if name == "json" { TextOrJson::Json } else { TextOrJson::Text })
}

/// The parser of `--explain`.
pub(crate) fn explain_format() -> impl TypedValueParser<Value = TextOrJson> {
    text_or_json("One line of text for each entry", "One JSON object per line")
}
