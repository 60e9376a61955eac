//! `curtail.toml`: which processors apply at which level, and the tables of other commands.
//!
//! It knows no processor by name; other commands read their own tables.

use std::borrow::Cow;
use std::cell::Cell;
use std::collections::HashMap;
use std::ffi::{OsStr, OsString};
use std::fmt::Display;
use std::io::Read as _;
use std::ops::Range;
use std::path::{Path, PathBuf};

use clap::error::{ContextKind, ContextValue, ErrorKind as FlagErrorKind};
use clap::{ArgMatches, Args};
use toml::Spanned;
use toml::de::{DeInteger, DeTable, DeValue};

use super::config_keys::{FileValue, OptionKey, Shape};
use super::options::{ProcessorSpec, Reads, TableSpec};
use curtail_core::error::{ErrorKind, FileError, TextPlace, system_message};
use curtail_core::pipeline::{AgentLevel, Chain, Network, ProcessorLevels};
use curtail_core::small::{SMALL, read_small_text};
use curtail_core::suggest::unknown;
use curtail_tokens::tokenizers::names_tokenizer_file;

/// A processor of a configuration and the level that it comes from.
pub(crate) type Step<'c> = curtail_core::pipeline::Step<'c, ProcessorEntry>;

/// The names of a configuration in a folder; the first that exists is used.
const NAMES: [&str; 2] = ["curtail.toml", ".curtail.toml"];

/// Maximum bytes, processors and `check.paths` tables of a file that was found: whoever wrote it must not keep the program
/// busy.
const MAX_FOUND_BYTES: u64 = 1 << 20;
const MAX_FOUND_PROCESSORS: usize = 256;
const MAX_FOUND_PATHS: usize = 1000;

/// What the user can do about a file that was found and is refused.
const NAMING_ADVICE: &str = "name it with -c to use it";

/// How a configuration was chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ConfigChoice {
    /// The user named it.
    Named,
    /// It is in the user's configuration folder.
    OfUser,
    /// It is in the working directory or above it; other people may have written it.
    Found,
}

impl ConfigChoice {
    /// Whether the file may run programs, name servers, keys and files, and be of any size.
    pub(crate) fn is_trusted(self) -> bool {
        self != Self::Found
    }
}

/// The content of a configuration file.
#[derive(Debug, Clone)]
pub(crate) struct Config {
    /// The name of the file in messages.
    pub(crate) file: String,
    /// How it was chosen.
    pub(crate) choice: ConfigChoice,
    text: String,
    levels: ProcessorLevels<ProcessorEntry>,
    variables: Variables,
}

impl Config {
    /// Reads the file at `path`, which may contain the processors of `specs`. Relative paths in it are resolved against its
    /// folder.
    ///
    /// # Errors
    /// The file cannot be read, or something in it is not understood.
    pub(crate) fn load(
        path: &Path,
        choice: ConfigChoice,
        specs: &'static [ProcessorSpec],
        variables: &Variables,
    ) -> Result<Self, FileError> {
        let file = path.display().to_string();
        let unusable = |reason: String| FileError::new(ErrorKind::Content, &file, reason);
        let text = if choice.is_trusted() {
            let read = std::fs::File::open(path).and_then(|file| read_small_text(file, SMALL));
            read.map_err(|error| unusable(system_message(&error)))?
        } else {
            found_text(path, variables).map_err(unusable)?
        };
        let folder = path.parent().unwrap_or(Path::new(""));
        let remaining = Cell::new(if choice.is_trusted() { usize::MAX } else { MAX_FOUND_PROCESSORS });
        let source = ConfigSource { file: &file, text: &text };
        let levels = levels(TableReader { source, folder, specs, variables, remaining: &remaining })?;
        Ok(Self { file, choice, text, levels, variables: variables.clone() })
    }

    /// The folder that path globs are resolved against: the folder of the file, or the working directory for the user's own
    /// file, which belongs to no project.
    pub(crate) fn folder(&self) -> &Path {
        let folder = Path::new(&self.file).parent().filter(|folder| !folder.as_os_str().is_empty());
        folder.filter(|_| self.choice != ConfigChoice::OfUser).unwrap_or(Path::new("."))
    }

    /// Refuses more `check.paths` tables than a file that was found may have.
    ///
    /// # Errors
    /// There are more.
    pub(crate) fn refuse_many_paths(&self, paths: usize) -> Result<(), FileError> {
        if self.choice.is_trusted() || paths <= MAX_FOUND_PATHS {
            return Ok(());
        }
        let reason =
            format!("a file that was found may have at most {MAX_FOUND_PATHS} `check.paths` tables; {NAMING_ADVICE}");
        Err(self.source().whole(reason))
    }

