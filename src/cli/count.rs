//! `curtail count`: numbers of tokens, messages and calls.

use std::collections::{BTreeMap, HashMap};
use std::process::ExitCode;

use clap::ValueEnum;
use serde::Serialize;

use super::input::{Global, Input};
use super::report;
use super::table::{self, Columns, csv_field, trimmed};
use crate::batch::{Event, Flow, Opened, Unit, Work};
use crate::cli::options::{CountingOptions, TemplateOptions};
use crate::console;
use curtail_core::counting::REFUSED;
use curtail_core::dialects::{Dialect, ReadError};
use curtail_core::processors::{Counting, View};
use curtail_core::transcript::{Content, Pairs, PartRef, Role, Subject, Transcript, main_thread};
use curtail_core::visible::{number_of, one_line};
use curtail_io::FileError;
use curtail_lab::calibration::{CountedRequest, Figures, NO_FIGURES, SeenRequests, counted_requests};

/// Count tokens, messages and calls
///
/// The count covers the text of every part, tool names, arguments and results. Arguments and results that are not strings
/// count as JSON without white space between its tokens. An image or a file counts as 765 tokens.
#[derive(Debug, clap::Args)]
pub(super) struct CountArgs {
    /// Unit of a row
    #[arg(long, value_enum, default_value = "file")]
    by: By,

    /// Show only the N rows with the most tokens [default: all, or 20 messages]
    #[arg(long, value_name = "N")]
    top: Option<usize>,

    /// Compare with the provider's counts, where the log contains them
    ///
    /// The provider's counts are fitted to the messages, which takes about as long as counting. `--tokenizer usage` shows them
    /// as well.
    #[arg(long)]
    usage: bool,

    /// Format of the counts
    #[arg(long, value_enum, value_name = "FORMAT", default_value = "table")]
    output_format: CountFormat,

    #[command(flatten)]
    counting: CountingOptions,

    #[command(flatten)]
    template: TemplateOptions,

    #[command(flatten)]
    input: Input,
}

/// The most rows of transcripts in a table or in JSON, which are written at the end. Rows of CSV are written at once.
const MOST_ROWS: usize = 100_000;

/// How many of the largest messages are shown by default.
const LARGEST: usize = 20;

/// The unit of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum By {
    /// One row per file
    File,
    /// One row per transcript
    Transcript,
    /// One row per message, the largest first
    Message,
    /// One row per role
    Role,
    /// One row per tool, for its calls and results, the largest first
    Tool,
}

/// `--output-format`
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum CountFormat {
    /// A table
    Table,
    /// One JSON object
    Json,
    /// CSV with a header line
    Csv,
}

struct Counter {
    counting: Counting,
    by: By,
    /// Whether only what the model still reads is counted.
    live: bool,
    /// Whether the provider's counts are shown.
    usage: bool,
}

impl Work for Counter {
    type Out = BlockCounts;

    fn unit(&self, unit: &Unit<'_>, out: &mut BlockCounts) -> Result<(), ReadError> {
        let document = unit.parse()?;
        // White space contains no transcript.
        if document.roots().len() == 0 {
            return Ok(());
        }
        let mut places = unit.locator();
        let counted =
            unit.transcripts(&document)?.into_iter().map(|(dialect, transcript)| self.counted(dialect, transcript));
        for counted in counted.collect::<Result<Vec<_>, _>>()? {
            out.add(self.by, &counted, |offset| places.place(offset).line);
        }
        Ok(())
    }
}

