//! The tables of a file, level by level. An unknown name is an error with its place.

use std::cell::Cell;
use std::ops::Range;

use toml::de::DeTable;

use super::NAMING_ADVICE;
use crate::options::keys::{KeyReader, ProcessorSpec, TableRead, TomlValue};
use crate::options::processor::Options;
use curtail_core::pipeline::{AgentLevel, Network, ProcessorLevels};
use curtail_core::places::TextPlace;
use curtail_core::suggest::unknown;
use curtail_io::FileError;

/// Maximum processors of a file that was found.
pub(super) const MAX_FOUND_PROCESSORS: usize = 256;

/// The tables that a file may contain.
const TABLES: [&str; 5] = ["history", "networks", "agents", "check", "dialects"];

/// A processor with its configuration.
pub(crate) struct ProcessorEntry {
    /// The processor.
    pub(crate) spec: &'static ProcessorSpec,
    /// What its table says.
    pub(crate) table: TableRead<Box<dyn Options>>,
    /// The place of its table.
    pub(crate) place: TextPlace,
}

/// What reads the processors of a file.
pub(super) struct LevelReader<'r> {
    pub(super) keys: KeyReader<'r>,
    /// How many processors the file may still contain.
    pub(super) remaining: Cell<usize>,
}

impl LevelReader<'_> {
    /// The processors at every level.
    pub(super) fn levels(&self, root: &DeTable<'_>) -> Result<ProcessorLevels<ProcessorEntry>, FileError> {
        self.refuse_others(root, "there is no table", &TABLES)?;
        let history = root.get("history").map(|value| self.level("history", value));
        Ok(ProcessorLevels {
            history: history.transpose()?.map(|level| level.processors).unwrap_or_default(),
            networks: self.named_tables(root, "networks", Self::network)?,
            agents: self.named_tables(root, "agents", Self::level)?,
        })
    }

    fn network(&self, name: &str, value: &TomlValue<'_>) -> Result<Network<ProcessorEntry>, FileError> {
        let members = self.keys.table(name, value)?;
        self.refuse_others(members, "a network has no key", &["processors", "agents"])?;
        let agents = self.named_tables(members, "agents", Self::level)?;
        Ok(Network { name: name.to_owned(), processors: self.processors(members)?, agents })
    }

    fn level(&self, name: &str, value: &TomlValue<'_>) -> Result<AgentLevel<ProcessorEntry>, FileError> {
        let members = self.keys.table(name, value)?;
        self.refuse_others(members, &format!("`{name}` has no key"), &["processors"])?;
        Ok(AgentLevel { name: name.to_owned(), processors: self.processors(members)? })
    }

    fn refuse_others(&self, members: &DeTable<'_>, lack: &str, known: &[&str]) -> Result<(), FileError> {
        match members.keys().find(|key| !known.contains(&key.get_ref().as_ref())) {
            Some(other) => Err(self.keys.error(other.span(), unknown(lack, other.get_ref(), known))),
            None => Ok(()),
        }
    }

    /// Reads the tables in the table `key`, each under its name.
    fn named_tables<T>(
        &self,
        members: &DeTable<'_>,
        key: &str,
        read: impl Fn(&Self, &str, &TomlValue<'_>) -> Result<T, FileError>,
    ) -> Result<Vec<T>, FileError> {
        let Some(value) = members.get(key) else { return Ok(Vec::new()) };
        self.keys.table(key, value)?.iter().map(|(name, value)| read(self, name.get_ref(), value)).collect()
    }

    fn processors(&self, members: &DeTable<'_>) -> Result<Vec<ProcessorEntry>, FileError> {
        let tables = self.keys.tables(members, "processors", "….processors")?;
        tables.iter().map(|table| self.processor(table)).collect()
    }

    fn processor(&self, table: &TomlValue<'_>) -> Result<ProcessorEntry, FileError> {
        let Some(rest) = self.remaining.get().checked_sub(1) else {
            let reason =
                format!("a file that was found may contain at most {MAX_FOUND_PROCESSORS} processors; {NAMING_ADVICE}");
            return Err(self.keys.error(table.span(), reason));
        };
        self.remaining.set(rest);
        let spec = self.spec(table.span(), self.keys.table("processors", table)?)?;
        let place = self.keys.place(table.span().start);
        Ok(ProcessorEntry { spec, table: spec.read(self.keys, spec.name, table)?, place })
    }

    fn spec(&self, span: Range<usize>, members: &DeTable<'_>) -> Result<&'static ProcessorSpec, FileError> {
        let names: Vec<&str> = self.keys.specs.iter().map(|spec| spec.name).collect();
        let Some(value) = members.get("type") else {
            return Err(self.keys.error(span, format!("a processor needs a `type`: one of {}", names.join(", "))));
        };
        let name = value.get_ref().as_str().ok_or_else(|| self.keys.expected(value, "type", "a string"))?;
        let spec = self.keys.specs.iter().find(|spec| spec.name == name);
        spec.ok_or_else(|| self.keys.error(value.span(), unknown("there is no processor", name, &names)))
    }
}
