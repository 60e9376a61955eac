//! The newest interactions word for word, and summaries of what came before.

use std::ops::Range;
use std::sync::{Arc, OnceLock};

use super::closure::Leaving;
use super::interactions::{Counted, Interaction, interactions};
use super::telling::utterances;
use super::{Decision, Hear, Insert, Insertion, Plan, Processor, Reason, View, summary_block};
use crate::summarizers::rolling::{Memory, Range as Covered, Rolling, Span, Summary};
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
    pub heard: OnceLock<Hear>,
}

/// What a transcript is to a rolling memory.
#[derive(Debug, Clone)]
pub struct Outlook {
    /// The memory that the transcript brings along, or that it was given.
    pub memory: Memory,
    /// The number of the first interaction in the transcript.
    pub first: usize,
    /// The interactions in the transcript.
    pub interactions: Vec<Interaction>,
    /// The messages that carry summaries of ours.
    blocks: Vec<usize>,
}

impl Outlook {
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

    fn on_summary(&self, hear: &Hear) {
        // Whoever asked first is told.
        let _ = self.heard.set(Arc::clone(hear));
    }

    fn decide(&self, view: &View<'_, '_>) -> Result<Plan, String> {
        let mut outlook = self.outlook(view.messages, None);
        let due = self.due(&outlook);
        let fresh = self.summarize(view.messages, &outlook, &due)?;
        let seen = outlook.seen();
        outlook.memory.advance(self.rolling, seen, fresh);
        Ok(self.plan(view, &outlook))
    }
}

impl RollingSummary {
    /// What `messages` are to this memory. Without a memory and the number of the first interaction, the transcript's own
    /// block of summaries is asked, if it has one.
    #[must_use]
    pub fn outlook(&self, messages: &[Message<'_>], given: Option<(Memory, usize)>) -> Outlook {
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
        Outlook { memory, first: first.max(1), interactions, blocks }
    }

    /// What is to be summarized.
    #[must_use]
    pub fn due(&self, outlook: &Outlook) -> Vec<Span> {
        let mut due = outlook.memory.due(self.rolling, outlook.seen());
        // A window that was widened since reaches back to where the transcript begins.
        for span in &mut due {
            span.start = span.start.max(outlook.first);
        }
        due
    }

    /// What is told of the interactions `span`: all that came after what was told last, calls and results included.
    #[must_use]
    pub fn told<'m>(&self, messages: &'m [Message<'_>], outlook: &Outlook, span: Span) -> Vec<Utterance<'m>> {
        let Range { start, end } = self.covered(outlook, span);
        let mut told = utterances(messages, &Pairs::find(messages), start, end);
        told.retain(|said| !said.text.is_empty());
        told
    }

    fn covered(&self, outlook: &Outlook, span: Span) -> Range<usize> {
        let before = outlook.interaction(span.start - 1).filter(|_| self.rolling.due(span.start - 1).is_some());
        let start = before.map_or_else(
            || outlook.interaction(span.start).map_or(0, |interaction| interaction.start),
            |before| before.arrived,
        );
        start..outlook.interaction(span.end).map_or(start, |interaction| interaction.arrived)
    }

    /// The summaries of `due`, each made on a thread of its own: a model takes seconds for one.
    ///
    /// # Errors
    /// Why the first of them could not be made, and of what it was.
    pub fn summarize(&self, messages: &[Message<'_>], outlook: &Outlook, due: &[Span]) -> Result<Vec<Summary>, String> {
        let told: Vec<Vec<Utterance<'_>>> = due.iter().map(|span| self.told(messages, outlook, *span)).collect();
        let made: Vec<Result<String, String>> = std::thread::scope(|scope| {
            let makers: Vec<_> = told.iter().map(|told| scope.spawn(|| self.one(told))).collect();
            let panicked = || Err(String::from("the summarizer panicked"));
            makers.into_iter().map(|maker| maker.join().unwrap_or_else(|_| panicked())).collect()
        });
        let summary = |(span, text): (&Span, Result<String, String>)| {
            let Span { start, end } = *span;
            let text = text.map_err(|why| format!("cannot summarize messages {start} to {end}: {why}"))?;
            Ok(Summary { range: named(messages, outlook, *span), text, ts: None })
        };
        due.iter().zip(made).map(summary).collect()
    }

    fn one(&self, told: &[Utterance<'_>]) -> Result<String, String> {
        let count = |text: &str| self.tokenizer.count(text);
        let budget = Budget { tokens: self.tokens, count: &count };
        let made = self.summarizer.summarize(told, &budget).map_err(|failure| failure.to_string())?;
        if let Some(hear) = self.heard.get() {
            hear();
        }
        Ok(made)
    }

    /// What a model should get: instructions, summaries, the window.
    #[must_use]
    pub fn plan(&self, view: &View<'_, '_>, outlook: &Outlook) -> Plan {
        let messages = view.messages;
        let next = self.rolling.held(outlook.seen()).start;
        let begin = outlook.interaction(next).map_or(0, |interaction| interaction.start);
        // Instructions and summaries of before stand in front of the window, wherever the interaction begins.
        let front = |at: &usize| messages.get(*at).is_some_and(|m| m.role.instructs()) || outlook.is_block(*at);
        let start = begin + (begin..messages.len()).take_while(front).count();
        let pairs = Pairs::find(messages);
        let mut leaving = Leaving::none(view, &pairs);
        let window = self.rolling.window;
        let reason = Reason::Owned(format!("before the last {window} interactions"));
        for (at, message) in messages.iter().enumerate().take(start) {
            if !message.role.instructs() && !outlook.is_block(at) {
                leaving.drop_message(at, reason.clone());
            }
        }
        let mut plan = leaving.into_plan();
        if !outlook.memory.summaries.is_empty() {
            let text = summary_block::write(&outlook.memory, next.max(outlook.first));
            place(&mut plan, messages, outlook, start, text);
        }
        plan
    }
}

/// Puts the block of summaries before the window, in place of the ones that were there. One that stays as it is stays
/// where it is.
fn place(plan: &mut Plan, messages: &[Message<'_>], outlook: &Outlook, start: usize, text: String) {
    if let [at] = outlook.blocks[..]
        && *at_text(&messages[at]) == text
        && plan.is_identity()
    {
        return;
    }
    for &at in &outlook.blocks {
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
fn named(messages: &[Message<'_>], outlook: &Outlook, span: Span) -> Covered {
    let id = |at: Option<usize>| Some(messages.get(at?)?.id.as_ref()?.decode().into_owned());
    let said = |number| outlook.interaction(number).map(|interaction: &Interaction| &interaction.said);
    Covered {
        span,
        start_id: id(said(span.start).and_then(|said| said.first().copied())),
        end_id: id(said(span.end).and_then(|said| said.last().copied())),
    }
}
