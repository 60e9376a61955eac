//! `curtail view`: transcripts as an HTML page, or as text for a terminal.

use std::io::{self, Read as _, Seek as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

use anyhow::Context as _;
use tempfile::SpooledTempFile;

use super::config::Config;
use super::input::{Global, Input, is_standard};
use super::options::{CountingOptions, Reads, Tokens};
use super::{policy, report};
use crate::batch::{Event, Flow, Unit, Work};
use crate::console;
use curtail_core::checks::{Levels, LineIndex, Table};
use curtail_core::dialects::{Framing, ReadError};
use curtail_core::pipeline::calibrated;
use curtail_core::processors::Counting;
use curtail_core::visible::one_line;
use curtail_io::{
    DIRECTORY_ADVICE, FileSink, FileUses, Packing, Replace, Scratch, Source, refuse_directory_as_file,
    refuse_file_as_directory,
};
use curtail_lab::replay::Prices;
use curtail_view::{
    Compared, Conversation, LIST_END, Limits, Listed, Place, Policy, Rendered, Sources, Terminal, chat, comparison,
    page, render,
};

/// Write a page that shows a transcript, or what a policy would do to it
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

    /// Write the page to FILE; `-` is standard output. On a terminal, a page without FILE is opened
    #[arg(short, long, value_name = "FILE", conflicts_with = "output_dir", help_heading = "Output")]
    output: Option<PathBuf>,

    /// Write one page per transcript and an index to DIR
    #[arg(short = 'O', long, value_name = "DIR", help_heading = "Output")]
    output_dir: Option<PathBuf>,

    /// Overwrite existing pages
    #[arg(long, hide_short_help = true, help_heading = "Output")]
    force: bool,

    /// Open the page in the browser
    #[arg(long, help_heading = "View")]
    open: bool,

    /// Print the conversation as text, through $PAGER on a terminal
    #[arg(long, conflicts_with_all = ["output", "output_dir", "open"], help_heading = "View")]
    text: bool,

    /// Print whole arguments, results and reasoning
    #[arg(long, help_heading = "View")]
    full: bool,

    /// Cut each text after N characters (20k = 20,000), with a note
    #[arg(long, value_name = "N", default_value = "20k", hide_short_help = true, help_heading = "View")]
    max_text: Tokens,

    #[command(flatten)]
    counting: CountingOptions,

    #[command(flatten)]
    input: Input,
}

/// Bytes that are read at once: a page is hundreds of times as large as a short transcript.
const BLOCK: usize = 32 * 1024;

/// What a policy of `view` may contain.
const RULES: policy::Rules = policy::Rules { command: "view", summarizers: policy::Summarizers::BuiltIn };

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
            let place = self.place(unit, nth, count);
            let counting = calibrated(&self.counting, dialect, &transcript)?;
            let chain = self.policy.as_ref().map(|policy| policy.chain.calibrated(dialect, &transcript)).transpose()?;
            let recalibrated = self.policy.as_ref().zip(chain.flatten());
            let recalibrated = recalibrated.map(|(policy, chain)| Policy { chain, label: policy.label.clone() });
            let policy = recalibrated.as_ref().or(self.policy.as_ref());
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

impl Viewer<'_> {
    fn place(&self, unit: &Unit<'_>, nth: usize, count: usize) -> Place {
        let (file, line) = (&unit.opened.source.name, unit.line);
        let records = unit.opened.reading.framing == Framing::Records;
        let name = match (records, count) {
            (true, _) => format!("{file}:{line}"),
            (false, 1) => file.clone(),
            (false, _) => format!("{file} [{nth}]"),
        };
        // A transcript with its own page needs no prefix of its anchors.
        let alone = self.args.output_dir.is_some() || self.files == 1 && !records && count == 1;
        let anchor = if alone { String::new() } else { format!("t{}-{line}-{nth}-", unit.opened.number) };
        Place { name, line, offset: unit.offset, anchor }
    }

    fn draw(&self, conversation: &Conversation<'_>) -> Rendered {
        let max_text = self.args.max_text.0;
        if !self.args.text {
            let limits = Limits { max_text, ..Limits::default() };
            return render(conversation, limits, self.files == 2 && self.args.output_dir.is_none());
        }
        Rendered {
            listed: Listed { link: None, ..Listed::from_conversation(conversation) },
            html: chat(conversation, Terminal { full: self.args.full, max_text }),
            compared: None,
        }
    }
}

