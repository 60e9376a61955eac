//! The newest complete segments that fit a token budget.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use super::counting::{Rendering, newest_fitting};
use super::shorten::shorten;
use super::{
    Counting, Decision, DropSet, Growth, Keep, Plan, Processor, ProcessorError, Reason, Traits, View, apply_plan,
};
use crate::counting::token_count;
use crate::transcript::{Message, Pairs, Part, Standing, joints, segments};

/// What to do when not even the newest segment fits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Overflow {
    /// Keep only preserved messages, with a warning.
    #[default]
    Empty,
    /// Keep the newest segment although it exceeds the budget, with a warning.
    KeepNewest,
    /// Shorten the texts of the newest segment in the middle.
    Truncate,
    /// Fail with an error.
    Error,
}

/// Keeps the newest segments that fit into `max_tokens`, without gaps.
///
/// Counting starts at the newest segment and stops at the first one that does not fit; older messages are never counted.
///
/// ```
/// use curtail_core::processors::{Counting, TokenLimit};
/// use curtail_tokens::tokenizers;
///
/// let counting = Counting::new(tokenizers::tokenizer_by_name("o200k_base")?);
/// let limit = TokenLimit { trigger: Some(16_000), ..TokenLimit::new(8_000, counting) };
/// assert!(limit.preserve_system);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct TokenLimit {
    /// The budget in tokens.
    pub max_tokens: usize,
    /// Cut only transcripts with more tokens than this.
    pub trigger: Option<usize>,
    /// How tokens are counted.
    pub counting: Counting,
    /// What to do when not even the newest segment fits.
    pub on_overflow: Overflow,
    /// Whether system and developer messages are kept and counted first; `true` by default.
    pub preserve_system: bool,
    /// Whether the first message that a person wrote is kept and counted first, too.
    pub first_user: bool,
    /// Tokens that are dropped at a time, counted from the start of the transcript: so the earlier requests of a conversation are
    /// prefixes of the later ones until the next step, and stay in the provider's cache.
    pub step: usize,
}

impl TokenLimit {
    /// Whether instructions and the newest messages decide everything.
    const fn is_local(&self) -> bool {
        !self.first_user && self.step <= 1
    }

    /// Limits transcripts to `max_tokens` as `counting` counts them; preserves system messages and has no trigger.
    #[must_use]
    pub fn new(max_tokens: usize, counting: Counting) -> Self {
        Self {
            max_tokens,
            trigger: None,
            counting,
            on_overflow: Overflow::default(),
            preserve_system: true,
            first_user: false,
            step: 1,
        }
    }
}

/// The tokens that newest segments may have.
#[derive(Clone, Copy)]
pub struct Budget<'p> {
    /// The most tokens after a cut.
    pub most: usize,
    /// The most tokens without a cut.
    pub trigger: usize,
    /// How tokens are counted.
    pub counting: &'p Counting,
}

impl Processor for TokenLimit {
    fn name(&self) -> &'static str {
        "limit"
    }

    fn traits(&self) -> Traits {
        Traits {
            // A pair that was broken before leaves a cut that a step may now begin at. Each pass drops something, so they end.
            passes: if self.step > 1 { usize::MAX } else { 1 },
            drops_first: &[Standing::Superseded, Standing::RolledBack, Standing::Abandoned],
            growth: Growth { is_local: self.is_local(), ..Growth::default() },
            ..Traits::default()
        }
    }

    fn counting(&self) -> Option<&Counting> {
        Some(&self.counting)
    }

    fn with_counting(&self, counting: Counting) -> Option<Arc<dyn Processor>> {
        Some(Arc::new(Self { counting, ..self.clone() }))
    }

    fn budget(&self) -> Option<Budget<'_>> {
        let is_sum = self.counting.template.is_none() && self.counting.by_usage.is_none();
        let (most, trigger) = (self.max_tokens, self.trigger.unwrap_or(0).max(self.max_tokens));
        (is_sum && self.preserve_system && self.is_local()).then_some(Budget {
            most,
            trigger,
            counting: &self.counting,
        })
    }

    fn would_change(&self, view: &View<'_, '_>) -> Result<bool, ProcessorError> {
        self.fits(view).map(|fits| !fits)
    }

    fn decide(&self, view: &View<'_, '_>) -> Result<Plan, ProcessorError> {
        let rendering = Rendering::of_view(&self.counting, view);
        let idle = match &rendering {
            Some(rendering) => rendering.whole()? <= self.trigger.unwrap_or(0).max(self.max_tokens),
            None => self.is_idle(view)?,
        };
        if idle {
            return Ok(Plan::keep(view.messages.len()));
        }
        let fixed = self.fixed(view)?;
        let pairs = Pairs::from_messages(view.messages);
        let segments = segments(view.messages, &pairs);
        let room = self.max_tokens - fixed;
        let (start, room) = match (self.stepped_start(view, rendering.as_ref(), &pairs, room)?, rendering) {
            (Some(start), _) => (start, room),
            (None, Some(rendering)) => (self.rendered_start(view, &rendering, &segments, fixed), room),
            (None, None) => self.start(view, &segments, room),
        };
        if start == 0 {
            return Ok(Plan::keep(view.messages.len()));
        }
        let rest_is_empty = !(start..view.messages.len()).any(|at| !self.preserves(view.messages, at));
        let newest = segments.iter().rfind(|segment| (*segment).clone().any(|at| !self.preserves(view.messages, at)));
        let mut plan = match newest {
            Some(newest) if rest_is_empty => self.overflow(view, &pairs, newest.start, room)?,
            _ => self.plan(view, &pairs, start),
        };
        plan.notes.extend(self.keep().without_task(view, &plan));
        plan.notes.extend(self.trigger.filter(|trigger| *trigger <= self.max_tokens).map(|trigger| {
            let budget = self.max_tokens;
            let trigger = token_count(trigger);
            format!("a trigger of {trigger} does nothing: it does not exceed the budget of {budget}")
        }));
        Ok(plan)
    }
}

