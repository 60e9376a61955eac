//! A summary of the transcript's own sentences: offline, the same on every run, in any language. Facts come before it; of each
//! message it takes the first and the last sentence of substance, and more where there is room. It knows no words.

mod calls;
mod units;

use std::borrow::Cow;

use unicode_segmentation::UnicodeSegmentation;

use super::{Budget, Failure, Request, Speaker, Summarizer, Utterance, clip};
use units::{Reach, SummaryUnit};

/// How much of a message is read: longer texts are pasted logs and files.
const SPEECH: Reach = Reach { head: 32 << 10, tail: 16 << 10, errors: 64 };

/// How much of a tool's output is read.
const OUTPUT: Reach = Reach { head: 6 << 10, tail: 4 << 10, errors: 32 };

/// The most lines of one tool's output that are taken.
const MAX_ERRORS: usize = 2;

/// The most units that are tried after the first that did not fit.
const MAX_MISSES: usize = 48;

/// Takes whole sentences from the transcript, as many as fit the budget, in their order, after the labels of their speakers.
///
/// The time is near-linear in the length of the transcript. Of long tool output, the beginning, the end and the error lines are
/// read.
///
/// ```
/// use curtail_memory::summarizers::{Budget, Extractive, Speaker, Summarizer as _, Utterance};
///
/// let utterances = [Utterance::new(Speaker::User, "Please book the first train to Bern on Monday.")];
/// let count = |text: &str| text.split_whitespace().count();
/// let summary = Extractive.summarize(&utterances, &Budget { tokens: 20, count: &count })?;
/// assert!(summary.contains("first train to Bern"));
/// # Ok::<(), curtail_memory::summarizers::Failure>(())
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct Extractive;

impl Summarizer for Extractive {
    fn name(&self) -> &'static str {
        "extractive"
    }

    fn facts_share(&self) -> usize {
        100
    }

    fn summarize(&self, utterances: &[Utterance<'_>], budget: &Budget<'_>) -> Result<String, Failure> {
        let facts = KnownFacts::from_utterances(utterances);
        let spoken = utterances.iter().filter(|utterance| utterance.speaker != Speaker::Facts);
        let excerpts: Vec<Excerpt<'_>> = spoken.map(|utterance| Excerpt::new(utterance, &facts)).collect();
        let units = ranked(&excerpts, &facts);
        let chosen = chosen(&excerpts, &units, budget);
        if chosen.is_empty() {
            return Ok(beginning(&excerpts, &units, budget));
        }
        Ok(render(&excerpts, &units, &chosen))
    }

    fn request(&self, _: &[Utterance<'_>], _: &Budget<'_>) -> Option<Request> {
        None
    }
}

/// The facts in front of the summary, which it does not repeat.
struct KnownFacts(String);

impl KnownFacts {
    fn from_utterances(utterances: &[Utterance<'_>]) -> Self {
        let facts = utterances.iter().filter(|utterance| utterance.speaker == Speaker::Facts);
        Self(facts.map(|facts| format!(" {} ", facts.text.replace('\n', " "))).collect())
    }

    /// Whether the facts contain the words of a sentence.
    fn contain(&self, sentence: &str) -> bool {
        !self.0.is_empty() && self.0.contains(&calls::one_line(sentence))
    }
}

/// The part of an utterance that is read.
struct Excerpt<'t> {
    speaker: &'t Speaker,
    text: Cow<'t, str>,
    /// Whether it is a call that changes something.
    changes: bool,
}

impl<'t> Excerpt<'t> {
    /// Calls and results are facts already where there are facts; only a result that begins with an error is read besides.
    fn new(utterance: &'t Utterance<'_>, facts: &KnownFacts) -> Self {
        let text = utterance.text.as_ref();
        let has_facts = !facts.0.is_empty();
        let excerpt = match &utterance.speaker {
            Speaker::Call(name) if !has_facts => Cow::Owned(calls::line(name, text)),
            Speaker::Call(_) => Cow::Borrowed(""),
            Speaker::Tool(_) if has_facts => first_line_of_error(text),
            Speaker::Tool(_) => units::excerpt(text, OUTPUT, is_error_line),
            _ => units::excerpt(text, SPEECH, is_error_line),
        };
        let changes = match &utterance.speaker {
            Speaker::Call(name) => !has_facts && curtail_facts::changes(name, text),
            _ => false,
        };
        Self { speaker: &utterance.speaker, text: excerpt, changes }
    }

    /// Its units, each with its rank.
    fn units(&self, index: usize, place: Place) -> Vec<(Rank, SummaryUnit)> {
        match self.speaker {
            Speaker::Call(_) if self.text.is_empty() => Vec::new(),
            Speaker::Call(_) => {
                let rank = if self.changes { Rank::Change } else { Rank::Call };
                vec![(rank, SummaryUnit { utterance: index, range: 0..self.text.len(), fenced: false })]
            }
            Speaker::Tool(_) => {
                let lines = units::units_of(index, &self.text, false).into_iter();
                let errors = lines.filter(|line| is_error_line(&self.text[line.range.clone()]));
                errors.take(MAX_ERRORS).map(|line| (Rank::Error, line)).collect()
            }
            _ => self.sentences(units::units_of(index, &self.text, true), place),
        }
    }

    /// The rank of each sentence of a person or the model, by its place among those of substance.
    fn sentences(&self, units: Vec<SummaryUnit>, place: Place) -> Vec<(Rank, SummaryUnit)> {
        let text = |unit: &SummaryUnit| &self.text[unit.range.clone()];
        let longest =
            units.iter().filter(|unit| !unit.fenced).map(|unit| text(unit).chars().count()).max().unwrap_or(0);
        let is_major = |unit: &SummaryUnit| {
            !unit.fenced && 5 * text(unit).chars().count() >= 2 * longest && text(unit).unicode_words().nth(1).is_some()
        };
        let major: Vec<usize> = (0..units.len()).filter(|&at| is_major(&units[at])).collect();
        let is_user = *self.speaker == Speaker::User;
        let rank = |at: usize| match () {
            () if place == Place::Task && major.iter().take(2).any(|&first| first == at) => Rank::Goal,
            () if is_user && major.first() == Some(&at) => Rank::Ask,
            () if place == Place::LastReply && major.last() == Some(&at) => Rank::Result,
            () if *self.speaker == Speaker::Assistant && major.last() == Some(&at) => Rank::Outcome,
            () if is_user && major.last() == Some(&at) => Rank::AskEnd,
            () if *self.speaker == Speaker::Assistant && major.first() == Some(&at) => Rank::Lead,
            () if *self.speaker == Speaker::System => Rank::Instructions,
            () if major.contains(&at) || units[at].fenced => Rank::Rest,
            () => Rank::Minor,
        };
        let ranks: Vec<Rank> = (0..units.len()).map(rank).collect();
        ranks.into_iter().zip(units).collect()
    }
}

/// The first line of a result, if it reports an error.
fn first_line_of_error(text: &str) -> Cow<'_, str> {
    let first = text.trim_start().lines().next().unwrap_or_default();
    let is_error = first.starts_with("<tool_use_error>")
        || first.get(..5).is_some_and(|start| start.eq_ignore_ascii_case("error")) && is_error_line(first);
    Cow::Borrowed(if is_error { first } else { "" })
}

