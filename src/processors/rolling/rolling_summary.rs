//! The newest interactions word for word, and summaries of what came before.

use std::ops::Range;
use std::sync::{Arc, OnceLock};

use super::super::planning::DropSet;
use super::super::{Decision, Insert, Insertion, OnSummary, Plan, Processor, Reason, View};
use super::interactions::{Counted, Interaction, interactions};
use super::schedule::{InteractionRange, Rolling, RollingState, Summary, SummaryRange};
use super::summary_block;
use super::utterances::utterances;
use crate::summarizers::{Budget, Summarizer, Utterance};
use crate::tokenizers::Tokenizer;
use crate::transcript::{Draft, Message, Pairs, Role};

/// Keeps a rolling memory of the transcript: a window of interactions, a message with the summaries before it, and what
/// gives instructions.
///
/// The message with the summaries is known again: a transcript that this wrote, with new messages after it, goes on where it
/// was left.
#[derive(Clone)]
pub struct RollingSummary {
    /// How many interactions are held, and how many summaries kept.
    pub rolling: Rolling,
    /// What counts as an interaction.
    pub counted: Counted,
    /// Who makes the summaries.
    pub summarizer: Arc<dyn Summarizer>,
    /// The most tokens of one summary.
    pub tokens: usize,
    /// Counts them.
    pub tokenizer: Arc<dyn Tokenizer>,
    /// Is called for every summary that was made.
    pub on_summary: OnceLock<OnSummary>,
}

/// What a transcript is to a rolling memory.
#[derive(Debug, Clone)]
pub struct RollingView {
    /// The memory that the transcript brings along, or that it was given.
    pub memory: RollingState,
    /// The number of the first interaction in the transcript.
    pub first: usize,
    /// The interactions in the transcript.
    pub interactions: Vec<Interaction>,
    /// The messages that carry summaries of ours.
    blocks: Vec<usize>,
}

impl RollingView {
    /// How many interactions there were in all.
    #[must_use]
    pub const fn seen(&self) -> usize {
        self.first - 1 + self.interactions.len()
    }

    /// Whether the message with this index carries summaries of ours.
    #[must_use]
    pub fn is_block(&self, message: usize) -> bool {
        self.blocks.contains(&message)
    }

    /// The interaction with this number.
    #[must_use]
    pub fn interaction(&self, number: usize) -> Option<&Interaction> {
        self.interactions.get(number.checked_sub(self.first)?)
    }
}

impl Processor for RollingSummary {
    fn name(&self) -> &'static str {
        "summarize"
    }

    fn on_summary(&self, on_summary: &OnSummary) {
        // Whoever asked first is told.
        let _ = self.on_summary.set(Arc::clone(on_summary));
    }

    fn decide(&self, view: &View<'_, '_>) -> Result<Plan, String> {
        let mut rolling = self.rolling_view(view.messages, None);
        let due = self.due(&rolling);
        let fresh = self.summarize(view.messages, &rolling, &due)?;
        let seen = rolling.seen();
        rolling.memory.advance(self.rolling, seen, fresh);
        Ok(self.plan(view, &rolling))
    }
}