impl TokenLimit {
    /// Whether the transcript is known to need no cut before its segments are counted.
    fn is_idle(&self, view: &View<'_, '_>) -> Result<bool, ProcessorError> {
        let trigger = self.trigger.filter(|trigger| *trigger > self.max_tokens);
        if self.counting.surely_fits(view, trigger.unwrap_or(self.max_tokens)) {
            return Ok(true);
        }
        trigger.map_or(Ok(false), |trigger| self.is_within(view, trigger))
    }

    fn fits(&self, view: &View<'_, '_>) -> Result<bool, ProcessorError> {
        Ok(self.is_idle(view)? || self.is_within(view, self.max_tokens)?)
    }

    fn is_within(&self, view: &View<'_, '_>, limit: usize) -> Result<bool, ProcessorError> {
        Ok(match self.counting.template {
            Some(_) => self.counting.total(view)? <= limit,
            None => self.counting.total_until(view, limit).is_some(),
        })
    }

    /// Where the newest segments begin that fit into `room` tokens, and what is left of it.
    fn start(&self, view: &View<'_, '_>, segments: &[Range<usize>], mut room: usize) -> (usize, usize) {
        let mut start = view.messages.len();
        for segment in segments.iter().rev() {
            let Some(tokens) = self.segment_until(view.messages, segment.clone(), room) else { break };
            room -= tokens;
            start = segment.start;
        }
        (start, room)
    }

    /// Where the segments begin that are left if tokens are removed in steps: the smallest multiple of `step` whose removal makes
    /// the others fit into `room`, rounded up to whole segments. `None` without steps, and if nothing would be left.
    fn stepped_start(
        &self,
        view: &View<'_, '_>,
        rendering: Option<&Rendering<'_>>,
        pairs: &Pairs,
        room: usize,
    ) -> Result<Option<usize>, ProcessorError> {
        if self.step <= 1 {
            return Ok(None);
        }
        let (count, places) = (view.messages.len(), joints(view.messages, pairs));
        let tokens = |at| if self.preserves(view.messages, at) { 0 } else { self.counting.message(&view.messages[at]) };
        let sums: Vec<usize> = (0..count).map(tokens).collect();
        let excess = match rendering {
            Some(rendering) => rendering.whole()?.saturating_sub(self.max_tokens),
            None => sums.iter().sum::<usize>().saturating_sub(room),
        };
        let fits = |start: usize| {
            let kept = |at: &usize| *at >= start || self.preserves(view.messages, *at);
            rendering.is_none_or(|rendering| rendering.fits((0..count).filter(kept), self.max_tokens))
        };
        let last = (0..count).rfind(|&at| !self.preserves(view.messages, at));
        let (mut removed, mut due) = (0, excess.next_multiple_of(self.step));
        for (at, sum) in sums.into_iter().enumerate().take_while(|(at, _)| last >= Some(*at)) {
            if removed >= due && places.binary_search(&at).is_ok() {
                if fits(at) {
                    return Ok(Some(at));
                }
                due = (removed + 1).next_multiple_of(self.step);
            }
            removed += sum;
        }
        Ok(None)
    }

