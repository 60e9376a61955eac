//! The tables of a file, level by level. An unknown name is an error with its place.

use std::borrow::Cow;
use std::ops::Range;

use serde::de::DeserializeOwned;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::error::{ConfigError, Page, Reader};
use super::shown::found;
use super::table::{self, ProcessorEntry};
use curtail_core::pipeline::{Agent, Levels, Network};
use curtail_core::suggest::unknown;

/// The tables that a file may contain.
pub(super) const TABLES: [&str; 4] = ["history", "networks", "agents", "check"];

type Member<'m, 'i> = (&'m Spanned<Cow<'i, str>>, &'m Spanned<DeValue<'i>>);

/// The processors at every level.
pub(super) fn levels(reader: Reader<'_>) -> Result<Levels<ProcessorEntry>, ConfigError> {
    let page = reader.page;
    let root = DeTable::parse(page.text).map_err(|error| syntax(page, &error))?;
    let mut levels = Levels::default();
    for (name, value) in root.get_ref() {
        match name.get_ref().as_ref() {
            "history" => levels.history = reader.named(name, value)?.processors,
            "networks" => levels.networks = reader.each(name, value, Reader::network)?,
            "agents" => levels.agents = reader.each(name, value, Reader::named)?,
            "check" => {}
            other => return Err(page.fault(name.span(), unknown("there is no table", other, &TABLES))),
        }
    }
    Ok(levels)
}

/// One table of the file, as its owner understands it.
pub(super) fn section<T: DeserializeOwned + Default>(page: Page<'_>, name: &str) -> Result<T, ConfigError> {
    let root = DeTable::parse(page.text).map_err(|error| syntax(page, &error))?;
    let Some(value) = root.get_ref().get(name) else { return Ok(T::default()) };
    let read = toml::de::ValueDeserializer::from(value.clone());
    T::deserialize(read).map_err(|mut error| {
        error.set_input(Some(page.text));
        syntax(page, &error)
    })
}

impl Reader<'_> {
    fn network(
        self,
        name: &Spanned<Cow<'_, str>>,
        value: &Spanned<DeValue<'_>>,
    ) -> Result<Network<ProcessorEntry>, ConfigError> {
        let name_in_file = name.get_ref().to_string();
        let mut network = Network { name: name_in_file, processors: Vec::new(), agents: Vec::new() };
        for (key, value) in self.members(name, value)? {
            match key.get_ref().as_ref() {
                "processors" => network.processors = self.processors(value)?,
                "agents" => network.agents = self.each(key, value, Reader::named)?,
                other => {
                    let what = unknown("a network has no key", other, &["processors", "agents"]);
                    return Err(self.page.fault(key.span(), what));
                }
            }
        }
        Ok(network)
    }

    fn named(
        self,
        name: &Spanned<Cow<'_, str>>,
        value: &Spanned<DeValue<'_>>,
    ) -> Result<Agent<ProcessorEntry>, ConfigError> {
        let mut processors = Vec::new();
        for (key, value) in self.members(name, value)? {
            if key.get_ref() != "processors" {
                let what = unknown(&format!("`{}` has no key", name.get_ref()), key.get_ref(), &["processors"]);
                return Err(self.page.fault(key.span(), what));
            }
            processors = self.processors(value)?;
        }
        Ok(Agent { name: name.get_ref().to_string(), processors })
    }

    /// A table of tables, each under its name.
    fn each<T>(
        self,
        name: &Spanned<Cow<'_, str>>,
        value: &Spanned<DeValue<'_>>,
        read: impl Fn(Self, &Spanned<Cow<'_, str>>, &Spanned<DeValue<'_>>) -> Result<T, ConfigError>,
    ) -> Result<Vec<T>, ConfigError> {
        self.members(name, value)?.into_iter().map(|(name, value)| read(self, name, value)).collect()
    }

    fn members<'m, 'i>(
        self,
        name: &Spanned<Cow<'_, str>>,
        value: &'m Spanned<DeValue<'i>>,
    ) -> Result<Vec<Member<'m, 'i>>, ConfigError> {
        match value.get_ref() {
            DeValue::Table(members) => Ok(members.iter().collect()),
            other => Err(self.expected(value.span(), name.get_ref(), "a table", other)),
        }
    }

    fn processors(self, value: &Spanned<DeValue<'_>>) -> Result<Vec<ProcessorEntry>, ConfigError> {
        match value.get_ref() {
            DeValue::Array(tables) => tables.iter().map(|table| table::read_processor(self, table)).collect(),
            other => {
                let wanted = "an array of tables, each under a `[[….processors]]` of its own";
                Err(self.expected(value.span(), "processors", wanted, other))
            }
        }
    }

    fn expected(self, span: Range<usize>, name: &str, wanted: &str, other: &DeValue<'_>) -> ConfigError {
        self.page.fault(span, format!("`{name}` takes {wanted}, found {}", found(other)))
    }
}

/// The error of the TOML parser.
fn syntax(page: Page<'_>, error: &toml::de::Error) -> ConfigError {
    page.fault(error.span().unwrap_or_default(), error.message().trim().replace('\n', "; "))
}
