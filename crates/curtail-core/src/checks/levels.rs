//! The levels of findings: set by rule, by group and by path, in flags and in the `[check]` table.

use std::fmt;
use std::path::{Component, Path, PathBuf};

use globset::GlobSet;
use serde::Deserialize;

use super::{ALL, Group, Level, Rule, UnknownRule, rule_named};
use crate::globs::{self, InvalidGlob, Stars};
use crate::suggest::closest;

/// The `[check]` table of `curtail.toml`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Table {
    /// Rules and groups that fail the check.
    pub deny: Vec<String>,
    /// Rules and groups that only warn.
    pub warn: Vec<String>,
    /// Rules and groups that do not run.
    pub allow: Vec<String>,
    /// Whether warnings fail the check.
    pub strict: bool,
    /// Levels for single paths.
    pub paths: Vec<PathTable>,
}

/// Levels for the files that a glob matches.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PathTable {
    /// A glob of files, or of folders with all that is below them, in the folder of [`Levels::below`].
    pub path: String,
    /// Whether these files are not checked at all.
    #[serde(default)]
    pub skip: bool,
    /// Rules and groups that fail the check.
    #[serde(default)]
    pub deny: Vec<String>,
    /// Rules and groups that only warn.
    #[serde(default)]
    pub warn: Vec<String>,
    /// Rules and groups that do not run.
    #[serde(default)]
    pub allow: Vec<String>,
}

/// Levels by rule, for every path.
#[derive(Debug, Clone, Default)]
pub struct Levels {
    table: Vec<Setting>,
    by_path: Vec<PathLevels>,
    flags: Vec<Setting>,
    /// Whether warnings fail the check, by a flag and by the table or a flag.
    strict_flag: bool,
    strict: bool,
    /// The folder that globs are resolved against, as it was named and without symlinks.
    folders: Vec<PathBuf>,
}

/// The settings for the files that a glob matches.
#[derive(Debug, Clone)]
struct PathLevels {
    glob: GlobSet,
    /// How many folders above that of the configuration the glob begins: its leading `../`.
    up: usize,
    /// Whether the glob may also match a whole path: it begins with `/` or `**/`.
    is_rooted: bool,
    skip: bool,
    settings: Vec<Setting>,
}

#[derive(Debug, Clone, Copy)]
struct Setting {
    which: WhichRules,
    level: Level,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum WhichRules {
    All,
    Group(Group),
    Rule(&'static str),
}

/// The level of every rule for one file, in the order of the rules.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verdicts {
    levels: Vec<Level>,
    /// Whether warnings fail the check.
    strict: bool,
}

/// Levels that cannot be set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LevelsError {
    /// A name that is neither a rule nor a group.
    UnknownRule(UnknownRule),
    /// A glob that does not parse.
    InvalidGlob(InvalidGlob),
}

impl LevelsError {
    /// The name or glob at fault, as it was written.
    #[must_use]
    pub fn culprit(&self) -> &str {
        match self {
            Self::UnknownRule(unknown) => &unknown.key,
            Self::InvalidGlob(invalid) => &invalid.glob,
        }
    }
}

impl fmt::Display for LevelsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownRule(unknown) => write!(f, "{unknown}"),
            Self::InvalidGlob(invalid) => write!(f, "{invalid}"),
        }
    }
}

impl std::error::Error for LevelsError {}

impl From<UnknownRule> for LevelsError {
    fn from(unknown: UnknownRule) -> Self {
        Self::UnknownRule(unknown)
    }
}

impl Verdicts {
    /// The levels, in the order of the rules.
    pub fn levels(&self) -> impl Iterator<Item = Level> {
        self.levels.iter().copied()
    }

    /// The level of a rule.
    #[must_use]
    pub fn level_of(&self, rule: &Rule) -> Level {
        self.levels.get(rule.index()).copied().unwrap_or(rule.level)
    }

    /// The level of a finding that only warns, of a rule with this level.
    pub(crate) fn of_warning(&self, level: Level) -> Level {
        if self.strict { level } else { level.min(Level::Warn) }
    }
}

impl Levels {
    /// The levels that a table sets, overridden by flags.
    ///
    /// # Errors
    /// A name that is neither a rule nor a group, or an invalid glob.
    pub fn new(table: &Table, flags: &Table) -> Result<Self, LevelsError> {
        Ok(Self {
            table: settings(&table.deny, &table.warn, &table.allow)?,
            by_path: table.paths.iter().map(PathLevels::new).collect::<Result<_, _>>()?,
            flags: settings(&flags.deny, &flags.warn, &flags.allow)?,
            strict_flag: flags.strict,
            strict: table.strict || flags.strict,
            folders: Vec::new(),
        })
    }

    /// The same levels, with globs resolved against `folder`: that of the file that contains them. Without it, they match
    /// paths as they are given.
    #[must_use]
    pub fn below(mut self, folder: &Path) -> Self {
        self.folders = if self.by_path.is_empty() { Vec::new() } else { forms(folder) };
        self
    }

