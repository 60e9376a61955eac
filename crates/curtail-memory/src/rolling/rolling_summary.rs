//! The processor of a rolling memory: decides which messages are kept, what is summarized, and where the summaries are written.

use std::sync::Arc;

use thiserror::Error;

use super::block::{find_block, write_block};
use super::input::SummaryInput;
use super::interactions::{Counted, Interaction, interactions};
use super::placing::place_block;
use super::{InteractionRange, LeastKept, Rolling, RollingView, StateSoFar, Summary, SummaryRange};
use crate::summarizers::{Budget, Extractive, Failure, RememberedSummaries, Speaker, Summarizer, Utterance};
use curtail_core::counting::Tokenizer;
use curtail_core::digest::fnv1a_64;
use curtail_core::processors::{Asked, DropSet, OnSummary, Plan, Processor, ProcessorError, Reason, Traits, View};
use curtail_core::transcript::{Message, Pairs, PartRef, Role, Standing, behind_boundary, own_blocks};
use curtail_facts::Facts;

/// Keeps a rolling memory of the transcript: system messages, one message with summaries, and a window of interactions.
///
/// The message with the summaries is recognized in later runs: a summarized transcript with new messages appended continues
/// where it stopped.
///
/// ```
/// use std::sync::Arc;
///
/// use curtail_memory::rolling::{Rolling, RollingSummary};
/// use curtail_memory::summarizers::Extractive;
/// use curtail_tokens::tokenizers;
///
/// let tokenizer = tokenizers::tokenizer_by_name("o200k_base")?;
/// let summary = RollingSummary { tokens: 200, ..RollingSummary::new(Arc::new(Extractive), tokenizer) };
/// assert_eq!(summary.rolling, Rolling::default());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct RollingSummary {
    /// Numbers of interactions and summaries to keep.
    pub rolling: Rolling,
    /// What one interaction is.
    pub counted: Counted,
    /// Number of tokens in the window past which a summary is made even if the window is not full; `None` for no such limit.
    pub trigger: Option<usize>,
    /// Makes the summaries.
    pub summarizer: Arc<dyn Summarizer>,
    /// The largest summary in tokens; 400 by default.
    pub tokens: usize,
    /// Counts the tokens of a summary.
    pub tokenizer: Arc<dyn Tokenizer>,
    /// The role of the message with the summaries; the user by default, because summaries repeat text of users and tools.
    pub role: Role,
    /// What a summary must keep of the messages that it covers; `None` to accept every summary.
    pub least_kept: Option<LeastKept>,
    /// The state before the messages that it sees, which continue a conversation that has begun; `None` if the state is in the
    /// summaries in the transcript.
    pub given: Option<StateSoFar>,
}

impl Processor for RollingSummary {
    fn name(&self) -> &'static str {
        "summarize"
    }

    fn traits(&self) -> Traits {
        Traits {
            at_once: self.summarizer.concurrency(),
            sends: self.summarizer.name() != Extractive.name(),
            writes: true,
            drops_first: Standing::TAKEN_BACK,
            ..Traits::default()
        }
    }

    /// Makes no summary, unless it continues from a state: then it also drops what the summaries of that state cover.
    fn would_change(&self, view: &View<'_, '_>) -> Result<bool, ProcessorError> {
        match self.given {
            Some(_) => Ok(!self.decide(view)?.is_identity()),
            None => Ok(!self.due(&self.own_view(view.messages)).is_empty()),
        }
    }

    fn decide(&self, view: &View<'_, '_>) -> Result<Plan, ProcessorError> {
        let mut rolling = self.own_view(view.messages);
        let due = self.due(&rolling);
        let fresh = self.summarize(view.messages, &rolling, &due, view.on_summary)?;
        let seen = rolling.seen();
        rolling.memory.advance(self.rolling, seen, fresh);
        Ok(self.plan(view, &rolling))
    }
}