impl Counter {
    fn counted<'t>(
        &self,
        dialect: &dyn Dialect,
        mut transcript: Transcript<'t>,
    ) -> Result<CountedTranscript<'t>, ReadError> {
        let offset = transcript.layout.span.start as usize;
        let is_calibrated = self.counting.by_usage.is_some();
        let mut each: Vec<usize> = transcript.messages.iter().map(|message| self.counting.message(message)).collect();
        // A template counts exactly what the model reads, so there is nothing to calibrate.
        let compared = self.counting.template.is_none() && (self.usage || is_calibrated);
        let fit = || Figures::from_transcript(dialect, &transcript, &self.counting, |index| each[index] as u64);
        let usage = compared.then(fit).flatten();
        let counted = usage.map(|_| counted_requests(dialect, &transcript)).unwrap_or_default();
        let counting = match usage {
            _ if !is_calibrated => self.counting.clone(),
            Some(usage) => usage.calibrate(&self.counting),
            None => return Err(ReadError { offset, what: NO_FIGURES.to_owned() }),
        };
        if self.live {
            transcript.keep_live();
        }
        if self.live || is_calibrated {
            each = transcript.messages.iter().map(|message| counting.message(message)).collect();
        }
        let view = View::of_layout(&transcript.layout, &transcript.messages);
        let tokens = match counting.template {
            Some(_) => {
                counting.total(&view).map_err(|error| ReadError { offset, what: format!("{REFUSED}: {error}") })?
            }
            None => counting.outside(&view) + each.iter().sum::<usize>(),
        };
        let usage = usage.map(|usage| LoggedUsage { last: UsageSum::of_transcript(&usage), counted });
        Ok(CountedTranscript { dialect: dialect.name(), transcript, counting, each, tokens, usage })
    }
}

impl CountArgs {
    /// Counts the input and writes the counts.
    pub(super) fn run(&self, global: &Global) -> anyhow::Result<ExitCode> {
        let counting = self.template.counting(&self.counting)?;
        self.counting.note().iter().for_each(report::note);
        report::counted(&counting, global);
        let top = self.top.or((self.by == By::Message).then_some(LARGEST));
        let mut counts = Counts::new(self.by, top, &counting);
        counts.gradual = self.by == By::Transcript && top.is_none() && self.output_format == CountFormat::Csv;
        let status = self.read(&mut counts, counting, global)?;
        counts.rank();
        counts.note_missing_rows();
        // For a mistyped name, a table of zeros would say nothing.
        if counts.sums.total.transcripts > 0 || status == ExitCode::SUCCESS || self.output_format != CountFormat::Table
        {
            write_counts(&counts, self.output_format)?;
        }
        Ok(status)
    }

    /// Reads all inputs into `counts`, and writes the rows that can be written at once.
    fn read(&self, counts: &mut Counts, counting: Counting, global: &Global) -> anyhow::Result<ExitCode> {
        // A reserve is a part of the budget, not of a transcript.
        let counting = Counting { reserve: 0, ..counting };
        let (sources, missing) = self.input.sources(None, global)?;
        report::warn_empty(sources.is_empty() && missing.is_empty(), global);
        let mut failures = report::Failures::of_missing(&missing, global);
        let counter = Counter { counting, by: self.by, live: self.input.live, usage: self.usage };
        let mut written = if counts.gradual { console::out(&csv_header(counts)) } else { Ok(()) };
        self.input.batch(global)?.run(sources, &counter, |event| {
            failures.note(&event);
            match event {
                Event::Opened(opened) => counts.open(&opened.source.name),
                Event::Done { opened, out, .. } => {
                    counts.describe(opened, out, global);
                    counts.add(&opened.source.name, out);
                    written = counts.flush();
                }
                Event::Failed(_) | Event::PassedOver(_) | Event::Closed { .. } => {}
            }
            if written.is_ok() { Flow::Continue } else { Flow::Stop }
        });
        written?;
        Ok(failures.status)
    }
}

fn write_counts(counts: &Counts, format: CountFormat) -> anyhow::Result<()> {
    match format {
        CountFormat::Table => console::out(&table(counts))?,
        CountFormat::Json => console::out_json(&format!("{}\n", json(counts)))?,
        CountFormat::Csv if counts.gradual => {}
        CountFormat::Csv => console::out(&(csv_header(counts) + &csv_rows(counts)))?,
    }
    Ok(())
}

// Sums over transcripts, by file, transcript, role or tool.

/// Numbers of transcripts, messages, calls and tokens.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct CountRow {
    transcripts: usize,
    /// Turns of a person, each from a user message with text to the next.
    turns: usize,
    messages: usize,
    calls: usize,
    tokens: usize,
    /// Tokens among these that are estimated, because their content has an unknown type.
    estimated: usize,
    /// Tokens of the messages that the model still reads.
    live: usize,
}

impl CountRow {
    fn add(&mut self, other: Self) {
        self.transcripts += other.transcripts;
        self.turns += other.turns;
        self.messages += other.messages;
        self.calls += other.calls;
        self.tokens += other.tokens;
        self.estimated += other.estimated;
        self.live += other.live;
    }
}