    /// Whether the file called `path` is not checked at all.
    #[must_use]
    pub fn skips(&self, path: &str) -> bool {
        self.of_path(path).iter().any(|levels| levels.skip)
    }

    /// The settings of the globs that match `path`.
    fn of_path(&self, path: &str) -> Vec<&PathLevels> {
        if self.by_path.is_empty() {
            return Vec::new();
        }
        if self.folders.is_empty() {
            let path = path.strip_prefix("./").unwrap_or(path);
            return self.by_path.iter().filter(|levels| levels.glob.is_match(path)).collect();
        }
        let paths = forms(Path::new(path));
        self.by_path.iter().filter(|levels| levels.matches(&paths, &self.folders)).collect()
    }

    /// The level of every rule for the file called `path`. Flags override the levels of a path, which override the rest of the
    /// table. Within each of these, a rule's own level overrides its group's, and a group's overrides `all`.
    #[must_use]
    pub fn for_path(&self, path: &str) -> Verdicts {
        let mine = self.of_path(path).into_iter().map(|levels| &levels.settings);
        let layers: Vec<&Vec<Setting>> = std::iter::once(&self.table).chain(mine).chain([&self.flags]).collect();
        verdicts(&layers, self.strict)
    }

    /// Whether the table, and no flag, lowers the level of a rule for the file called `path`.
    #[must_use]
    pub fn lowers(&self, path: &str) -> bool {
        let without = verdicts(&[&self.flags], self.strict_flag);
        self.for_path(path).levels().zip(without.levels()).any(|(with, without)| with < without)
    }
}

impl PathLevels {
    fn new(table: &PathTable) -> Result<Self, LevelsError> {
        if table.path.is_empty() {
            let reason = String::from("a path is empty; `.` matches everything in the folder of the configuration");
            return Err(LevelsError::InvalidGlob(InvalidGlob { glob: String::new(), reason }));
        }
        let mut steps = table.path.split('/').filter(|step| !matches!(*step, "" | ".")).peekable();
        let up = std::iter::from_fn(|| steps.next_if_eq(&"..")).count();
        let root = if table.path.starts_with('/') { "/" } else { "" };
        let below = format!("{root}{}", steps.collect::<Vec<_>>().join("/"));
        // The path of a folder matches everything below it.
        let inside = if below.is_empty() { String::from("**") } else { format!("{}/**", below.trim_end_matches('/')) };
        let glob = globs::compile([below.as_str(), &inside], Stars::Anything)
            .map_err(|error| LevelsError::InvalidGlob(InvalidGlob { glob: table.path.clone(), ..error }))?;
        let is_rooted = below.starts_with("**/") || Path::new(&below).has_root();
        Ok(Self { glob, up, is_rooted, skip: table.skip, settings: settings(&table.deny, &table.warn, &table.allow)? })
    }

    /// Whether the glob matches one of `paths`, the forms of a path, below one of `folders`.
    fn matches(&self, paths: &[PathBuf], folders: &[PathBuf]) -> bool {
        let bases = folders.iter().filter_map(|folder| folder.ancestors().nth(self.up));
        let inside = bases.flat_map(|base| paths.iter().filter_map(move |path| path.strip_prefix(base).ok()));
        inside.into_iter().any(|path| self.glob.is_match(path))
            || self.is_rooted && paths.iter().any(|path| self.glob.is_match(path))
    }
}

/// The forms of an absolute path: as it was named, and without symlinks. After a symlink, `..` is not what it seems, so a path
/// that contains it has the first form only if there is no such file.
fn forms(path: &Path) -> Vec<PathBuf> {
    let real = path.canonicalize().ok();
    let is_plain = real.is_none() || !path.components().any(|step| step == Component::ParentDir);
    let named = std::path::absolute(path).ok().filter(|_| is_plain).map(|path| {
        path.components().fold(PathBuf::new(), |mut path, step| {
            match step {
                Component::ParentDir => {
                    path.pop();
                }
                step => path.push(step),
            }
            path
        })
    });
    let mut forms: Vec<PathBuf> = named.into_iter().chain(real).collect();
    forms.dedup();
    forms
}

/// The level of every rule, by layers of which a later one overrides those before.
fn verdicts(layers: &[&Vec<Setting>], strict: bool) -> Verdicts {
    let levels = ALL.iter().map(|rule| {
        let set = layers.iter().rev().find_map(|layer| level_in(layer, rule));
        match set.unwrap_or(rule.level) {
            Level::Warn if strict => Level::Deny,
            level => level,
        }
    });
    Verdicts { levels: levels.collect(), strict }
}

/// The level that one layer sets for a rule: the most specific setting applies, and among equals the strictest.
fn level_in(layer: &[Setting], rule: &Rule) -> Option<Level> {
    let ways = [WhichRules::Rule(rule.name), WhichRules::Group(rule.group()), WhichRules::All];
    ways.into_iter()
        .find_map(|which| layer.iter().filter(|setting| setting.which == which).map(|setting| setting.level).max())
}

