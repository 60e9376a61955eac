//! `curtail view`: transcripts as an HTML page, or as text for a terminal.

use std::borrow::Cow;
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
use crate::works::agents::AgentLog;
use curtail_core::checks::{Levels, LineIndex, Table, Verdicts};
use curtail_core::dialects::{Dialect, Framing, ReadError, Reading};
use curtail_core::pipeline::calibrated;
use curtail_core::processors::Counting;
use curtail_core::transcript::Transcript;
use curtail_io::FileUses;
use curtail_io::batch::{Event, Flow, Unit, Work};
use curtail_lab::replay::Prices;
use curtail_view::{
    Conversation, Exposure, Extras, Limits, Listed, Place, Policy, Rendered, Sources, Terminal, chat, masked, render,
};

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

/// Draws every transcript.
struct Viewer<'a> {
    args: &'a ViewArgs,
    counting: Counting,
    levels: Levels,
    policy: Option<Policy>,
    /// Number of inputs.
    files: usize,
    /// What models cost.
    prices: Prices,
}

impl Work for Viewer<'_> {
    type Out = Vec<Rendered>;

    fn unit(&self, unit: &Unit<'_>, out: &mut Vec<Rendered>) -> Result<(), ReadError> {
        let text = self.masked(unit.text);
        let document = unit.parse_as(&text)?;
        let transcripts = unit.transcripts(&document)?;
        let verdicts = self.levels.for_path(&unit.opened.source.name);
        let lines = LineIndex::new(&text);
        let exposure = Exposure::of_text(&text);
        let input = UnitFacts { lines: &lines, verdicts: &verdicts, exposure: &exposure };
        let count = transcripts.len();
        let logs = self.agent_logs(unit, count);
        let reading = Reading { framing: Framing::Lines, ..unit.opened.reading.clone() };
        let agents: Vec<_> = logs.iter().filter_map(|log| Some((log, reading.parse(&log.text).ok()?))).collect();
        let mut drawn = Vec::new();
        for (nth, (dialect, transcript)) in transcripts.into_iter().enumerate() {
            if transcript.messages.is_empty() && unit.opened.reading.framing == Framing::Lines {
                continue;
            }
            let place = self.place(unit, nth, count);
            let anchor = place.anchor.clone();
            let mut conversation = self.conversation(place, dialect, transcript, &input, self.policy.as_ref())?;
            for (nth, (log, document)) in agents.iter().enumerate() {
                let lines = LineIndex::new(&log.text);
                let input = UnitFacts { lines: &lines, ..input };
                for (dialect, transcript) in reading.transcripts(document)? {
                    let place =
                        Place { name: log.name.clone(), line: 1, offset: 0, anchor: format!("{anchor}a{nth}-") };
                    let agent = self.conversation(place, dialect, transcript, &input, None)?;
                    conversation.attach(agent, log.notes.call.as_deref(), log.notes.description.clone());
                }
            }
            drawn.push(self.draw(&conversation));
        }
        out.append(&mut drawn);
        Ok(())
    }
}

/// What is known of a text besides its transcripts.
#[derive(Clone, Copy)]
struct UnitFacts<'i> {
    lines: &'i LineIndex<'i>,
    verdicts: &'i Verdicts,
    exposure: &'i Exposure,
}

