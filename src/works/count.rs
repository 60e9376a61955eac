//! Counts the tokens, messages and calls of transcripts: of each as a whole, and of its messages, roles or tools.

use std::collections::BTreeMap;

use clap::ValueEnum;

use crate::works::count_rows::{CountRow, SumsByName};
use crate::works::count_usage::LoggedUsage;
use crate::works::mark::mark_in;
use curtail_core::counting::REFUSED;
use curtail_core::dialects::{Dialect, ReadError};
use curtail_core::processors::{Counting, View};
use curtail_core::transcript::{Message, Pairs, Part, Role, Subject, Transcript, main_thread};
use curtail_io::batch::{Unit, Work};
use curtail_lab::counted_requests;
use curtail_lab::figures::{Figures, NO_FIGURES};

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

/// Counts units.
pub(crate) struct Counter {
    pub(crate) counting: Counting,
    pub(crate) by: By,
    /// Whether only what the model still reads is counted.
    pub(crate) live: bool,
    /// Whether the provider's counts are shown.
    pub(crate) usage: bool,
    /// Whether to find the member by which the dialect of a file was detected.
    pub(crate) verbose: bool,
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
        let transcripts = unit.transcripts(&document)?;
        let mark = if self.verbose && out.mark.is_none() { mark_in(unit, &transcripts) } else { None };
        let counts = transcripts.into_iter().map(|(dialect, transcript)| self.count(dialect, transcript));
        for count in counts.collect::<Result<Vec<_>, _>>()? {
            count.add_to(out, self.by, |offset| places.place(offset).line);
        }
        out.mark = out.mark.take().or(mark);
        Ok(())
    }
}

impl Counter {
    fn count<'t>(
        &self,
        dialect: &dyn Dialect,
        mut transcript: Transcript<'t>,
    ) -> Result<CountedTranscript<'t>, ReadError> {
        let offset = transcript.layout.span.start as usize;
        let is_calibrated = self.counting.by_usage.is_some();
        let mut each: Vec<usize> = transcript.messages.iter().map(|message| self.counting.message(message)).collect();
        // A template counts exactly what the model reads, so there is nothing to calibrate.
        let compared = self.counting.template.is_none() && (self.usage || is_calibrated);
        let usage = match compared {
            true => Figures::from_transcript(dialect, &transcript, &self.counting, |index| each[index] as u64),
            false => None,
        };
        let requests = usage.map(|_| counted_requests(dialect, &transcript)).unwrap_or_default();
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
        let usage = usage.map(|last| LoggedUsage { last, requests });
        Ok(CountedTranscript { dialect: dialect.name(), transcript, counting, each, tokens, usage })
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

/// Sums over transcripts, which take less memory than their single counts.
#[derive(Default)]
pub(crate) struct CountSums {
    pub(crate) total: CountRow,
    /// Boundaries whose text is encrypted, so that their tokens are not known.
    pub(crate) opaque: usize,
    /// The number of transcripts with each number of tokens: millions of small ones take no more memory than a few.
    pub(crate) lengths: BTreeMap<usize, usize>,
    /// By role, tool or file.
    pub(crate) by_name: SumsByName,
}

impl CountSums {
    pub(crate) fn add(&mut self, other: &Self) {
        self.total.add(other.total);
        self.opaque += other.opaque;
        for (tokens, count) in &other.lengths {
            *self.lengths.entry(*tokens).or_default() += count;
        }
        other.by_name.sums.iter().for_each(|(name, counts)| self.by_name.add(name, *counts));
    }
}