    /// The file that applies to `folder`: the closest one in it or above it, up to the root of the repository. Other people
    /// may have written it.
    pub(crate) fn discover(folder: &Path) -> Option<PathBuf> {
        for folder in folder.ancestors() {
            if let Some(found) = in_folder(folder) {
                return Some(found);
            }
            if folder.join(".git").exists() {
                break;
            }
        }
        None
    }

    /// The user's own file, for folders without one.
    pub(crate) fn of_user(variables: &Variables) -> Option<PathBuf> {
        in_folder(&variables.user_folder("XDG_CONFIG_HOME", ".config")?.join("curtail"))
    }

    /// The keys of the table `name` as the flags of `T`, without `inner`, whose value is an array of tables; `None` if there is
    /// no such table.
    ///
    /// # Errors
    /// The first error in the table, with its place.
    pub(crate) fn table<T: Args>(&self, name: &'static str, inner: &str) -> Result<Option<T>, FileError> {
        let source = self.source();
        let root = DeTable::parse(source.text).map_err(|error| source.syntax(&error))?;
        let Some((key, value)) = root.get_ref().get_key_value(name) else { return Ok(None) };
        self.flags_of::<T>(name, &[inner], key.get_ref(), value).map(Some)
    }

    /// The tables of the array `inner` in the table `name`, as [`Config::table`] reads them.
    ///
    /// # Errors
    /// The first error in a table, with its place.
    pub(crate) fn inner_tables<T: Args>(&self, name: &str, inner: &'static str) -> Result<Vec<T>, FileError> {
        let source = self.source();
        let root = DeTable::parse(source.text).map_err(|error| source.syntax(&error))?;
        let table = root.get_ref().get(name).and_then(|value| value.get_ref().as_table());
        let Some(value) = table.and_then(|table| table.get(inner)) else { return Ok(Vec::new()) };
        let DeValue::Array(tables) = value.get_ref() else {
            let wanted = format!("an array of tables, each under a `[[{name}.{inner}]]` of its own");
            return Err(self.reader(&Cell::new(0)).expected(value.span(), inner, &wanted, value.get_ref()));
        };
        tables.iter().map(|table| self.flags_of::<T>(inner, &[], inner, table)).collect()
    }

    /// The flags of `T` in a table with its name in the file; `others` are keys that are not flags.
    fn flags_of<T: Args>(
        &self,
        name: &'static str,
        others: &[&str],
        key: &str,
        value: &Item<'_>,
    ) -> Result<T, FileError> {
        let remaining = Cell::new(0);
        let reader = self.reader(&remaining);
        let DeValue::Table(members) = value.get_ref() else {
            return Err(reader.expected(value.span(), key, "a table", value.get_ref()));
        };
        let spec = TableSpec::with_flags::<T>(name);
        let read = read_keys(reader, &KeyTable { spec, kind: format!("`{name}`"), others }, value.span(), members)?;
        T::from_arg_matches(&read.flags).map_err(|error| self.source().error(value.span(), first_line(&error)))
    }

    /// A reader of tables that are not those of processors.
    fn reader<'r>(&'r self, remaining: &'r Cell<usize>) -> TableReader<'r> {
        TableReader { source: self.source(), folder: self.folder(), specs: &[], variables: &self.variables, remaining }
    }

