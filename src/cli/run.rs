//! `curtail run`: runs the chain of a configuration, or of a preset.

use std::fmt::Write as _;
use std::process::ExitCode;

use anyhow::{anyhow, bail};

use crate::console;
use crate::cutting::{self, Cuts, Job, JobIdentity};
use crate::options::config::{Config, ConfigFlags, ConfigStep, described};
use crate::options::cut::CutFlags;
use crate::options::global::Global;
use crate::options::keys::Origin;
use crate::options::policy::{self, PRESETS, Preset};
use crate::reports::screen::{DIM, NAME, Screen, painted};
use crate::reports::table::{Kind, Table};
use curtail_core::suggest::unknown;
use curtail_core::visible::one_line;

/// Run the processors of a configuration file or a preset
///
/// The output of each processor is the input of the next; a transcript is read once and written once. The configuration is
/// the file that -c names, or the closest `curtail.toml`.
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

    /// Print the chain with the level of each processor, or the commands of the preset, and read nothing
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
            let columns = [("", Kind::Name), ("", Kind::Prose), ("", Kind::Prose)];
            console::out(&Table::new(columns).with(policy::list()).text(Screen::of_stdout()))?;
            return Ok(ExitCode::SUCCESS);
        }
        if self.print {
            console::out(&Screen::of_stdout().wrapped(&self.printed()?, 3))?;
            return Ok(ExitCode::SUCCESS);
        }
        cutting::run(self, global)
    }

    fn printed(&self) -> anyhow::Result<String> {
        if let Some(name) = &self.preset {
            return Ok(format!("{}\n", preset_named(name)?.command));
        }
        let config = self.config.required()?;
        let steps = config.steps(self.network.as_deref(), self.agent.as_deref())?;
        Ok(chain_lines(&config, &steps))
    }
}

impl Cuts for RunArgs {
    fn flags(&self) -> &CutFlags {
        &self.cutting
    }

    fn job(&self) -> anyhow::Result<Job> {
        if self.list_presets || self.print {
            bail!("--list-presets and --print write no transcript");
        }
        if let Some(name) = &self.preset {
            return job_of_preset(name, &self.cutting);
        }
        let config = self.config.required()?;
        let steps = config.steps(self.network.as_deref(), self.agent.as_deref())?;
        if steps.is_empty() {
            console::warning(&format!(
                "{}: contains no processor for these levels; transcripts are not changed",
                config.file
            ));
        }
        if !(config.choice.is_trusted() || self.trust) {
            config.refuse_untrusted(&steps)?;
        }
        let chain = config.chain(&steps, self.cutting.dry_run)?;
        let chain = self.cutting.with_repair(chain);
        let reads = config.files(&steps);
        Ok(Job { chain, identity: JobIdentity::written(described(&steps)), reads, ..Job::default() })
    }
}

fn preset_named(name: &str) -> anyhow::Result<&'static Preset> {
    policy::preset_named(name).ok_or_else(|| {
        let names: Vec<&str> = PRESETS.iter().map(|preset| preset.name).collect();
        anyhow!("{}; `curtail run --list-presets` lists them", unknown("there is no preset", name, &names))
    })
}

/// What the commands of a preset do.
fn job_of_preset(name: &str, cutting: &CutFlags) -> anyhow::Result<Job> {
    let preset = preset_named(name)?;
    let commands = policy::parse(preset.command)?;
    let chain = cutting.with_repair(policy::chain_of(&commands, cutting.dry_run)?);
    let identity = JobIdentity::written(format!("preset {}", preset.command));
    let reads = policy::files_of(&commands);
    Ok(Job { chain, identity, reads, ..Job::default() })
}

/// One line per processor: its number, level, options and place in the file.
fn chain_lines(config: &Config, steps: &[ConfigStep<'_>]) -> String {
    let width = steps.iter().map(|step| step.level.chars().count()).max().unwrap_or_default();
    let mut lines = String::new();
    for (nth, ConfigStep { level, entry }) in steps.iter().enumerate() {
        let options = entry.table.values.iter().filter(|value| value.origin != Origin::Default);
        let options: Vec<String> = options.map(|value| format!("{} = {}", value.name, value.shown())).collect();
        let options = if options.is_empty() { String::new() } else { format!(" {{ {} }}", options.join(", ")) };
        let number = nth + 1;
        let name = painted(NAME, entry.spec.name);
        let place = painted(DIM, &format!("# {}:{}", one_line(&config.file), entry.place.line));
        let _ = writeln!(lines, "{number}. {:width$}  {name}{options}  {place}", one_line(level));
    }
    lines
}