/// Words of lines that report an error, in lower case.
const ERROR_WORDS: &[&str] = &[
    "error", "errors", "failed", "failure", "fatal", "panic", "panicked", "exception", "traceback", "denied",
    "refused", "timeout", "unresolved", "undefined", "segfault",
];

/// Whether a line of output reports an error. Code that handles errors does not report one: `raise Error(`, `error = None;`.
fn is_error_line(line: &str) -> bool {
    let trimmed = line.trim();
    let is_code = trimmed.ends_with(['(', '{', '}', ',', ';', '\\'])
        || trimmed.starts_with(['#', '"', '*', '/', '<'])
        || trimmed.contains(" = ");
    let is_error = |word: &str| {
        let word = word.to_ascii_lowercase();
        ERROR_WORDS.contains(&word.as_str())
            || word.len() > 5 && (word.ends_with("error") || word.ends_with("exception"))
    };
    let mut words = trimmed.split(|c: char| !c.is_alphanumeric() && !matches!(c, '_' | '(' | '.' | '\'' | '"' | '/'));
    !is_code && words.any(|word| (4..32).contains(&word.len()) && is_error(word))
}

/// How much a unit is needed, the most needed first. Of equal rank, the newest goes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Rank {
    /// What the person wanted before the first answer.
    Goal,
    /// The first sentence of a person's later message.
    Ask,
    /// The last sentence of the last reply.
    Result,
    /// An error that a tool reported.
    Error,
    /// A call that changed something.
    Change,
    /// The last sentence of an earlier reply.
    Outcome,
    /// The last sentence of a person's message.
    AskEnd,
    /// The first sentence of a reply.
    Lead,
    /// The other sentences.
    Rest,
    /// A sentence of instructions.
    Instructions,
    /// A call that only reads.
    Call,
    /// A sentence that says little: a greeting, an assent.
    Minor,
}

/// Where a message is in the conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// The last message of the user before the first answer.
    Task,
    /// The last reply.
    LastReply,
    /// Anywhere else.
    Between,
}

/// A unit with its rank.
struct Ranked {
    rank: Rank,
    unit: SummaryUnit,
}