impl Viewer<'_> {
    /// The text that is shown: with `--mask`, as long and without what others should not see.
    fn masked<'t>(&self, text: &'t str) -> Cow<'t, str> {
        if self.args.mask { masked(text) } else { Cow::Borrowed(text) }
    }

    /// The logs of sub-agents beside the session that is this unit.
    fn agent_logs(&self, unit: &Unit<'_>, transcripts: usize) -> Vec<AgentLog> {
        let is_session = unit.opened.reading.framing == Framing::Lines && transcripts == 1 && !self.args.pages.text;
        let Some(path) = unit.opened.source.path.as_deref().filter(|_| is_session) else { return Vec::new() };
        let (mut logs, unread) = AgentLog::beside(path);
        unread.iter().for_each(console::note);
        for log in &mut logs {
            log.text = self.masked(&log.text).into_owned();
            log.name = self.masked(&log.name).into_owned();
        }
        logs
    }

    fn conversation<'a>(
        &self,
        place: Place,
        dialect: &'static dyn Dialect,
        transcript: Transcript<'a>,
        input: &UnitFacts<'_>,
        policy: Option<&Policy>,
    ) -> Result<Conversation<'a>, ReadError> {
        let offset = transcript.layout.span.start as usize;
        let counting = calibrated(&self.counting, dialect, &transcript)?;
        let chain = policy.map(|policy| policy.chain.calibrated(dialect, &transcript)).transpose()?;
        let recalibrated = policy.zip(chain.flatten());
        let recalibrated = recalibrated.map(|(policy, chain)| Policy { chain, label: policy.label.clone() });
        let sources = Sources {
            counting: &counting,
            verdicts: input.verdicts,
            lines: input.lines,
            policy: recalibrated.as_ref().or(policy),
            prices: Some(&self.prices),
            exposure: input.exposure,
        };
        Conversation::from_transcript(place, dialect, transcript, &sources)
            .map_err(|error| ReadError { offset, what: error.to_string() })
    }

    fn place(&self, unit: &Unit<'_>, nth: usize, count: usize) -> Place {
        let file = &unit.opened.source.name;
        let line = unit.line;
        let records = unit.opened.reading.framing == Framing::Records;
        let name = match (records, count) {
            (true, 1) => format!("{file}:{line}"),
            (true, _) => format!("{file}:{line} [{nth}]"),
            (false, 1) => file.clone(),
            (false, _) => format!("{file} [{nth}]"),
        };
        let name = self.masked(&name).into_owned();
        // A transcript with its own page needs no prefix of its anchors.
        let alone = self.args.pages.output_dir.is_some() || self.files == 1 && !records && count == 1;
        let anchor = if alone { String::new() } else { format!("t{}-{line}-{nth}-", unit.opened.number) };
        Place { name, line, offset: unit.offset, anchor }
    }

    fn draw(&self, conversation: &Conversation<'_>) -> Rendered {
        let max_text = self.args.max_text;
        if !self.args.pages.text {
            let limits = Limits { max_text, ..Limits::default() };
            let has_index = self.args.pages.output_dir.is_some();
            return render(conversation, limits, Extras { compared: self.files == 2 && !has_index, texts: has_index });
        }
        Rendered {
            listed: Listed { link: None, ..Listed::from_conversation(conversation) },
            html: chat(conversation, Terminal { full: self.args.full, max_text }),
            compared: None,
            texts: None,
        }
    }
}

impl ViewArgs {
    /// Views the input.
    pub(super) fn run(&self, global: &Global) -> anyhow::Result<ExitCode> {
        if self.pages.output.as_deref().is_some_and(is_standard) && console::out_is_terminal() {
            anyhow::bail!(
                "a page cannot be shown in a terminal; leave out `-o -` to open it, or pass --text to print the conversation"
            );
        }
        let (sources, missing) = self.input.sources(self.pages.output_dir.as_deref(), global)?;
        let mut failures = remarks::Failures::of_missing(&missing, global);
        let (policy, reads) = self.shown_policy()?.unzip();
        let mut reads = reads.unwrap_or_default();
        reads.extend([self.counting.files()]);
        let uses = FileUses::new(&sources, reads.all());
        let mut pages = Pages::plan(&self.pages, policy.is_some(), uses, &sources)?;
        let viewer = Viewer {
            args: self,
            counting: self.counting.counting()?,
            levels: Levels::new(&Table::default(), &Table::default())?,
            policy,
            files: sources.len(),
            prices: Prices::built_in()?,
        };
        remarks::counted(&viewer.counting, global);
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
            remarks::warn_empty(status == ExitCode::SUCCESS, global);
        } else if self.pages.text {
            pager::print(&pages.into_text()?)?;
        } else {
            pages.finish()?;
        }
        Ok(status)
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
