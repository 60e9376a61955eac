//! `curtail config`: shows the configuration in use.

use std::fmt::Write as _;

use crate::console;
use crate::options::check::CheckTables;
use crate::options::config::{ConfigFlags, ConfigStep, NOT_FOUND};
use crate::options::global::Global;
use crate::options::keys::{Origin, Value};
use crate::reports::screen::{DIM, NAME, painted};
use curtail_core::visible::one_line;

/// Show the configuration in use
#[derive(Debug, clap::Args)]
pub(super) struct ConfigArgs {
    #[command(subcommand)]
    command: ConfigCommand,
}

#[derive(Debug, Clone, clap::Subcommand)]
enum ConfigCommand {
    /// Show the configuration in use and the origin of each value
    Show(ConfigFlags),
}

impl ConfigArgs {
    /// Prints the configuration.
    pub(super) fn run(&self, _: &Global) -> anyhow::Result<()> {
        let ConfigCommand::Show(flags) = &self.command;
        Ok(console::out(&shown(flags)?)?)
    }
}

/// The file, the dialects that it describes and its processors with their lines, the environment variables that override them, and
/// its levels of a check.
fn shown(flags: &ConfigFlags) -> anyhow::Result<String> {
    let Some(config) = flags.load()? else {
        return Ok(format!("no configuration: {NOT_FOUND}\n"));
    };
    let file = one_line(&config.file);
    let mut lines = format!("file: {file}\n");
    for (name, line) in config.dialects()? {
        let place = painted(DIM, &format!("# {file}:{line}"));
        let _ = writeln!(lines, "dialects: {}  {place}", painted(NAME, &one_line(&name)));
    }
    for ConfigStep { level, entry } in config.everywhere() {
        let place = painted(DIM, &format!("# {file}:{}", entry.place.line));
        let _ = writeln!(lines, "{}: {}  {place}", one_line(&level), painted(NAME, entry.spec.name));
        lines += &value_lines(&file, &entry.table.values);
    }
    let CheckTables { rules, paths } = CheckTables::read(&config)?;
    let tables = rules.iter().map(|rules| ("check", &rules.values));
    for (name, values) in tables.chain(paths.iter().map(|path| ("check.paths", &path.values))) {
        let _ = writeln!(lines, "{}", painted(NAME, name));
        lines += &value_lines(&file, values);
    }
    Ok(lines)
}

/// The values of a table of `file`, each with its origin.
fn value_lines(file: &str, values: &[Value]) -> String {
    let lines = values.iter().map(|value| {
        let origin = match &value.origin {
            Origin::File(line) => format!("{file}:{line}"),
            Origin::Variable(variable) => variable.clone(),
            Origin::Default => String::from("default"),
        };
        format!("  {} = {}  {}\n", value.name, value.shown(), painted(DIM, &format!("# {origin}")))
    });
    lines.collect()
}