/// A transcript, and how many tokens its messages have.
struct CountedTranscript<'t> {
    dialect: &'static str,
    transcript: Transcript<'t>,
    counting: Counting,
    /// The tokens of each message.
    each: Vec<usize>,
    /// The tokens of the transcript, with what is outside its messages.
    tokens: usize,
    /// The provider's count, if the log contains it.
    usage: Option<LoggedUsage>,
}

/// What the provider counted in a transcript.
#[derive(Debug, Clone)]
struct LoggedUsage {
    /// Of the last request.
    last: UsageSum,
    /// All requests that it counted, to find those that other files repeat.
    counted: Vec<CountedRequest>,
}

/// The row of a transcript or a message.
struct PlacedRow {
    line: usize,
    /// What follows the line in the name of the row.
    label: String,
    counts: CountRow,
}

impl CountedTranscript<'_> {
    /// The counts of each message.
    fn amounts(&self) -> impl Iterator<Item = CountRow> {
        let messages = &self.transcript.messages;
        let (estimates, main) = (estimates(&self.transcript, &self.counting), main_thread(messages));
        messages.iter().zip(&self.each).enumerate().map(move |(at, (message, &tokens))| CountRow {
            transcripts: 0,
            turns: usize::from(message.counts_in(main) && message.begins_turn()),
            messages: 1,
            calls: message.calls().count(),
            tokens,
            estimated: estimates.get(&at).map_or(0, |&estimated| estimated.min(tokens)),
            live: if message.standing.is_read() { tokens } else { 0 },
        })
    }

    /// A row for each message; `line_of` is the line of a byte offset, `line` that of the transcript.
    fn messages(&self, line: usize, mut line_of: impl FnMut(usize) -> usize) -> Vec<PlacedRow> {
        let messages = &self.transcript.messages;
        let pairs = Pairs::from_messages(messages);
        let rows = messages.iter().zip(self.amounts()).enumerate().map(|(at, (message, counts))| {
            let line = message.value().map_or(line, |value| line_of(value.span().start as usize));
            let subject = Subject::of_message(messages, &pairs, at);
            PlacedRow { line, label: format!(" message {at} ({subject})"), counts }
        });
        rows.collect()
    }

    /// The messages under the names of their writers, and `outside`, the tokens outside them. Tool results in a user's message
    /// count as a tool's.
    fn roles(&self, outside: usize) -> BTreeMap<String, CountRow> {
        let mut roles = BTreeMap::new();
        let mut add = |name: &str, counts| roles.entry(name.to_owned()).or_insert_with(CountRow::default).add(counts);
        for (message, mut counts) in self.transcript.messages.iter().zip(self.amounts()) {
            if message.writer() == Role::User.name() {
                let results = message.results().map(|(nth, _)| self.counting.content(&message.parts[nth].content));
                let tokens = results.sum::<usize>().min(counts.tokens);
                if tokens > 0 {
                    let live = if counts.live > 0 { tokens } else { 0 };
                    add(Role::Tool.name(), CountRow { tokens, live, ..CountRow::default() });
                    counts = CountRow { tokens: counts.tokens - tokens, live: counts.live - live, ..counts };
                }
            }
            add(message.writer(), counts);
        }
        // Tokens that the log does not contain have a separate row.
        let hidden = self.counting.hidden.min(outside);
        for (name, tokens) in [("outside", outside - hidden), ("hidden", hidden)] {
            if tokens > 0 {
                roles.insert(name.to_owned(), CountRow { tokens, live: tokens, ..CountRow::default() });
            }
        }
        roles
    }

    /// Calls with their results under the tool's name, and a result without a call under its own name if it has one.
    fn tools(&self) -> BTreeMap<String, CountRow> {
        let messages = &self.transcript.messages;
        let pairs = Pairs::from_messages(messages);
        let mut tools: BTreeMap<_, CountRow> = BTreeMap::new();
        let content = |at: PartRef| &messages[at.message].parts[at.part].content;
        for &at in pairs.calls().iter().chain(pairs.results()) {
            let name =
                pairs.tool_name(messages, at).map_or_else(|| String::from("?"), |name| name.decode().into_owned());
            let calls = usize::from(content(at).call().is_some());
            let tokens = self.counting.content(content(at));
            let live = if messages[at.message].standing.is_read() { tokens } else { 0 };
            tools.entry(name).or_default().add(CountRow { calls, tokens, live, ..CountRow::default() });
        }
        tools
    }
}

