//! A summary of the transcript's own sentences: offline, the same on every run, in any language. It chooses the sentences
//! that cover the most topics and contain the most cues.

mod calls;
mod choice;
mod cues;
mod lexicon;
mod terms;
mod units;
mod worth;

use std::borrow::Cow;

use super::{Budget, Failure, Request, Speaker, Summarizer, Utterance, clip};
use choice::{Draft, choose};
use terms::{Language, Terms};
use units::{Reach, SummaryUnit};

/// How much of a message is read. Longer texts are pasted logs and files.
const SPEECH: Reach = Reach { head: 32 << 10, tail: 16 << 10, errors: 64 };

/// How much of a tool's output is read.
const OUTPUT: Reach = Reach { head: 6 << 10, tail: 4 << 10, errors: 32 };

/// Takes whole sentences from the transcript, as many as fit the budget, in their order, with their speakers.
///
/// Work is near-linear in the transcript: long tool output is read at its beginning, its end and its error lines.
///
/// ```
/// use curtail_memory::summarizers::{Budget, Extractive, Speaker, Summarizer as _, Utterance};
///
/// let said = [Utterance::new(Speaker::User, "Please book the first train to Bern on Monday.")];
/// let count = |text: &str| text.split_whitespace().count();
/// let summary = Extractive.summarize(&said, &Budget { tokens: 20, count: &count })?;
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
        let (facts, said): (Vec<_>, Vec<_>) = utterances.iter().partition(|said| said.speaker == Speaker::Facts);
        let known = Known::from_facts(&facts);
        let shown = calls::shown_only(&said);
        let with_shown = said.iter().zip(shown);
        let excerpts: Vec<Excerpt<'_>> =
            with_shown.map(|(said, shown)| Excerpt::from_utterance(said, shown, &known)).collect();
        let all = excerpts.iter().enumerate().flat_map(|(index, excerpt)| excerpt.units(index));
        let units = all.filter(|unit| !known.holds(&excerpts[unit.utterance], unit)).collect::<Vec<_>>();
        Ok(within(&excerpts, &units, budget))
    }

    fn request(&self, _: &[Utterance<'_>], _: &Budget<'_>) -> Option<Request> {
        None
    }
}

/// The part of an utterance that is read.
struct Excerpt<'t> {
    speaker: &'t Speaker,
    text: Cow<'t, str>,
    /// Whether line breaks may only wrap lines.
    prose: bool,
    /// Whether it is the content of files that a tool only shows.
    shown: bool,
}

impl<'t> Excerpt<'t> {
    fn from_utterance(utterance: &'t Utterance<'_>, shown: bool, known: &Known) -> Self {
        let text = utterance.text.as_ref();
        let (text, prose) = match &utterance.speaker {
            // No line of it would be taken.
            Speaker::Tool(_) if shown && !known.0.is_empty() && !worth::may_begin_with_error(text) => {
                (Cow::Borrowed(""), false)
            }
            Speaker::Call(name) => (Cow::Owned(calls::line(name, text)), false),
            Speaker::Tool(_) => (units::excerpt(text, OUTPUT, cues::is_error_line), false),
            _ => (units::excerpt(text, SPEECH, cues::is_error_line), true),
        };
        Self { speaker: &utterance.speaker, text, prose, shown }
    }

    /// Its units. A call is one: it is taken whole or not at all.
    fn units(&self, index: usize) -> Vec<SummaryUnit> {
        match self.speaker {
            Speaker::Call(_) if self.text.is_empty() => Vec::new(),
            Speaker::Call(_) => vec![SummaryUnit { utterance: index, range: 0..self.text.len(), fenced: false }],
            _ => units::units_of(index, &self.text, self.prose),
        }
    }
}

/// The facts in front of the summary, which it does not repeat.
struct Known(String);

impl Known {
    fn from_facts(facts: &[&Utterance<'_>]) -> Self {
        Self(facts.iter().map(|facts| format!(" {} ", facts.text.replace('\n', " "))).collect())
    }

    /// Whether the facts contain a unit: its words, or what the call changed. Files that a tool only shows are left to be looked
    /// up again.
    fn holds(&self, excerpt: &Excerpt<'_>, unit: &SummaryUnit) -> bool {
        if self.0.is_empty() {
            return false;
        }
        if excerpt.shown {
            return unit.range.start > 0 || !worth::begins_with_error(&excerpt.text);
        }
        if matches!(excerpt.speaker, Speaker::Call(_)) {
            return worth::changes(excerpt.speaker, &excerpt.text);
        }
        let words = excerpt.text[unit.range.clone()].split_whitespace().collect::<Vec<_>>().join(" ");
        self.0.contains(&words)
    }
}

/// The best summary of `units` within the budget.
fn within(excerpts: &[Excerpt<'_>], units: &[SummaryUnit], budget: &Budget<'_>) -> String {
    let spoken = excerpts.iter().filter(|excerpt| excerpt.prose).map(|excerpt| &*excerpt.text);
    let (candidates, weights) = worth::weigh(excerpts, units, Terms::new(Language::guess(spoken)));
    let mut draft = Draft::new(excerpts, units, budget);
    let mut first = None;
    let mut pick = |draft: &mut Draft<'_>| {
        choose(&candidates, &weights, |unit| {
            first.get_or_insert(unit);
            draft.offer(unit)
        });
    };
    pick(&mut draft);
    draft.open();
    pick(&mut draft);
    match (draft.finish(), first) {
        (text, Some(unit)) if text.is_empty() => beginning(excerpts, units, unit, budget),
        (text, _) => text,
    }
}

// Writes the chosen units as text: a line for each speaker's turn, in the order of the transcript.

/// Separates two parts of one sentence that are not neighbors.
const GAP: &str = " … ";

/// The chosen units, which are in order, each utterance after its speaker's label. Neighbors are separated by a space or
/// a line break, as in the transcript.
fn text(excerpts: &[Excerpt<'_>], units: &[SummaryUnit], chosen: &[usize]) -> String {
    let mut text = String::new();
    let mut before: Option<&SummaryUnit> = None;
    for unit in chosen.iter().map(|&index| &units[index]) {
        let source = &excerpts[unit.utterance];
        if let Some(before) = before.filter(|before| before.utterance == unit.utterance) {
            text.push_str(joint(&source.text, before, unit));
        } else {
            text.push_str(if before.is_some() { "\n" } else { "" });
            text.push_str(&source.speaker.label());
            text.push_str(if unit.fenced { ":\n" } else { ": " });
        }
        push(&mut text, &source.text[unit.range.clone()], unit.fenced);
        before = Some(unit);
    }
    text
}

/// The beginning of the best unit, if no unit fits as a whole; nothing if it is fenced code.
fn beginning(excerpts: &[Excerpt<'_>], units: &[SummaryUnit], unit: usize, budget: &Budget<'_>) -> String {
    if units[unit].fenced {
        return String::new();
    }
    clip(&text(excerpts, units, &[unit]), budget)
}

/// The separator between two units of one utterance.
fn joint<'t>(text: &str, before: &SummaryUnit, after: &SummaryUnit) -> &'t str {
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

/// Fenced code unchanged; any other unit on one line.
fn push(text: &mut String, unit: &str, fenced: bool) {
    if fenced {
        text.push_str(unit.trim_end());
        return;
    }
    for (index, word) in unit.split_whitespace().enumerate() {
        if index > 0 {
            text.push(' ');
        }
        text.push_str(word);
    }
}