    fn source(&self) -> ConfigSource<'_> {
        ConfigSource { file: &self.file, text: &self.text }
    }

    /// The processors that apply to `network` and `agent`, in order.
    ///
    /// # Errors
    /// A name that the file does not contain.
    pub(crate) fn steps(&self, network: Option<&str>, agent: Option<&str>) -> Result<Vec<Step<'_>>, FileError> {
        self.levels.steps(network, agent).map_err(|error| self.source().whole(error))
    }

    /// The processors of all levels, in the order of the file.
    pub(crate) fn everywhere(&self) -> Vec<Step<'_>> {
        self.levels.everywhere()
    }

    /// Refuses keys that run a program, or name a server, a key or a file, in the processors of `steps`. A file that the user
    /// neither wrote nor named must not have them.
    ///
    /// # Errors
    /// The first such key, with its place.
    pub(crate) fn refuse_untrusted(&self, steps: &[Step<'_>]) -> Result<(), FileError> {
        let Some((key, place)) = steps.iter().flat_map(|step| &step.entry.need_trust).next() else { return Ok(()) };
        let reason = format!(
            "`{key}` is not allowed in a file that was found, because it can run a program, open a file or your store, or send \
             your data; read the file, then name it with -c or pass --trust"
        );
        Err(self.source().whole(reason).at(*place))
    }

    /// The files that a run of `steps` reads: this one, and those of its processors.
    pub(crate) fn files(&self, steps: &[Step<'_>]) -> Reads {
        let mut reads = Reads { other: vec![PathBuf::from(&self.file)], ..Reads::default() };
        reads.extend(steps.iter().map(|step| step.entry.files()));
        reads
    }

    /// The chain of `steps`; in a dry run, no processor of it runs a program or sends anything.
    ///
    /// # Errors
    /// The error of a processor that cannot be built, with the place of its table.
    pub(crate) fn chain(&self, steps: &[Step<'_>], dry_run: bool) -> Result<Chain, FileError> {
        let mut chain = Chain::default();
        for Step { level, entry } in steps {
            if let Some(error) = &entry.ineffective {
                return Err(error.clone());
            }
            let wrong = |error| format!("{} at {level}: {error:#}", entry.spec.name);
            let processors = entry.spec.processors(&entry.flags, dry_run);
            chain = chain.at(level, processors.map_err(|error| self.source().whole(wrong(error)).at(entry.place))?);
        }
        Ok(chain)
    }

    /// An error about `name`, a string in the file: at its first place there, or without a place if it is written with escapes.
    pub(crate) fn error_about(&self, name: &str, error: &impl Display) -> FileError {
        let quoted = |quote: char| self.text.find(&format!("{quote}{name}{quote}")).map(|at| at + 1);
        match quoted('"').or_else(|| quoted('\'')) {
            Some(at) => self.source().error(at..at, error),
            None => self.source().whole(error),
        }
    }
}

/// The levels, processors and values of `steps` on one line. Two configurations with the same line make the same cuts.
pub(in crate::cli) fn described(steps: &[Step<'_>]) -> String {
    let stages = steps.iter().map(|Step { level, entry }| {
        let values = entry.values.iter().map(|value| format!(" {}={}", value.name, value.value));
        format!("{level}: {}{}", entry.spec.name, values.collect::<String>())
    });
    stages.collect::<Vec<_>>().join("; ")
}

/// The text of a file that was found.
fn found_text(path: &Path, variables: &Variables) -> Result<String, String> {
    let system = |error| system_message(&error);
    if let Some(owner) = foreign_owner(path, variables).map_err(system)? {
        return Err(format!(
            "belongs to another user (uid {owner}) and was found, not named; {NAMING_ADVICE}, or pass --no-config"
        ));
    }
    let mut text = String::new();
    let file = std::fs::File::open(path).map_err(system)?;
    file.take(MAX_FOUND_BYTES + 1).read_to_string(&mut text).map_err(system)?;
    if text.len() as u64 > MAX_FOUND_BYTES {
        return Err(format!("a file that was found may have at most 1 MiB; {NAMING_ADVICE}, or pass --no-config"));
    }
    Ok(text)
}

fn in_folder(folder: &Path) -> Option<PathBuf> {
    NAMES.iter().map(|name| folder.join(name)).find(|path| path.is_file())
}

// The tables of a file, level by level. An unknown name is an error with its place.

/// The name and text of a configuration file, to compute places of errors.
#[derive(Debug, Clone, Copy)]
struct ConfigSource<'t> {
    file: &'t str,
    text: &'t str,
}

/// What reading a table needs: its file, the folder that its paths are resolved against, the known processors, the
/// environment, and how many processors the file may still contain.
#[derive(Clone, Copy)]
struct TableReader<'r> {
    source: ConfigSource<'r>,
    folder: &'r Path,
    specs: &'static [ProcessorSpec],
    variables: &'r Variables,
    remaining: &'r Cell<usize>,
}

impl ConfigSource<'_> {
    /// An error of the whole file.
    fn whole(self, reason: impl Display) -> FileError {
        FileError::new(ErrorKind::Content, self.file, reason.to_string())
    }

    /// An error at `span`.
    fn error(self, span: Range<usize>, reason: impl Display) -> FileError {
        self.whole(reason).at(self.place(span.start))
    }

    /// The error of the TOML parser.
    fn syntax(self, error: &toml::de::Error) -> FileError {
        let message = error.message().trim().replace('\n', "; ");
        let reason = match message.contains("recursion depth") {
            true => String::from("arrays or tables are nested too deeply; no setting needs more than four levels"),
            false => message,
        };
        self.error(error.span().unwrap_or_default(), reason)
    }

    fn place(self, offset: usize) -> TextPlace {
        TextPlace::locate(self.text.as_bytes(), offset, 1)
    }
}

