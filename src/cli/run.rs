//! `curtail run`, `config` and `init`: runs the chain of a configuration, shows the configuration or the schema of `curtail.toml`,
//! and writes a starter.

use std::fmt::Write as _;
use std::fs::OpenOptions;
use std::io::{ErrorKind, Write as _};
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::bail;

use super::config::{Config, ConfigFlags, PROCESSOR_SPECS, Step, described};
use super::cut::{self, Job};
use super::input::{CutFlags, Global};
use super::keys::{Origin, Value, schema};
use super::policy::PRESETS;
use super::{check, policy, report};
use crate::console;
use curtail_core::suggest::unknown;
use curtail_core::visible::{one_line, word};
use curtail_io::FileError;
use curtail_memory::summarizers::shown_endpoint;

/// Run the processors of a configuration file, in the order history, network, agent
///
/// The output of each processor is the input of the next; a transcript is read once and written once. The configuration is
/// the file that -c names, or the closest `curtail.toml` in the working directory and its parents.
#[derive(Debug, clap::Args)]
pub(super) struct RunArgs {
    /// Also run the processors of this network
    #[arg(long, value_name = "NAME", env = "CURTAIL_NETWORK", help_heading = "Chain")]
    network: Option<String>,

    /// Also run the processors of this agent, in the network or at the top level
    #[arg(long, value_name = "NAME", env = "CURTAIL_AGENT", help_heading = "Chain")]
    agent: Option<String>,

    /// Run a policy with a name instead of a configuration
    #[arg(long, value_name = "NAME", help_heading = "Chain")]
    preset: Option<String>,

    /// List the policies that have names, with their commands
    #[arg(long, help_heading = "Chain")]
    list_presets: bool,

    /// Print the chain with the level of each processor, and read nothing
    #[arg(long, help_heading = "Chain")]
    print: bool,

    #[command(flatten)]
    config: ConfigFlags,

    /// Let a configuration file that was found run programs and name servers, keys and files
    ///
    /// A file that -c names, and your own file in `~/.config/curtail`, may always do so.
    #[arg(long, hide_short_help = true, help_heading = "Configuration")]
    trust: bool,

    #[command(flatten)]
    cutting: CutFlags,
}

impl RunArgs {
    /// Runs the chain, or prints it.
    pub(super) fn run(&self, global: &Global) -> anyhow::Result<ExitCode> {
        if self.list_presets {
            console::out(&policy::list())?;
            return Ok(ExitCode::SUCCESS);
        }
        if let Some(name) = &self.preset {
            return run_preset(name, self, global);
        }
        let config = self.config.required()?;
        let steps = config.steps(self.network.as_deref(), self.agent.as_deref())?;
        if self.print {
            console::out(&chain_lines(&config, &steps))?;
            return Ok(ExitCode::SUCCESS);
        }
        if steps.is_empty() {
            report::warning(&format!(
                "{}: contains no processor for these levels; transcripts are not changed",
                config.file
            ));
        }
        if !(config.choice.is_trusted() || self.trust) {
            config.refuse_untrusted(&steps)?;
        }
        let chain = config.chain(&steps, self.cutting.dry_run)?;
        let (chain, reads) = (self.cutting.with_repair(chain), config.files(&steps));
        let job = Job { chain, options: described(&steps), reads, ..Job::default() };
        cut::run(&self.cutting, global, job)
    }
}

/// Runs the commands of a preset.
fn run_preset(name: &str, args: &RunArgs, global: &Global) -> anyhow::Result<ExitCode> {
    let Some(preset) = policy::preset_named(name) else {
        let names: Vec<&str> = PRESETS.iter().map(|preset| preset.name).collect();
        bail!("{}; `curtail run --list-presets` lists them", unknown("there is no preset", name, &names));
    };
    if args.print {
        console::out(&format!("{}\n", preset.command))?;
        return Ok(ExitCode::SUCCESS);
    }
    let commands = policy::parse(preset.command)?;
    let chain = args.cutting.with_repair(policy::chain_of(&commands, args.cutting.dry_run)?);
    let (options, reads) = (format!("preset {}", preset.command), policy::files_of(&commands));
    cut::run(&args.cutting, global, Job { chain, options, reads, ..Job::default() })
}

