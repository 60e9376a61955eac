//! Sums of tokens, messages and calls over transcripts, by file, transcript, role or tool, in bounded memory.

use std::collections::{BTreeMap, HashMap};

use clap::ValueEnum;
use serde::Serialize;

use crate::console;
use crate::options::global::Global;
use crate::reports::remarks;
use curtail_core::processors::Counting;
use curtail_io::batch::Opened;
use curtail_lab::figures::Figures;
use curtail_lab::{CountedRequest, SeenRequests};

/// The unit of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum By {
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

/// The most rows of transcripts in a table or in JSON, which are written at the end. Rows of CSV are written at once.
const MOST_ROWS: usize = 100_000;

/// Numbers of transcripts, messages, calls and tokens.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct CountRow {
    pub(crate) transcripts: usize,
    /// Turns of a person, each from a user message with text to the next.
    pub(crate) turns: usize,
    pub(crate) messages: usize,
    pub(crate) calls: usize,
    pub(crate) tokens: usize,
    /// Tokens among these that are estimated, because their content has an unknown type.
    pub(crate) estimated: usize,
    /// Tokens of the messages that the model still reads.
    pub(crate) live: usize,
}

impl CountRow {
    pub(crate) fn add(&mut self, other: Self) {
        self.transcripts += other.transcripts;
        self.turns += other.turns;
        self.messages += other.messages;
        self.calls += other.calls;
        self.tokens += other.tokens;
        self.estimated += other.estimated;
        self.live += other.live;
    }
}

/// What the provider counted in a transcript.
#[derive(Debug, Clone)]
pub(crate) struct LoggedUsage {
    /// Of the last request.
    pub(crate) last: UsageSum,
    /// All requests that it counted, to find those that other files repeat.
    pub(crate) counted: Vec<CountedRequest>,
}

/// The row of a transcript or a message.
pub(crate) struct PlacedRow {
    pub(crate) line: usize,
    /// What follows the line in the name of the row.
    pub(crate) label: String,
    pub(crate) counts: CountRow,
}

/// Rows by name, in the order in which the names appeared.
#[derive(Default)]
pub(crate) struct NamedRows {
    pub(crate) rows: Vec<(String, CountRow)>,
    /// The index of each name's row.
    pub(crate) names: HashMap<String, usize>,
}

impl NamedRows {
    pub(crate) fn row(&mut self, name: &str) -> &mut CountRow {
        let at = if let Some(&at) = self.names.get(name) {
            at
        } else {
            self.names.insert(name.to_owned(), self.rows.len());
            self.rows.push((name.to_owned(), CountRow::default()));
            self.rows.len() - 1
        };
        &mut self.rows[at].1
    }

    pub(crate) fn add(&mut self, rows: impl IntoIterator<Item = (String, CountRow)>) {
        rows.into_iter().for_each(|(name, counts)| self.row(&name).add(counts));
    }
}

/// The provider's counts, added up over the transcripts whose logs contain them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub(crate) struct UsageSum {
    pub(crate) transcripts: usize,
    /// Input tokens of the last request of each.
    pub(crate) provider: u64,
    /// Our calibrated count of the same requests.
    pub(crate) calibrated: u64,
    /// The part of [`calibrated`](Self::calibrated) that the logs do not contain.
    pub(crate) hidden: u64,
    /// Our count of the rest, before the calibration.
    pub(crate) counted: u64,
    /// The number of transcripts whose program dropped a part of the history without a record in the log.
    pub(crate) dropped: usize,
    /// The number of requests that an earlier file contains as well. If the last one of a transcript is, the sums do not
    /// contain it.
    pub(crate) shared: usize,
}

