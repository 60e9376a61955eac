//! `curtail.toml`: which file applies, what it may do, and which processors it has at which level. The keys of their tables, and
//! of those of other commands, are read in `keys.rs`.

use std::cell::Cell;
use std::collections::HashMap;
use std::fmt::Display;
use std::io::Read as _;
use std::ops::Range;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};
use toml::de::DeTable;

use crate::options::PROCESSOR_SPECS;
use crate::options::files::Reads;
use crate::options::keys::{KeyReader, ProcessorSpec, TableRead, TableSpec, TomlKey, TomlValue, Variables};
use crate::options::processor::Options;
use curtail_core::dialects::{Description, register};
use curtail_core::error::{TextPlace, system_message};
use curtail_core::pipeline::{AgentLevel, Chain, Network, ProcessorLevels};
use curtail_core::small::{SMALL, read_small_text};
use curtail_core::suggest::unknown;
use curtail_io::{ErrorKind, FileError};

/// A processor of a configuration and the level that it comes from.
pub(crate) type ConfigStep<'c> = curtail_core::pipeline::Step<'c, ProcessorEntry>;

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
    /// Reads the file at `path`, which the user named.
    ///
    /// # Errors
    /// As [`Config::load`].
    pub(crate) fn named(path: &Path) -> Result<Self, FileError> {
        Self::load(path, ConfigChoice::Named, &Variables::of_process())
    }

    /// Reads the file at `path`. Relative paths in it are resolved against its folder.
    ///
    /// # Errors
    /// The file cannot be read, or something in it is not understood.
    pub(crate) fn load(path: &Path, choice: ConfigChoice, variables: &Variables) -> Result<Self, FileError> {
        let file = path.display().to_string();
        let unusable = |reason: String| FileError::new(ErrorKind::Content, &file, reason);
        let text = if choice.is_trusted() {
            let read = std::fs::File::open(path).and_then(|file| read_small_text(file, SMALL));
            read.map_err(|error| unusable(system_message(&error)))?
        } else {
            found_text(path, variables).map_err(unusable)?
        };
        let folder = path.parent().unwrap_or(Path::new(""));
        let keys = KeyReader { file: &file, text: &text, folder, specs: PROCESSOR_SPECS, variables };
        let remaining = Cell::new(if choice.is_trusted() { usize::MAX } else { MAX_FOUND_PROCESSORS });
        let root = keys.root()?;
        let levels = LevelReader { keys, remaining }.levels(root.get_ref())?;
        if root.get_ref().contains_key("dialects") {
            if !choice.is_trusted() {
                return Err(unusable(format!("a file that was found may describe no dialects; {NAMING_ADVICE}")));
            }
            let described = Description::of_configuration(&text);
            register(&described.map_err(|error| unusable(error.what).at(error.place))?);
        }
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
        Err(self.keys().whole(reason))
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

    /// What the table of `spec` says; `None` if there is no such table.
    ///
    /// # Errors
    /// The first error in the table, with its place.
    pub(crate) fn table<T>(&self, spec: &TableSpec<T>) -> Result<Option<T>, FileError> {
        let keys = self.keys();
        let root = keys.root()?;
        let table = root.get_ref().get(spec.name).map(|table| spec.read(keys, spec.name, table)).transpose()?;
        Ok(table.map(|table| table.options))
    }

    /// What the tables in an array say, which the table `outer` has under the name of `spec`.
    ///
    /// # Errors
    /// The first error in a table, with its place.
    pub(crate) fn inner_tables<T>(&self, outer: &str, spec: &TableSpec<T>) -> Result<Vec<T>, FileError> {
        let keys = self.keys();
        let root = keys.root()?;
        let Some(members) = root.get_ref().get(outer).and_then(|table| table.get_ref().as_table()) else {
            return Ok(Vec::new());
        };
        let tables = keys.tables(members, spec.name, &format!("{outer}.{}", spec.name))?;
        tables.iter().map(|table| Ok(spec.read(keys, spec.name, table)?.options)).collect()
    }

    fn keys(&self) -> KeyReader<'_> {
        let Self { file, text, variables, .. } = self;
        KeyReader { file, text, folder: self.folder(), specs: &[], variables }
    }

    /// The processors that apply to `network` and `agent`, in order.
    ///
    /// # Errors
    /// A name that the file does not contain.
    pub(crate) fn steps(&self, network: Option<&str>, agent: Option<&str>) -> Result<Vec<ConfigStep<'_>>, FileError> {
        self.levels.steps(network, agent).map_err(|error| self.keys().whole(error))
    }

    /// The processors of all levels, in the order of the file.
    pub(crate) fn everywhere(&self) -> Vec<ConfigStep<'_>> {
        self.levels.everywhere()
    }

    /// Refuses keys that run a program, or name a server, a key or a file, in the processors of `steps`. A file that the user
    /// neither wrote nor named must not have them.
    ///
    /// # Errors
    /// The first such key, with its place.
    pub(crate) fn refuse_untrusted(&self, steps: &[ConfigStep<'_>]) -> Result<(), FileError> {
        let Some((key, place)) = steps.iter().flat_map(|step| &step.entry.table.need_trust).next() else {
            return Ok(());
        };
        let reason = format!(
            "`{key}` is not allowed in a file that was found, because it can run a program, open a file or your store, or send \
             your data; read the file, then name it with -c or pass --trust"
        );
        Err(self.keys().whole(reason).at(*place))
    }

    /// The files that a run of `steps` reads: this one, and those of its processors.
    pub(crate) fn files(&self, steps: &[ConfigStep<'_>]) -> Reads {
        let mut reads = Reads { other: vec![PathBuf::from(&self.file)], ..Reads::default() };
        reads.extend(steps.iter().map(|step| step.entry.table.options.files()));
        reads
    }

    /// The chain of `steps`; in a dry run, no processor of it runs a program or sends anything.
    ///
    /// # Errors
    /// The error of a processor that cannot be built, with the place of its table.
    pub(crate) fn chain(&self, steps: &[ConfigStep<'_>], dry_run: bool) -> Result<Chain, FileError> {
        let mut chain = Chain::default();
        for ConfigStep { level, entry } in steps {
            let TableRead { options, ineffective, .. } = &entry.table;
            if let Some(error) = ineffective {
                return Err(error.clone());
            }
            let wrong = |error| format!("{} at {level}: {error:#}", entry.spec.name);
            let processors = options.processors(dry_run);
            chain = chain.at(level, processors.map_err(|error| self.keys().whole(wrong(error)).at(entry.place))?);
        }
        Ok(chain)
    }

    /// An error about `name`, a string in the file: at its first place there, or without a place if it is written with escapes.
    pub(crate) fn error_about(&self, name: &str, error: &impl Display) -> FileError {
        let quoted = |quote: char| self.text.find(&format!("{quote}{name}{quote}")).map(|at| at + 1);
        match quoted('"').or_else(|| quoted('\'')) {
            Some(at) => self.keys().error(at..at, error),
            None => self.keys().whole(error),
        }
    }
}

/// The levels, processors and values of `steps` on one line. Two configurations with the same line make the same cuts.
pub(crate) fn described(steps: &[ConfigStep<'_>]) -> String {
    let stages = steps.iter().map(|ConfigStep { level, entry }| {
        let values = entry.table.values.iter().map(|value| format!(" {}={}", value.name, value.value));
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

/// The flags that choose a configuration.
#[derive(Debug, Clone, clap::Args)]
#[command(next_help_heading = "Configuration")]
pub(crate) struct ConfigFlags {
    /// Configuration file; by default the closest `curtail.toml` is used
    ///
    /// The working directory and its parents are searched, the working directory first.
    #[arg(short, long, value_name = "FILE", env = "CURTAIL_CONFIG")]
    config: Option<PathBuf>,

    /// Use no configuration file
    #[arg(long, hide_short_help = true)]
    no_config: bool,
}

impl ConfigFlags {
    /// The configuration, if there is one.
    pub(crate) fn load(&self) -> anyhow::Result<Option<Config>> {
        let variables = Variables::of_process();
        let found = match &self.config {
            _ if self.no_config => None,
            Some(path) => Some((path.clone(), ConfigChoice::Named)),
            None => match closest()? {
                Some(path) => Some((path, ConfigChoice::Found)),
                None => Config::of_user(&variables).map(|path| (path, ConfigChoice::OfUser)),
            },
        };
        let Some((path, choice)) = found else { return Ok(None) };
        Ok(Some(Config::load(&path, choice, &variables)?))
    }

    /// The configurations that apply to `files`: for each, the closest one in its folder or above it, up to the root of its
    /// repository, and `fallback` where there is none. A configuration that was named applies to all.
    pub(crate) fn for_files<'p>(
        &self,
        fallback: Option<Config>,
        files: impl Iterator<Item = &'p Path>,
    ) -> anyhow::Result<FileConfigs> {
        let mut configs = FileConfigs { each: vec![fallback], index: ConfigIndex::default() };
        if self.no_config || self.config.is_some() {
            return Ok(configs);
        }
        let here = std::env::current_dir().context("the working directory")?;
        let variables = Variables::of_process();
        for folder in files.map(folder_of) {
            if !configs.index.of_folder.contains_key(folder) {
                let nth = configs.closest(&here.join(folder), &here, &variables)?;
                configs.index.of_folder.insert(folder.to_owned(), nth);
            }
        }
        Ok(configs)
    }

    /// The configuration; an error if there is none.
    pub(crate) fn required(&self) -> anyhow::Result<Config> {
        if self.no_config {
            bail!("--no-config leaves no chain to run: the configuration file contains it");
        }
        self.load()?.context(
            "no `curtail.toml` in the working directory or its parents; name one with -c, or write one with `curtail init`",
        )
    }
}

/// The configurations of a run, and which of them applies to each file.
pub(crate) struct FileConfigs {
    /// The configurations. The first applies to what has no closer one.
    pub(crate) each: Vec<Option<Config>>,
    /// Which of them applies to which file.
    pub(crate) index: ConfigIndex,
}

/// Which of several configurations applies to each file.
#[derive(Debug, Clone, Default)]
pub(crate) struct ConfigIndex {
    /// The index of the configuration of the files in each folder.
    of_folder: HashMap<PathBuf, usize>,
}

impl ConfigIndex {
    /// The index of the configuration of the file at `path`, or of standard input.
    pub(crate) fn of(&self, path: Option<&Path>) -> usize {
        path.and_then(|path| self.of_folder.get(folder_of(path)).copied()).unwrap_or_default()
    }
}

impl FileConfigs {
    /// The index of the configuration that applies to `folder`, which is read if it is new.
    fn closest(&mut self, folder: &Path, here: &Path, variables: &Variables) -> anyhow::Result<usize> {
        let Some(path) = Config::discover(folder) else { return Ok(0) };
        let path = path.strip_prefix(here).map_or(path.clone(), PathBuf::from);
        let name = path.display().to_string();
        let known = self.each.iter().position(|config| config.as_ref().is_some_and(|config| config.file == name));
        if let Some(known) = known {
            return Ok(known);
        }
        self.each.push(Some(Config::load(&path, ConfigChoice::Found, variables)?));
        Ok(self.each.len() - 1)
    }
}

fn folder_of(path: &Path) -> &Path {
    path.parent().unwrap_or(Path::new(""))
}

/// The closest configuration, by its path relative to the working directory if it is inside.
fn closest() -> anyhow::Result<Option<PathBuf>> {
    let here = std::env::current_dir().context("the working directory")?;
    let found = Config::discover(&here);
    Ok(found.map(|path| path.strip_prefix(&here).map_or(path.clone(), PathBuf::from)))
}

// The tables of a file, level by level. An unknown name is an error with its place.

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
struct LevelReader<'r> {
    keys: KeyReader<'r>,
    /// How many processors the file may still contain.
    remaining: Cell<usize>,
}

impl LevelReader<'_> {
    /// The processors at every level.
    fn levels(&self, root: &DeTable<'_>) -> Result<ProcessorLevels<ProcessorEntry>, FileError> {
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
        let mut others = members.keys().filter(|key| !known.contains(&key.get_ref().as_ref()));
        let error = |key: &TomlKey<'_>| self.keys.error(key.span(), unknown(lack, key.get_ref(), known));
        others.next().map_or(Ok(()), |key| Err(error(key)))
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
