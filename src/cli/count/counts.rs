//! Sums over transcripts, by file, transcript, role or tool.

use std::collections::{BTreeMap, HashMap};

use super::By;
use crate::batch::Opened;
use crate::cli::input::Global;
use crate::cli::report;
use curtail_core::processors::{Counting, View};
use curtail_core::transcript::{Content, Message, Pairs, PartRef, Role, Subject, Transcript, main_thread};
use curtail_lab::calibration::Figures;
use curtail_tokens::templates::TemplateError;

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

/// The counts of one transcript.
pub(super) struct Sum {
    line: usize,
    pub(super) dialect: Option<&'static str>,
    total: CountRow,
    /// Boundaries whose text is encrypted.
    opaque: usize,
    /// Tokens of [`total`](Self::total) outside the messages.
    added: usize,
    /// The roles or tools, if each has a row.
    named: BTreeMap<String, CountRow>,
    /// The messages, if each has a row.
    messages: Vec<PlacedRow>,
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

impl Sum {
    /// Counts a transcript that begins on `line`; its messages have `each` tokens.
    pub(super) fn from_transcript(
        transcript: &Transcript<'_>,
        line: usize,
        counting: &Counting,
        each: &[usize],
    ) -> Result<Self, TemplateError> {
        let messages = &transcript.messages;
        let view = View::new(messages, &transcript.layout.preamble, transcript.layout.pairing_rules);
        let mut sum = Self {
            line,
            dialect: None,
            total: CountRow::default(),
            opaque: 0,
            added: 0,
            named: BTreeMap::new(),
            messages: Vec::new(),
            usage: None,
        };
        let (estimates, main) = (estimates(transcript, counting), main_thread(&transcript.messages));
        for (at, (message, &tokens)) in messages.iter().zip(each).enumerate() {
            let amount = message_counts(message, main, tokens, estimates.get(&at));
            sum.total.add(amount);
            let opaque = message.is_boundary() && message.standing.is_read() && amount.tokens == 0;
            sum.opaque += usize::from(opaque);
        }
        let total = match counting.template {
            Some(_) => counting.total(&view)?,
            None => counting.outside(&view) + each.iter().sum::<usize>(),
        };
        // What is outside the messages, and what a template adds to them.
        sum.added = total.saturating_sub(sum.total.tokens);
        sum.total.live += sum.added;
        // A template can also leave out what messages contain, such as earlier reasoning.
        sum.total.live = sum.total.live.min(total);
        sum.total.tokens = total;
        sum.total.transcripts = 1;
        Ok(sum)
    }

    /// Adds the requested rows; `line_of` is the line of a byte offset.
    pub(super) fn with_rows(
        mut self,
        by: By,
        transcript: &Transcript<'_>,
        counting: &Counting,
        each: &[usize],
        line_of: impl FnMut(usize) -> usize,
    ) -> Self {
        match by {
            By::File | By::Transcript => {}
            By::Message => self.messages(transcript, counting, each, line_of),
            By::Role => self.roles(transcript, counting, each),
            By::Tool => self.tools(transcript, counting),
        }
        self
    }

    /// Gives each message a row.
    fn messages(
        &mut self,
        transcript: &Transcript<'_>,
        counting: &Counting,
        each: &[usize],
        mut line_of: impl FnMut(usize) -> usize,
    ) {
        let (estimates, main) = (estimates(transcript, counting), main_thread(&transcript.messages));
        let pairs = Pairs::from_messages(&transcript.messages);
        let rows = transcript.messages.iter().zip(each).enumerate().map(|(at, (message, &tokens))| {
            let line = message.value().map_or(self.line, |value| line_of(value.span().start as usize));
            let subject = Subject::of_message(&transcript.messages, &pairs, at);
            let counts = message_counts(message, main, tokens, estimates.get(&at));
            PlacedRow { line, label: format!(" message {at} ({subject})"), counts }
        });
        self.messages = rows.collect();
    }

