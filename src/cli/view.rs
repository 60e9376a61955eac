//! `curtail view`: transcripts as an HTML page, or as text for a terminal.

mod pager;
mod pages;
mod spool;

use std::path::PathBuf;
use std::process::ExitCode;

use self::pages::Pages;
use super::config::{Choice, Config, Variables};
use super::input::{Global, Input, is_standard};
use super::{PROCESSOR_SPECS, policy, report};
use crate::batch::{Batch, Event, Flow, InputOptions, OnError, Unit, Work};
use crate::cli::options::{CountingOptions, Tokens};
use crate::console;
use crate::view::{Conversation, Limits, Listed, Place, Policy, Rendered, Sources, Terminal, chat, render};
use curtail_core::checks::{Levels, LineIndex, Table};
use curtail_core::dialects::{Framing, ReadError};
use curtail_core::pipeline::calibrated;
use curtail_core::processors::Counting;
use curtail_io::{FileUses, Source};
use curtail_lab::replay::Prices;

/// Write a page that shows a transcript, or what a policy would do to it
///
/// The page is one HTML file that needs no network: the conversation as a strip, the context at each request, tokens by role
/// and by tool, the findings of `check`, and all messages, with tool results inside their calls. The page of two transcripts
/// also shows where they part.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Show what these processors drop and change, such as 'filter -x debug | limit -t 60k'
    #[arg(long, value_name = "COMMANDS", conflicts_with = "config", help_heading = "Policy")]
    policy: Option<String>,

    /// Show what the processors of this configuration file drop and change
    #[arg(short, long, value_name = "FILE", help_heading = "Policy")]
    config: Option<PathBuf>,

    /// Also apply the processors of this network
    #[arg(long, value_name = "NAME", requires = "config", help_heading = "Policy")]
    network: Option<String>,

    /// Also apply the processors of this agent
    #[arg(long, value_name = "NAME", requires = "config", help_heading = "Policy")]
    agent: Option<String>,

    /// Write the page to FILE; `-` is standard output. On a terminal, a page without FILE is opened
    #[arg(short, long, value_name = "FILE", conflicts_with = "output_dir", help_heading = "Output")]
    output: Option<PathBuf>,

    /// Write one page per transcript and an index to DIR
    #[arg(short = 'O', long, value_name = "DIR", help_heading = "Output")]
    output_dir: Option<PathBuf>,

    /// Overwrite existing pages
    #[arg(long, help_heading = "Output")]
    force: bool,

    /// Open the page in the browser
    #[arg(long, help_heading = "View")]
    open: bool,

    /// Print the conversation as text, through $PAGER on a terminal
    #[arg(long, conflicts_with_all = ["output", "output_dir", "open"], help_heading = "View")]
    text: bool,

    /// Print whole arguments, results and reasoning
    #[arg(long, requires = "text", help_heading = "View")]
    full: bool,

    /// Cut each text after N characters (20k = 20,000), with a note
    #[arg(long, value_name = "N", default_value = "20k", help_heading = "View")]
    max_text: Tokens,

    #[command(flatten)]
    counting: CountingOptions,

    #[command(flatten)]
    input: Input,
}

/// Bytes that are read at once: a page is hundreds of times as large as a short transcript.
const BLOCK: usize = 32 * 1024;

/// What a policy may be here.
const RULES: policy::Rules = policy::Rules { command: "view", summarizers: policy::Summarizers::BuiltIn };

/// Draws every transcript.
struct Viewer {
    counting: Counting,
    levels: Levels,
    policy: Option<Policy>,
    max_text: usize,
    /// How text is printed; `None` for pages.
    terminal: Option<Terminal>,
    /// Whether each transcript has a page of its own, so that anchors need not differ.
    alone: bool,
    /// Number of inputs.
    files: usize,
    /// What models cost.
    prices: Prices,
}

impl Work for Viewer {
    type Out = Vec<Rendered>;

    fn unit(&self, unit: &Unit<'_>, out: &mut Vec<Rendered>) -> Result<(), ReadError> {
        let document = unit.parse()?;
        let transcripts = unit.transcripts(&document)?;
        let lines = LineIndex::new(unit.text);
        let verdicts = self.levels.for_path(&unit.opened.source.name);
        let count = transcripts.len();
        let mut drawn = Vec::new();
        for (nth, (dialect, transcript)) in transcripts.into_iter().enumerate() {
            let offset = transcript.layout.span.start as usize;
            if transcript.messages.is_empty() && unit.opened.reading.framing == Framing::Lines {
                continue;
            }
            let place = self.place(unit, (nth, count));
            let counting = calibrated(&self.counting, dialect, &transcript)?;
            let chain = self.policy.as_ref().map(|policy| policy.chain.calibrated(dialect, &transcript)).transpose()?;
            let own = self.policy.as_ref().zip(chain.flatten());
            let own = own.map(|(policy, chain)| Policy { chain, label: policy.label.clone() });
            let policy = own.as_ref().or(self.policy.as_ref());
            let sources =
                Sources { counting: &counting, verdicts: &verdicts, lines: &lines, policy, prices: Some(&self.prices) };
            let conversation = Conversation::from_transcript(place, dialect, transcript, &sources)
                .map_err(|error| ReadError { offset, what: error.to_string() })?;
            drawn.push(self.draw(&conversation));
        }
        out.append(&mut drawn);
        Ok(())
    }
}

