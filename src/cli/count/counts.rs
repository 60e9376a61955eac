//! Sums over transcripts, by file, transcript, role or tool.

use std::collections::BTreeMap;

use super::By;
use crate::batch::Opened;
use crate::calibration::Figures;
use crate::cli::input::Global;
use crate::cli::report;
use crate::processors::{Counting, View};
use crate::templates::TemplateError;
use crate::transcript::{Message, Pairs, PartRef, Role, Subject, Transcript};

/// Numbers of transcripts, messages, calls and tokens.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Amount {
    pub(super) transcripts: usize,
    /// Turns of a person, each from a user message with text to the next.
    pub(super) turns: usize,
    pub(super) messages: usize,
    pub(super) calls: usize,
    pub(super) tokens: usize,
    /// Tokens of the messages that the model still reads.
    pub(super) live: usize,
}

impl Amount {
    fn add(&mut self, other: Self) {
        self.transcripts += other.transcripts;
        self.turns += other.turns;
        self.messages += other.messages;
        self.calls += other.calls;
        self.tokens += other.tokens;
        self.live += other.live;
    }
}

/// The counts of one transcript.
pub(super) struct Sum {
    line: usize,
    pub(super) dialect: Option<&'static str>,
    total: Amount,
    /// Boundaries whose text is encrypted.
    opaque: usize,
    roles: BTreeMap<&'static str, Amount>,
    tools: BTreeMap<String, Amount>,
    /// The messages, if each has a row: line, words and amount.
    messages: Vec<(usize, String, Amount)>,
    /// What the provider counted, if the log says it.
    pub(super) figures: Option<Figures>,
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
            total: Amount::default(),
            opaque: 0,
            roles: BTreeMap::new(),
            tools: BTreeMap::new(),
            messages: Vec::new(),
            figures: None,
        };
        for (message, &tokens) in messages.iter().zip(each) {
            let amount = of_message(message, tokens);
            sum.count(message.role, amount);
            let opaque = message.boundary && message.standing.is_read() && amount.tokens == 0;
            sum.opaque += usize::from(opaque);
        }
        let total = counting.total(&view)?;
        // What is outside the messages, and what a template adds to them.
        let added = total.saturating_sub(sum.total.tokens);
        sum.total.live += added;
        // What the log does not contain at all has a row of its own.
        let hidden = counting.hidden.min(added);
        for (name, tokens) in [("outside", added - hidden), ("hidden", hidden)] {
            if tokens > 0 {
                sum.roles.insert(name, Amount { tokens, live: tokens, ..Amount::default() });
            }
        }
        // A template can also leave out what messages contain, such as earlier reasoning.
        sum.total.live = sum.total.live.min(total);
        sum.total.tokens = total;
        sum.total.transcripts = 1;
        sum.tools(transcript, counting);
        Ok(sum)
    }

    /// Gives each message a row; `line_of` is the line of a byte offset.
    pub(super) fn with_messages(
        mut self,
        transcript: &Transcript<'_>,
        each: &[usize],
        mut line_of: impl FnMut(usize) -> usize,
    ) -> Self {
        let pairs = Pairs::from_messages(&transcript.messages);
        let rows = transcript.messages.iter().zip(each).enumerate().map(|(at, (message, &tokens))| {
            let line = message.value().map_or(self.line, |value| line_of(value.span().start as usize));
            let subject = Subject::of_message(&transcript.messages, &pairs, at);
            (line, format!("message {at} ({subject})"), of_message(message, tokens))
        });
        self.messages = rows.collect();
        self
    }

    fn count(&mut self, role: Role, amount: Amount) {
        self.total.add(amount);
        self.roles.entry(role.name()).or_default().add(amount);
    }

    /// Adds calls with their results under the tool's name, and a result without a call under its own name if it has one.
    fn tools(&mut self, transcript: &Transcript<'_>, counting: &Counting) {
        let pairs = Pairs::from_messages(&transcript.messages);
        let content = |at: PartRef| &transcript.messages[at.message].parts[at.part].content;
        for &at in pairs.calls().iter().chain(pairs.results()) {
            let call = content(at).call().or_else(|| pairs.other_half(at).and_then(|other| content(other).call()));
            let own = content(at).result().and_then(|result| result.name.as_ref());
            let name = call
                .map(|call| &call.name)
                .or(own)
                .map_or_else(|| String::from("?"), |name| name.decode().into_owned());
            let calls = usize::from(content(at).call().is_some());
            let tokens = counting.content(content(at));
            let live = if transcript.messages[at.message].standing.is_read() { tokens } else { 0 };
            let amount = Amount { calls, tokens, live, ..Amount::default() };
            self.tools.entry(name).or_default().add(amount);
        }
    }
}

fn of_message(message: &Message<'_>, tokens: usize) -> Amount {
    Amount {
        transcripts: 0,
        turns: usize::from(message.begins_turn()),
        messages: 1,
        calls: message.calls().count(),
        tokens,
        live: if message.standing.is_read() { tokens } else { 0 },
    }
}