/// The tokens of unknown content, by the index of its message: of the message's unknown parts, and of unread items after it.
fn estimates(transcript: &Transcript<'_>, counting: &Counting) -> BTreeMap<usize, usize> {
    let mut estimates = BTreeMap::new();
    let items = transcript.layout.non_messages.iter();
    let mut items = items.filter_map(|item| Some((item.after, item.unread.clone()?))).peekable();
    for (at, message) in transcript.messages.iter().enumerate() {
        let unknown = message.parts.iter().map(|part| &part.content).filter(|part| matches!(part, Content::Unknown(_)));
        let mut tokens: usize = unknown.map(|part| counting.content(part)).sum();
        // A live transcript contains only some of the messages, so indexes of the source are compared.
        let source = message.source_index().unwrap_or(at);
        while items.next_if(|(after, _)| *after <= source).is_some() {}
        while let Some((_, text)) = items.next_if(|(after, _)| *after == source + 1) {
            tokens += counting.content(&Content::Unknown(text));
        }
        if tokens > 0 {
            estimates.insert(at, tokens);
        }
    }
    estimates
}

/// Rows by name, in the order in which the names appeared.
#[derive(Default)]
struct NamedRows {
    rows: Vec<(String, CountRow)>,
    /// The index of each name's row.
    names: HashMap<String, usize>,
}

impl NamedRows {
    fn row(&mut self, name: &str) -> &mut CountRow {
        let at = if let Some(&at) = self.names.get(name) {
            at
        } else {
            self.names.insert(name.to_owned(), self.rows.len());
            self.rows.push((name.to_owned(), CountRow::default()));
            self.rows.len() - 1
        };
        &mut self.rows[at].1
    }

    fn add(&mut self, rows: impl IntoIterator<Item = (String, CountRow)>) {
        rows.into_iter().for_each(|(name, counts)| self.row(&name).add(counts));
    }
}

/// The provider's counts, added up over the transcripts whose logs contain them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
struct UsageSum {
    transcripts: usize,
    /// Input tokens of the last request of each.
    provider: u64,
    /// Our calibrated count of the same requests.
    calibrated: u64,
    /// The part of [`calibrated`](Self::calibrated) that the logs do not contain.
    hidden: u64,
    /// Our count of the rest, before the calibration.
    counted: u64,
    /// The number of transcripts whose program dropped a part of the history without a record in the log.
    dropped: usize,
    /// The number of requests that an earlier file contains as well. If the last one of a transcript is, the sums do not
    /// contain it.
    shared: usize,
}

impl UsageSum {
    fn of_transcript(usage: &Figures) -> Self {
        Self {
            transcripts: 1,
            provider: usage.provider,
            calibrated: usage.predicted(),
            hidden: usage.hidden(),
            counted: usage.ours,
            dropped: usize::from(usage.dropped),
            shared: 0,
        }
    }

    fn add(&mut self, other: &Self) {
        self.transcripts += other.transcripts;
        self.provider += other.provider;
        self.calibrated += other.calibrated;
        self.hidden += other.hidden;
        self.counted += other.counted;
        self.dropped += other.dropped;
        self.shared += other.shared;
    }

    /// Adds the usage of a transcript, unless `earlier` files contain its last request.
    fn add_once(&mut self, usage: &LoggedUsage, earlier: &mut SeenRequests) {
        let shared = earlier.shared(usage.counted.iter().map(|request| &request.keys));
        self.shared += shared.iter().filter(|shared| **shared).count();
        if shared.last() != Some(&true) {
            self.add(&usage.last);
        }
    }
}

/// Sums over transcripts, which take less memory than their single counts.
#[derive(Default)]
struct CountSums {
    total: CountRow,
    usage: UsageSum,
    /// Boundaries whose text is encrypted, so that their tokens are not known.
    opaque: usize,
    /// The number of transcripts with each number of tokens: millions of small ones take no more memory than a few.
    lengths: BTreeMap<usize, usize>,
    /// Roles, tools or files.
    rows: NamedRows,
}

