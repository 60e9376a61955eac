//! Sums over transcripts, by file, transcript, role or tool.

use std::collections::{BTreeMap, HashMap};

use serde::Serialize;

use super::By;
use crate::batch::Opened;
use crate::cli::input::Global;
use crate::cli::report;
use curtail_core::processors::Counting;
use curtail_core::transcript::{Content, Pairs, PartRef, Role, Subject, Transcript, main_thread};
use curtail_lab::calibration::Figures;

/// Numbers of transcripts, messages, calls and tokens.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct CountRow {
    pub(super) transcripts: usize,
    /// Turns of a person, each from a user message with text to the next.
    pub(super) turns: usize,
    pub(super) messages: usize,
    pub(super) calls: usize,
    pub(super) tokens: usize,
    /// Tokens among these that are estimated, because their content has an unknown type.
    pub(super) estimated: usize,
    /// Tokens of the messages that the model still reads.
    pub(super) live: usize,
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
pub(super) struct CountedTranscript<'t> {
    pub(super) dialect: &'static str,
    pub(super) transcript: Transcript<'t>,
    pub(super) counting: Counting,
    /// The tokens of each message.
    pub(super) each: Vec<usize>,
    /// The tokens of the transcript, with what is outside its messages.
    pub(super) tokens: usize,
    /// The provider's count, if the log contains it.
    pub(super) usage: Option<Figures>,
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
    fn amounts(&self) -> Vec<CountRow> {
        let messages = &self.transcript.messages;
        let (estimates, main) = (estimates(&self.transcript, &self.counting), main_thread(messages));
        let amounts = messages.iter().zip(&self.each).enumerate().map(|(at, (message, &tokens))| CountRow {
            transcripts: 0,
            turns: usize::from(message.thread == main && message.begins_turn()),
            messages: 1,
            calls: message.calls().count(),
            tokens,
            estimated: estimates.get(&at).map_or(0, |&estimated| estimated.min(tokens)),
            live: if message.standing.is_read() { tokens } else { 0 },
        });
        amounts.collect()
    }

    /// A row for each message; `line_of` is the line of a byte offset, `line` that of the transcript.
    fn messages(&self, amounts: &[CountRow], line: usize, mut line_of: impl FnMut(usize) -> usize) -> Vec<PlacedRow> {
        let messages = &self.transcript.messages;
        let pairs = Pairs::from_messages(messages);
        let rows = messages.iter().zip(amounts).enumerate().map(|(at, (message, &counts))| {
            let line = message.value().map_or(line, |value| line_of(value.span().start as usize));
            let subject = Subject::of_message(messages, &pairs, at);
            PlacedRow { line, label: format!(" message {at} ({subject})"), counts }
        });
        rows.collect()
    }

    /// The messages under the names of their writers, and `outside`, the tokens outside them. Tool results in a user's message
    /// count as a tool's.
    fn roles(&self, amounts: &[CountRow], outside: usize) -> BTreeMap<String, CountRow> {
        let mut roles = BTreeMap::new();
        let mut add = |name: &str, counts| roles.entry(name.to_owned()).or_insert_with(CountRow::default).add(counts);
        for (message, &(mut counts)) in self.transcript.messages.iter().zip(amounts) {
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
            let call = content(at).call().or_else(|| pairs.counterpart(at).and_then(|other| content(other).call()));
            let result_name = content(at).result().and_then(|result| result.name.as_ref());
            let name = call.map(|call| &call.name).or(result_name);
            let name = name.map_or_else(|| String::from("?"), |name| name.decode().into_owned());
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
pub(super) struct UsageSum {
    pub(super) transcripts: usize,
    /// Input tokens of the last request of each.
    pub(super) provider: u64,
    /// Our calibrated count of the same requests.
    pub(super) calibrated: u64,
    /// The part of [`calibrated`](Self::calibrated) that the logs do not contain.
    pub(super) hidden: u64,
    /// Our count of the rest, before the calibration.
    pub(super) counted: u64,
    /// The number of transcripts whose program dropped a part of the history without a record in the log.
    pub(super) dropped: usize,
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
        }
    }

    fn add(&mut self, other: &Self) {
        self.transcripts += other.transcripts;
        self.provider += other.provider;
        self.calibrated += other.calibrated;
        self.hidden += other.hidden;
        self.counted += other.counted;
        self.dropped += other.dropped;
    }
}

