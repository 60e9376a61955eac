//! What a summary must keep of the messages that it covers: one that keeps less is refused, or asked for once more.

use curtail_core::transcript::{Message, Pairs};
use curtail_facts::verify::{Comparison, Side, compare};

/// The least share of the important facts that a summary must keep.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LeastKept {
    /// The share, from 0 to 1.
    pub share: f64,
    /// Whether a summary that keeps less is asked for once more, with what it lacks.
    pub retry: bool,
}

/// Facts that a summarizer is given.
const LISTED: usize = 40;

/// Facts that an error lists.
const NAMED: usize = 5;

impl LeastKept {
    /// What `summary` lacks of `messages`; `None` if it keeps enough.
    pub(super) fn lacks(&self, messages: &[Message<'_>], summary: &str) -> Option<Lacking> {
        let before = Side { messages, pairs: &Pairs::from_messages(messages), outside: &[] };
        let after = Side { messages: &[], pairs: &Pairs::from_messages(&[]), outside: &[summary.to_owned()] };
        let comparison = compare(&before, &after);
        let kept = comparison.all().kept()?;
        (kept < self.share).then_some(Lacking { comparison, required: self.share })
    }
}

/// A summary that keeps too little.
pub(super) struct Lacking {
    comparison: Comparison,
    required: f64,
}

impl Lacking {
    /// The facts that it lacks, most needed first, as `kind: words`.
    fn facts(&self, most: usize) -> Vec<String> {
        let losses = self.comparison.losses().into_iter().take(most);
        losses.map(|judged| format!("{}: {}", judged.fact.kind.name(), judged.fact.described())).collect()
    }

    /// The facts for a summarizer that is asked once more, one per line.
    pub(super) fn list(&self) -> String {
        format!("- {}", self.facts(LISTED).join("\n- "))
    }

    /// Why the summary is refused.
    pub(super) fn reason(&self) -> String {
        let share = self.comparison.all();
        let more = share.lost.saturating_sub(NAMED);
        let more = if more > 0 { format!("; and {more} more") } else { String::new() };
        let required = self.required * 100.0;
        format!(
            "the summary keeps {} of {} facts, less than the required {required:.0} %; it lacks {}{more}",
            share.kept,
            share.all(),
            self.facts(NAMED).join("; ")
        )
    }
}