/// The tables that a file may contain.
const TABLES: [&str; 4] = ["history", "networks", "agents", "check"];

type Key<'i> = Spanned<Cow<'i, str>>;

type Item<'i> = Spanned<DeValue<'i>>;

/// The processors at every level.
fn levels(reader: TableReader<'_>) -> Result<ProcessorLevels<ProcessorEntry>, FileError> {
    let source = reader.source;
    let root = DeTable::parse(source.text).map_err(|error| source.syntax(&error))?;
    let mut levels = ProcessorLevels::default();
    for (name, value) in root.get_ref() {
        match name.get_ref().as_ref() {
            "history" => levels.history = reader.agent(name, value)?.processors,
            "networks" => levels.networks = reader.named_tables(name, value, TableReader::network)?,
            "agents" => levels.agents = reader.named_tables(name, value, TableReader::agent)?,
            "check" => {}
            other => return Err(source.error(name.span(), unknown("there is no table", other, &TABLES))),
        }
    }
    Ok(levels)
}

impl TableReader<'_> {
    fn network(self, name: &Key<'_>, value: &Item<'_>) -> Result<Network<ProcessorEntry>, FileError> {
        let name_in_file = name.get_ref().to_string();
        let mut network = Network { name: name_in_file, processors: Vec::new(), agents: Vec::new() };
        for (key, value) in self.members(name, value)? {
            match key.get_ref().as_ref() {
                "processors" => network.processors = self.processors(value)?,
                "agents" => network.agents = self.named_tables(key, value, TableReader::agent)?,
                other => {
                    let reason = unknown("a network has no key", other, &["processors", "agents"]);
                    return Err(self.source.error(key.span(), reason));
                }
            }
        }
        Ok(network)
    }

    fn agent(self, name: &Key<'_>, value: &Item<'_>) -> Result<AgentLevel<ProcessorEntry>, FileError> {
        let mut processors = Vec::new();
        for (key, value) in self.members(name, value)? {
            if key.get_ref() != "processors" {
                let reason = unknown(&format!("`{}` has no key", name.get_ref()), key.get_ref(), &["processors"]);
                return Err(self.source.error(key.span(), reason));
            }
            processors = self.processors(value)?;
        }
        Ok(AgentLevel { name: name.get_ref().to_string(), processors })
    }

    /// Reads a table of tables, each under its name.
    fn named_tables<T>(
        self,
        name: &Key<'_>,
        value: &Item<'_>,
        read: impl Fn(Self, &Key<'_>, &Item<'_>) -> Result<T, FileError>,
    ) -> Result<Vec<T>, FileError> {
        self.members(name, value)?.into_iter().map(|(name, value)| read(self, name, value)).collect()
    }

    fn members<'m, 'i>(
        self,
        name: &Key<'_>,
        value: &'m Item<'i>,
    ) -> Result<Vec<(&'m Key<'i>, &'m Item<'i>)>, FileError> {
        match value.get_ref() {
            DeValue::Table(members) => Ok(members.iter().collect()),
            other => Err(self.expected(value.span(), name.get_ref(), "a table", other)),
        }
    }

    fn processors(self, value: &Item<'_>) -> Result<Vec<ProcessorEntry>, FileError> {
        match value.get_ref() {
            DeValue::Array(tables) => tables.iter().map(|table| read_processor(self, table)).collect(),
            other => {
                let wanted = "an array of tables, each under a `[[….processors]]` of its own";
                Err(self.expected(value.span(), "processors", wanted, other))
            }
        }
    }

    fn expected(self, span: Range<usize>, name: &str, wanted: &str, other: &DeValue<'_>) -> FileError {
        self.source.error(span, format!("`{name}` takes {wanted}, found {}", found(other)))
    }
}

// A processor's table: its keys become the flags of its command, so that the same rules apply to both.

/// A processor with its configuration.
#[derive(Debug, Clone)]
pub(crate) struct ProcessorEntry {
    /// The processor.
    pub(crate) spec: &'static ProcessorSpec,
    /// The values of all keys that have one, in the order of the command's help.
    pub(crate) values: Vec<Value>,
    /// The place of its table.
    pub(crate) place: TextPlace,
    /// The keys in effect that only a trusted file may set, each with its place.
    need_trust: Vec<(String, TextPlace)>,
    /// The values of the keys, as parsed flags.
    flags: ArgMatches,
    /// The error of the first key that has no effect.
    ineffective: Option<FileError>,
}

