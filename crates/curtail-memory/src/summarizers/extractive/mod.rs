//! A summary of the transcript's own sentences: offline, the same on every run, in any language. Facts come before it; of each
//! message it takes the first and the last sentence of substance, and more where there is room. The only words that it knows are
//! those of error messages, and abbreviations, after which a sentence goes on.

mod excerpts;
mod ranks;
mod rendering;
mod sentences;
mod units;

use super::{Budget, Failure, Request, Speaker, Summarizer, Utterance, clip};
use excerpts::{Excerpt, KnownFacts};
use ranks::{Rank, Ranked, ranked};
use rendering::render;

/// The most units that may not fit before no further ones are tried.
const MAX_MISSES: usize = 48;

/// Takes whole sentences from the transcript, as many as fit the budget, in their order, after the labels of their speakers.
///
/// The time is near-linear in the length of the transcript. Of a long message, the beginning, the end and the error lines are
/// read; of a tool's output, the first line if it reports an error. Other calls and results are left to the facts.
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
        let spoken =
            utterances.iter().filter(|utterance| !matches!(utterance.speaker, Speaker::Facts | Speaker::Missing));
        let excerpts: Vec<Excerpt<'_>> = spoken.map(|utterance| Excerpt::new(utterance)).collect();
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

/// The beginning of the most needed unit, if no unit fits as a whole; nothing if it is fenced code.
fn beginning(excerpts: &[Excerpt<'_>], units: &[Ranked], budget: &Budget<'_>) -> String {
    let best = (0..units.len()).min_by_key(|&at| units[at].rank);
    match best.filter(|&at| !units[at].unit.fenced) {
        Some(at) => clip(&render(excerpts, units, &[at]), budget),
        None => String::new(),
    }
}
