//! Which rules a check applies, and at which levels: flags, and keys of the table `[check]`.

use serde_json::{Value, json};

use crate::options::config::Config;
use crate::options::keys::{TableRead, TableSpec};
use crate::options::numbers::Tokens;
use curtail_core::checks::{ALL, Group, Levels, PathTable, Table};

// Which rules run, and what their findings do. No doc comment: clap would show it as the help of the command.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct LevelOptions {
    /// Fail on findings of a rule, a group (pairing, shape, turn, dataset) or `all`
    #[arg(short = 'D', long, value_name = "RULE", value_delimiter = ',', help_heading = "Rules")]
    pub(crate) deny: Vec<String>,

    /// Report findings of a rule or a group without failing
    #[arg(short = 'W', long, value_name = "RULE", value_delimiter = ',', help_heading = "Rules")]
    pub(crate) warn: Vec<String>,

    /// Turn a rule or a group off
    #[arg(short = 'A', long, value_name = "RULE", value_delimiter = ',', help_heading = "Rules")]
    pub(crate) allow: Vec<String>,
}

// The options that are also keys of the table `[check]`.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct RuleOptions {
    #[command(flatten)]
    pub(crate) levels: LevelOptions,

    /// Fail on warnings as well
    #[arg(long, help_heading = "Rules")]
    pub(crate) strict: bool,

    /// Allow results whose calls the provider stores (Responses API)
    #[arg(long, hide_short_help = true, help_heading = "Rules")]
    pub(crate) stateful: bool,

    /// Apply the requirements of this provider or dialect, such as mistral or anthropic, instead of those of the transcript's dialect
    #[arg(long, value_name = "NAME", hide_short_help = true, help_heading = "Rules")]
    pub(crate) profile: Option<String>,

    /// Report transcripts with more than N tokens, which `curtail split` splits (8k = 8,000; 1m = 1,000,000)
    #[arg(short = 't', long, value_name = "N", help_heading = "Rules")]
    pub(crate) max_tokens: Option<Tokens>,
}

/// A table of `check.paths`: the levels for the files that a glob matches.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct PathOptions {
    /// A glob of files, or of folders with all that is below them, relative to the folder of this file
    #[arg(long, required = true)]
    path: String,

    /// Whether these files are not checked at all
    #[arg(long)]
    skip: bool,

    #[command(flatten)]
    levels: LevelOptions,
}

impl RuleOptions {
    /// The table of a configuration with these options.
    pub(crate) const TABLE: TableSpec<Self> = TableSpec::of("check", &["paths"]);

    /// The levels that these options set, without those of paths.
    pub(crate) fn table(&self) -> Table {
        let LevelOptions { deny, warn, allow } = self.levels.clone();
        Table { deny, warn, allow, strict: self.strict, ..Table::default() }
    }

    /// The other options, where these do not set them.
    pub(crate) fn or(&self, other: Option<&Self>) -> Self {
        Self {
            stateful: self.stateful || other.is_some_and(|other| other.stateful),
            profile: self.profile.clone().or_else(|| other.and_then(|other| other.profile.clone())),
            max_tokens: self.max_tokens.or_else(|| other.and_then(|other| other.max_tokens)),
            ..self.clone()
        }
    }
}

impl PathOptions {
    /// The table of `check.paths` with these options.
    const TABLE: TableSpec<Self> = TableSpec::of("paths", &[]);

    fn table(&self) -> PathTable {
        let LevelOptions { deny, warn, allow } = self.levels.clone();
        PathTable { path: self.path.clone(), skip: self.skip, deny, warn, allow }
    }
}

/// What a configuration says about a check.
pub(crate) struct CheckTables {
    /// The table `[check]`, if there is one.
    pub(crate) rules: Option<TableRead<RuleOptions>>,
    /// The tables of `check.paths`.
    pub(crate) paths: Vec<TableRead<PathOptions>>,
}

impl CheckTables {
    /// Those of `config`.
    ///
    /// # Errors
    /// The first error in a table, with its place, such as a rule that does not exist.
    pub(crate) fn read(config: &Config) -> anyhow::Result<Self> {
        let rules = config.table(&RuleOptions::TABLE)?;
        let paths = config.inner_tables("check", &PathOptions::TABLE)?;
        config.refuse_many_paths(paths.len())?;
        let tables = Self { rules, paths };
        Levels::new(&tables.table(), &Table::default())
            .map_err(|error| config.error_about("check", error.culprit(), &error))?;
        Ok(tables)
    }

    /// The options of `[check]`.
    pub(crate) fn options(&self) -> Option<&RuleOptions> {
        self.rules.as_ref().map(|rules| &rules.options)
    }

    /// The levels of all tables.
    pub(crate) fn table(&self) -> Table {
        let paths = self.paths.iter().map(|path| path.options.table()).collect();
        Table { paths, ..self.options().map(RuleOptions::table).unwrap_or_default() }
    }
}

/// A JSON Schema of the table of a configuration.
pub(crate) fn schema() -> Value {
    let groups = std::iter::once("all").chain(Group::ALL.iter().map(|group| group.name()));
    let names: Vec<&str> = groups.chain(ALL.iter().flat_map(|rule| [rule.name, rule.code])).collect();
    let paths = with_names(PathOptions::TABLE.schema(json!({}), &[]), &names);
    let paths = json!({"description": "Levels for single paths", "type": "array", "items": paths});
    with_names(RuleOptions::TABLE.schema(json!({"paths": paths}), &[]), &names)
}

/// The schema of a table whose levels are lists of these `names`.
fn with_names(mut table: Value, names: &[&str]) -> Value {
    for key in ["deny", "warn", "allow"] {
        let values = &mut table["properties"][key]["anyOf"];
        values[0] = json!({"enum": names});
        values[1]["items"] = json!({"enum": names});
    }
    table
}
