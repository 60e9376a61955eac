//! Tokens, messages and calls of all inputs, by file, transcript, message, role or tool.

use std::cmp::Reverse;

use serde::Serialize;

use crate::console;
use crate::options::global::Global;
use crate::reports::remarks;
use crate::works::count::{BlockCounts, By, CountSums};
use crate::works::count_rows::CountRow;
use crate::works::count_usage::UsageSum;
use curtail_core::numbers::nearest_rank;
use curtail_core::processors::Counting;
use curtail_io::batch::Opened;
use curtail_lab::SeenRequests;

/// The counts of all inputs.
pub(crate) struct Counts {
    pub(crate) by: By,
    /// How many rows are kept, those with the most tokens; `None` for all.
    top: Option<usize>,
    /// Whether rows are written while the input is read.
    pub(crate) gradual: bool,
    /// Tokens of a budget that are reserved for the reply, and not counted.
    pub(crate) reserve: usize,
    pub(crate) tokenizer: String,
    pub(crate) exact: bool,
    /// Sums over all transcripts; [`finish`](Self::finish) makes rows of those that have a name.
    pub(crate) sums: CountSums,
    pub(crate) rows: Rows,
    pub(crate) longest: Option<Longest>,
    pub(crate) usage: UsageSum,
    /// The requests of earlier files.
    earlier: SeenRequests,
    /// Whether it was reported how the current file is read.
    described: bool,
}

/// The longest transcript.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Longest {
    pub(crate) file: String,
    pub(crate) line: usize,
    pub(crate) tokens: usize,
}

/// Complete rows. Those that are left out are only counted and added up.
#[derive(Default)]
pub(crate) struct Rows {
    pub(crate) kept: Vec<(String, CountRow)>,
    pub(crate) left_out: usize,
    /// What the rows that were left out add up to.
    pub(crate) left_out_sum: CountRow,
}

impl Rows {
    /// Leaves out the rows after the first `most`.
    fn leave_out_after(&mut self, most: usize) {
        for (_, counts) in self.kept.drain(most.min(self.kept.len())..) {
            self.left_out += 1;
            self.left_out_sum.add(counts);
        }
    }
}

/// The most rows of transcripts in a table or in JSON, which are written at the end. Rows of CSV are written at once.
const MOST_ROWS: usize = 100_000;

impl Counts {
    pub(crate) fn new(by: By, top: Option<usize>, gradual: bool, counting: &Counting) -> Self {
        Self {
            by,
            top,
            gradual,
            reserve: counting.reserve,
            tokenizer: counting.name(),
            exact: counting.tokenizer.exact() && counting.by_usage.is_none(),
            sums: CountSums::default(),
            rows: Rows::default(),
            longest: None,
            usage: UsageSum::default(),
            earlier: SeenRequests::default(),
            described: false,
        }
    }

    /// Starts a file; it gets a row even if it is empty.
    pub(crate) fn open(&mut self, file: &str) {
        self.described = false;
        if self.by == By::File {
            self.sums.by_name.add(file, CountRow::default());
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
            self.sums.by_name.add(file, block.sums.total);
        }
        self.sums.add(&block.sums);
        for usage in &block.usages {
            self.usage.add_once(usage, &mut self.earlier);
        }
        if let Some((line, tokens)) = block.longest
            && self.longest.as_ref().is_none_or(|longest| longest.tokens < tokens)
        {
            self.longest = Some(Longest { file: file.to_owned(), line, tokens });
        }
        self.rows
            .kept
            .extend(block.each.drain(..).map(|row| (format!("{file}:{}{}", row.line, row.label), row.counts)));
    }

    /// Leaves out rows once there are many, because a dataset has millions: those that cannot be among the largest, or the last.
    pub(crate) fn leave_out_rows(&mut self) {
        const MANY: usize = 4096;
        match self.top {
            Some(top) if self.rows.kept.len() > top.saturating_mul(2).max(MANY) => self.rank(),
            None if self.by == By::Transcript => self.rows.leave_out_after(MOST_ROWS),
            _ => {}
        }
    }

    /// Makes rows of the sums by name, because all is read, and keeps those that were requested, in their order.
    pub(crate) fn finish(&mut self) {
        self.rows.kept.extend(std::mem::take(&mut self.sums.by_name).sums);
        self.rank();
    }

    /// Sorts the rows by their tokens if that was requested, and leaves out those after the largest.
    fn rank(&mut self) {
        if self.top.is_some() || matches!(self.by, By::Tool | By::Message) {
            // Of equals, the first stays the first.
            self.rows.kept.sort_by_key(|(_, counts)| Reverse(counts.tokens));
        }
        self.rows.leave_out_after(self.top.unwrap_or(usize::MAX));
    }

    /// Reports rows that were left out although all were requested.
    pub(crate) fn note_missing_rows(&self) {
        if self.top.is_none() && self.rows.left_out > 0 {
            console::note(&format!(
                "only the first {MOST_ROWS} transcripts have a row; pass --top N for the largest, or --output-format csv for all"
            ));
        }
    }

    /// The smallest number of tokens that `percent` of the transcripts do not exceed.
    pub(crate) fn percentile(&self, percent: usize) -> usize {
        let rank = nearest_rank(self.sums.lengths.values().sum(), percent);
        let mut seen = 0;
        let reached = self.sums.lengths.iter().find(|(_, count)| {
            seen += **count;
            seen >= rank
        });
        reached.map_or(0, |(tokens, _)| *tokens)
    }
}