/// One line per processor: its number, level, options and place in the file.
fn chain_lines(config: &Config, steps: &[Step<'_>]) -> String {
    let width = steps.iter().map(|step| step.level.chars().count()).max().unwrap_or_default();
    let mut lines = String::new();
    for (nth, Step { level, entry }) in steps.iter().enumerate() {
        let options = entry.table.values.iter().filter(|value| value.origin != Origin::Default);
        let options: Vec<String> =
            options.map(|value| format!("{} = {}", value.name, shown_value(&value.name, &value.value))).collect();
        let options = if options.is_empty() { String::new() } else { format!(" {{ {} }}", options.join(", ")) };
        let (number, name, line) = (nth + 1, entry.spec.name, entry.place.line);
        let _ = writeln!(
            lines,
            "{number}. {:width$}  {name}{options}  # {}:{line}",
            one_line(level),
            one_line(&config.file)
        );
    }
    lines
}

// `curtail config`

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
            _ => console::out_json(&schema_text())?,
        }
        Ok(())
    }
}

/// The JSON Schema of `curtail.toml`.
pub(super) fn schema_text() -> String {
    format!("{:#}\n", schema(PROCESSOR_SPECS, &check::schema()))
}

/// The file, its processors with their lines, and the environment variables that override them.
fn shown(flags: &ConfigFlags) -> anyhow::Result<String> {
    let Some(config) = flags.load()? else {
        return Ok(String::from("no configuration: no `curtail.toml` in the working directory or its parents\n"));
    };
    let file = one_line(&config.file);
    let mut lines = format!("file: {file}\n");
    for Step { level, entry } in config.everywhere() {
        let _ = writeln!(lines, "{}: {}  # {file}:{}", one_line(&level), entry.spec.name, entry.place.line);
        for Value { name, value, origin } in &entry.table.values {
            let origin = match origin {
                Origin::File(line) => format!("{file}:{line}"),
                Origin::Variable(variable) => variable.clone(),
                Origin::Default => String::from("default"),
            };
            let _ = writeln!(lines, "  {name} = {}  # {origin}", shown_value(name, value));
        }
    }
    Ok(lines)
}

/// A value on one line; an endpoint without its password.
fn shown_value(name: &str, value: &str) -> String {
    match name {
        "endpoint" => format!("\"{}\"", one_line(&shown_endpoint(value.trim_matches('"')))),
        _ => one_line(value).into_owned(),
    }
}

// `curtail init`

/// The text of a new configuration.
const START: &str = include_str!("init.toml");

/// Write a starter `curtail.toml` with commented examples
#[derive(Debug, clap::Args)]
pub(super) struct InitArgs {
    /// File to write; an existing file is not overwritten
    #[arg(value_name = "FILE", default_value = "curtail.toml")]
    file: PathBuf,
}

impl InitArgs {
    /// Writes the file.
    pub(super) fn run(&self, _: &Global) -> anyhow::Result<()> {
        let name = self.file.display();
        let mut file = match OpenOptions::new().write(true).create_new(true).open(&self.file) {
            Ok(file) => file,
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                bail!("{name}: already exists (not overwritten); name another file")
            }
            Err(error) => return Err(FileError::system(name.to_string(), &error).into()),
        };
        file.write_all(START.as_bytes()).map_err(|error| FileError::system(name.to_string(), &error))?;
        // A file with another name is not found, and must be passed with -c.
        let found = matches!(self.file.to_str(), Some("curtail.toml" | ".curtail.toml"));
        let flag = if found { String::new() } else { format!(" -c {}", word(&self.file.to_string_lossy())) };
        report::note(&format!("wrote {name}; `curtail run{flag} --print` shows its chain"));
        Ok(())
    }
}