impl ViewArgs {
    /// Views the input.
    pub(super) fn run(&self, global: &Global) -> anyhow::Result<ExitCode> {
        if self.output.as_deref().is_some_and(is_standard) && console::out_is_terminal() {
            anyhow::bail!(
                "a page cannot be shown in a terminal; leave out `-o -` to open it, or pass --text to print the conversation"
            );
        }
        let (sources, missing) = self.input.sources(self.output_dir.as_deref(), global)?;
        let mut failures = report::Failures::of_missing(&missing, global);
        let (policy, reads) = self.shown_policy()?.unzip();
        let mut reads = reads.unwrap_or_default();
        reads.extend([self.counting.files()]);
        let uses = FileUses::new(&sources, reads.all());
        let mut pages = Pages::plan(self, policy.is_some(), uses, &sources)?;
        let viewer = Viewer {
            args: self,
            counting: self.counting.counting()?,
            levels: Levels::new(&Table::default(), &Table::default())?,
            policy,
            files: sources.len(),
            prices: Prices::built_in()?,
        };
        report::counted(&viewer.counting, global);
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
        if pages.count == 0 {
            report::warn_empty(status == ExitCode::SUCCESS, global);
        } else if self.text {
            print(&pages.into_text()?)?;
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

// Writes pages: one for all transcripts, or one for each with an index.

/// Bytes of transcripts on one page. Further transcripts are listed without their messages.
const PAGE_BYTES: usize = 100_000_000;

/// The pages of a run.
struct Pages<'a> {
    args: &'a ViewArgs,
    /// The file of the page; `None` for standard output.
    output: Option<&'a Path>,
    policy: bool,
    /// Number of transcripts.
    count: usize,
    /// Their rows in the list of transcripts.
    rows: Spool,
    /// The sections of the page, if all transcripts are on one.
    sections: Spool,
    bytes: usize,
    /// The paths of the inputs.
    inputs: Vec<PathBuf>,
    /// What is compared if there are two transcripts.
    compared: Vec<Compared>,
    /// The name of the first input.
    title: Option<String>,
    /// The files of the run.
    uses: FileUses,
    scratch: Scratch,
}

impl<'a> Pages<'a> {
    /// Plans the pages of `sources`, before any is written.
    ///
    /// # Errors
    /// A page exists already, would replace a file of the run, or belongs to two inputs.
    fn plan(args: &'a ViewArgs, policy: bool, uses: FileUses, sources: &[Source]) -> anyhow::Result<Self> {
        let output = args.output.as_deref().filter(|file| !is_standard(file));
        if let Some(path) = output {
            refuse_directory_as_file(path)?;
            if !args.force && path.exists() {
                anyhow::bail!("{}: the output exists already; --force overwrites it", path.display());
            }
            uses.flag(path, "--output")?;
        }
        if let Some(directory) = &args.output_dir {
            refuse_file_as_directory(directory, DIRECTORY_ADVICE)?;
            uses.flag(&directory.join("index.html"), "the index of --output-dir")?;
            for source in sources {
                uses.output(&directory.join(page_name(source, "")), source)?;
            }
        }
        Ok(Self {
            args,
            output,
            policy,
            count: 0,
            rows: Spool::default(),
            sections: Spool::default(),
            bytes: 0,
            inputs: sources.iter().filter_map(|source| source.path.clone()).collect(),
            compared: Vec::new(),
            title: None,
            uses,
            scratch: Scratch::default(),
        })
    }

    /// Adds the transcripts of `source`; writes them if each has a page of its own.
    fn add(&mut self, source: &Source, drawn: Vec<Rendered>) -> anyhow::Result<()> {
        match &mut self.title {
            None => self.title = Some(source.name.clone()),
            Some(title) if *title == source.name => {}
            Some(title) => *title = String::from("Transcripts"),
        }
        for Rendered { mut listed, html, compared } in drawn {
            self.compared.extend(compared.filter(|_| self.count < 2));
            if let Some(directory) = &self.args.output_dir {
                let name = Self::name(source, &listed);
                let (before, after) = page(&listed.name, None, self.policy);
                let path = directory.join(&name);
                self.uses.output(&path, source)?;
                write(&path, source.path.as_slice(), self.args.force, &self.scratch, |put| {
                    [&before, html.as_str(), after].into_iter().try_for_each(put)
                })?;
                listed.link = Some(link(&name));
            } else if self.bytes == 0 || self.args.text || self.bytes + html.len() <= PAGE_BYTES {
                if self.bytes > 0 && self.args.text {
                    self.sections.push("\n")?;
                }
                self.bytes += html.len();
                self.sections.push(&html)?;
            } else {
                listed.link = None;
            }
            self.count += 1;
            self.rows.push(&listed.row(self.policy))?;
        }
        Ok(())
    }

    /// The file name of a transcript's page: the name of its input, and a number if the input has several transcripts.
    fn name(source: &Source, listed: &Listed) -> PathBuf {
        let within = listed.name.strip_prefix(&source.name).unwrap_or_default();
        let within: String = within.chars().filter(char::is_ascii_digit).collect();
        page_name(source, &within)
    }

    /// The transcripts one after another, as text.
    fn into_text(self) -> anyhow::Result<String> {
        let mut text = String::with_capacity(self.bytes);
        self.sections.copy(|piece| {
            text.push_str(piece);
            Ok(())
        })?;
        Ok(text)
    }

    /// Writes the page, or the index of the pages, and opens it with `--open`. A page that would be printed on a terminal is written
    /// to a temporary file and opened instead.
    fn finish(mut self) -> anyhow::Result<()> {
        let open = self.args.open;
        let on_terminal =
            self.args.output_dir.is_none() && self.output.is_none() && !open && console::out_is_terminal();
        let path = match (&self.args.output_dir, self.output) {
            (Some(directory), _) => Some(directory.join("index.html")),
            (None, Some(path)) => Some(path.to_owned()),
            (None, None) if open || on_terminal => Some(temporary()?),
            (None, None) => None,
        };
        // A closed pipe is not an error.
        let Some(path) = path else { return self.put(&mut |piece| Ok(console::data(piece)?)) };
        let force = self.args.force || (open || on_terminal) && self.args.output_dir.is_none();
        let (scratch, inputs) = (std::mem::take(&mut self.scratch), std::mem::take(&mut self.inputs));
        write(&path, &inputs, force, &scratch, |put| self.put(put))?;
        if !open && !on_terminal {
            return Ok(());
        }
        let shown = path.canonicalize().unwrap_or(path);
        match open::that_detached(&shown) {
            Err(_) if on_terminal => report::note(&format!(
                "the page is in {}, and no browser could be started; open it, write it with -o FILE, or print it with --text",
                shown.display()
            )),
            opened => opened.with_context(|| format!("{}: no browser could be started", shown.display()))?,
        }
        if on_terminal {
            console::out(&format!("{}\n", one_line(&shown.to_string_lossy())))?;
        }
        Ok(())
    }

    /// Writes the page in pieces.
    fn put(self, put: &mut dyn FnMut(&str) -> anyhow::Result<()>) -> anyhow::Result<()> {
        let title = self.title.as_deref().unwrap_or("Transcripts");
        let listed = (self.count > 1 || self.args.output_dir.is_some()).then_some(self.count);
        let (before, after) = page(title, listed, self.policy);
        put(&before)?;
        if listed.is_some() {
            self.rows.copy(&mut *put)?;
            put(LIST_END)?;
        }
        if let ([one, other], 2) = (self.compared.as_slice(), self.count) {
            put(&comparison(one, other))?;
        }
        self.sections.copy(&mut *put)?;
        put(after)
    }
}

/// The file name of the page of `source`, or of the transcript `within` it.
fn page_name(source: &Source, within: &str) -> PathBuf {
    let mut name = source.relative.clone().into_os_string();
    if !within.is_empty() {
        name.push("-");
        name.push(within);
    }
    name.push(".html");
    PathBuf::from(name)
}

/// A temporary file for a page that is only opened. It is not removed, because the browser may read it later.
fn temporary() -> anyhow::Result<PathBuf> {
    let file = tempfile::Builder::new().prefix("curtail-").suffix(".html").tempfile()?;
    Ok(file.keep()?.1)
}

/// Writes the file at `path`, which shows what is in `inputs`. `pieces` calls its argument with each piece of the text.
fn write(
    path: &Path,
    inputs: &[PathBuf],
    force: bool,
    scratch: &Scratch,
    pieces: impl FnOnce(&mut dyn FnMut(&str) -> anyhow::Result<()>) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let sink = FileSink::create(path, Packing::of_name(path), None, scratch)?;
    let mut sink = sink.copied_from(inputs.iter().map(PathBuf::as_path));
    pieces(&mut |piece| Ok(sink.write(piece.as_bytes())?))?;
    sink.commit(if force { Replace::Yes } else { Replace::No }, scratch)?;
    Ok(())
}

/// A relative path as a link.
fn link(path: &Path) -> String {
    let text = path.to_string_lossy().replace('\\', "/");
    let mut url = String::from("./");
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'/' => url.push(char::from(byte)),
            _ => url.push_str(&format!("%{byte:02X}")),
        }
    }
    url
}