    /// The same for what a template renders: sums of the newest messages propose a start, what the template adds to these is
    /// a better proposal, and rendering decides.
    fn rendered_start(
        &self,
        view: &View<'_, '_>,
        rendering: &Rendering<'_>,
        segments: &[Range<usize>],
        fixed: usize,
    ) -> usize {
        let count = view.messages.len();
        let tried = RefCell::new(BTreeMap::new());
        let tokens = |first: usize| -> Option<usize> {
            let start = segments.get(first).map_or(count, |segment| segment.start);
            let kept = (0..count).filter(|&at| at >= start || self.preserves(view.messages, at));
            *tried.borrow_mut().entry(first).or_insert_with(|| rendering.tokens(kept).ok())
        };
        let mut sums = vec![None; segments.len()];
        let mut propose = |surplus: usize| {
            let (mut first, mut sum, mut messages) = (segments.len(), 0, 0);
            for (at, segment) in segments.iter().enumerate().rev() {
                let added = segment.clone().filter(|&at| !self.preserves(view.messages, at));
                let tokens = || added.map(|at| self.counting.message(&view.messages[at])).sum::<usize>();
                let needed = sum + *sums[at].get_or_insert_with(tokens);
                if fixed + needed + (messages + segment.len()) * surplus > self.max_tokens {
                    break;
                }
                (first, sum, messages) = (at, needed, messages + segment.len());
            }
            (first, sum, messages)
        };
        let (first, sum, messages) = propose(0);
        let added = tokens(first).map_or(0, |tokens| tokens.saturating_sub(fixed + sum));
        let (proposed, ..) = propose(added / messages.max(1));
        let first =
            newest_fitting(proposed, segments.len(), |first| tokens(first).map(|tokens| tokens <= self.max_tokens));
        segments.get(first).map_or(count, |segment| segment.start)
    }

    /// Tokens of the preamble, the reserve and the preserved messages.
    fn fixed(&self, view: &View<'_, '_>) -> Result<usize, ProcessorError> {
        let preserved = (0..view.messages.len()).map(|at| self.preserved(view.messages, at));
        let needed = self.counting.outside(view) + preserved.sum::<usize>();
        if needed <= self.max_tokens {
            return Ok(needed);
        }
        let (budget, preserve_system, first_user) = (self.max_tokens, self.preserve_system, self.first_user);
        Err(ProcessorError::BudgetBelowFixed { needed, budget, preserve_system, first_user })
    }

    fn keep(&self) -> Keep {
        Keep { system: self.preserve_system, first_user: self.first_user, ..Keep::default() }
    }

