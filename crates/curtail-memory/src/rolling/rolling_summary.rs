//! The processor of a rolling memory: decides which messages are kept, and where the summaries are written.

use std::sync::Arc;

use super::block::write_block;
use super::interactions::Counted;
use super::placing::place_block;
use super::{LeastKept, Rolling, RollingView, StateSoFar};
use crate::summarizers::{Extractive, RememberedSummaries, Summarizer};
use curtail_core::counting::Tokenizer;
use curtail_core::processors::{DropSet, Plan, Processor, ProcessorError, Reason, Traits, View};
use curtail_core::transcript::{Pairs, Role, Standing, behind_boundary, own_blocks};

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
            drops_first: Standing::ROLLED_BACK,
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
        let mut last = due.iter().map(|span| rolling.interaction(span.end));
        let are_closed = last.all(|last| last.is_some_and(|interaction| is_joint(interaction.arrived)));
        if !rolling.blocks.is_empty() || !are_closed {
            return None;
        }
        let first = (rolling.first + 1..self.held(&rolling).start)
            .rev()
            .find(|number| rolling.interaction(*number).is_some_and(|interaction| is_joint(interaction.start)))?;
        let index = rolling.interaction(first)?.start;
        let fresh = self.summarize(view.messages, &rolling, &due, None).ok()?;
        rolling.memory.advance(self.rolling, rolling.seen(), fresh);
        let is_covered = rolling.memory.summarized() >= first;
        let given = Some(StateSoFar { state: rolling.memory, next: first });
        is_covered.then(|| (Self { given, ..self.clone() }, index))
    }

    /// The plan that keeps what a model should read: system messages, summaries and the window.
    pub fn plan(&self, view: &View<'_, '_>, rolling: &RollingView) -> Plan {
        let messages = view.messages;
        let next = self.held(rolling).start;
        let begin = rolling.interaction(next).map_or(0, |interaction| interaction.start);
        // The summaries are written after any system messages, earlier summaries and boundaries with which the first
        // interaction begins, and after the last boundary, because a model does not read what is before it.
        let front = (begin..messages.len())
            .take_while(|at| messages[*at].role.instructs() || messages[*at].is_boundary() || rolling.is_block(*at));
        let start = (begin + front.count()).max(behind_boundary(messages));
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