/// How many bytes a [`Spool`] keeps in memory.
const MAX_IN_MEMORY: usize = 4 * 1024 * 1024;
/// Maximum bytes of a piece of a [`Spool`].
const CHUNK: usize = 64 * 1024;

/// Text that is written later: in memory while it is short, and in a temporary file once it is long.
struct Spool(SpooledTempFile);

impl Default for Spool {
    fn default() -> Self {
        Self(SpooledTempFile::new(MAX_IN_MEMORY))
    }
}

impl Spool {
    /// Appends `text`.
    fn push(&mut self, text: &str) -> io::Result<()> {
        self.0.write_all(text.as_bytes())
    }

    /// Passes all of the text to `put`, in pieces.
    fn copy(mut self, mut put: impl FnMut(&str) -> anyhow::Result<()>) -> anyhow::Result<()> {
        self.0.rewind()?;
        let mut piece = Vec::with_capacity(CHUNK);
        while io::Read::by_ref(&mut self.0).take((CHUNK - piece.len()) as u64).read_to_end(&mut piece)? > 0 {
            // A piece may end inside a character, whose remaining bytes come with the next one.
            let whole = std::str::from_utf8(&piece).map_or_else(|error| error.valid_up_to(), str::len);
            put(std::str::from_utf8(&piece[..whole])?)?;
            piece.drain(..whole);
        }
        Ok(())
    }
}