impl CountSums {
    fn add(&mut self, other: &mut Self) {
        self.total.add(other.total);
        self.usage.add(&other.usage);
        self.opaque += other.opaque;
        for (tokens, count) in &other.lengths {
            *self.lengths.entry(*tokens).or_default() += count;
        }
        self.rows.add(other.rows.rows.drain(..));
    }
}

/// The counts of a block.
#[derive(Default)]
struct BlockCounts {
    /// The dialect of the first transcript with messages.
    dialect: Option<&'static str>,
    sums: CountSums,
    /// Line and tokens of the longest transcript.
    longest: Option<(usize, usize)>,
    /// Transcripts or messages.
    each: Vec<PlacedRow>,
    /// What the provider counted, by transcript.
    usages: Vec<LoggedUsage>,
}

impl BlockCounts {
    /// Adds a transcript, with its rows of the kind `by`; `line_of` is the line of a byte offset.
    fn add(&mut self, by: By, counted: &CountedTranscript<'_>, mut line_of: impl FnMut(usize) -> usize) {
        let CountedTranscript { dialect, transcript, tokens, usage, .. } = counted;
        let sums = &mut self.sums;
        let mut total = CountRow { transcripts: 1, ..CountRow::default() };
        for (message, amount) in transcript.messages.iter().zip(counted.amounts()) {
            total.add(amount);
            let opaque = message.is_boundary() && message.standing.is_read() && amount.tokens == 0;
            sums.opaque += usize::from(opaque);
        }
        // What is outside the messages, and what a template adds to them. A template can also leave out what messages contain,
        // such as earlier reasoning.
        let outside = tokens.saturating_sub(total.tokens);
        total = CountRow { tokens: *tokens, live: (total.live + outside).min(*tokens), ..total };
        self.dialect = self.dialect.or((!transcript.messages.is_empty()).then_some(dialect));
        sums.total.add(total);
        self.usages.extend(usage.clone());
        *sums.lengths.entry(*tokens).or_default() += 1;
        let line = line_of(transcript.layout.span.start as usize);
        if self.longest.is_none_or(|(_, longest)| longest < *tokens) {
            self.longest = Some((line, *tokens));
        }
        match by {
            By::File => {}
            By::Transcript => self.each.push(PlacedRow { line, label: String::new(), counts: total }),
            By::Message => self.each.extend(counted.messages(line, line_of)),
            By::Role => sums.rows.add(counted.roles(outside)),
            By::Tool => sums.rows.add(counted.tools()),
        }
    }
}

/// The longest transcript.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
struct Longest {
    file: String,
    line: usize,
    tokens: usize,
}

/// The counts of all inputs.
struct Counts {
    by: By,
    /// How many rows are kept, those with the most tokens; `None` for all.
    top: Option<usize>,
    /// The number of rows that were left out, and their sum.
    left_out: (usize, CountRow),
    /// Tokens of a budget that are reserved for the reply, and not counted.
    reserve: usize,
    tokenizer: String,
    exact: bool,
    sums: CountSums,
    longest: Option<Longest>,
    /// Whether it was reported how the current file is read.
    described: bool,
    /// Whether rows are written while the input is read.
    gradual: bool,
    /// The requests of earlier files.
    earlier: SeenRequests,
}

impl Counts {
    fn new(by: By, top: Option<usize>, counting: &Counting) -> Self {
        Self {
            by,
            top,
            left_out: (0, CountRow::default()),
            reserve: counting.reserve,
            tokenizer: counting.name(),
            exact: counting.tokenizer.exact() && counting.by_usage.is_none(),
            sums: CountSums::default(),
            longest: None,
            described: false,
            gradual: false,
            earlier: SeenRequests::default(),
        }
    }

    /// Starts a file; it gets a row even if it is empty.
    fn open(&mut self, file: &str) {
        self.described = false;
        if self.by == By::File {
            self.sums.rows.row(file);
        }
    }

    /// With `--verbose`, reports once for each file how it is read.
    fn describe(&mut self, opened: &Opened, block: &BlockCounts, global: &Global) {
        if !std::mem::replace(&mut self.described, true) && global.verbose {
            report::note(&report::reading(opened, block.dialect));
        }
    }