fn settings(deny: &[String], warn: &[String], allow: &[String]) -> Result<Vec<Setting>, UnknownRule> {
    let lists = [(deny, Level::Deny), (warn, Level::Warn), (allow, Level::Allow)];
    let each = lists.iter().flat_map(|(keys, level)| keys.iter().map(move |key| (key, *level)));
    each.map(|(key, level)| Ok(Setting { which: which(key)?, level })).collect()
}

fn which(key: &str) -> Result<WhichRules, UnknownRule> {
    match (key, Group::named(key)) {
        ("all", _) => Ok(WhichRules::All),
        (_, Some(group)) => Ok(WhichRules::Group(group)),
        (key, None) => rule_named(key).map(|rule| WhichRules::Rule(rule.name)).map_err(|unknown| {
            let groups = Group::ALL.iter().map(|group| group.name());
            UnknownRule { suggestion: unknown.suggestion.or_else(|| closest(key, groups)), ..unknown }
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::{Level, Levels, Table};
    use crate::checks::rule_named;

    fn level(table: &str, flags: &str, path: &str, rule: &str) -> Level {
        let read = |text: &str| toml::from_str::<Table>(text).unwrap();
        let levels = Levels::new(&read(table), &read(flags)).unwrap();
        levels.for_path(path).level_of(rule_named(rule).unwrap())
    }

    #[test]
    fn an_empty_path_is_an_error() {
        let table: Table = toml::from_str("[[paths]]\npath = ''\nallow = ['all']").unwrap();
        let error = Levels::new(&table, &Table::default()).unwrap_err();
        assert!(error.to_string().contains("a path is empty; `.` matches everything"), "{error}");
    }

    #[test]
    fn the_most_specific_setting_applies() {
        use Level::{Allow, Deny, Warn};
        let raw = "warn = ['pairing']\n[[paths]]\npath = 'raw/**'\nallow = ['orphan-result']";
        let cases = [
            ("", "", "a.jsonl", "orphan-result", Deny),
            ("", "", "a.jsonl", "P003", Warn),
            ("", "", "a.jsonl", "ends-with-assistant", Allow),
            (raw, "", "a.jsonl", "orphan-result", Warn),
            (raw, "", "raw/a.jsonl", "orphan-result", Allow),
            (raw, "", "./raw/deep/a.jsonl", "orphan-result", Allow),
            (raw, "", "raw/a.jsonl", "unanswered-call", Warn),
            (raw, "deny = ['P001']", "raw/a.jsonl", "orphan-result", Deny),
            ("", "allow = ['all']\nwarn = ['shape']\ndeny = ['duplicate-key']", "a", "duplicate-key", Deny),
            ("", "allow = ['all']\nwarn = ['shape']\ndeny = ['duplicate-key']", "a", "invalid-json", Warn),
            ("", "allow = ['all']\nwarn = ['shape']\ndeny = ['duplicate-key']", "a", "orphan-result", Allow),
            ("strict = true", "", "a", "pending-call", Deny),
            ("strict = true", "", "a", "ends-with-assistant", Allow),
        ];
        for (table, flags, path, rule, expected) in cases {
            assert_eq!(level(table, flags, path, rule), expected, "{rule} for {path} with {table} and {flags}");
        }
    }

    #[test]
    fn the_path_of_a_folder_matches_all_below_it() {
        for path in
            ["a/raw", "a/raw/", "a//raw", "./a/./raw/", "a/raw/**", "a/raw/*", "a/r[a]w", "**/raw", "a", "./", "."]
        {
            let table = format!("[[paths]]\npath = '{path}'\nallow = ['orphan-result']");
            assert_eq!(level(&table, "", "a/raw/b/c.jsonl", "orphan-result"), Level::Allow, "{path}");
            let whole = matches!(path, "a" | "./" | ".");
            assert_eq!(level(&table, "", "a/rawer.jsonl", "orphan-result") == Level::Allow, whole, "{path}");
        }
    }

    #[test]
    fn a_name_that_is_nearly_right_gets_a_suggestion() {
        let error = |key: &str| {
            let flags = Table { deny: vec![key.to_owned()], ..Table::default() };
            Levels::new(&Table::default(), &flags).unwrap_err().to_string()
        };
        assert_eq!(error("orphan-results"), "unknown rule `orphan-results`; did you mean `orphan-result`?");
        assert_eq!(error("zzz"), "unknown rule `zzz`; `curtail rule` lists all rules");
    }

    #[test]
    fn an_invalid_glob_is_named() {
        let table = toml::from_str::<Table>("[[paths]]\npath = 'raw/[a'\nallow = ['all']").unwrap();
        let error = Levels::new(&table, &Table::default()).unwrap_err();
        assert_eq!(error.culprit(), "raw/[a");
        assert!(error.to_string().starts_with("invalid glob `raw/[a`: "), "{error}");
    }
}