impl RollingSummary {
    /// Makes summaries of up to 400 tokens, with the default window.
    pub fn new(summarizer: Arc<dyn Summarizer>, tokenizer: Arc<dyn Tokenizer>) -> Self {
        Self {
            rolling: Rolling::default(),
            counted: Counted::default(),
            trigger: None,
            summarizer,
            tokens: 400,
            tokenizer,
            role: Role::User,
            least_kept: None,
            given: None,
        }
    }

    /// The same memory for a caller that applies it again and again: it makes each summary once.
    #[must_use]
    pub fn remembering(&self) -> Self {
        let summarizer = Arc::new(RememberedSummaries::new(Arc::clone(&self.summarizer)));
        Self { summarizer, ..self.clone() }
    }

    /// A memory that decides about `view` and what is appended to it as this one does, and needs to see only instructions and the
    /// messages from the returned index on. It drops all others: it continues from an interaction before the window, and summaries
    /// cover everything before that interaction. `is_joint` says where no pair is open, now or later. `None` if a result could
    /// still arrive for a call that a summary has read, or if the messages contain blocks of this program.
    pub fn resumed(&self, view: &View<'_, '_>, is_joint: impl Fn(usize) -> bool) -> Option<(Self, usize)> {
        if self.trigger.is_some() || view.messages.iter().any(|message| own_blocks(message) > 0) {
            return None;
        }
        let mut rolling = self.own_view(view.messages);
        let due = self.due(&rolling);
        let is_closed = |number| rolling.interaction(number).is_some_and(|interaction| is_joint(interaction.arrived));
        if !rolling.blocks.is_empty() || !due.iter().all(|span| is_closed(span.end)) {
            return None;
        }
        let begins =
            |number: &usize| rolling.interaction(*number).is_some_and(|interaction| is_joint(interaction.start));
        let first = (rolling.first + 1..self.held(&rolling).start).rev().find(begins)?;
        let index = rolling.interaction(first)?.start;
        let fresh = self.summarize(view.messages, &rolling, &due, None).ok()?;
        rolling.memory.advance(self.rolling, rolling.seen(), fresh);
        let is_covered = rolling.memory.summarized() >= first;
        let given = Some(StateSoFar { state: rolling.memory, next: first });
        is_covered.then(|| (Self { given, ..self.clone() }, index))
    }