    /// Adds the messages under the names of their writers. Tool results in a user's message count as a tool's.
    fn roles(&mut self, transcript: &Transcript<'_>, counting: &Counting, each: &[usize]) {
        let (estimates, main) = (estimates(transcript, counting), main_thread(&transcript.messages));
        for (at, (message, &tokens)) in transcript.messages.iter().zip(each).enumerate() {
            let mut counts = message_counts(message, main, tokens, estimates.get(&at));
            if message.writer() == Role::User.name() {
                let results = message.results().map(|(nth, _)| counting.content(&message.parts[nth].content));
                let tokens = results.sum::<usize>().min(counts.tokens);
                if tokens > 0 {
                    let live = if counts.live > 0 { tokens } else { 0 };
                    self.named(Role::Tool.name()).add(CountRow { tokens, live, ..CountRow::default() });
                    counts = CountRow { tokens: counts.tokens - tokens, live: counts.live - live, ..counts };
                }
            }
            self.named(message.writer()).add(counts);
        }
        // Tokens that the log does not contain have a separate row.
        let hidden = counting.hidden.min(self.added);
        for (name, tokens) in [("outside", self.added - hidden), ("hidden", hidden)] {
            if tokens > 0 {
                self.named.insert(name.to_owned(), CountRow { tokens, live: tokens, ..CountRow::default() });
            }
        }
    }

    fn named(&mut self, name: &str) -> &mut CountRow {
        self.named.entry(name.to_owned()).or_default()
    }

    /// Adds calls with their results under the tool's name, and a result without a call under its own name if it has one.
    fn tools(&mut self, transcript: &Transcript<'_>, counting: &Counting) {
        let pairs = Pairs::from_messages(&transcript.messages);
        let content = |at: PartRef| &transcript.messages[at.message].parts[at.part].content;
        for &at in pairs.calls().iter().chain(pairs.results()) {
            let call = content(at).call().or_else(|| pairs.counterpart(at).and_then(|other| content(other).call()));
            let result_name = content(at).result().and_then(|result| result.name.as_ref());
            let name = call
                .map(|call| &call.name)
                .or(result_name)
                .map_or_else(|| String::from("?"), |name| name.decode().into_owned());
            let calls = usize::from(content(at).call().is_some());
            let tokens = counting.content(content(at));
            let live = if transcript.messages[at.message].standing.is_read() { tokens } else { 0 };
            let amount = CountRow { calls, tokens, live, ..CountRow::default() };
            self.named(&name).add(amount);
        }
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

fn message_counts(message: &Message<'_>, main: u32, tokens: usize, estimated: Option<&usize>) -> CountRow {
    CountRow {
        transcripts: 0,
        turns: usize::from(message.thread == main && message.begins_turn()),
        messages: 1,
        calls: message.calls().count(),
        tokens,
        estimated: estimated.map_or(0, |&estimated| estimated.min(tokens)),
        live: if message.standing.is_read() { tokens } else { 0 },
    }
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
}

/// The counts of a block, added up: they take less memory than one [`Sum`] per transcript.
#[derive(Default)]
pub(super) struct BlockCounts {
    /// The dialect of the first transcript with messages.
    dialect: Option<&'static str>,
    total: CountRow,
    opaque: usize,
    usage: UsageSum,
    /// The number of transcripts with each number of tokens.
    lengths: BTreeMap<usize, usize>,
    /// Line and tokens of the longest transcript.
    longest: Option<(usize, usize)>,
    /// Roles or tools.
    rows: NamedRows,
    /// Transcripts or messages.
    each: Vec<PlacedRow>,
}

impl BlockCounts {
    /// Adds a transcript, with its rows of the kind `by`.
    pub(super) fn add(&mut self, by: By, sum: Sum) {
        let Sum { line, dialect, total, opaque, named, messages, usage, .. } = sum;
        self.dialect = self.dialect.or(dialect);
        self.total.add(total);
        self.opaque += opaque;
        usage.iter().for_each(|usage| self.usage.add(usage));
        *self.lengths.entry(total.tokens).or_default() += 1;
        if self.longest.is_none_or(|(_, longest)| longest < total.tokens) {
            self.longest = Some((line, total.tokens));
        }
        match by {
            By::File => {}
            By::Transcript => self.each.push(PlacedRow { line, label: String::new(), counts: total }),
            By::Message => self.each.extend(messages),
            By::Role | By::Tool => named.into_iter().for_each(|(name, amount)| self.rows.row(&name).add(amount)),
        }
    }
}

/// The provider's counts, added up over the transcripts whose logs contain them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct UsageSum {
    pub(super) transcripts: usize,
    /// Input tokens of the last request of each.
    pub(super) provider: u64,
    /// Our calibrated count of the same requests.
    pub(super) predicted: u64,
    /// The part of [`predicted`](Self::predicted) that the logs do not contain.
    pub(super) hidden: u64,
    /// Our count of the rest, before the calibration.
    pub(super) ours: u64,
    /// The number of transcripts whose program dropped a part of the history without a record in the log.
    pub(super) dropped: usize,
}

impl UsageSum {
    fn add(&mut self, usage: &Figures) {
        self.transcripts += 1;
        self.provider += usage.provider;
        self.predicted += usage.predicted();
        self.hidden += usage.hidden();
        self.ours += usage.ours;
        self.dropped += usize::from(usage.dropped);
    }