impl RollingSummary {
    /// What `messages` are to this memory. Without a memory and the number of the first interaction, the transcript's own
    /// block of summaries is asked, if it has one.
    #[must_use]
    pub fn rolling_view(&self, messages: &[Message<'_>], given: Option<(RollingState, usize)>) -> RollingView {
        let mut found = None;
        let mut blocks = Vec::new();
        for (at, message) in messages.iter().enumerate() {
            if let Some(state) = summary_block::read(message) {
                found = Some(state);
                blocks.push(at);
            }
        }
        let (mut memory, first) = given.or(found).unwrap_or_default();
        // No summary can be due between the newest one that was made and what was seen then.
        let told = memory.summaries.last().map_or(0, |summary| summary.range.span.end);
        memory.seen = memory.seen.max(told);
        let interactions = interactions(messages, self.counted, &|at| blocks.contains(&at));
        RollingView { memory, first: first.max(1), interactions, blocks }
    }

    /// What is to be summarized.
    #[must_use]
    pub fn due(&self, rolling: &RollingView) -> Vec<InteractionRange> {
        let mut due = rolling.memory.due(self.rolling, rolling.seen());
        // A window that was widened since reaches back to where the transcript begins.
        for span in &mut due {
            span.start = span.start.max(rolling.first);
        }
        due
    }

    /// What is told of the interactions `span`: all that came after what was told last, calls and results included.
    #[must_use]
    pub fn told<'m>(
        &self,
        messages: &'m [Message<'_>],
        rolling: &RollingView,
        span: InteractionRange,
    ) -> Vec<Utterance<'m>> {
        let Range { start, end } = self.covered(rolling, span);
        let mut told = utterances(messages, &Pairs::find(messages), start, end);
        told.retain(|said| !said.text.is_empty());
        told
    }

    fn covered(&self, rolling: &RollingView, span: InteractionRange) -> Range<usize> {
        let before = rolling.interaction(span.start - 1).filter(|_| self.rolling.due(span.start - 1).is_some());
        let start = before.map_or_else(
            || rolling.interaction(span.start).map_or(0, |interaction| interaction.start),
            |before| before.arrived,
        );
        start..rolling.interaction(span.end).map_or(start, |interaction| interaction.arrived)
    }

    /// The summaries of `due`, each made on a thread of its own: a model takes seconds for one.
    ///
    /// # Errors
    /// Why the first of them could not be made, and of what it was.
    pub fn summarize(
        &self,
        messages: &[Message<'_>],
        rolling: &RollingView,
        due: &[InteractionRange],
    ) -> Result<Vec<Summary>, String> {
        let told: Vec<Vec<Utterance<'_>>> = due.iter().map(|span| self.told(messages, rolling, *span)).collect();
        let made: Vec<Result<String, String>> = std::thread::scope(|scope| {
            let makers: Vec<_> = told.iter().map(|told| scope.spawn(|| self.one(told))).collect();
            let panicked = || Err(String::from("the summarizer panicked"));
            makers.into_iter().map(|maker| maker.join().unwrap_or_else(|_| panicked())).collect()
        });
        let summary = |(span, text): (&InteractionRange, Result<String, String>)| {
            let InteractionRange { start, end } = *span;
            let text = text.map_err(|why| format!("cannot summarize messages {start} to {end}: {why}"))?;
            Ok(Summary { range: named(messages, rolling, *span), text, ts: None })
        };
        due.iter().zip(made).map(summary).collect()
    }

    fn one(&self, told: &[Utterance<'_>]) -> Result<String, String> {
        let count = |text: &str| self.tokenizer.count(text);
        let budget = Budget { tokens: self.tokens, count: &count };
        let made = self.summarizer.summarize(told, &budget).map_err(|failure| failure.to_string())?;
        if let Some(on_summary) = self.on_summary.get() {
            on_summary();
        }
        Ok(made)
    }

    /// What a model should get: instructions, summaries, the window.
    #[must_use]
    pub fn plan(&self, view: &View<'_, '_>, rolling: &RollingView) -> Plan {
        let messages = view.messages;
        let next = self.rolling.held(rolling.seen()).start;
        let begin = rolling.interaction(next).map_or(0, |interaction| interaction.start);
        // Instructions and summaries of before stand in front of the window, wherever the interaction begins.
        let front = |at: &usize| messages.get(*at).is_some_and(|m| m.role.instructs()) || rolling.is_block(*at);
        let start = begin + (begin..messages.len()).take_while(front).count();
        let pairs = Pairs::find(messages);
        let mut drops = DropSet::none(view, &pairs);
        let window = self.rolling.window;
        let reason = Reason::Owned(format!("before the last {window} interactions"));
        for (at, message) in messages.iter().enumerate().take(start) {
            if !message.role.instructs() && !rolling.is_block(at) {
                drops.drop_message(at, reason.clone());
            }
        }
        let mut plan = drops.into_plan();
        if !rolling.memory.summaries.is_empty() {
            let text = summary_block::write(&rolling.memory, next.max(rolling.first));
            place(&mut plan, messages, rolling, start, text);
        }
        plan
    }
}

/// Puts the block of summaries before the window, in place of the ones that were there. One that stays as it is stays
/// where it is.
fn place(plan: &mut Plan, messages: &[Message<'_>], rolling: &RollingView, start: usize, text: String) {
    if let [at] = rolling.blocks[..]
        && *at_text(&messages[at]) == text
        && plan.is_identity()
    {
        return;
    }
    for &at in &rolling.blocks {
        plan.decisions[at] = Decision::Drop(Reason::Borrowed("newer summaries stand in its place"));
    }
    let reason = Reason::Borrowed("summaries of what came before");
    let what = Insertion::Draft(Draft::text(Role::System, text));
    plan.inserts.push(Insert { before: start, what, reason });
}

fn at_text(message: &Message<'_>) -> String {
    let texts = message.parts.iter().filter_map(|part| match &part.content {
        crate::transcript::Content::Text(text) => Some(text.decode()),
        _ => None,
    });
    texts.collect()
}

/// `span` with the ids of its first message and of the last one that speaks.
fn named(messages: &[Message<'_>], rolling: &RollingView, span: InteractionRange) -> SummaryRange {
    let id = |at: Option<usize>| Some(messages.get(at?)?.id.as_ref()?.decode().into_owned());
    let said = |number| rolling.interaction(number).map(|interaction: &Interaction| &interaction.said);
    SummaryRange {
        span,
        start_id: id(said(span.start).and_then(|said| said.first().copied())),
        end_id: id(said(span.end).and_then(|said| said.last().copied())),
    }
}
