//! A summary of the transcript's own sentences: offline, the same on every run, in any language. It chooses the sentences
//! that cover the most topics and contain the most cues.

mod calls;
mod cues;
mod lexicon;
mod units;
mod worth;

use std::borrow::Cow;

use super::{Budget, Failure, Request, Speaker, Summarizer, Utterance, clip};
use lexicon::{Language, Terms};
use units::{Reach, SummaryUnit};
use worth::{Draft, choose};

/// How much of a message is read: longer texts are pasted logs and files.
const SPEECH: Reach = Reach { head: 32 << 10, tail: 16 << 10, errors: 64 };

/// How much of a tool's output is read.
const OUTPUT: Reach = Reach { head: 6 << 10, tail: 4 << 10, errors: 32 };

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
        let (facts, spoken): (Vec<_>, Vec<_>) =
            utterances.iter().partition(|utterance| utterance.speaker == Speaker::Facts);
        let known = KnownFacts::from_facts(&facts);
        let shown = calls::read_only_results(&spoken);
        let excerpts: Vec<Excerpt<'_>> = spoken
            .iter()
            .zip(shown)
            .map(|(utterance, shown)| Excerpt::from_utterance(utterance, shown, &known))
            .collect();
        let all = excerpts.iter().enumerate().flat_map(|(index, excerpt)| excerpt.units(index));
        let units = all.filter(|unit| !known.contains(&excerpts[unit.utterance], unit)).collect::<Vec<_>>();
        Ok(best_summary(&excerpts, &units, budget))
    }

    fn request(&self, _: &[Utterance<'_>], _: &Budget<'_>) -> Option<Request> {
        None
    }
}

/// The part of an utterance that is read.
struct Excerpt<'t> {
    speaker: &'t Speaker,
    text: Cow<'t, str>,
    /// Whether it is prose, in which a sentence may continue after a line break.
    prose: bool,
    /// Whether it is the result of a call that only reads: what it shows can be looked up again.
    shown: bool,
}

impl<'t> Excerpt<'t> {
    fn from_utterance(utterance: &'t Utterance<'_>, shown: bool, known: &KnownFacts) -> Self {
        let text = utterance.text.as_ref();
        let (text, prose) = match &utterance.speaker {
            // None of its lines would be taken.
            Speaker::Tool(_) if shown && !known.0.is_empty() && !worth::may_begin_with_error(text) => {
                (Cow::Borrowed(""), false)
            }
            Speaker::Call(name) => (Cow::Owned(calls::line(name, text)), false),
            Speaker::Tool(_) => (units::excerpt(text, OUTPUT, cues::is_error_line), false),
            _ => (units::excerpt(text, SPEECH, cues::is_error_line), true),
        };
        Self { speaker: &utterance.speaker, text, prose, shown }
    }

    /// Its units. A call is a single unit.
    fn units(&self, index: usize) -> Vec<SummaryUnit> {
        match self.speaker {
            Speaker::Call(_) if self.text.is_empty() => Vec::new(),
            Speaker::Call(_) => vec![SummaryUnit { utterance: index, range: 0..self.text.len(), fenced: false }],
            _ => units::units_of(index, &self.text, self.prose),
        }
    }
}

/// The facts in front of the summary, which it does not repeat.
struct KnownFacts(String);

impl KnownFacts {
    fn from_facts(facts: &[&Utterance<'_>]) -> Self {
        Self(facts.iter().map(|facts| format!(" {} ", facts.text.replace('\n', " "))).collect())
    }

    /// Whether a unit can be left out, because the facts contain its words or the change that the call made, or because it can
    /// be looked up again. Without facts, nothing is left out.
    fn contains(&self, excerpt: &Excerpt<'_>, unit: &SummaryUnit) -> bool {
        if self.0.is_empty() {
            return false;
        }
        if excerpt.shown {
            return unit.range.start > 0 || !worth::begins_with_error(&excerpt.text);
        }
        if matches!(excerpt.speaker, Speaker::Call(_)) {
            return worth::changes(excerpt.speaker, &excerpt.text);
        }
        self.0.contains(&calls::one_line(&excerpt.text[unit.range.clone()]))
    }
}

/// The best summary of `units` within the budget.
fn best_summary(excerpts: &[Excerpt<'_>], units: &[SummaryUnit], budget: &Budget<'_>) -> String {
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
    draft.begin_second_round();
    pick(&mut draft);
    match (draft.finish(), first) {
        (text, Some(unit)) if text.is_empty() => beginning(excerpts, units, unit, budget),
        (text, _) => text,
    }
}

// Writes the chosen units as text: a line for each speaker's turn, in the order of the transcript.

/// Separates two units of one utterance that are not neighbors.
const GAP: &str = " … ";

/// The chosen units, which are in order, each utterance after its speaker's label. Neighbors are separated by a space or
/// a line break, as in the transcript.
fn render(excerpts: &[Excerpt<'_>], units: &[SummaryUnit], chosen: &[usize]) -> String {
    let mut text = String::new();
    let mut before: Option<&SummaryUnit> = None;
    for unit in chosen.iter().map(|&index| &units[index]) {
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

/// The beginning of the best unit, if no unit fits as a whole; nothing if it is fenced code.
fn beginning(excerpts: &[Excerpt<'_>], units: &[SummaryUnit], unit: usize, budget: &Budget<'_>) -> String {
    if units[unit].fenced {
        return String::new();
    }
    clip(&render(excerpts, units, &[unit]), budget)
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