    fn preserves(&self, messages: &[Message<'_>], at: usize) -> bool {
        self.keep().preserves(&messages[at]) || self.is_task(messages, at)
    }

    /// Whether it is the pinned first user message; most messages begin no turn, and are not searched for.
    fn is_task(&self, messages: &[Message<'_>], at: usize) -> bool {
        self.first_user && messages[at].begins_turn() && self.keep().task(messages) == Some(at)
    }

    /// Tokens of what is preserved of a message: the whole, or instructions beside its other parts, which are counted again
    /// with the message if that is kept.
    fn preserved(&self, messages: &[Message<'_>], at: usize) -> usize {
        let message = &messages[at];
        if self.preserves(messages, at) {
            return self.counting.message(message);
        }
        let instructs = self.preserve_system && message.parts.iter().any(Part::instructs);
        if instructs { self.counting.message_without(message, |nth| !message.parts[nth].instructs()) } else { 0 }
    }

    /// Tokens of a segment without its preserved messages, if they are at most `limit`.
    fn segment_until(&self, messages: &[Message<'_>], segment: Range<usize>, limit: usize) -> Option<usize> {
        let mut total = 0;
        for at in segment.rev().filter(|&at| !self.preserves(messages, at)) {
            total += self.counting.message_until(&messages[at], limit - total)?;
        }
        Some(total)
    }

    fn plan(&self, view: &View<'_, '_>, pairs: &Pairs, start: usize) -> Plan {
        let mut drops = DropSet::none(view, pairs);
        let task = self.keep().task(view.messages);
        let steps = if self.step > 1 { format!(", in steps of {}", self.step) } else { String::new() };
        let reason = Reason::Owned(format!("does not fit into {}{steps}", token_count(self.max_tokens)));
        for (at, message) in view.messages.iter().enumerate().take(start) {
            self.keep().drop_outside(&mut drops, at, message, &reason, task);
        }
        drops.into_plan()
    }

    /// The plan if not even the newest segment, which begins at `start`, fits into `room` tokens.
    fn overflow(&self, view: &View<'_, '_>, pairs: &Pairs, start: usize, room: usize) -> Result<Plan, ProcessorError> {
        let budget = self.max_tokens;
        let what = format!("the newest segment alone does not fit into {}", token_count(budget));
        let end = view.messages.len();
        let (start, note) = match self.on_overflow {
            Overflow::Error => return Err(ProcessorError::SegmentTooLarge { budget }),
            Overflow::KeepNewest => (start, format!("{what}; kept because of --on-overflow keep-newest")),
            Overflow::Truncate => match self.truncated_to_fit(view, pairs, start, room) {
                Some(plan) => return Ok(plan),
                None => (end, format!("{what}, even with its texts shortened; dropped")),
            },
            Overflow::Empty => (end, format!("{what}; dropped (choose another --on-overflow to keep it)")),
        };
        let mut plan = self.plan(view, pairs, start);
        plan.notes.push(note);
        Ok(plan)
    }

    /// As [`truncated`](Self::truncated); where a template counts, with less and less room until what it renders fits.
    fn truncated_to_fit(&self, view: &View<'_, '_>, pairs: &Pairs, start: usize, mut room: usize) -> Option<Plan> {
        loop {
            let plan = self.truncated(view, pairs, start, room)?;
            if self.counting.template.is_none() {
                return Some(plan);
            }
            let messages = apply_plan(view.messages.to_vec(), &plan);
            let rendered = self.counting.total(&View::new(&messages, view.preamble, view.pairing_rules)).ok()?;
            if rendered <= self.max_tokens {
                return Some(plan);
            }
            room = room.checked_sub(rendered - self.max_tokens)?;
        }
    }

    /// Keeps the messages from `start` on and shortens their texts to `room` tokens; `None` if that is impossible.
    fn truncated(&self, view: &View<'_, '_>, pairs: &Pairs, start: usize, room: usize) -> Option<Plan> {
        let mut plan = self.plan(view, pairs, start);
        let dropped = |at: usize| matches!(plan.decisions[at], Decision::Drop(_));
        let shortened = |at: &usize| !dropped(*at) && !self.preserves(view.messages, *at);
        let indices: Vec<usize> = (start..view.messages.len()).filter(shortened).collect();
        let cuts = plan.cuts();
        let changes = shorten(view.messages, &indices, |part| cuts.contains(&part), room, &self.counting)?;
        for (at, changes) in changes {
            let reason = format!("the newest segment alone does not fit into {}", token_count(self.max_tokens));
            plan.change(at, changes, Reason::Owned(reason));
        }
        Some(plan)
    }
}

// A token budget that is a share of the transcript.

/// A [`TokenLimit`] whose numbers are shares of the tokens of each transcript. A second run cuts again, because the shares are of
/// what the first one left.
#[derive(Clone)]
pub struct ScaledLimit {
    /// The limit; its numbers apply where there is no share.
    pub limit: TokenLimit,
    /// The share that is kept: 0.5 is half of the tokens.
    pub max_tokens: Option<f64>,
    /// The share above which a transcript is cut.
    pub trigger: Option<f64>,
    /// The share that is dropped at a time.
    pub step: Option<f64>,
}

impl Processor for ScaledLimit {
    fn name(&self) -> &'static str {
        "limit"
    }

    fn traits(&self) -> Traits {
        Traits { drops_first: &[Standing::Superseded, Standing::RolledBack], ..Traits::default() }
    }

    fn counting(&self) -> Option<&Counting> {
        self.limit.counting()
    }

    fn with_counting(&self, counting: Counting) -> Option<Arc<dyn Processor>> {
        Some(Arc::new(Self { limit: TokenLimit { counting, ..self.limit.clone() }, ..self.clone() }))
    }

    fn decide(&self, view: &View<'_, '_>) -> Result<Plan, ProcessorError> {
        let total = self.limit.counting.total(view)?;
        let max_tokens = self.max_tokens.map_or(self.limit.max_tokens, |share| tokens(total, share));
        let trigger = self.trigger.map(|share| tokens(total, share)).or(self.limit.trigger);
        let step = self.step.map_or(self.limit.step, |share| tokens(total, share)).clamp(1, max_tokens.max(1));
        TokenLimit { max_tokens, trigger, step, ..self.limit.clone() }.decide(view)
    }
}

/// `share` of `total`, rounded down.
#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "tokens of a transcript are far below 2^52, and shares are positive"
)]
fn tokens(total: usize, share: f64) -> usize {
    (total as f64 * share).floor() as usize
}
