//! What is made of a finding: by rule, by group, by path, as flags and the `[check]` table say.

use globset::{Glob, GlobMatcher};
use serde::{Deserialize, Serialize};

use super::{ALL, Rule, named};

/// What is made of a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// Nothing: it is not looked for.
    Allow,
    /// It is reported.
    Warn,
    /// It is reported, and the check fails.
    Deny,
}

impl Level {
    /// Its name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Warn => "warn",
            Self::Deny => "deny",
        }
    }
}

/// The `[check]` table of `curtail.toml`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Table {
    /// Rules and groups that fail the check.
    pub deny: Vec<String>,
    /// Rules and groups that are only reported.
    pub warn: Vec<String>,
    /// Rules and groups that are not looked for.
    pub allow: Vec<String>,
    /// Whether a warning fails the check, too.
    pub strict: bool,
    /// Levels for some files.
    pub paths: Vec<PathTable>,
}

/// Levels for the files that a glob names.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PathTable {
    /// Which files: a glob over the path as it was given.
    pub path: String,
    /// Rules and groups that fail the check.
    #[serde(default)]
    pub deny: Vec<String>,
    /// Rules and groups that are only reported.
    #[serde(default)]
    pub warn: Vec<String>,
    /// Rules and groups that are not looked for.
    #[serde(default)]
    pub allow: Vec<String>,
}

/// Levels by rule, for every path.
#[derive(Debug, Clone, Default)]
pub struct Levels {
    table: Vec<Setting>,
    by_path: Vec<(GlobMatcher, Vec<Setting>)>,
    flags: Vec<Setting>,
    strict: bool,
}

#[derive(Debug, Clone, Copy)]
struct Setting {
    which: Which,
    level: Level,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Which {
    All,
    Group(&'static str),
    Rule(&'static str),
}

/// The level of every rule for one file, in the order of the rules.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verdicts(Vec<Level>);

impl Verdicts {
    /// The levels, in the order of the rules.
    pub fn levels(&self) -> impl Iterator<Item = Level> {
        self.0.iter().copied()
    }

    /// The level of a rule.
    #[must_use]
    pub fn of(&self, rule: &Rule) -> Level {
        self.0.get(rule.index()).copied().unwrap_or(rule.level)
    }
}

impl Levels {
    /// The levels that a table and then flags give.
    ///
    /// # Errors
    /// A name that is neither a rule nor a group, or a glob that cannot be read.
    pub fn new(table: &Table, flags: &Table) -> Result<Self, String> {
        let by_path = table.paths.iter().map(|own| {
            let glob = Glob::new(&own.path).map_err(|error| format!("check.paths: {error}"))?;
            Ok((glob.compile_matcher(), settings(&own.deny, &own.warn, &own.allow)?))
        });
        Ok(Self {
            table: settings(&table.deny, &table.warn, &table.allow)?,
            by_path: by_path.collect::<Result<_, String>>()?,
            flags: settings(&flags.deny, &flags.warn, &flags.allow)?,
            strict: table.strict || flags.strict,
        })
    }

    /// The level of every rule for the file called `path`. Flags beat a path's own levels, and these the rest of the table;
    /// there, a rule's name beats its group and a group beats `all`.
    #[must_use]
    pub fn of(&self, path: &str) -> Verdicts {
        let path = path.strip_prefix("./").unwrap_or(path);
        let mine = self.by_path.iter().filter(|(glob, _)| glob.is_match(path)).map(|(_, own)| own);
        let layers: Vec<&Vec<Setting>> = std::iter::once(&self.table).chain(mine).chain([&self.flags]).collect();
        let level = |rule: &Rule| {
            let said = layers.iter().rev().find_map(|layer| said(layer, rule));
            match said.unwrap_or(rule.level) {
                Level::Warn if self.strict => Level::Deny,
                level => level,
            }
        };
        Verdicts(ALL.iter().map(|rule| level(rule)).collect())
    }
}

/// What one layer says of a rule: the most specific setting; of equals, the strictest.
fn said(layer: &[Setting], rule: &Rule) -> Option<Level> {
    let by = |which: Which| layer.iter().filter(|own| own.which == which).map(|own| own.level).max();
    by(Which::Rule(rule.name)).or_else(|| by(Which::Group(rule.group()))).or_else(|| by(Which::All))
}

fn settings(deny: &[String], warn: &[String], allow: &[String]) -> Result<Vec<Setting>, String> {
    let lists = [(deny, Level::Deny), (warn, Level::Warn), (allow, Level::Allow)];
    let each = lists.iter().flat_map(|(keys, level)| keys.iter().map(move |key| (key, *level)));
    each.map(|(key, level)| Ok(Setting { which: which(key)?, level })).collect()
}

fn which(key: &str) -> Result<Which, String> {
    match key {
        "all" => Ok(Which::All),
        "pairing" => Ok(Which::Group("pairing")),
        "shape" => Ok(Which::Group("shape")),
        "turn" => Ok(Which::Group("turn")),
        "dataset" => Ok(Which::Group("dataset")),
        key => named(key).map(|rule| Which::Rule(rule.name)),
    }
}

#[cfg(test)]
mod tests {
    use super::{Level, Levels, Table};
    use crate::checks::find;

    fn level(table: &str, flags: &str, path: &str, rule: &str) -> Level {
        let read = |text: &str| toml::from_str::<Table>(text).unwrap();
        let levels = Levels::new(&read(table), &read(flags)).unwrap();
        levels.of(path).of(find(rule).unwrap())
    }

    #[test]
    fn the_nearest_setting_counts() {
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
    fn a_name_that_is_nearly_right_gets_a_suggestion() {
        let flags = Table { deny: vec![String::from("orphan-results")], ..Table::default() };
        let error = Levels::new(&Table::default(), &flags).unwrap_err();
        assert_eq!(error, "no rule is called `orphan-results`; did you mean `orphan-result`?");
        let flags = Table { deny: vec![String::from("zzz")], ..Table::default() };
        assert!(Levels::new(&Table::default(), &flags).unwrap_err().contains("lists them"));
    }
}