    /// Adds the transcripts of a block of `file`.
    fn add(&mut self, file: &str, block: &mut BlockCounts) {
        if self.by == By::File {
            self.sums.rows.row(file).add(block.sums.total);
        }
        self.sums.add(&mut block.sums);
        for usage in block.usages.drain(..) {
            self.sums.usage.add_once(&usage, &mut self.earlier);
        }
        if let Some((line, tokens)) = block.longest
            && self.longest.as_ref().is_none_or(|longest| longest.tokens < tokens)
        {
            self.longest = Some(Longest { file: file.to_owned(), line, tokens });
        }
        if matches!(self.by, By::Transcript | By::Message) {
            let named = |row: PlacedRow| (format!("{file}:{}{}", row.line, row.label), row.counts);
            self.sums.rows.rows.extend(block.each.drain(..).map(named));
        }
    }

    /// Writes rows that need not wait for the others, or drops some of many.
    fn flush(&mut self) -> Result<(), FileError> {
        if !self.gradual {
            self.drop_rows();
            return Ok(());
        }
        let rows = csv_rows(self);
        self.sums.rows.rows.clear();
        console::out(&rows)
    }

    /// Drops rows once there are many, because a dataset has millions: those that cannot be among the largest, or the last.
    fn drop_rows(&mut self) {
        const MANY: usize = 4096;
        let is_many = |top: usize| self.sums.rows.rows.len() > top.saturating_mul(2).max(MANY);
        match self.top {
            Some(top) if is_many(top) => self.rank(),
            None if self.by == By::Transcript => self.leave_out(MOST_ROWS),
            _ => {}
        }
    }

    /// Leaves out the rows after the first `most`.
    fn leave_out(&mut self, most: usize) {
        let rows = &mut self.sums.rows.rows;
        for (_, amount) in rows.split_off(most.min(rows.len())) {
            self.left_out.0 += 1;
            self.left_out.1.add(amount);
        }
    }

    /// Reports rows that were left out although all were requested.
    fn note_missing_rows(&self) {
        if self.top.is_none() && self.left_out.0 > 0 {
            report::note(&format!(
                "only the first {MOST_ROWS} transcripts have a row; pass --top N for the largest, or --output-format csv for all"
            ));
        }
    }

    /// Sorts the rows by their tokens if that was requested, and leaves out those after the largest.
    fn rank(&mut self) {
        if self.top.is_some() || matches!(self.by, By::Tool | By::Message) {
            self.sums.rows.rows.sort_by_key(|(_, amount)| std::cmp::Reverse(amount.tokens));
        }
        self.leave_out(self.top.unwrap_or(usize::MAX));
    }

    /// The smallest number of tokens that `percent` of the transcripts do not exceed (nearest rank).
    fn percentile(&self, percent: usize) -> usize {
        let count: usize = self.sums.lengths.values().sum();
        let rank = (count * percent).div_ceil(100).max(1);
        let mut seen = 0;
        let reached = self.sums.lengths.iter().find(|(_, count)| {
            seen += **count;
            seen >= rank
        });
        reached.map_or(0, |(tokens, _)| *tokens)
    }

    /// The rows, in the order of the input or by name.
    fn rows(&self) -> &[(String, CountRow)] {
        &self.sums.rows.rows
    }
}

// Counts as a table, as JSON, or as comma-separated values.

const PERCENTILES: [usize; 3] = [50, 90, 99];

/// A column of numbers.
#[derive(Clone, Copy)]
struct CountColumn {
    title: &'static str,
    value: fn(&CountRow) -> usize,
}

/// The columns of the table: live tokens only if they differ, and no estimated ones, which have a mark instead.
fn table_columns(counts: &Counts) -> Vec<CountColumn> {
    let differ = counts.sums.total.live != counts.sums.total.tokens;
    let columns = columns(counts.by).iter().copied();
    columns.filter(|column| column.title != ESTIMATED && (column.title != LIVE || differ)).collect()
}

/// The title of the tokens of content of unknown type, which are estimated.
const ESTIMATED: &str = "estimated";

/// The mark of numbers of tokens that are partly estimated.
const ESTIMATE: &str = "~";

/// The title of all tokens.
const TOKENS: &str = "tokens";

/// The title of the tokens that the model still reads.
const LIVE: &str = "live";