/// Sums over transcripts, which take less memory than their single counts.
#[derive(Default)]
pub(super) struct CountSums {
    pub(super) total: CountRow,
    pub(super) usage: UsageSum,
    /// Boundaries whose text is encrypted, so that their tokens are not known.
    pub(super) opaque: usize,
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
pub(super) struct BlockCounts {
    /// The dialect of the first transcript with messages.
    dialect: Option<&'static str>,
    sums: CountSums,
    /// Line and tokens of the longest transcript.
    longest: Option<(usize, usize)>,
    /// Transcripts or messages.
    each: Vec<PlacedRow>,
}

impl BlockCounts {
    /// Adds a transcript, with its rows of the kind `by`; `line_of` is the line of a byte offset.
    pub(super) fn add(&mut self, by: By, counted: &CountedTranscript<'_>, mut line_of: impl FnMut(usize) -> usize) {
        let CountedTranscript { dialect, transcript, tokens, usage, .. } = counted;
        let (amounts, sums) = (counted.amounts(), &mut self.sums);
        let mut total = CountRow { transcripts: 1, ..CountRow::default() };
        for (message, amount) in transcript.messages.iter().zip(&amounts) {
            total.add(*amount);
            let opaque = message.is_boundary() && message.standing.is_read() && amount.tokens == 0;
            sums.opaque += usize::from(opaque);
        }
        // What is outside the messages, and what a template adds to them. A template can also leave out what messages contain,
        // such as earlier reasoning.
        let outside = tokens.saturating_sub(total.tokens);
        total = CountRow { tokens: *tokens, live: (total.live + outside).min(*tokens), ..total };
        self.dialect = self.dialect.or((!transcript.messages.is_empty()).then_some(dialect));
        sums.total.add(total);
        usage.iter().for_each(|usage| sums.usage.add(&UsageSum::of_transcript(usage)));
        *sums.lengths.entry(*tokens).or_default() += 1;
        let line = line_of(transcript.layout.span.start as usize);
        if self.longest.is_none_or(|(_, longest)| longest < *tokens) {
            self.longest = Some((line, *tokens));
        }
        match by {
            By::File => {}
            By::Transcript => self.each.push(PlacedRow { line, label: String::new(), counts: total }),
            By::Message => self.each.extend(counted.messages(&amounts, line, line_of)),
            By::Role => sums.rows.add(counted.roles(&amounts, outside)),
            By::Tool => sums.rows.add(counted.tools()),
        }
    }
}

/// The longest transcript.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct Longest {
    pub(super) file: String,
    pub(super) line: usize,
    pub(super) tokens: usize,
}

/// The counts of all inputs.
pub(super) struct Counts {
    pub(super) by: By,
    /// How many rows are kept, those with the most tokens; `None` for all.
    pub(super) top: Option<usize>,
    /// The number of rows that were left out, and their sum.
    pub(super) left_out: (usize, CountRow),
    /// Tokens of a budget that are reserved for the reply, and not counted.
    pub(super) reserve: usize,
    pub(super) tokenizer: String,
    pub(super) exact: bool,
    pub(super) sums: CountSums,
    pub(super) longest: Option<Longest>,
    /// Whether it was reported how the current file is read.
    described: bool,
}

impl Counts {
    pub(super) fn new(by: By, top: Option<usize>, counting: &Counting) -> Self {
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
        }
    }

    /// Starts a file; it gets a row even if it is empty.
    pub(super) fn open(&mut self, file: &str) {
        self.described = false;
        if self.by == By::File {
            self.sums.rows.row(file);
        }
    }

    /// With `--verbose`, reports once for each file how it is read.
    pub(super) fn describe(&mut self, opened: &Opened, block: &BlockCounts, global: &Global) {
        if !std::mem::replace(&mut self.described, true) && global.verbose {
            report::note(&report::reading(opened, block.dialect));
        }
    }

    /// Adds the transcripts of a block of `file`.
    pub(super) fn add(&mut self, file: &str, block: &mut BlockCounts) {
        if self.by == By::File {
            self.sums.rows.row(file).add(block.sums.total);
        }
        self.sums.add(&mut block.sums);
        if let Some((line, tokens)) = block.longest
            && self.longest.as_ref().is_none_or(|longest| longest.tokens < tokens)
        {
            self.longest = Some(Longest { file: file.to_owned(), line, tokens });
        }
        if matches!(self.by, By::Transcript | By::Message) {
            let named = |row: PlacedRow| (format!("{file}:{}{}", row.line, row.label), row.counts);
            self.sums.rows.rows.extend(block.each.drain(..).map(named));
            self.drop_small_rows();
        }
    }

    /// Drops rows that cannot be among the largest, once there are many: a dataset has millions of messages.
    fn drop_small_rows(&mut self) {
        const MANY: usize = 4096;
        if self.top.is_some_and(|top| self.sums.rows.rows.len() > top.saturating_mul(2).max(MANY)) {
            self.rank();
        }
    }

    /// Sorts the rows by their tokens if that was requested, and leaves out those after the largest.
    pub(super) fn rank(&mut self) {
        if self.top.is_some() || matches!(self.by, By::Tool | By::Message) {
            self.sums.rows.rows.sort_by_key(|(_, amount)| std::cmp::Reverse(amount.tokens));
        }
        let rows = &mut self.sums.rows.rows;
        for (_, amount) in rows.split_off(self.top.unwrap_or(usize::MAX).min(rows.len())) {
            self.left_out.0 += 1;
            self.left_out.1.add(amount);
        }
    }

    /// The smallest number of tokens that `percent` of the transcripts do not exceed (nearest rank).
    pub(super) fn percentile(&self, percent: usize) -> usize {
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
    pub(super) fn rows(&self) -> &[(String, CountRow)] {
        &self.sums.rows.rows
    }
}