impl ProcessorEntry {
    /// The files that it reads.
    pub(crate) fn files(&self) -> Reads {
        self.spec.files(&self.flags)
    }
}

/// Reads the table of a processor.
fn read_processor(reader: TableReader<'_>, table: &Item<'_>) -> Result<ProcessorEntry, FileError> {
    let TableReader { source, specs, variables, remaining, .. } = reader;
    let Some(rest) = remaining.get().checked_sub(1) else {
        let reason =
            format!("a file that was found may contain at most {MAX_FOUND_PROCESSORS} processors; {NAMING_ADVICE}");
        return Err(source.error(table.span(), reason));
    };
    remaining.set(rest);
    let DeValue::Table(members) = table.get_ref() else {
        return Err(source.error(table.span(), format!("expected a table, found {}", found(table.get_ref()))));
    };
    let spec = spec(source, specs, table.span(), members)?;
    let table_of_keys = KeyTable { spec: spec.table, kind: format!("a `{}`", spec.name), others: &["type"] };
    let Keys { keys, given, need_trust, flags, ineffective } =
        read_keys(reader, &table_of_keys, table.span(), members)?;
    let values = keys.iter().filter_map(|key| value(key, &given, variables)).collect();
    Ok(ProcessorEntry { spec, values, place: source.place(table.span().start), need_trust, flags, ineffective })
}

/// A table whose keys are flags.
struct KeyTable<'t> {
    spec: TableSpec,
    /// What to call it in messages, such as `a "window"`.
    kind: String,
    /// Its keys that are not flags.
    others: &'t [&'t str],
}

/// The keys of a table.
struct Keys {
    /// All keys that it may have.
    keys: Vec<OptionKey>,
    /// Those that it has.
    given: Vec<Given>,
    /// Those in effect that only a trusted file may set, each with its place.
    need_trust: Vec<(String, TextPlace)>,
    /// Their values, as parsed flags.
    flags: ArgMatches,
    /// The error of the first one that has no effect.
    ineffective: Option<FileError>,
}

/// Reads the keys of a table as flags.
fn read_keys(
    reader: TableReader<'_>,
    table: &KeyTable<'_>,
    span: Range<usize>,
    members: &DeTable<'_>,
) -> Result<Keys, FileError> {
    let TableReader { source, folder, variables, .. } = reader;
    let keys = table.spec.keys();
    let mut given: Vec<Given> = Vec::new();
    let (mut flags, mut need_trust) = (Vec::new(), Vec::new());
    for (name, value) in members.iter().filter(|(name, _)| !table.others.contains(&name.get_ref().as_ref())) {
        let key = key(reader, table, &keys, name)?;
        refuse_repeated(source, &given, key, name)?;
        let values = flag_values(source, name.get_ref(), key, value)?;
        if !is_overridden(key, variables) {
            flags.extend(values.iter().filter_map(|value| flag(key, value, folder)));
            let needs_trust = key.needs_trust || values.iter().any(|value| names_file(key, value, folder));
            need_trust.extend(needs_trust.then(|| (name.get_ref().to_string(), source.place(name.span().start))));
        }
        let (key, name, span) = (key.clone(), name.get_ref().to_string(), name.span());
        given.push(Given { key, name, value: shown(value.get_ref()), line: source.place(span.start).line, span });
    }
    let flags = table.spec.parse_flags(&flags);
    let flags = flags.map_err(|error| flag_error(source, table.spec.name, &given, span.clone(), &error))?;
    let ineffective = table.spec.ineffective(&flags).map(|flag| {
        let key = given.iter().find(|given| given.key.name == flag.flag);
        source.error(key.map_or(span, |given| given.span.clone()), flag.in_file())
    });
    // Whether the file may have these keys is the first question.
    match ineffective {
        Some(error) if need_trust.is_empty() => Err(error),
        ineffective => Ok(Keys { keys, given, need_trust, flags, ineffective }),
    }
}

fn spec(
    source: ConfigSource<'_>,
    specs: &'static [ProcessorSpec],
    span: Range<usize>,
    members: &DeTable<'_>,
) -> Result<&'static ProcessorSpec, FileError> {
    let names: Vec<&str> = specs.iter().map(|spec| spec.name).collect();
    let Some(value) = members.get("type") else {
        return Err(source.error(span, format!("a processor needs a `type`: one of {}", names.join(", "))));
    };
    let Some(name) = value.get_ref().as_str() else {
        let reason = format!("`type` takes a string, found {}", found(value.get_ref()));
        return Err(source.error(value.span(), reason));
    };
    specs
        .iter()
        .find(|spec| spec.name == name)
        .ok_or_else(|| source.error(value.span(), unknown("there is no processor", name, &names)))
}