impl Viewer {
    fn place(&self, unit: &Unit<'_>, (nth, count): (usize, usize)) -> Place {
        let (file, line) = (&unit.opened.source.name, unit.line);
        let records = unit.opened.reading.framing == Framing::Records;
        let name = match (records, count) {
            (true, _) => format!("{file}:{line}"),
            (false, 1) => file.clone(),
            (false, _) => format!("{file} [{nth}]"),
        };
        let alone = self.alone || self.files == 1 && !records && count == 1;
        let anchor = if alone { String::new() } else { format!("t{}-{line}-{nth}-", unit.opened.number) };
        Place { name, line, offset: unit.offset, anchor }
    }

    fn draw(&self, conversation: &Conversation<'_>) -> Rendered {
        match self.terminal {
            None => {
                let limits = Limits { max_text: self.max_text, ..Limits::default() };
                render(conversation, limits, self.files == 2 && !self.alone)
            }
            Some(terminal) => Rendered {
                listed: Listed { link: None, ..Listed::from_conversation(conversation) },
                html: chat(conversation, terminal),
                outline: None,
            },
        }
    }
}

/// Views the input.
pub(super) fn run(args: &Args, global: &Global) -> anyhow::Result<ExitCode> {
    if args.output.as_deref().is_some_and(is_standard) && console::out_is_terminal() {
        anyhow::bail!(
            "a page is not for a terminal; leave out `-o -` to open it, or pass --text to print the conversation"
        );
    }
    let (sources, missing) = args.input.sources(args.output_dir.as_deref())?;
    missing.iter().for_each(report::error);
    let mut status = if missing.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(2) };
    let viewer = args.viewer(sources.len())?;
    let mut pages = args.pages(&sources, viewer.policy.is_some())?;
    let mut written = Ok(());
    let batch = Batch {
        jobs: global.jobs,
        input_options: InputOptions { block: Some(BLOCK), ..args.input.input_options()? },
        on_error: OnError::Skip,
        ..Batch::default()
    };
    batch.run(sources, &viewer, |event| {
        match event {
            Event::Done { opened, out, .. } => written = pages.add(&opened.source, std::mem::take(out)),
            Event::Failed(failure) => {
                report::error(&failure.error);
                status = ExitCode::from(2);
            }
            Event::PassedOver(opened) => report::passed_over(opened, global),
            Event::Opened(_) | Event::Closed { .. } => {}
        }
        if written.is_ok() { Flow::Continue } else { Flow::Stop }
    });
    written?;
    if pages.is_empty() {
        report::warn_empty(status == ExitCode::SUCCESS, global);
        return Ok(status);
    }
    if args.text {
        pager::print(&pages.into_text()?)?;
        return Ok(status);
    }
    pages.finish(args.open)?;
    Ok(status)
}

impl Args {
    /// The pages of `sources`, of which none is written yet.
    fn pages(&self, sources: &[Source], policy: bool) -> anyhow::Result<Pages> {
        let output = self.output.clone().filter(|file| !is_standard(file));
        let reads = self.counting.files();
        let uses = FileUses::new(sources, reads.iter().chain(&self.config));
        let pages = Pages::new(output, self.output_dir.clone(), (self.force, policy), uses)?;
        pages.plan(sources)?;
        Ok(if self.text { pages.for_text() } else { pages })
    }

    fn viewer(&self, files: usize) -> anyhow::Result<Viewer> {
        let terminal = self.text.then_some(Terminal { full: self.full, max_text: self.max_text.0 });
        Ok(Viewer {
            counting: self.counting.counting()?,
            levels: Levels::new(&Table::default(), &Table::default())?,
            policy: self.shown_policy()?,
            max_text: self.max_text.0,
            terminal,
            alone: self.output_dir.is_some(),
            files,
            prices: Prices::built_in()?,
        })
    }

    fn shown_policy(&self) -> anyhow::Result<Option<Policy>> {
        match (&self.policy, &self.config) {
            (Some(text), _) => Ok(Some(Policy { chain: policy::chain(text, &RULES)?, label: text.clone() })),
            (None, Some(path)) => {
                let config = Config::load(path, Choice::Named, PROCESSOR_SPECS, &Variables::of_process())?;
                let steps = config.steps(self.network.as_deref(), self.agent.as_deref())?;
                RULES.check_steps(&config, &steps)?;
                let names: Vec<&str> = steps.iter().map(|step| step.entry.spec.name).collect();
                let label = format!("{}: {}", config.file, names.join(" | "));
                Ok(Some(Policy { chain: config.chain(&steps, true)?, label }))
            }
            (None, None) => Ok(None),
        }
    }
}
