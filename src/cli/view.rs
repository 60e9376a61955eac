//! `curtail view`: transcripts as an HTML page, or as text for a terminal.

use std::path::PathBuf;
use std::process::ExitCode;

use crate::console;
use crate::options::config::Config;
use crate::options::counting::CountingOptions;
use crate::options::files::{Reads, is_standard};
use crate::options::global::Global;
use crate::options::input::Input;
use crate::options::numbers::characters;
use crate::options::pages::PageFlags;
use crate::options::policy;
use crate::reports::pager;
use crate::reports::pages::Pages;
use crate::reports::remarks;
use crate::works::view::Viewer;
use curtail_core::checks::Levels;
use curtail_io::FileUses;
use curtail_io::batch::{Event, Flow};
use curtail_lab::replay::Prices;
use curtail_view::{Policy, Terminal};

/// Show a transcript, or the effect of a policy, as a page
///
/// The page is one HTML file that needs no network: the conversation as a strip, the context at each request, tokens by role
/// and by tool, the findings of `check`, and all messages, with tool results inside their calls. The page of two transcripts
/// also shows where they differ.
#[derive(Debug, clap::Args)]
pub(super) struct ViewArgs {
    /// Show what these processors drop and change, such as 'filter -x debug | limit -t 60k'
    #[arg(long, value_name = "COMMANDS", conflicts_with = "config", help_heading = "Policy")]
    policy: Option<String>,

    /// Show what the processors of this configuration file drop and change
    #[arg(short, long, value_name = "FILE", help_heading = "Policy")]
    config: Option<PathBuf>,

    /// Also apply the processors of this network
    #[arg(long, value_name = "NAME", help_heading = "Policy")]
    network: Option<String>,

    /// Also apply the processors of this agent
    #[arg(long, value_name = "NAME", help_heading = "Policy")]
    agent: Option<String>,

    #[command(flatten)]
    pages: PageFlags,

    /// Print whole arguments, results and reasoning
    #[arg(long, help_heading = "View")]
    full: bool,

    /// Blank what looks like a key, and the names of home folders
    #[arg(long, help_heading = "View")]
    mask: bool,

    /// Cut each text after N characters (20k = 20,000), with a note
    #[arg(long, value_name = "N", default_value = "20k", value_parser = characters, hide_short_help = true, help_heading = "View")]
    max_text: usize,

    #[command(flatten)]
    counting: CountingOptions,

    #[command(flatten)]
    input: Input,
}

/// Bytes that are read at once: a page is hundreds of times as large as a short transcript.
const BLOCK: usize = 32 * 1024;

/// What a policy of `view` may contain.
const RULES: policy::PolicyRules = policy::PolicyRules { command: "view", summarizers: policy::Summarizers::BuiltIn };

impl ViewArgs {
    /// Views the input.
    pub(super) fn run(&self, global: &Global) -> anyhow::Result<ExitCode> {
        if self.pages.output.as_deref().is_some_and(is_standard) && console::out_is_terminal() {
            anyhow::bail!(
                "a page cannot be shown in a terminal; leave out `-o -` to open it, or pass --text to print the conversation"
            );
        }
        let (sources, missing) = self.input.sources(self.pages.output_dir.as_deref())?;
        let mut failures = remarks::Failures::of_missing(&missing, global);
        let (policy, reads) = self.shown_policy()?.unzip();
        let mut reads = reads.unwrap_or_default();
        reads.extend([self.counting.files()]);
        let uses = FileUses::new(&sources, reads.all());
        let is_empty = sources.is_empty();
        let mut pages = Pages::plan(&self.pages, policy.is_some(), uses, &sources)?;
        let viewer = Viewer {
            counting: self.counting.without_reserve()?,
            levels: Levels::default(),
            policy,
            live: self.input.live,
            files: sources.len(),
            prices: Prices::built_in()?,
            masks: self.mask,
            terminal: self.pages.text.then_some(Terminal { full: self.full, max_text: self.max_text }),
            has_index: self.pages.output_dir.is_some(),
            max_text: self.max_text,
        };
        remarks::counted(&viewer.counting);
        let mut written = Ok(());
        let mut batch = self.input.batch(global)?;
        batch.input_options.block = Some(BLOCK);
        batch.run(sources, &viewer, |event| {
            failures.note(&event);
            if let Event::Done { opened, out, .. } = event {
                written = pages.add(&opened.source, std::mem::take(out));
            }
            if written.is_ok() { Flow::Continue } else { Flow::Stop }
        });
        written?;
        let status = failures.status;
        if pages.sums.transcripts == 0 {
            if status == ExitCode::SUCCESS {
                self.report_nothing(is_empty)?;
            }
        } else if self.pages.text {
            pager::print(&pages.into_text()?)?;
        } else {
            pages.finish()?;
        }
        Ok(status)
    }

    /// Says that there is no transcript: an error if a page is to be written to a file. `is_empty`: there is no input, either.
    fn report_nothing(&self, is_empty: bool) -> anyhow::Result<()> {
        let file = self.pages.output.as_ref().filter(|file| !is_standard(file));
        match file.or(self.pages.output_dir.as_ref()) {
            Some(page) => anyhow::bail!("{}: not written, because the input contains no transcript", page.display()),
            None if is_empty => remarks::warn_empty(true),
            None => console::warning(&"the input contains no transcript"),
        }
        Ok(())
    }

    /// The policy that is shown, and the files that it reads.
    fn shown_policy(&self) -> anyhow::Result<Option<(Policy, Reads)>> {
        match (&self.policy, &self.config) {
            (Some(text), _) => {
                let (chain, reads) = policy::chain(text, &RULES)?;
                Ok(Some((Policy { chain, label: text.clone() }, reads)))
            }
            (None, Some(path)) => {
                let config = Config::named(path)?;
                let steps = config.steps(self.network.as_deref(), self.agent.as_deref())?;
                RULES.check_steps(&config, &steps)?;
                let names: Vec<&str> = steps.iter().map(|step| step.entry.spec.name).collect();
                let label = format!("{}: {}", config.file, names.join(" | "));
                Ok(Some((Policy { chain: config.chain(&steps, true)?, label }, config.files(&steps))))
            }
            (None, None) => Ok(None),
        }
    }
}