fn key<'k>(
    reader: TableReader<'_>,
    table: &KeyTable<'_>,
    keys: &'k [OptionKey],
    name: &Key<'_>,
) -> Result<&'k OptionKey, FileError> {
    let wanted: &str = name.get_ref();
    if let Some(key) = keys.iter().find(|key| key.is_called(wanted)) {
        return Ok(key);
    }
    let names = keys.iter().flat_map(|key| std::iter::once(&key.name).chain(&key.aliases));
    let known: Vec<&str> = table.others.iter().copied().chain(names.map(String::as_str)).collect();
    let mut reason = unknown(&format!("{} has no key", table.kind), wanted, &known);
    let elsewhere = reader.specs.iter().find(|other| other.keys().iter().any(|key| key.is_called(wanted)));
    if let Some(other) = elsewhere {
        reason = format!("`{wanted}` is a key of a `{}`; {} takes {}", other.name, table.kind, known.join(", "));
    }
    Err(reader.source.error(name.span(), reason))
}

/// Refuses a key that is also given under another name, or together with its opposite.
fn refuse_repeated(
    source: ConfigSource<'_>,
    given: &[Given],
    key: &OptionKey,
    name: &Key<'_>,
) -> Result<(), FileError> {
    let same = |other: &&Given| other.key.name == key.name || key.opposite.as_ref() == Some(&other.key.name);
    given.iter().find(same).map_or(Ok(()), |other| {
        let reason = format!("`{}` and `{}` set the same option; keep one of them", other.name, name.get_ref());
        Err(source.error(name.span(), reason))
    })
}

/// The values of a key, each as the command line takes it.
fn flag_values(
    source: ConfigSource<'_>,
    name: &str,
    key: &OptionKey,
    value: &Item<'_>,
) -> Result<Vec<String>, FileError> {
    let DeValue::Array(values) = value.get_ref() else { return Ok(vec![flag_value(source, name, key, value)?]) };
    if !key.is_list {
        let reason = format!("`{name}` takes {}, found an array", key.shape.description());
        return Err(source.error(value.span(), reason));
    }
    if values.is_empty() {
        let reason = format!("`{name}` is empty; give at least one value, or remove the key");
        return Err(source.error(value.span(), reason));
    }
    values.iter().map(|value| flag_value(source, name, key, value)).collect()
}

fn flag_value(source: ConfigSource<'_>, name: &str, key: &OptionKey, value: &Item<'_>) -> Result<String, FileError> {
    let word = match (&key.shape, value.get_ref()) {
        (Shape::Switch, DeValue::Boolean(on)) => Some(on.to_string()),
        (Shape::Whole | Shape::Tokens | Shape::Bytes | Shape::Any, DeValue::Integer(number)) => whole(number),
        (Shape::Any, DeValue::Float(number)) => Some(number.as_str().to_owned()),
        (Shape::Tokens | Shape::Bytes | Shape::Text | Shape::Any | Shape::Choice(_), DeValue::String(text)) => {
            Some(text.to_string())
        }
        _ => None,
    };
    let listed = if key.is_list { ", or several in an array" } else { "" };
    let word = word.ok_or_else(|| {
        let reason = format!("`{name}` takes {}{listed}, found {}", key.shape.description(), found(value.get_ref()));
        source.error(value.span(), reason)
    })?;
    if let Shape::Choice(choices) = &key.shape {
        let known: Vec<&str> = choices.iter().map(String::as_str).collect();
        if !known.contains(&word.as_str()) {
            return Err(source.error(value.span(), unknown(&format!("`{name}` cannot be"), &word, &known)));
        }
    }
    Ok(word)
}

/// Whether `word`, which may be a name or a path, is the path of a file.
fn names_file(key: &OptionKey, word: &str, folder: &Path) -> bool {
    key.path == FileValue::IfExists && (names_tokenizer_file(word) || folder.join(word).exists())
}

/// The flag for the value `word`; for a switch that is off, its opposite if it has one.
fn flag(key: &OptionKey, word: &str, folder: &Path) -> Option<OsString> {
    match (&key.shape, word) {
        (Shape::Switch, "true") => Some(OsString::from(format!("--{}", key.name))),
        (Shape::Switch, _) => key.opposite.as_ref().map(|other| OsString::from(format!("--{other}"))),
        _ => {
            let mut flag = OsString::from(format!("--{}=", key.name));
            let beside = folder.join(word);
            match key.path {
                FileValue::Always => flag.push(beside),
                FileValue::IfExists if beside.exists() => flag.push(beside),
                _ => flag.push(word),
            }
            Some(flag)
        }
    }
}