/// All columns. The first ones apply only to rows of whole files or transcripts.
const COLUMNS: [CountColumn; 7] = [
    CountColumn { title: "transcripts", value: |row| row.transcripts },
    CountColumn { title: "turns", value: |row| row.turns },
    CountColumn { title: "messages", value: |row| row.messages },
    CountColumn { title: "calls", value: |row| row.calls },
    CountColumn { title: TOKENS, value: |row| row.tokens },
    CountColumn { title: ESTIMATED, value: |row| row.estimated },
    CountColumn { title: LIVE, value: |row| row.live },
];

/// The columns that apply to rows of this kind.
fn columns(by: By) -> &'static [CountColumn] {
    let first = match by {
        By::File => 0,
        By::Transcript => 1,
        By::Role => 2,
        By::Message | By::Tool => 3,
    };
    &COLUMNS[first..]
}

const fn title(by: By) -> &'static str {
    match by {
        By::File => "file",
        By::Transcript => "transcript",
        By::Message => "message",
        By::Role => "role",
        By::Tool => "tool",
    }
}

/// The title of the share of all tokens, a column of rows that are parts of a transcript.
const SHARE: &str = "share";

/// The share of `tokens` in all tokens, in thousandths, if rows of this kind have one.
fn share(counts: &Counts, tokens: usize) -> Option<usize> {
    let total = counts.sums.total.tokens;
    let has_share = matches!(counts.by, By::Message | By::Role | By::Tool);
    has_share.then(|| (tokens * 1000 + total / 2).checked_div(total).unwrap_or_default())
}

/// The titles of all columns but the first.
fn titles(counts: &Counts, columns: &[CountColumn]) -> Vec<&'static str> {
    let share = share(counts, 0).map(|_| SHARE);
    columns.iter().map(|column| column.title).chain(share).collect()
}

fn table(counts: &Counts) -> String {
    let columns = table_columns(counts);
    let row = |name: &str, amount: &CountRow| {
        let mark = |title: &str| {
            let estimated = amount.estimated > 0 && (title == TOKENS || title == LIVE);
            if estimated { ESTIMATE } else { "" }
        };
        let cells = columns.iter().map(|column| format!("{}{}", mark(column.title), (column.value)(amount)));
        let share = share(counts, amount.tokens).map(|share| format!("{}.{} %", share / 10, share % 10));
        std::iter::once(one_line(name).into_owned()).chain(cells).chain(share).collect::<Vec<_>>()
    };
    let mut rows: Vec<Vec<String>> = counts.rows().iter().map(|(name, amount)| row(name, amount)).collect();
    let (left_out, sum) = &counts.left_out;
    if *left_out > 0 {
        rows.push(row(&format!("{left_out} more"), sum));
    }
    // Tools account for only part of the tokens: a total below them would not be their sum.
    if counts.rows().len() + left_out != 1 && counts.by != By::Tool {
        rows.push(row("total", &counts.sums.total));
    }
    let header = std::iter::once(title(counts.by)).chain(titles(counts, &columns));
    format!("{}\n{}\n", trimmed(&table::table(header, rows, Columns::Numbers)).join("\n"), footer(counts))
}

fn footer(counts: &Counts) -> String {
    let about = if counts.exact { "" } else { ", an estimate" };
    let reserved = match counts.reserve {
        0 => String::new(),
        reserve => format!("; {reserve} tokens reserved for the reply are not included"),
    };
    let counted = format!(
        "counted with {}{about}{}{reserved}",
        counts.tokenizer,
        opaque(counts.sums.opaque) + &estimated(counts)
    ) + &usage(counts);
    let Some(longest) = counts.longest.as_ref().filter(|_| counts.sums.total.transcripts > 1) else { return counted };
    let [p50, p90, p99] = PERCENTILES.map(|percent| counts.percentile(percent));
    format!(
        "tokens per transcript: p50 {p50}, p90 {p90}, p99 {p99}, max {} ({}:{})\n{counted}",
        longest.tokens,
        one_line(&longest.file),
        longest.line
    )
}

