//! The table of known programs, `programs.toml`.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::Deserialize;

/// The table of known programs; `programs.toml` describes the fields.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Programs {
    pub(super) wrappers: Vec<Wrapper>,
    pub(super) runners: Vec<Runner>,
    pub(super) viewers: Vec<String>,
    pub(super) writing_viewers: Vec<WritingViewer>,
    pub(super) files: Vec<FileProgram>,
    pub(super) backups: Vec<String>,
    pub(super) checks: Vec<CheckProgram>,
    pub(super) package_managers: Vec<String>,
    pub(super) check_scripts: Vec<String>,
    pub(super) idle_flags: Vec<String>,
    pub(super) dry_runs: Vec<String>,
    pub(super) silencing_flags: Vec<String>,
    pub(super) narrowing_flags: Vec<String>,
    pub(super) excluding_flags: Vec<String>,
    pub(super) limiting_flags: Vec<String>,
    pub(super) variant_flags: Vec<String>,
    pub(super) interpreters: Vec<String>,
    pub(super) shells: Vec<String>,
    pub(super) script_endings: Vec<String>,
    pub(super) writers: Vec<String>,
    pub(super) openers: Vec<String>,
    pub(super) writing_methods: Vec<String>,
}

pub(super) static PROGRAMS: LazyLock<Programs> =
    LazyLock::new(|| toml::from_str(include_str!("programs.toml")).unwrap_or_default());

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Wrapper {
    pub(super) programs: Vec<String>,
    #[serde(default)]
    pub(super) operands: usize,
    #[serde(default)]
    pub(super) valued: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Runner {
    pub(super) programs: Vec<String>,
    pub(super) verb: String,
    #[serde(default)]
    pub(super) scripts: bool,
    pub(super) valued: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct WritingViewer {
    pub(super) programs: Vec<String>,
    #[serde(default)]
    pub(super) flags: String,
    #[serde(default)]
    pub(super) valued: String,
    #[serde(default)]
    pub(super) words: Vec<String>,
    #[serde(default)]
    pub(super) operands: Option<usize>,
    #[serde(default)]
    pub(super) script: Option<Language>,
}

/// The language of the scripts that a program of the viewers runs.
#[derive(Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Language {
    Awk,
    Sed,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct FileProgram {
    pub(super) program: String,
    pub(super) does: FileAction,
    #[serde(default)]
    pub(super) flags: String,
    #[serde(default)]
    pub(super) scripts: String,
    #[serde(default)]
    pub(super) valued: String,
    #[serde(default)]
    pub(super) glued: String,
    #[serde(default)]
    pub(super) long: BTreeMap<String, char>,
}

/// What a program does to the files in its arguments.
#[derive(Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum FileAction {
    Write,
    Edit,
    Copy,
    Move,
    Remove,
    Git,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct CheckProgram {
    pub(super) programs: Vec<String>,
    #[serde(default)]
    pub(super) verbs: Vec<String>,
    #[serde(default)]
    pub(super) runner: Option<String>,
    #[serde(default)]
    pub(super) quiet: bool,
    #[serde(default)]
    pub(super) valued: Vec<String>,
    #[serde(default)]
    pub(super) excluding: Vec<String>,
    #[serde(default)]
    pub(super) parts: Vec<String>,
    #[serde(default)]
    pub(super) goals: Vec<String>,
    #[serde(default)]
    pub(super) placing: Vec<String>,
}

/// Whether a list of the table contains `name`.
pub(super) fn lists(names: &[String], name: &str) -> bool {
    names.iter().any(|listed| listed == name)
}

/// Whether the program runs scripts.
pub(super) fn is_interpreter(program: &str) -> bool {
    lists(&PROGRAMS.interpreters, program) || program.starts_with("python3.")
}

/// What stands behind flags and their values. A verb ends them, even if it looks like a flag, and so does `--`.
pub(super) fn behind_flags<'w>(
    mut words: &'w [String],
    valued: &[String],
    is_verb: impl Fn(&str) -> bool,
) -> &'w [String] {
    while let Some((flag, rest)) = words.split_first()
        && (flag.starts_with('-') || lists(valued, flag))
        && !is_verb(flag)
    {
        if flag == "--" {
            return rest;
        }
        words = rest.get(usize::from(lists(valued, flag))..).unwrap_or_default();
    }
    words
}