    /// The interactions of `messages`, and the state: what is given, or what the transcript contains.
    fn own_view(&self, messages: &[Message<'_>]) -> RollingView {
        self.view_of(messages, self.given.clone(), self.given.is_some())
    }

    /// The interactions of `messages`, and the state. `given` is the state and the number of the first interaction; without
    /// it, both come from the summaries in the transcript, if it has any.
    pub fn rolling_view(&self, messages: &[Message<'_>], given: Option<StateSoFar>) -> RollingView {
        self.view_of(messages, given, false)
    }

    /// `has_begun` says whether messages with text precede `messages`. Blocks are recognized only before the first such
    /// message.
    fn view_of(&self, messages: &[Message<'_>], given: Option<StateSoFar>, mut has_begun: bool) -> RollingView {
        let mut found = None;
        let mut blocks = Vec::new();
        let mut context = Vec::new();
        // These stay before the block of summaries.
        let awaiting = Pairs::from_messages(messages).awaiting_messages(messages);
        for (at, message) in messages.iter().enumerate() {
            has_begun &= !message.is_boundary() && !message.is_in_compaction();
            if has_begun {
                continue;
            }
            let block = find_block(message);
            let count = own_blocks(message).max(usize::from(message.role.instructs() && block.is_some()));
            if let Some(block) = block {
                blocks.push(PartRef { message: at, part: block.part });
                found = Some(block.state);
            }
            if count > 0 && count == message.parts.len() {
                context.push(at);
            } else if message.counts_in(0) && !message.role.instructs() && !awaiting.contains(&at) {
                // A boundary replaces everything before it, so blocks may follow it.
                has_begun = !message.is_boundary() && !message.is_in_compaction();
            }
        }
        let StateSoFar { state: mut memory, next: first } = given.or(found).unwrap_or_default();
        // Interactions that a summary covers have been seen, even if the state does not say so.
        memory.seen = memory.seen.max(memory.summarized());
        // A transcript contains the texts of its summaries, but not its facts.
        if let Some(newest) = memory.summaries.last_mut().filter(|summary| summary.facts.is_empty()) {
            newest.facts = Facts::from_text(&newest.text);
        }
        let is_over = |at: usize| messages[at].is_boundary() || messages[at].standing.is_rolled_back();
        let stays = |at: usize| context.contains(&at) || is_over(at) || awaiting.contains(&at);
        let interactions = interactions(messages, self.counted, &stays);
        let kept: Vec<usize> = context.iter().copied().chain(awaiting).collect();
        let sizes = self.sizes(messages, &interactions, &kept);
        RollingView { memory, first: first.max(1), interactions, blocks, context, sizes }
    }

    /// Summarizes the ranges `due`. If a model makes the summaries, which takes seconds, each is made on a thread of its own.
    /// `on_summary` is called after each summary.
    ///
    /// # Errors
    /// [`SummaryFailure`] for the first range that could not be summarized.
    pub fn summarize(
        &self,
        messages: &[Message<'_>],
        rolling: &RollingView,
        due: &[InteractionRange],
        on_summary: Option<&OnSummary>,
    ) -> Result<Vec<Summary>, ProcessorError> {
        if due.is_empty() {
            return Ok(Vec::new());
        }
        let inputs = self.inputs(messages, rolling, due);
        let make = |input: &SummaryInput<'_>| {
            let covered = covered(messages, rolling, input.span);
            self.summarize_one(input, covered, on_summary).map_err(Some)
        };
        let texts: Vec<Result<String, Option<Failure>>> = if self.is_local(&inputs[0]) {
            inputs.iter().map(make).collect()
        } else {
            std::thread::scope(|scope| {
                let threads: Vec<_> = inputs.iter().map(|input| scope.spawn(|| make(input))).collect();
                threads.into_iter().map(|thread| thread.join().unwrap_or(Err(None))).collect()
            })
        };
        let summary = |(input, text): (SummaryInput<'_>, Result<String, Option<Failure>>)| {
            let first = input.span.start;
            let last = input.span.end;
            let text = text.map_err(|cause| ProcessorError::Other(Box::new(SummaryFailure { first, last, cause })))?;
            Ok(Summary { range: range_with_ids(messages, rolling, input.span), text, facts: input.facts, ts: None })
        };
        inputs.into_iter().zip(texts).map(summary).collect()
    }

    /// Whether summaries are made within this process, which is fast.
    fn is_local(&self, input: &SummaryInput<'_>) -> bool {
        let count = |text: &str| self.tokenizer.count(text);
        self.summarizer.request(&input.utterances, &Budget { tokens: input.tokens, count: &count }).is_none()
    }

    /// The summary of `input`, which covers the messages of `covered`.
    fn summarize_one(
        &self,
        input: &SummaryInput<'_>,
        covered: &[Message<'_>],
        on_summary: Option<&OnSummary>,
    ) -> Result<String, Failure> {
        let text = self.ask(input, &input.utterances, on_summary)?;
        let Some((least, lacking)) = self.least_kept.and_then(|least| Some((least, least.lacks(covered, &text)?)))
        else {
            return Ok(text);
        };
        if !least.retry {
            return Err(Failure::Other(lacking.reason()));
        }
        let mut utterances = input.utterances.clone();
        utterances.push(Utterance::new(Speaker::User, lacking.request()));
        let text = self.ask(input, &utterances, on_summary)?;
        least.lacks(covered, &text).map_or(Ok(text), |lacking| Err(Failure::Other(lacking.reason())))
    }

    fn ask(
        &self,
        input: &SummaryInput<'_>,
        utterances: &[Utterance<'_>],
        on_summary: Option<&OnSummary>,
    ) -> Result<String, Failure> {
        let count = |text: &str| self.tokenizer.count(text);
        let budget = Budget { tokens: input.tokens, count: &count };
        let text = self.summarizer.summarize(utterances, &budget)?;
        if let Some(observer) = on_summary {
            let request = self.summarizer.request(utterances, &budget);
            observer.call(request.map(|request| Asked {
                digest: fnv1a_64(request.to.bytes().chain(request.body.bytes())),
                tokens: self.tokenizer.count(&request.body),
            }));
        }
        Ok(input.summary(text, &Budget { tokens: self.tokens, count: &count }))
    }

    /// The plan that keeps what a model should read: system messages, summaries and the window.
    pub fn plan(&self, view: &View<'_, '_>, rolling: &RollingView) -> Plan {
        let messages = view.messages;
        let next = self.held(rolling).start;
        let begin = rolling.interaction(next).map_or(0, |interaction| interaction.start);
        // The summaries are written after any system messages, earlier summaries and boundaries with which the first
        // interaction begins, and after the last boundary, because a model does not read what is before it.
        let is_front =
            |at: &usize| messages[*at].role.instructs() || messages[*at].is_boundary() || rolling.is_block(*at);
        let start = begin + (begin..messages.len()).take_while(is_front).count();
        let start = start.max(behind_boundary(messages));
        let pairs = Pairs::from_messages(messages);
        let mut drops = DropSet::none(view, &pairs);
        let window = self.held(rolling).len().max(1);
        let window = if self.trigger.is_some() { window } else { self.rolling.window.get() };
        let reason = match window {
            1 => Reason::Borrowed("before the last interaction"),
            _ => Reason::Owned(format!("before the last {window} interactions")),
        };
        for (at, message) in messages.iter().enumerate().take(begin) {
            if !message.role.instructs() && !rolling.is_block(at) {
                drops.drop_but_instructions(at, &reason);
            }
        }
        let mut plan = drops.into_plan();
        if !rolling.memory.summaries.is_empty() {
            let text = write_block(&rolling.memory, next.max(rolling.first));
            place_block(&mut plan, view, rolling, start, self.role, text);
        }
        plan
    }
}

/// The messages that the interactions of `span` consist of.
fn covered<'m, 'a>(messages: &'m [Message<'a>], rolling: &RollingView, span: InteractionRange) -> &'m [Message<'a>] {
    let start = rolling.interaction(span.start).map_or(0, |interaction| interaction.start);
    let end = rolling.interaction(span.end + 1).map_or(messages.len(), |interaction| interaction.start);
    messages.get(start..end).unwrap_or_default()
}

/// `span` with the ids of its first and its last message with text.
fn range_with_ids(messages: &[Message<'_>], rolling: &RollingView, span: InteractionRange) -> SummaryRange {
    let id = |at: Option<usize>| Some(messages.get(at?)?.id.as_ref()?.decode().into_owned());
    let utterances = |number| rolling.interaction(number).map(|interaction: &Interaction| &interaction.utterances);
    SummaryRange {
        span,
        start_id: id(utterances(span.start).and_then(|utterances| utterances.first().copied())),
        end_id: id(utterances(span.end).and_then(|utterances| utterances.last().copied())),
    }
}

/// A summary could not be made.
#[derive(Debug, Error)]
#[error("cannot summarize interactions {first} to {last}: {}", match cause {
    Some(cause) => cause.to_string(),
    None => String::from("the summarizer panicked"),
})]
pub struct SummaryFailure {
    /// Number of the first interaction to summarize, from 1.
    pub first: usize,
    /// Number of the last one.
    pub last: usize,
    /// Why; `None` if the summarizer panicked.
    pub cause: Option<Failure>,
}
