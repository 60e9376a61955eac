//! `curtail config`: shows the configuration in use, or the JSON Schema of `curtail.toml`.

use std::fmt::Write as _;

use anyhow::bail;

use crate::console;
use crate::options::config::ConfigFlags;
use crate::options::config::ConfigStep;
use crate::options::configuration_schema;
use crate::options::global::Global;
use crate::options::keys::Origin;
use crate::reports::screen::{DIM, NAME, painted};
use curtail_core::visible::one_line;

/// Show the configuration in use, or a JSON Schema of `curtail.toml`
#[derive(Debug, clap::Args)]
pub(super) struct ConfigArgs {
    /// Print a JSON Schema of `curtail.toml` for editors
    #[arg(long)]
    schema: bool,

    #[command(subcommand)]
    command: Option<ConfigCommand>,
}

#[derive(Debug, Clone, clap::Subcommand)]
enum ConfigCommand {
    /// Show the configuration in use and the origin of each value
    Show(ConfigFlags),
    /// Print a JSON Schema of `curtail.toml` for editors
    Schema,
}

impl ConfigArgs {
    /// Prints the configuration or the schema.
    pub(super) fn run(&self, _: &Global) -> anyhow::Result<()> {
        match &self.command {
            Some(ConfigCommand::Show(flags)) if !self.schema => console::out(&shown(flags)?)?,
            None if !self.schema => bail!("nothing to show; run `curtail config show` or `curtail config --schema`"),
            _ => console::out_json(&configuration_schema())?,
        }
        Ok(())
    }
}

/// The file, its processors with their lines, and the environment variables that override them.
fn shown(flags: &ConfigFlags) -> anyhow::Result<String> {
    let Some(config) = flags.load()? else {
        return Ok(String::from("no configuration: no `curtail.toml` in the working directory or its parents\n"));
    };
    let file = one_line(&config.file);
    let mut lines = format!("file: {file}\n");
    for ConfigStep { level, entry } in config.everywhere() {
        let place = painted(DIM, &format!("# {file}:{}", entry.place.line));
        let _ = writeln!(lines, "{}: {}  {place}", one_line(&level), painted(NAME, entry.spec.name));
        for value in &entry.table.values {
            let origin = match &value.origin {
                Origin::File(line) => format!("{file}:{line}"),
                Origin::Variable(variable) => variable.clone(),
                Origin::Default => String::from("default"),
            };
            let origin = painted(DIM, &format!("# {origin}"));
            let _ = writeln!(lines, "  {} = {}  {origin}", value.name, value.shown());
        }
    }
    Ok(lines)
}