/// The units in the order of the transcript, without repetitions and without what the facts say.
fn ranked(excerpts: &[Excerpt<'_>], facts: &KnownFacts) -> Vec<Ranked> {
    let is_by = |at: &usize, speaker: Speaker| *excerpts[*at].speaker == speaker;
    let first = (0..excerpts.len()).find(|at| is_by(at, Speaker::User)).unwrap_or(excerpts.len());
    // An example may precede the task.
    let task = (first..excerpts.len()).take_while(|at| is_by(at, Speaker::User)).last();
    let last_reply = (0..excerpts.len()).rfind(|at| is_by(at, Speaker::Assistant));
    let mut seen = foldhash::HashSet::default();
    let mut units = Vec::new();
    for (index, excerpt) in excerpts.iter().enumerate() {
        let place = match Some(index) {
            at if at == task => Place::Task,
            at if at == last_reply => Place::LastReply,
            _ => Place::Between,
        };
        for (rank, unit) in excerpt.units(index, place) {
            let text = &excerpt.text[unit.range.clone()];
            if !facts.contain(text) {
                let rank = if seen.insert(text) { rank } else { Rank::Minor };
                units.push(Ranked { rank, unit });
            }
        }
    }
    units
}

/// The indices of the units that fit the budget, in order.
fn chosen(excerpts: &[Excerpt<'_>], units: &[Ranked], budget: &Budget<'_>) -> Vec<usize> {
    let mut order: Vec<usize> = (0..units.len()).collect();
    // What was wanted and what fills the rest is taken from the beginning; of all else, the newest.
    order.sort_by_key(|&at| match units[at].rank {
        rank @ (Rank::Goal | Rank::Rest | Rank::Minor) => (rank, at),
        rank => (rank, usize::MAX - at),
    });
    let mut chosen: Vec<usize> = Vec::new();
    let mut misses = 0;
    let mut left = budget.tokens;
    for &at in &order {
        let cost = (budget.count)(&render(excerpts, units, &[at])) + usize::from(!chosen.is_empty());
        if cost <= left {
            left -= cost;
            chosen.push(at);
        } else {
            misses += 1;
        }
        if misses > MAX_MISSES {
            break;
        }
    }
    // Neighbors share a label, so more may fit than the sum says, and rarely less: the least needed are dropped until it does.
    loop {
        let mut in_order = chosen.clone();
        in_order.sort_unstable();
        if budget.holds(&render(excerpts, units, &in_order)) || chosen.pop().is_none() {
            return in_order;
        }
    }
}

// Writes the chosen units as text: a line for each speaker's turn, in the order of the transcript.

/// Separates two units of one utterance that are not neighbors.
const GAP: &str = " … ";

/// The chosen units, which are in order, each utterance after its speaker's label. Neighbors are separated by a space or
/// a line break, as in the transcript.
fn render(excerpts: &[Excerpt<'_>], units: &[Ranked], chosen: &[usize]) -> String {
    let mut text = String::new();
    let mut before: Option<&SummaryUnit> = None;
    for unit in chosen.iter().map(|&index| &units[index].unit) {
        let source = &excerpts[unit.utterance];
        if let Some(before) = before.filter(|before| before.utterance == unit.utterance) {
            text.push_str(separator(&source.text, before, unit));
        } else {
            text.push_str(if before.is_some() { "\n" } else { "" });
            text.push_str(&source.speaker.label());
            text.push_str(if unit.fenced { ":\n" } else { ": " });
        }
        push_unit(&mut text, &source.text[unit.range.clone()], unit.fenced);
        before = Some(unit);
    }
    text
}

/// The beginning of the most needed unit, if no unit fits as a whole; nothing if it is fenced code.
fn beginning(excerpts: &[Excerpt<'_>], units: &[Ranked], budget: &Budget<'_>) -> String {
    let best = (0..units.len()).min_by_key(|&at| units[at].rank);
    match best.filter(|&at| !units[at].unit.fenced) {
        Some(at) => clip(&render(excerpts, units, &[at]), budget),
        None => String::new(),
    }
}

/// The separator between two units of one utterance.
fn separator<'t>(text: &str, before: &SummaryUnit, after: &SummaryUnit) -> &'t str {
    let between = text.get(before.range.end..after.range.start);
    let neighbors = between.is_some_and(|between| between.trim().is_empty());
    let lines = between.is_some_and(|between| between.contains('\n'));
    if before.fenced || after.fenced {
        "\n"
    } else if neighbors && lines {
        "\n  "
    } else if neighbors {
        " "
    } else {
        GAP
    }
}

/// Writes a unit: fenced code unchanged, any other unit on one line.
fn push_unit(text: &mut String, unit: &str, fenced: bool) {
    if fenced {
        text.push_str(unit.trim_end());
    } else {
        text.push_str(&calls::one_line(unit));
    }
}