/// The provider's figures, summed over the transcripts that have some.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct UsageSum {
    pub(super) transcripts: usize,
    /// Input tokens of the last request of each.
    pub(super) provider: u64,
    /// The same by the calibration.
    pub(super) predicted: u64,
    /// The part of [`predicted`](Self::predicted) that the logs do not contain.
    pub(super) hidden: u64,
    /// Our count of the other part, before the calibration.
    pub(super) ours: u64,
}

impl UsageSum {
    fn add(&mut self, figures: &Figures) {
        self.transcripts += 1;
        self.provider += figures.provider;
        self.predicted += figures.predicted();
        self.hidden += figures.hidden();
        self.ours += figures.ours;
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
    /// Rows that were left out, and their sum.
    pub(super) left_out: (usize, Amount),
    /// Tokens of a budget that are reserved for the reply, and not counted.
    pub(super) reserve: usize,
    pub(super) tokenizer: String,
    pub(super) exact: bool,
    pub(super) total: Amount,
    pub(super) usage: UsageSum,
    /// Boundaries whose text is encrypted, so that their tokens are not known.
    pub(super) opaque: usize,
    /// The rows, in the order of the input or by name.
    pub(super) rows: Vec<(String, Amount)>,
    pub(super) longest: Option<Longest>,
    names: BTreeMap<String, usize>,
    lengths: Vec<usize>,
    /// Whether it was reported how the current file is read.
    described: bool,
}

impl Counts {
    pub(super) fn new(by: By, top: Option<usize>, counting: &Counting) -> Self {
        Self {
            by,
            top,
            left_out: (0, Amount::default()),
            reserve: counting.reserve,
            tokenizer: counting.name(),
            exact: counting.tokenizer.exact() && counting.by_usage.is_none(),
            total: Amount::default(),
            usage: UsageSum::default(),
            opaque: 0,
            rows: Vec::new(),
            longest: None,
            names: BTreeMap::new(),
            lengths: Vec::new(),
            described: false,
        }
    }

    /// Starts a file; it gets a row even if it is empty.
    pub(super) fn open(&mut self, file: &str) {
        self.described = false;
        if self.by == By::File {
            self.row(file);
        }
    }

    /// With `--verbose`, reports once for each file how it is read.
    pub(super) fn describe(&mut self, opened: &Opened, sums: &[Sum], global: &Global) {
        if !std::mem::replace(&mut self.described, true) && global.verbose {
            report::note(&report::reading(opened, sums.iter().find_map(|sum| sum.dialect)));
        }
    }

    pub(super) fn add(&mut self, file: &str, sum: Sum) {
        let Sum { line, dialect: _, total, opaque, roles, tools, messages, figures } = sum;
        figures.iter().for_each(|figures| self.usage.add(figures));
        self.total.add(total);
        self.opaque += opaque;
        self.lengths.push(total.tokens);
        if self.longest.as_ref().is_none_or(|longest| longest.tokens < total.tokens) {
            self.longest = Some(Longest { file: file.to_owned(), line, tokens: total.tokens });
        }
        match self.by {
            By::File => self.row(file).add(total),
            By::Transcript => self.rows.push((format!("{file}:{line}"), total)),
            By::Role => roles.into_iter().for_each(|(role, amount)| self.row(role).add(amount)),
            By::Message => {
                let rows = messages.into_iter();
                self.rows.extend(rows.map(|(line, what, amount)| (format!("{file}:{line} {what}"), amount)));
                self.shed();
            }
            By::Tool => tools.into_iter().for_each(|(tool, amount)| self.row(&tool).add(amount)),
        }
    }

    /// Leaves out rows that cannot be among the largest, once there are many: a dataset has millions of messages.
    fn shed(&mut self) {
        const MANY: usize = 4096;
        if self.top.is_some_and(|top| self.rows.len() > top.saturating_mul(2).max(MANY)) {
            self.rank();
        }
    }

    /// Sorts the rows by their tokens if that is asked for, and leaves out those past the largest.
    pub(super) fn rank(&mut self) {
        if self.top.is_some() || matches!(self.by, By::Tool | By::Message) {
            self.rows.sort_by_key(|(_, amount)| std::cmp::Reverse(amount.tokens));
        }
        for (_, amount) in self.rows.split_off(self.top.unwrap_or(usize::MAX).min(self.rows.len())) {
            self.left_out.0 += 1;
            self.left_out.1.add(amount);
        }
    }

    fn row(&mut self, name: &str) -> &mut Amount {
        let at = if let Some(&at) = self.names.get(name) {
            at
        } else {
            self.names.insert(name.to_owned(), self.rows.len());
            self.rows.push((name.to_owned(), Amount::default()));
            self.rows.len() - 1
        };
        &mut self.rows[at].1
    }

    /// The smallest number of tokens that `percent` of the transcripts do not exceed (nearest rank).
    pub(super) fn percentile(&self, percent: usize) -> usize {
        let mut lengths = self.lengths.clone();
        let rank = (lengths.len() * percent).div_ceil(100).max(1) - 1;
        if lengths.is_empty() { 0 } else { *lengths.select_nth_unstable(rank).1 }
    }
}
