//! Which rules a check applies, and at which levels: flags, and keys of the table `[check]`.

use serde_json::{Value, json};

use crate::options::keys::TableSpec;
use crate::options::numbers::Tokens;
use curtail_core::checks::{ALL, Group, PathTable, Table};

// The options that are also keys of the table `[check]`.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct RuleOptions {
    /// Fail on findings of a rule, a group (pairing, shape, turn, dataset) or `all`
    #[arg(short = 'D', long, value_name = "RULE", value_delimiter = ',', help_heading = "Rules")]
    pub(crate) deny: Vec<String>,

    /// Report findings of a rule or a group without failing
    #[arg(short = 'W', long, value_name = "RULE", value_delimiter = ',', help_heading = "Rules")]
    pub(crate) warn: Vec<String>,

    /// Turn a rule or a group off
    #[arg(short = 'A', long, value_name = "RULE", value_delimiter = ',', help_heading = "Rules")]
    pub(crate) allow: Vec<String>,

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

    /// Rules and groups that fail the check
    #[arg(long, value_delimiter = ',')]
    deny: Vec<String>,

    /// Rules and groups that only warn
    #[arg(long, value_delimiter = ',')]
    warn: Vec<String>,

    /// Rules and groups that do not run
    #[arg(long, value_delimiter = ',')]
    allow: Vec<String>,
}

impl RuleOptions {
    /// The table of a configuration with these options.
    pub(crate) const TABLE: TableSpec<Self> = TableSpec::of("check", &["paths"]);

    /// The levels that these options set, without those of paths.
    pub(crate) fn table(&self) -> Table {
        let deny = self.deny.clone();
        let warn = self.warn.clone();
        let allow = self.allow.clone();
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
    pub(crate) const TABLE: TableSpec<Self> = TableSpec::of("paths", &[]);
}

/// A JSON Schema of the table of a configuration.
pub(crate) fn schema() -> Value {
    let groups = std::iter::once("all").chain(Group::ALL.iter().map(|group| group.name()));
    let names: Vec<&str> = groups.chain(ALL.iter().flat_map(|rule| [rule.name, rule.code])).collect();
    let with_names = |mut table: Value| {
        for key in ["deny", "warn", "allow"] {
            let values = &mut table["properties"][key]["anyOf"];
            values[0] = json!({"enum": names});
            values[1]["items"] = json!({"enum": names});
        }
        table
    };
    let paths = with_names(PathOptions::TABLE.schema(json!({}), &[]));
    let paths = json!({"description": "Levels for single paths", "type": "array", "items": paths});
    with_names(RuleOptions::TABLE.schema(json!({"paths": paths}), &[]))
}

impl From<PathOptions> for PathTable {
    fn from(PathOptions { path, skip, deny, warn, allow }: PathOptions) -> Self {
        Self { path, skip, deny, warn, allow }
    }
}