    fn merge(&mut self, other: &Self) {
        self.transcripts += other.transcripts;
        self.provider += other.provider;
        self.predicted += other.predicted;
        self.hidden += other.hidden;
        self.ours += other.ours;
        self.dropped += other.dropped;
    }
}

/// The longest transcript.
#[derive(Debug, Clone, PartialEq, Eq)]
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
    pub(super) total: CountRow,
    pub(super) usage: UsageSum,
    /// Boundaries whose text is encrypted, so that their tokens are not known.
    pub(super) opaque: usize,
    rows: NamedRows,
    pub(super) longest: Option<Longest>,
    /// The number of transcripts with each number of tokens: millions of small ones take no more memory than a few.
    lengths: BTreeMap<usize, usize>,
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
            total: CountRow::default(),
            usage: UsageSum::default(),
            opaque: 0,
            rows: NamedRows::default(),
            longest: None,
            lengths: BTreeMap::new(),
            described: false,
        }
    }

    /// Starts a file; it gets a row even if it is empty.
    pub(super) fn open(&mut self, file: &str) {
        self.described = false;
        if self.by == By::File {
            self.rows.row(file);
        }
    }

    /// With `--verbose`, reports once for each file how it is read.
    pub(super) fn describe(&mut self, opened: &Opened, sums: &BlockCounts, global: &Global) {
        if !std::mem::replace(&mut self.described, true) && global.verbose {
            report::note(&report::reading(opened, sums.dialect));
        }
    }

    /// Adds the transcripts of a block of `file`.
    pub(super) fn add(&mut self, file: &str, sums: &mut BlockCounts) {
        self.usage.merge(&sums.usage);
        self.total.add(sums.total);
        self.opaque += sums.opaque;
        for (tokens, count) in &sums.lengths {
            *self.lengths.entry(*tokens).or_default() += count;
        }
        if let Some((line, tokens)) = sums.longest
            && self.longest.as_ref().is_none_or(|longest| longest.tokens < tokens)
        {
            self.longest = Some(Longest { file: file.to_owned(), line, tokens });
        }
        match self.by {
            By::File => self.rows.row(file).add(sums.total),
            By::Transcript | By::Message => {
                let named = |row: PlacedRow| (format!("{file}:{}{}", row.line, row.label), row.counts);
                self.rows.rows.extend(sums.each.drain(..).map(named));
                self.drop_small_rows();
            }
            By::Role | By::Tool => {
                for (name, amount) in sums.rows.rows.drain(..) {
                    self.rows.row(&name).add(amount);
                }
            }
        }
    }

    /// Drops rows that cannot be among the largest, once there are many: a dataset has millions of messages.
    fn drop_small_rows(&mut self) {
        const MANY: usize = 4096;
        if self.top.is_some_and(|top| self.rows.rows.len() > top.saturating_mul(2).max(MANY)) {
            self.rank();
        }
    }

    /// Sorts the rows by their tokens if that was requested, and leaves out those after the largest.
    pub(super) fn rank(&mut self) {
        if self.top.is_some() || matches!(self.by, By::Tool | By::Message) {
            self.rows.rows.sort_by_key(|(_, amount)| std::cmp::Reverse(amount.tokens));
        }
        let rows = &mut self.rows.rows;
        for (_, amount) in rows.split_off(self.top.unwrap_or(usize::MAX).min(rows.len())) {
            self.left_out.0 += 1;
            self.left_out.1.add(amount);
        }
    }

    /// The smallest number of tokens that `percent` of the transcripts do not exceed (nearest rank).
    pub(super) fn percentile(&self, percent: usize) -> usize {
        let count: usize = self.lengths.values().sum();
        let rank = (count * percent).div_ceil(100).max(1);
        let mut seen = 0;
        let reached = self.lengths.iter().find(|(_, count)| {
            seen += **count;
            seen >= rank
        });
        reached.map_or(0, |(tokens, _)| *tokens)
    }

    /// The rows, in the order of the input or by name.
    pub(super) fn rows(&self) -> &[(String, CountRow)] {
        &self.rows.rows
    }
}