/// The provider's count and our calibrated count, on a line of its own.
fn usage(counts: &Counts) -> String {
    let usage = counts.sums.usage;
    let last = match usage.transcripts {
        0 => return shared(usage.shared),
        1 => String::from("the last request"),
        more => format!("the last requests of {more} transcripts"),
    };
    format!(
        "\nthe provider counted {} tokens in {last}; --tokenizer usage counts {}: {} that the log does not contain, and {} for \
         {} by {}",
        usage.provider,
        usage.calibrated,
        usage.hidden,
        usage.calibrated - usage.hidden.min(usage.calibrated),
        usage.counted,
        counts.tokenizer.strip_prefix("usage:").unwrap_or(&counts.tokenizer)
    ) + &dropped(usage.dropped)
        + &shared(usage.shared)
}

/// How many requests were left out, on a line of its own.
fn shared(requests: usize) -> String {
    match requests {
        0 => String::new(),
        _ => format!("\nshared: {} repeated from earlier files, which count once", number_of(requests, "request")),
    }
}

/// Why the two counts of the last request differ, on a line of its own.
fn dropped(transcripts: usize) -> String {
    if transcripts == 0 {
        return String::new();
    }
    format!(
        "\nshorter than logged: {}, in which the provider counted less from some request on, although the log records no cut; \
         our count contains what was left out",
        number_of(transcripts, "transcript")
    )
}

fn estimated(counts: &Counts) -> String {
    match counts.sums.total.estimated {
        0 => String::new(),
        tokens => format!("; {ESTIMATE}{tokens} of the tokens are an estimate: their text has an unknown type"),
    }
}

fn opaque(boundaries: usize) -> String {
    match boundaries {
        0 => String::new(),
        _ => format!("; without {}, whose tokens are unknown", number_of(boundaries, "encrypted compaction")),
    }
}

fn json(counts: &Counts) -> serde_json::Value {
    let amount = |amount: &CountRow| {
        let cells = columns(counts.by).iter().map(|column| (column.title.to_owned(), (column.value)(amount).into()));
        cells.collect::<serde_json::Map<String, serde_json::Value>>()
    };
    let rows = counts.rows().iter().map(|(name, counted)| {
        let mut row = serde_json::Map::from_iter([(title(counts.by).to_owned(), name.as_str().into())]);
        row.extend(amount(counted));
        row.extend(share(counts, counted.tokens).map(|share| (SHARE.to_owned(), fraction(share).into())));
        serde_json::Value::Object(row)
    });
    let percentiles = PERCENTILES.map(|percent| (format!("p{percent}"), counts.percentile(percent).into()));
    let usage = Some(counts.sums.usage).filter(|usage| usage.transcripts + usage.shared > 0);
    let (left_out, sum) = &counts.left_out;
    serde_json::json!({
        "tokenizer": counts.tokenizer,
        "exact": counts.exact,
        "transcripts": counts.sums.total.transcripts,
        "turns": counts.sums.total.turns,
        "messages": counts.sums.total.messages,
        "calls": counts.sums.total.calls,
        "tokens": counts.sums.total.tokens,
        "estimated": counts.sums.total.estimated,
        "live": counts.sums.total.live,
        "reserve": counts.reserve,
        "unknown_compactions": counts.sums.opaque,
        "usage": usage,
        "percentiles": serde_json::Map::from_iter(percentiles),
        "longest": counts.longest,
        "by": title(counts.by),
        "rows": rows.collect::<Vec<_>>(),
        "more": {"rows": left_out, "tokens": sum.tokens},
    })
}

/// The header of comma-separated values. Programs read them, so the columns depend only on the kind of row.
fn csv_header(counts: &Counts) -> String {
    let header = std::iter::once(title(counts.by)).chain(titles(counts, columns(counts.by)));
    header.collect::<Vec<_>>().join(",") + "\n"
}

fn csv_rows(counts: &Counts) -> String {
    let columns = columns(counts.by);
    let mut text = String::new();
    for (name, amount) in counts.rows() {
        let cells = columns.iter().map(|column| (column.value)(amount).to_string());
        let share = share(counts, amount.tokens).map(|share| format!("{:.3}", fraction(share)));
        text.push_str(&std::iter::once(csv_field(name)).chain(cells).chain(share).collect::<Vec<_>>().join(","));
        text.push('\n');
    }
    text
}

#[expect(clippy::cast_precision_loss, reason = "a share is at most 1000 thousandths")]
fn fraction(thousandths: usize) -> f64 {
    thousandths as f64 / 1000.0
}
