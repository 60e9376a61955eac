//! The input of a summary: the messages that it covers, and the facts in front of it.

use std::ops::Range;

use super::utterances::utterances;
use super::{InteractionRange, RollingSummary, RollingView};
use crate::summarizers::{Budget, Speaker, Utterance, clip};
use curtail_core::transcript::{Message, Pairs};
use curtail_facts::Facts;

/// The input of one summary.
#[derive(Debug, Clone)]
pub struct SummaryInput<'m> {
    /// The interactions that it covers.
    pub span: InteractionRange,
    /// The messages that it covers, calls and results included.
    pub covered: Range<usize>,
    /// The facts up to the end of these interactions.
    pub facts: Facts,
    /// The facts as text; empty if there are none.
    pub head: String,
    /// The utterances to summarize, after the facts if there are any.
    pub utterances: Vec<Utterance<'m>>,
    /// The tokens that the summarizer may use besides the facts.
    pub tokens: usize,
}

impl SummaryInput<'_> {
    /// The facts, followed by `text`, which the summarizer made, within `budget`.
    pub(super) fn summary(&self, mut text: String, budget: &Budget<'_>) -> String {
        if self.head.is_empty() {
            return text;
        }
        let mut tokens = self.tokens;
        loop {
            let whole = if text.is_empty() { self.head.clone() } else { format!("{}\n{text}", self.head) };
            if text.is_empty() || budget.holds(&whole) {
                return whole;
            }
            // Two texts may have more tokens together than apart.
            tokens = tokens.saturating_sub(2);
            text = if tokens == 0 { String::new() } else { clip(&text, &Budget { tokens, ..*budget }) };
        }
    }
}

impl RollingSummary {
    /// The input of the summary of each of the ranges `due`.
    pub fn inputs<'m>(
        &self,
        messages: &'m [Message<'_>],
        rolling: &RollingView,
        due: &[InteractionRange],
    ) -> Vec<SummaryInput<'m>> {
        let count = |text: &str| self.tokenizer.count(text);
        let pairs = Pairs::from_messages(messages);
        let with_facts = due.iter().zip(self.facts(messages, &pairs, rolling, due));
        let inputs = with_facts.map(|(span, (facts, follows))| {
            let covered = covered(rolling, *span, follows);
            // The first summary leaves out the interaction that has just left the window.
            let is_goal_left_out =
                facts.goal.as_ref().and_then(|goal| goal.at.message).is_some_and(|at| at < covered.start);
            let head =
                facts.text(self.tokens * self.summarizer.facts_share() / 100, follows || is_goal_left_out, &count);
            let tokens = self.tokens.saturating_sub(if head.is_empty() { 0 } else { count(&head) + 1 });
            let mut utterances = utterances(messages, &pairs, covered.clone());
            utterances.retain(is_summarized);
            if !head.is_empty() {
                utterances.insert(0, Utterance::new(Speaker::Facts, head.clone()));
            }
            SummaryInput { span: *span, covered, facts, head, utterances, tokens }
        });
        inputs.collect()
    }

    /// The facts up to the end of each of the ranges `due`, and whether the range follows that of a summary. Messages are read up
    /// to the end of one summary after the other, even if some of these summaries are not made, so that the facts do not depend
    /// on how many messages arrived at once.
    fn facts(
        &self,
        messages: &[Message<'_>],
        pairs: &Pairs,
        rolling: &RollingView,
        due: &[InteractionRange],
    ) -> Vec<(Facts, bool)> {
        let arrived = |number| rolling.interaction(number).map_or(0, |interaction| interaction.arrived);
        let known = rolling.memory.summaries.last();
        let (mut facts, seen) =
            known.map_or_else(Default::default, |summary| (summary.facts.clone(), summary.range.span.end));
        let mut start = arrived(seen);
        facts.messages = facts.messages.max(start);
        let mut found = Vec::new();
        for (nth, number) in self.ends(rolling, seen).into_iter().enumerate() {
            let end = arrived(number).max(start);
            facts.read_range(messages, pairs, start..end);
            start = end;
            if due.iter().any(|span| span.end == number) {
                found.push((facts.clone(), known.is_some() || nth > 0));
            }
        }
        found
    }

    /// The facts and the utterances of all `messages`.
    pub fn whole<'m>(&self, messages: &'m [Message<'_>]) -> (Facts, Vec<Utterance<'m>>) {
        let pairs = Pairs::from_messages(messages);
        let mut facts = Facts::default();
        facts.read_range(messages, &pairs, 0..messages.len());
        let mut spoken = utterances(messages, &pairs, 0..messages.len());
        spoken.retain(is_summarized);
        (facts, spoken)
    }
}

/// The indices of the messages to summarize for the interactions `span`, calls and results included: if it `follows` the range of
/// a summary, everything after that range.
fn covered(rolling: &RollingView, span: InteractionRange, follows: bool) -> Range<usize> {
    let before = rolling.interaction(span.start - 1).filter(|_| follows);
    let start = before.map_or_else(
        || rolling.interaction(span.start).map_or(0, |interaction| interaction.start),
        |before| before.arrived,
    );
    start..rolling.interaction(span.end).map_or(start, |interaction| interaction.arrived)
}

/// Whether an utterance is passed to the summarizer: it has text, or it is a result, which may be empty.
fn is_summarized(utterance: &Utterance<'_>) -> bool {
    !utterance.text.is_empty() || matches!(utterance.speaker, Speaker::Tool(_))
}
