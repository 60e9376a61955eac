//! The processor: decides which messages are held, and where the summaries are written.

use std::fmt;
use std::sync::Arc;

use super::inputs::SummaryInput;
use super::interactions::{Counted, Interaction, interactions};
use super::placing::place_block;
use super::schedule::{InteractionRange, Rolling, RollingState, Summary, SummaryRange};
use super::summary_block::{find_block, write_block};
use crate::ledger::Ledger;
use crate::summarizers::{Budget, Extractive, Failure, RememberedSummaries, Summarizer};
use curtail_core::counting::Tokenizer;
use curtail_core::digest::fnv1a_64;
use curtail_core::processors::{
    Asked, DropSet, Growth, OnSummary, Plan, Processor, ProcessorError, Reason, Traits, View,
};
use curtail_core::transcript::{Message, Pairs, PartRef, Role, Standing, behind_boundary, own_blocks};

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
    /// Number of tokens in the window past which a summary is made although the window holds fewer interactions.
    pub trigger: Option<usize>,
    /// Makes the summaries.
    pub summarizer: Arc<dyn Summarizer>,
    /// The largest summary in tokens; 400 by default.
    pub tokens: usize,
    /// Counts the tokens of a summary.
    pub tokenizer: Arc<dyn Tokenizer>,
    /// The role of the message with the summaries: the user by default, because summaries repeat what users and tools said.
    pub role: Role,
}

/// A transcript as a rolling memory sees it.
#[derive(Debug, Clone)]
pub struct RollingView {
    /// The state in the transcript, or the given one.
    pub memory: RollingState,
    /// The number of the first interaction in the transcript.
    pub first: usize,
    /// The interactions in the transcript.
    pub interactions: Vec<Interaction>,
    /// The earlier summaries.
    pub(super) blocks: Vec<PartRef>,
    /// The messages that contain nothing but blocks of this program.
    pub(super) context: Vec<usize>,
    /// The tokens of each interaction, where a number of them triggers summaries.
    pub(super) sizes: Vec<usize>,
}

impl RollingView {
    /// Number of interactions in all.
    #[must_use]
    pub const fn seen(&self) -> usize {
        self.first - 1 + self.interactions.len()
    }

    /// Whether the message with this index contains nothing but earlier summaries, or memory.
    #[must_use]
    pub fn is_block(&self, message: usize) -> bool {
        self.context.contains(&message)
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

    fn traits(&self) -> Traits {
        Traits {
            at_once: self.summarizer.concurrency(),
            sends: self.summarizer.name() != Extractive.name(),
            writes: true,
            drops_first: &[Standing::RolledBack, Standing::Abandoned],
            growth: Growth { keeps_silence: true, ..Growth::default() },
            ..Traits::default()
        }
    }

    fn remembering(&self) -> Option<Arc<dyn Processor>> {
        let summarizer = Arc::new(RememberedSummaries::new(Arc::clone(&self.summarizer)));
        Some(Arc::new(Self { summarizer, ..self.clone() }))
    }

    /// No summary is made to find this out.
    fn would_change(&self, view: &View<'_, '_>) -> Result<bool, ProcessorError> {
        Ok(!self.due(&self.rolling_view(view.messages, None)).is_empty())
    }

    fn resumed(&self, view: &View<'_, '_>, is_joint: &dyn Fn(usize) -> bool) -> Option<(Arc<dyn Processor>, usize)> {
        self.resumed_from(view, None, is_joint)
    }

    fn decide(&self, view: &View<'_, '_>) -> Result<Plan, ProcessorError> {
        self.decide_from(view, None)
    }
}

impl RollingSummary {
    /// Makes summaries of up to 400 tokens, with the default window.
    #[must_use]
    pub fn new(summarizer: Arc<dyn Summarizer>, tokenizer: Arc<dyn Tokenizer>) -> Self {
        Self {
            rolling: Rolling::default(),
            counted: Counted::default(),
            trigger: None,
            summarizer,
            tokens: 400,
            tokenizer,
            role: Role::User,
        }
    }

