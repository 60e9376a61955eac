//! The tables of `curtail.toml`. The keys of a table are the flags of a command, so a table is read as a command line: the
//! names, defaults, values and conflicts of a key are those of its flag, and the type of the flag says what a file may contain.

mod flags;
mod reader;
mod schema;
mod values;

use std::ffi::OsString;
use std::ops::Range;

use clap::error::ContextKind;
use clap::{Arg, ArgMatches, Args, Command};
use toml::Spanned;
use toml::de::DeValue;

use crate::options::effects::{Ineffective, ineffective};
use crate::options::processor::Options;
use crate::options::variables::lenient;
use curtail_core::places::TextPlace;
use curtail_core::suggest::unknown;
use curtail_io::FileError;
use flags::{exclusion, flag_named, keys, name_of, names};
use values::{shown, values};

pub(crate) use reader::KeyReader;
pub(crate) use schema::schema;
pub(crate) use values::{Origin, Value};

pub(crate) type TomlKey<'i> = Spanned<std::borrow::Cow<'i, str>>;

pub(crate) type TomlValue<'i> = Spanned<DeValue<'i>>;

/// A table of a file, whose keys are flags that are read as a `T`.
pub(crate) struct TableSpec<T> {
    /// The name of the table, which is that of the command with these flags.
    pub(crate) name: &'static str,
    /// What precedes the name in messages.
    article: &'static str,
    /// Its keys that are not flags.
    others: &'static [&'static str],
    augment: fn(Command) -> Command,
    read: fn(&ArgMatches) -> Result<T, clap::Error>,
}

/// A kind of processor, by the name of its command.
pub(crate) type ProcessorSpec = TableSpec<Box<dyn Options>>;

/// What flags say.
pub(crate) struct Parsed<T> {
    /// Their values.
    pub(crate) options: T,
    /// The first flag that has no effect.
    pub(crate) ineffective: Option<Ineffective>,
}

/// What a table says.
pub(crate) struct TableRead<T> {
    /// The values of its keys.
    pub(crate) options: T,
    /// The same as text, and the values of all other keys that have one, in the order of the command's help.
    pub(crate) values: Vec<Value>,
    /// The keys in effect that only a trusted file may set, each with its place.
    pub(crate) need_trust: Vec<(String, TextPlace)>,
    /// The error of the first key that has no effect.
    pub(crate) ineffective: Option<FileError>,
    /// The strings among its values, each with its bytes in the file.
    pub(crate) strings: Vec<(String, Range<usize>)>,
}

/// A key that a table has.
struct Given<'c> {
    flag: &'c Arg,
    /// Its name in the file, which may be an alias.
    name: String,
    /// The bytes of the name in the file.
    span: Range<usize>,
    /// The value on one line.
    shown: String,
    /// The same as words of a command line.
    words: Vec<OsString>,
    needs_trust: bool,
}

impl ProcessorSpec {
    /// The kind of processor whose options are `O`.
    pub(crate) const fn of_processor<O: Options + Args + 'static>(name: &'static str) -> Self {
        Self { name, article: "a ", others: &["type"], augment: O::augment_args, read: boxed::<O> }
    }
}

/// The options that `matches` set.
fn boxed<O: Options + Args + 'static>(matches: &ArgMatches) -> Result<Box<dyn Options>, clap::Error> {
    Ok(Box::new(O::from_arg_matches(matches)?))
}

impl<T: Args> TableSpec<T> {
    /// The table `name`, whose keys are the flags of `T` and `others`.
    pub(crate) const fn of(name: &'static str, others: &'static [&'static str]) -> Self {
        Self { name, article: "", others, augment: T::augment_args, read: T::from_arg_matches }
    }
}

impl<T> TableSpec<T> {
    fn command(&self) -> Command {
        let command = Command::new(self.name).no_binary_name(true).disable_help_flag(true);
        let mut command = (self.augment)(command).mut_args(lenient);
        command.build();
        command
    }

    /// Reads `flags`, without a command before them.
    ///
    /// # Errors
    /// As on the command line.
    pub(crate) fn parse(&self, flags: &[OsString]) -> Result<Parsed<T>, clap::Error> {
        let mut command = self.command();
        let matches = command.try_get_matches_from_mut(flags)?;
        Ok(Parsed { options: (self.read)(&matches)?, ineffective: ineffective(self.name, &command, &matches) })
    }