/// A clap error, worded for a file.
fn flag_error(
    source: ConfigSource<'_>,
    table_name: &str,
    given: &[Given],
    table: Range<usize>,
    error: &clap::Error,
) -> FileError {
    let flags_in = |context| match error.get(context) {
        Some(ContextValue::String(flag)) => vec![flag_name(flag)],
        Some(ContextValue::Strings(flags)) => flags.iter().map(|flag| flag_name(flag)).collect(),
        _ => Vec::new(),
    };
    let wrong = flags_in(ContextKind::InvalidArg);
    let culprit = wrong.first().and_then(|name| given.iter().find(|given| given.key.name == *name));
    let name_in_file = |name: &str| {
        given.iter().find(|given| given.key.name == name).map_or(name.to_owned(), |given| given.name.clone())
    };
    let reason = match error.kind() {
        FlagErrorKind::ArgumentConflict if !wrong.is_empty() => {
            let prior = flags_in(ContextKind::PriorArg);
            let names: Vec<String> =
                wrong.iter().chain(&prior).map(|name| format!("`{}`", name_in_file(name))).collect();
            format!("{} exclude each other; keep one of them", names.join(" and "))
        }
        FlagErrorKind::MissingRequiredArgument => {
            format!(
                "this `{table_name}` needs {}",
                wrong.iter().map(|name| quoted(name)).collect::<Vec<_>>().join(" and ")
            )
        }
        _ => {
            let message = std::error::Error::source(error).map_or_else(|| first_line(error), ToString::to_string);
            culprit.map_or_else(|| message.clone(), |culprit| format!("`{}`: {message}", culprit.name))
        }
    };
    source.error(culprit.map_or(table, |culprit| culprit.span.clone()), reason)
}

/// A name in quotes. A group of flags, `<--a <N>|--b>`, is each of its names.
fn quoted(name: &str) -> String {
    let names: Vec<_> = name.trim_matches(['<', '>']).split('|').map(|flag| format!("`{}`", flag_name(flag))).collect();
    names.join(" or ")
}

/// The name of a flag, without dashes and value: `max-tokens` of `--max-tokens <N>`. A group of flags keeps all of its text.
fn flag_name(flag: &str) -> String {
    if flag.contains('|') {
        return flag.to_owned();
    }
    flag.trim_start_matches('-').split([' ', '=', '[']).next().unwrap_or_default().to_owned()
}

fn first_line(error: &clap::Error) -> String {
    let text = error.to_string();
    let line = text.lines().next().unwrap_or_default();
    line.strip_prefix("error: ").unwrap_or(line).to_owned()
}

// The values that a processor runs with, and where each comes from: an environment variable overrides the file, and the
// file overrides the default.

/// A key that a file gives.
#[derive(Debug, Clone)]
struct Given {
    /// The key.
    key: OptionKey,
    /// Its name in the file.
    name: String,
    /// Its value on one line.
    value: String,
    /// Its line, from 1.
    line: usize,
    /// Its bytes in the file.
    span: Range<usize>,
}

/// The resulting value of a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Value {
    /// The key's name in the file.
    pub(crate) name: String,
    /// Its value, as it would be written in a file.
    pub(crate) value: String,
    /// Where it comes from.
    pub(crate) origin: Origin,
}

/// Where a value comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Origin {
    /// The line of the file, from 1.
    File(usize),
    /// The environment variable of this name.
    Variable(String),
    /// The default.
    Default,
}

/// The value of `key`, if it has one.
fn value(key: &OptionKey, given: &[Given], variables: &Variables) -> Option<Value> {
    let value = |value: String, origin| Some(Value { name: key.name.clone(), value, origin });
    if let Some((variable, text)) = key.variable.as_ref().and_then(|name| Some((name, variables.text(name)?))) {
        return value(written(key, text), Origin::Variable(variable.clone()));
    }
    let given = given.iter().find(|given| given.key.name == key.name);
    if let Some(given) = given.filter(|_| !is_overridden(key, variables)) {
        let origin = Origin::File(given.line);
        return Some(Value { name: given.name.clone(), value: given.value.clone(), origin });
    }
    value(written(key, key.default.as_ref()?), Origin::Default)
}

/// Whether a variable overrides the value that a file has for `key`.
fn is_overridden(key: &OptionKey, variables: &Variables) -> bool {
    key.overriding_variables().any(|name| variables.is_set(name))
}