    /// Decides about `view`; `given` as in [`view_behind`](Self::view_behind).
    pub(super) fn decide_from(
        &self,
        view: &View<'_, '_>,
        given: Option<(RollingState, usize)>,
    ) -> Result<Plan, ProcessorError> {
        let mut rolling = self.view_behind(view.messages, given);
        let due = self.due(&rolling);
        let fresh = self.summarize(view.messages, &rolling, &due, view.on_summary)?;
        let seen = rolling.seen();
        rolling.memory.advance(self.rolling, seen, fresh);
        Ok(self.plan(view, &rolling))
    }

    /// As [`rolling_view`](Self::rolling_view); with a state, somebody spoke before `messages`.
    pub(super) fn view_behind(&self, messages: &[Message<'_>], given: Option<(RollingState, usize)>) -> RollingView {
        let spoken = given.is_some();
        self.view_of(messages, given, spoken)
    }

    /// The interactions of `messages`, and the state. `given` is the state and the number of the first interaction; without
    /// it, both come from the summaries in the transcript, if it has any.
    #[must_use]
    pub fn rolling_view(&self, messages: &[Message<'_>], given: Option<(RollingState, usize)>) -> RollingView {
        self.view_of(messages, given, false)
    }

    fn view_of(&self, messages: &[Message<'_>], given: Option<(RollingState, usize)>, mut spoken: bool) -> RollingView {
        let mut found = None;
        let (mut blocks, mut context) = (Vec::new(), Vec::new());
        for (at, message) in messages.iter().enumerate() {
            spoken &= !message.boundary && !message.replacing;
            if spoken {
                continue;
            }
            let block = find_block(message);
            let own = own_blocks(message).max(usize::from(message.role.instructs() && block.is_some()));
            if let Some((part, state, next)) = block {
                found = Some((state, next));
                blocks.push(PartRef { message: at, part });
            }
            if own > 0 && own == message.parts.len() {
                context.push(at);
            } else if message.thread == 0 && !message.role.instructs() {
                // A boundary stands for all that was said before it.
                spoken = !message.boundary && !message.replacing;
            }
        }
        let (mut memory, first) = given.or(found).unwrap_or_default();
        // Interactions that a summary covers have been seen, even if the state does not say so.
        let summarized = memory.summaries.last().map_or(0, |summary| summary.range.span.end);
        memory.seen = memory.seen.max(summarized);
        // A transcript contains only the texts of its summaries.
        if let Some(newest) = memory.summaries.last_mut().filter(|summary| summary.ledger.is_empty()) {
            newest.ledger = Ledger::from_text(&newest.text);
        }
        let interactions = interactions(messages, self.counted, &|at| context.contains(&at) || messages[at].boundary);
        let sizes = self.sizes(messages, &interactions, &context);
        RollingView { memory, first: first.max(1), interactions, blocks, context, sizes }
    }

    /// Summarizes the ranges `due`, each on a thread of its own if a model makes the summaries, which takes seconds each.
    /// `on_summary` is called after each.
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
        let make = |input: &SummaryInput<'_>| self.summarize_one(input, on_summary).map_err(Some);
        let made: Vec<Result<String, Option<Failure>>> = if self.is_fast(&inputs[0]) {
            inputs.iter().map(make).collect()
        } else {
            std::thread::scope(|scope| {
                let makers: Vec<_> = inputs.iter().map(|input| scope.spawn(|| make(input))).collect();
                makers.into_iter().map(|maker| maker.join().unwrap_or(Err(None))).collect()
            })
        };
        let summary = |(input, made): (SummaryInput<'_>, Result<String, Option<Failure>>)| {
            let (first, last) = (input.span.start, input.span.end);
            let text = made.map_err(|cause| ProcessorError::Other(Box::new(SummaryFailure { first, last, cause })))?;
            Ok(Summary { range: named(messages, rolling, input.span), text, ledger: input.ledger, ts: None })
        };
        inputs.into_iter().zip(made).map(summary).collect()
    }

    /// Whether summaries are made in this process.
    fn is_fast(&self, input: &SummaryInput<'_>) -> bool {
        let count = |text: &str| self.tokenizer.count(text);
        self.summarizer.request(&input.utterances, &Budget { tokens: input.tokens, count: &count }).is_none()
    }

    fn summarize_one(&self, input: &SummaryInput<'_>, on_summary: Option<&OnSummary>) -> Result<String, Failure> {
        let count = |text: &str| self.tokenizer.count(text);
        let budget = Budget { tokens: input.tokens, count: &count };
        let made = self.summarizer.summarize(&input.utterances, &budget)?;
        if let Some(observer) = on_summary {
            let asked = self.summarizer.request(&input.utterances, &budget);
            observer.call(asked.map(|request| Asked {
                digest: fnv1a_64(request.to.bytes().chain(request.body.bytes())),
                tokens: self.tokenizer.count(&request.body),
            }));
        }
        Ok(input.summary(made, &Budget { tokens: self.tokens, count: &count }))
    }

    /// The plan that keeps what a model should read: system messages, summaries and the window.
    #[must_use]
    pub fn plan(&self, view: &View<'_, '_>, rolling: &RollingView) -> Plan {
        let messages = view.messages;
        let next = self.held(rolling).start;
        let begin = rolling.interaction(next).map_or(0, |interaction| interaction.start);
        // System messages, earlier summaries and boundaries are kept in front of the window, wherever the interaction begins. A
        // model does not read what is before a boundary.
        let instructs = |at: usize| messages[at].role.instructs() || messages[at].boundary;
        let front = |at: &usize| instructs(*at) || rolling.is_block(*at);
        let start = begin + (begin..messages.len()).take_while(front).count();
        let start = start.max(behind_boundary(messages));
        let pairs = Pairs::from_messages(messages);
        let mut drops = DropSet::none(view, &pairs);
        let window = self.held(rolling).len().max(1);
        let window = if self.trigger.is_some() { window } else { self.rolling.window.get() };
        let reason = Reason::Owned(format!("before the last {window} interactions"));
        for (at, message) in messages.iter().enumerate().take(begin) {
            if !message.role.instructs() && !rolling.is_block(at) {
                drops.drop_but_instructions(at, &reason);
            }
        }
        let mut plan = drops.into_plan();
        if !rolling.memory.summaries.is_empty() {
            let text = write_block(&rolling.memory, next.max(rolling.first));
            place_block(&mut plan, view, rolling, start, (self.role, text));
        }
        plan
    }
}

/// `span` with the ids of its first and its last speaking message.
fn named(messages: &[Message<'_>], rolling: &RollingView, span: InteractionRange) -> SummaryRange {
    let id = |at: Option<usize>| Some(messages.get(at?)?.id.as_ref()?.decode().into_owned());
    let said = |number| rolling.interaction(number).map(|interaction: &Interaction| &interaction.said);
    SummaryRange {
        span,
        start_id: id(said(span.start).and_then(|said| said.first().copied())),
        end_id: id(said(span.end).and_then(|said| said.last().copied())),
    }
}

/// A summary could not be made.
#[derive(Debug)]
pub struct SummaryFailure {
    /// Number of the first interaction to summarize, from 1.
    pub first: usize,
    /// Number of the last one.
    pub last: usize,
    /// Why; `None` if the summarizer panicked.
    pub cause: Option<Failure>,
}

impl fmt::Display for SummaryFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { first, last, cause } = self;
        write!(f, "cannot summarize interactions {first} to {last}: ")?;
        match cause {
            Some(cause) => cause.fmt(f),
            None => f.write_str("the summarizer panicked"),
        }
    }
}

impl std::error::Error for SummaryFailure {}