// Long text goes through a pager on a terminal.

/// Prints text with ANSI colors. On a terminal it goes through `$PAGER`, or `less -R`.
fn print(text: &str) -> anyhow::Result<()> {
    let pager = std::env::var("PAGER").unwrap_or_else(|_| String::from("less -R"));
    if console::out_is_terminal() && !pager.trim().is_empty() && paged(&pager, text) {
        return Ok(());
    }
    Ok(console::out(text)?)
}

/// Shows the text in the pager; `false` if that failed.
fn paged(pager: &str, text: &str) -> bool {
    let text = console::paged(text);
    let mut command = Command::new("sh");
    command.args(["-c", pager]).stdin(Stdio::piped());
    if std::env::var_os("LESS").is_none() {
        command.env("LESS", "FRX");
    }
    let Ok(mut child) = command.spawn() else { return false };
    if let Some(mut stdin) = child.stdin.take() {
        // Quitting a pager early is not an error.
        drop(stdin.write_all(text.as_bytes()));
    }
    child.wait().is_ok_and(|status| status.success())
}

#[cfg(test)]
mod tests {
    use super::{CHUNK, MAX_IN_MEMORY, Spool};

    #[test]
    fn long_text_comes_back_whole() -> anyhow::Result<()> {
        let text = "añ€😀\n".repeat(MAX_IN_MEMORY / 8);
        let mut spool = Spool::default();
        spool.push(&text[..12])?;
        spool.push(&text[12..])?;
        let (mut back, mut longest) = (String::new(), 0);
        spool.copy(|piece| {
            back.push_str(piece);
            longest = longest.max(piece.len());
            Ok(())
        })?;
        assert!(back == text && longest <= CHUNK);
        Ok(())
    }
}