/// `text`, a value of the command line, as it would be written in the file.
fn written(key: &OptionKey, text: &str) -> String {
    match key.shape {
        Shape::Whole | Shape::Tokens | Shape::Bytes if text.parse::<u64>().is_ok() => text.to_owned(),
        _ => format!("{text:?}"),
    }
}

// The environment, read once and passed down.

/// Environment variables by name.
#[derive(Debug, Clone, Default)]
pub(crate) struct Variables(HashMap<OsString, OsString>);

impl Variables {
    /// The variables of this process.
    pub(crate) fn of_process() -> Self {
        Self(std::env::vars_os().collect())
    }

    /// Whether the variable is set, even to nothing.
    fn is_set(&self, name: &str) -> bool {
        self.0.contains_key(OsStr::new(name))
    }

    /// The variable's text, if it is set and is Unicode.
    fn text(&self, name: &str) -> Option<&str> {
        self.0.get(OsStr::new(name)).and_then(|value| value.to_str())
    }

    /// The folder that `variable` names, else the folder `below` the user's home, by the XDG base directory specification.
    pub(in crate::cli) fn user_folder(&self, variable: &str, below: &str) -> Option<PathBuf> {
        let set = |name| self.0.get(OsStr::new(name)).map(PathBuf::from).filter(|path| path.is_absolute());
        set(variable).or_else(|| set("HOME").map(|home| home.join(below)))
    }
}

// Values of a TOML file in messages.

/// The kind of `value`, or the value itself if it is short.
fn found(value: &DeValue<'_>) -> String {
    match value {
        DeValue::String(_) => String::from("a string"),
        DeValue::Integer(number) => format!("the number {}", number.as_str()),
        DeValue::Float(number) => format!("the number {}", number.as_str()),
        DeValue::Boolean(on) => on.to_string(),
        DeValue::Datetime(_) => String::from("a date"),
        DeValue::Array(_) => String::from("an array"),
        DeValue::Table(_) => String::from("a table"),
    }
}

/// A whole number in decimal digits, whatever its radix in the file.
fn whole(number: &DeInteger<'_>) -> Option<String> {
    i64::from_str_radix(number.as_str(), number.radix()).ok().map(|number| number.to_string())
}

/// `value` on one line.
fn shown(value: &DeValue<'_>) -> String {
    match value {
        DeValue::Array(values) => {
            let values: Vec<String> = values.iter().map(|value| shown(value.get_ref())).collect();
            format!("[{}]", values.join(", "))
        }
        DeValue::String(text) => format!("{:?}", text.as_ref()),
        DeValue::Integer(number) => whole(number).unwrap_or_else(|| number.as_str().to_owned()),
        DeValue::Float(number) => number.as_str().to_owned(),
        other => found(other),
    }
}

// The owner of a file that was found: a configuration that another user wrote could silence a check.

/// The owner of the file at `path`, or of a link to it, if the owner is neither the user nor the administrator.
#[cfg(unix)]
fn foreign_owner(path: &Path, variables: &Variables) -> std::io::Result<Option<u32>> {
    use std::os::unix::fs::MetadataExt as _;

    let user = rustix::process::geteuid().as_raw();
    let sudo = variables.text("SUDO_UID").and_then(|id| id.parse().ok());
    let owners = [std::fs::metadata(path)?.uid(), std::fs::symlink_metadata(path)?.uid()];
    Ok(owners.into_iter().find(|owner| !is_trusted_owner(*owner, user, sudo)))
}

/// Other systems have no owner to compare.
#[cfg(not(unix))]
fn foreign_owner(_: &Path, _: &Variables) -> std::io::Result<Option<u32>> {
    Ok(None)
}

/// Whether `owner` is `user`, the administrator, or the user that became the administrator with `sudo`.
#[cfg(unix)]
fn is_trusted_owner(owner: u32, user: u32, sudo: Option<u32>) -> bool {
    owner == 0 || owner == user || user == 0 && sudo == Some(owner)
}

#[cfg(all(test, unix))]
mod tests {
    use super::is_trusted_owner;

    #[test]
    fn only_the_user_and_the_administrator_are_trusted() {
        for (owner, user, sudo, trusted) in [
            (1000, 1000, None, true),
            (0, 1000, None, true),
            (1001, 1000, None, false),
            (1001, 1000, Some(1001), false),
            (1000, 0, None, false),
            (1000, 0, Some(1000), true),
            (1001, 0, Some(1000), false),
        ] {
            assert_eq!(is_trusted_owner(owner, user, sudo), trusted, "{owner} {user} {sudo:?}");
        }
    }
}