/// The row of a transcript or a message.
pub(crate) struct PlacedRow {
    pub(crate) line: usize,
    /// What follows the line in the name of the row.
    pub(crate) label: String,
    pub(crate) counts: CountRow,
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

impl CountedTranscript<'_> {
    /// Adds this transcript to `block`, with its rows of the kind `by`; `line_of` is the line of a byte offset.
    fn add_to(&self, block: &mut BlockCounts, by: By, mut line_of: impl FnMut(usize) -> usize) {
        let Self { dialect, transcript, tokens, usage, .. } = self;
        let sums = &mut block.sums;
        let mut total = CountRow { transcripts: 1, ..CountRow::default() };
        for (message, amount) in transcript.messages.iter().zip(self.amounts()) {
            total.add(amount);
            let opaque = message.is_boundary() && message.standing.is_read() && amount.tokens == 0;
            sums.opaque += usize::from(opaque);
        }
        // What is outside the messages, and what a template adds to them. A template can also leave out what messages contain,
        // such as earlier reasoning.
        let outside = tokens.saturating_sub(total.tokens);
        total = CountRow { tokens: *tokens, live: (total.live + outside).min(*tokens), ..total };
        block.dialect = block.dialect.or((!transcript.messages.is_empty()).then_some(dialect));
        sums.total.add(total);
        block.usages.extend(usage.clone());
        *sums.lengths.entry(*tokens).or_default() += 1;
        let line = line_of(transcript.layout.span.start as usize);
        if block.longest.is_none_or(|(_, longest)| longest < *tokens) {
            block.longest = Some((line, *tokens));
        }
        match by {
            By::File => {}
            By::Transcript => block.each.push(PlacedRow { line, label: String::new(), counts: total }),
            By::Message => block.each.extend(self.messages(line, line_of)),
            By::Role => self.roles(outside).iter().for_each(|(name, counts)| sums.by_name.add(name, *counts)),
            By::Tool => self.tools().iter().for_each(|(name, counts)| sums.by_name.add(name, *counts)),
        }
    }

    /// The counts of each message.
    fn amounts(&self) -> impl Iterator<Item = CountRow> {
        let messages = &self.transcript.messages;
        let estimates = estimates(&self.transcript, &self.counting);
        let main = main_thread(messages);
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
    /// count as a tool's, and in an exchange each side as its own.
    fn roles(&self, outside: usize) -> BTreeMap<String, CountRow> {
        let mut roles: BTreeMap<String, CountRow> = BTreeMap::new();
        for (message, mut counts) in self.transcript.messages.iter().zip(self.amounts()) {
            let others = message.parts.iter().filter_map(|part| Some((other_writer(message, part)?, part)));
            for (writer, part) in others {
                let tokens = self.counting.part(part).min(counts.tokens);
                let estimated = self.counting.estimated_in(part).min(counts.estimated);
                if tokens == 0 {
                    continue;
                }
                let live = if counts.live > 0 { tokens } else { 0 };
                let of_writer = roles.entry(writer.to_owned()).or_default();
                of_writer.add(CountRow { tokens, estimated, live, ..CountRow::default() });
                counts.tokens -= tokens;
                counts.estimated -= estimated;
                counts.live -= live;
            }
            roles.entry(message.writer().to_owned()).or_default().add(counts);
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
        for &at in pairs.calls().iter().chain(pairs.results()) {
            let name =
                pairs.tool_name(messages, at).map_or_else(|| String::from("?"), |name| name.decode().into_owned());
            let part = at.part_in(messages);
            let calls = usize::from(part.content.call().is_some());
            let tokens = self.counting.part(part);
            let live = if messages[at.message].standing.is_read() { tokens } else { 0 };
            let estimated = self.counting.estimated_in(part).min(tokens);
            tools.entry(name).or_default().add(CountRow { calls, tokens, estimated, live, ..CountRow::default() });
        }
        tools
    }
}

/// Who wrote a part, if that is not the writer of its message.
fn other_writer(message: &Message<'_>, part: &Part<'_>) -> Option<&'static str> {
    let may_answer = message.is_exchange() || message.writer() == Role::User.name();
    if may_answer && part.content.result().is_some() {
        return Some(Role::Tool.name());
    }
    message.other_speaker(part).map(Role::name)
}

/// The tokens of unknown content, by the index of its message: of the message's unknown parts, and of unread items after it.
fn estimates(transcript: &Transcript<'_>, counting: &Counting) -> BTreeMap<usize, usize> {
    let mut estimates = BTreeMap::new();
    let items = transcript.layout.non_messages.iter();
    let mut items = items.filter_map(|item| Some((item.after, item.unread.clone()?))).peekable();
    for (at, message) in transcript.messages.iter().enumerate() {
        let mut tokens = counting.estimated(message);
        // A live transcript contains only some of the messages, so indexes of the source are compared.
        let source = message.source_index().unwrap_or(at);
        while items.next_if(|(after, _)| *after <= source).is_some() {}
        while let Some((_, text)) = items.next_if(|(after, _)| *after == source + 1) {
            tokens += counting.text(&text);
        }
        if tokens > 0 {
            estimates.insert(at, tokens);
        }
    }
    estimates
}