    /// Reads `table`, the value of `name`.
    ///
    /// # Errors
    /// The first error in the table, with its place.
    pub(crate) fn read(
        &self,
        reader: KeyReader<'_>,
        name: &str,
        table: &TomlValue<'_>,
    ) -> Result<TableRead<T>, FileError> {
        let members = reader.table(name, table)?;
        let command = self.command();
        let mut given = Vec::new();
        let mut strings = Vec::new();
        for (name, value) in members.iter().filter(|(name, _)| !self.others.contains(&name.get_ref().as_ref())) {
            let key = self.given(reader, &command, name, value)?;
            refuse_exclusive(reader, &command, &given, &key)?;
            given.push(key);
            add_strings(value, &mut strings);
        }
        let mut required = keys(&command).filter(|flag| flag.is_required_set());
        if let Some(missing) = required.find(|flag| given.iter().all(|key| key.flag != *flag)) {
            return Err(reader.error(table.span(), format!("this `{}` needs `{}`", self.name, name_of(missing))));
        }
        given.retain(|key| !reader.is_overridden(&command, key.flag));
        let flags: Vec<OsString> = given.iter().flat_map(|key| key.words.clone()).collect();
        let parsed = self.parse(&flags).map_err(|error| refused(reader, &given, table, &error))?;
        let ineffective = parsed.ineffective.map(|flag| {
            let key = given.iter().find(|key| name_of(key.flag) == flag.flag);
            reader.error(key.map_or(table.span(), |key| key.span.clone()), flag.in_file())
        });
        let trusted = given.iter().filter(|key| key.needs_trust);
        let need_trust: Vec<_> = trusted.map(|key| (key.name.clone(), reader.place(key.span.start))).collect();
        // Whether the file may have these keys is the first question.
        if let (Some(error), true) = (&ineffective, need_trust.is_empty()) {
            return Err(error.clone());
        }
        let values = keys(&command).filter_map(|flag| reader.value(flag, &given)).collect();
        Ok(TableRead { options: parsed.options, values, need_trust, ineffective, strings })
    }

    /// Reads a key with its value.
    fn given<'c>(
        &self,
        reader: KeyReader<'_>,
        command: &'c Command,
        name: &TomlKey<'_>,
        value: &TomlValue<'_>,
    ) -> Result<Given<'c>, FileError> {
        let Some(flag) = flag_named(command, name.get_ref()) else {
            return Err(reader.error(name.span(), self.unknown_key(reader, command, name.get_ref())));
        };
        let values = values(reader, flag, name.get_ref(), value)?;
        Ok(Given {
            flag,
            name: name.get_ref().to_string(),
            span: name.span(),
            shown: shown(value.get_ref()),
            words: values.iter().filter_map(|value| reader.word(command, flag, value)).collect(),
            needs_trust: reader.needs_trust(command, flag, &values),
        })
    }

    fn unknown_key(&self, reader: KeyReader<'_>, command: &Command, name: &str) -> String {
        let called = format!("{}`{}`", self.article, self.name);
        let known: Vec<&str> = self.others.iter().copied().chain(keys(command).flat_map(names)).collect();
        match reader.specs.iter().find(|other| flag_named(&other.command(), name).is_some()) {
            Some(other) => format!("`{name}` is a key of a `{}`; {called} takes {}", other.name, known.join(", ")),
            None => unknown(&format!("{called} has no key"), name, &known),
        }
    }
}

fn refuse_exclusive(
    reader: KeyReader<'_>,
    command: &Command,
    given: &[Given<'_>],
    key: &Given<'_>,
) -> Result<(), FileError> {
    for other in given {
        if let Some(reason) = exclusion(command, other.flag, key.flag) {
            let first = if other.span.start < key.span.start { other } else { key };
            let reason = format!("`{}` and `{}` {reason}; keep one of them", other.name, key.name);
            return Err(reader.error(first.span.clone(), reason));
        }
    }
    Ok(())
}

/// The error of a value that its flag refuses.
fn refused(reader: KeyReader<'_>, given: &[Given<'_>], table: &TomlValue<'_>, error: &clap::Error) -> FileError {
    let flag = error.get(ContextKind::InvalidArg).map(ToString::to_string);
    let reason = std::error::Error::source(error).map_or_else(|| first_line(error), ToString::to_string);
    match given.iter().find(|key| flag.as_ref() == Some(&key.flag.to_string())) {
        Some(key) => reader.error(key.span.clone(), format!("`{}`: {reason}", key.name)),
        None => reader.error(table.span(), reason),
    }
}

/// Adds the strings of `value` to those that were `found`.
fn add_strings(value: &TomlValue<'_>, found: &mut Vec<(String, Range<usize>)>) {
    match value.get_ref() {
        DeValue::String(text) => found.push((text.to_string(), value.span())),
        DeValue::Array(values) => values.iter().for_each(|value| add_strings(value, found)),
        _ => {}
    }
}

/// The error without usage and hints.
pub(crate) fn first_line(error: &clap::Error) -> String {
    let text = error.to_string();
    // They follow the first empty line.
    let lines: Vec<&str> = text.lines().map(str::trim).take_while(|line| !line.is_empty()).collect();
    lines.join(" ").trim_start_matches("error: ").to_owned()
}
