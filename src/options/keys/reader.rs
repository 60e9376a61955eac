//! Reads the keys of a file, with the places of its errors.

use std::ffi::{OsStr, OsString};
use std::fmt::Display;
use std::ops::Range;
use std::path::Path;

use clap::{Arg, Command};
use toml::Spanned;
use toml::de::DeTable;

use super::flags::{are_opposite, in_group, is_file, is_switch, keys, may_be_file, name_of};
use super::values::{default_of, found, written};
use super::{Given, Origin, ProcessorSpec, TomlValue, Value};
use crate::options::counting::{TOKENIZERS, way_of_counting};
use crate::options::processor::TRUSTED;
use crate::options::variables::Variables;
use curtail_core::places::TextPlace;
use curtail_io::{ErrorKind, FileError};
use curtail_tokens::tokenizers::names_tokenizer_file;

/// What reading a table needs: its file, to compute the places of errors, the folder that its paths are resolved against, the
/// processors whose keys may be meant, and the environment.
#[derive(Clone, Copy)]
pub(crate) struct KeyReader<'r> {
    pub(crate) file: &'r str,
    pub(crate) text: &'r str,
    pub(crate) folder: &'r Path,
    pub(crate) specs: &'static [ProcessorSpec],
    pub(crate) variables: &'r Variables,
}

impl KeyReader<'_> {
    /// An error of the whole file.
    pub(crate) fn whole(self, reason: impl Display) -> FileError {
        FileError::new(ErrorKind::Content, self.file, reason.to_string())
    }

    /// An error at `span`.
    pub(crate) fn error(self, span: Range<usize>, reason: impl Display) -> FileError {
        self.whole(reason).at(self.place(span.start))
    }

    /// The error of a `value` that is not what `name` takes.
    pub(crate) fn expected(self, value: &TomlValue<'_>, name: &str, wanted: &str) -> FileError {
        self.error(value.span(), format!("`{name}` takes {wanted}, found {}", found(value.get_ref())))
    }

    pub(crate) fn place(self, offset: usize) -> TextPlace {
        TextPlace::locate(self.text.as_bytes(), offset, 1)
    }

    /// The file as a table.
    pub(crate) fn root(&self) -> Result<Spanned<DeTable<'_>>, FileError> {
        DeTable::parse(self.text).map_err(|error| {
            let reason = match error.message().trim().replace('\n', "; ") {
                message if message.contains("recursion depth") => {
                    String::from("arrays or tables are nested too deeply; no setting needs more than four levels")
                }
                message => message,
            };
            self.error(error.span().unwrap_or_default(), reason)
        })
    }

    /// The table that is the value of `name`.
    pub(crate) fn table<'t, 'i>(self, name: &str, value: &'t TomlValue<'i>) -> Result<&'t DeTable<'i>, FileError> {
        value.get_ref().as_table().ok_or_else(|| self.expected(value, name, "a table"))
    }

    /// The tables of the array under `name`, which a file writes under `header`; none if it is absent.
    pub(crate) fn tables<'t, 'i>(
        self,
        members: &'t DeTable<'i>,
        name: &str,
        header: &str,
    ) -> Result<&'t [TomlValue<'i>], FileError> {
        let Some(value) = members.get(name) else { return Ok(&[]) };
        let wanted = format!("an array of tables, each under a `[[{header}]]` of its own");
        let Some(tables) = value.get_ref().as_array() else { return Err(self.expected(value, name, &wanted)) };
        if let Some(other) = tables.iter().find(|table| !table.get_ref().is_table()) {
            return Err(self.expected(other, name, &wanted));
        }
        Ok(tables)
    }

    /// Whether only a trusted file may set the key to these values.
    pub(super) fn needs_trust(self, command: &Command, flag: &Arg, values: &[String]) -> bool {
        is_file(flag)
            || in_group(command, TRUSTED, flag)
            || may_be_file(flag) && values.iter().any(|value| self.names_file(value))
    }

    /// Whether the name of a tokenizer is that of a file.
    fn names_file(self, name: &str) -> bool {
        names_tokenizer_file(name) || self.folder.join(&name[way_of_counting(name).len()..]).exists()
    }

    /// The word of a command line for `value`; for a switch that is off, that of its opposite if it has one.
    pub(super) fn word(self, command: &Command, flag: &Arg, value: &str) -> Option<OsString> {
        if is_switch(flag) {
            let opposite = keys(command).find(|other| are_opposite(flag, other));
            let flag = if value == "true" { Some(flag) } else { opposite };
            return flag.map(|flag| OsString::from(format!("--{}", name_of(flag))));
        }
        let mut word = OsString::from(format!("--{}=", name_of(flag)));
        let (way, name) = value.split_at(if may_be_file(flag) { way_of_counting(value).len() } else { 0 });
        let path = self.folder.join(name);
        let is_path = is_file(flag) || may_be_file(flag) && path.exists();
        word.push(way);
        word.push(if is_path { path.as_os_str() } else { OsStr::new(name) });
        Some(word)
    }

    /// Whether a variable overrides what a file says under this key. A variable that names a tokenizer overrides a model as
    /// well.
    pub(super) fn is_overridden(self, command: &Command, flag: &Arg) -> bool {
        let rivals =
            keys(command).filter(|other| [*other, flag].iter().all(|flag| in_group(command, TOKENIZERS, flag)));
        rivals.chain([flag]).filter_map(Arg::get_env).any(|name| self.variables.get(name).is_some())
    }

    /// The value of `flag` in the end, if it has one.
    pub(super) fn value(self, flag: &Arg, given: &[Given<'_>]) -> Option<Value> {
        let variable = flag.get_env().and_then(|name| Some((name, self.variables.get(name)?.to_str()?)));
        let key = given.iter().find(|key| key.flag == flag);
        let (value, origin) = match (variable, key) {
            (Some((name, text)), _) => {
                (written(flag, text).to_string(), Origin::Variable(name.to_string_lossy().into_owned()))
            }
            (None, Some(key)) => (key.shown.clone(), Origin::File(self.place(key.span.start).line)),
            (None, None) => (written(flag, &default_of(flag)?).to_string(), Origin::Default),
        };
        Some(Value { name: key.map_or_else(|| name_of(flag).to_owned(), |key| key.name.clone()), value, origin })
    }
}