impl UsageSum {
    pub(crate) fn of_transcript(usage: &Figures) -> Self {
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

    pub(crate) fn add(&mut self, other: &Self) {
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
pub(crate) struct CountSums {
    pub(crate) total: CountRow,
    pub(crate) usage: UsageSum,
    /// Boundaries whose text is encrypted, so that their tokens are not known.
    pub(crate) opaque: usize,
    /// The number of transcripts with each number of tokens: millions of small ones take no more memory than a few.
    pub(crate) lengths: BTreeMap<usize, usize>,
    /// Roles, tools or files.
    pub(crate) rows: NamedRows,
}

impl CountSums {
    pub(crate) fn add(&mut self, other: &mut Self) {
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
pub(crate) struct BlockCounts {
    /// The dialect of the first transcript with messages.
    pub(crate) dialect: Option<&'static str>,
    /// The member by which it was detected, with `--verbose`.
    pub(crate) mark: Option<String>,
    pub(crate) sums: CountSums,
    /// Line and tokens of the longest transcript.
    pub(crate) longest: Option<(usize, usize)>,
    /// Transcripts or messages.
    pub(crate) each: Vec<PlacedRow>,
    /// What the provider counted, by transcript.
    pub(crate) usages: Vec<LoggedUsage>,
}

/// The longest transcript.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Longest {
    pub(crate) file: String,
    pub(crate) line: usize,
    pub(crate) tokens: usize,
}

/// The counts of all inputs.
pub(crate) struct Counts {
    pub(crate) by: By,
    /// How many rows are kept, those with the most tokens; `None` for all.
    pub(crate) top: Option<usize>,
    /// The number of rows that were left out, and their sum.
    pub(crate) left_out: (usize, CountRow),
    /// Tokens of a budget that are reserved for the reply, and not counted.
    pub(crate) reserve: usize,
    pub(crate) tokenizer: String,
    pub(crate) exact: bool,
    pub(crate) sums: CountSums,
    pub(crate) longest: Option<Longest>,
    /// Whether it was reported how the current file is read.
    pub(crate) described: bool,
    /// Whether rows are written while the input is read.
    pub(crate) gradual: bool,
    /// The requests of earlier files.
    pub(crate) earlier: SeenRequests,
}

impl Counts {
    pub(crate) fn new(by: By, top: Option<usize>, counting: &Counting) -> Self {
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
    pub(crate) fn open(&mut self, file: &str) {
        self.described = false;
        if self.by == By::File {
            self.sums.rows.row(file);
        }
    }

    /// With `--verbose`, reports once for each file how it is read.
    pub(crate) fn describe(&mut self, opened: &Opened, block: &BlockCounts, global: &Global) {
        if !std::mem::replace(&mut self.described, true) && global.verbose {
            console::note(&remarks::reading(opened, block.dialect, block.mark.as_deref()));
        }
    }

    /// Adds the transcripts of a block of `file`.
    pub(crate) fn add(&mut self, file: &str, block: &mut BlockCounts) {
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

    /// Drops rows once there are many, because a dataset has millions: those that cannot be among the largest, or the last.
    pub(crate) fn drop_rows(&mut self) {
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
    pub(crate) fn note_missing_rows(&self) {
        if self.top.is_none() && self.left_out.0 > 0 {
            console::note(&format!(
                "only the first {MOST_ROWS} transcripts have a row; pass --top N for the largest, or --output-format csv for all"
            ));
        }
    }

    /// Sorts the rows by their tokens if that was requested, and leaves out those after the largest.
    pub(crate) fn rank(&mut self) {
        if self.top.is_some() || matches!(self.by, By::Tool | By::Message) {
            self.sums.rows.rows.sort_by_key(|(_, amount)| std::cmp::Reverse(amount.tokens));
        }
        self.leave_out(self.top.unwrap_or(usize::MAX));
    }

    /// The smallest number of tokens that `percent` of the transcripts do not exceed (nearest rank).
    pub(crate) fn percentile(&self, percent: usize) -> usize {
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
    pub(crate) fn rows(&self) -> &[(String, CountRow)] {
        &self.sums.rows.rows
    }
}
