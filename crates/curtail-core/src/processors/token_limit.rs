//! The newest complete segments that fit a token budget.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use super::counting::{Rendering, newest_fitting};
use super::shorten::shorten;
use super::units::Preserved;
use super::{
    Change, Counting, Decision, DropSet, Growth, Keep, Plan, Processor, ProcessorError, Reason, Traits, View,
    apply_plan,
};
use crate::counting::token_count;
use crate::transcript::{Pairs, Part, Standing, joints, segments};

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
            drops_first: Standing::UNREAD,
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
        let pairs = Pairs::from_messages(view.messages);
        let (segments, preserved) = (segments(view.messages, &pairs), self.keep().among(view.messages));
        Limiting { limit: self, view, pairs, segments, preserved, rendering }.decide()
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

    fn keep(&self) -> Keep {
        Keep { system: self.preserve_system, first_user: self.first_user, ..Keep::default() }
    }
}

/// A transcript that may have to be cut.
struct Limiting<'l, 'v, 'a> {
    limit: &'l TokenLimit,
    view: &'v View<'v, 'a>,
    pairs: Pairs,
    segments: Vec<Range<usize>>,
    preserved: Preserved<'v, 'a>,
    /// Renders messages, if a chat template counts.
    rendering: Option<Rendering<'l>>,
}

impl Limiting<'_, '_, '_> {
    fn decide(&self) -> Result<Plan, ProcessorError> {
        let fixed = self.fixed()?;
        let budget = self.limit.max_tokens;
        let room = budget - fixed;
        let (start, room) = match (self.stepped_start(room)?, &self.rendering) {
            (Some(start), _) => (start, room),
            (None, Some(rendering)) => (self.rendered_start(rendering, fixed), room),
            (None, None) => self.start(room),
        };
        let count = self.view.messages.len();
        if start == 0 {
            return Ok(Plan::keep(count));
        }
        let newest = self.segments.iter().rfind(|segment| !self.preserved.contains_all(segment));
        let mut plan = match newest.filter(|_| self.preserved.contains_all(&(start..count))) {
            Some(newest) => self.overflow(newest.start, room)?,
            None => self.plan(start),
        };
        plan.notes.extend(self.preserved.without_task(&plan));
        plan.notes.extend(self.limit.trigger.filter(|trigger| *trigger <= budget).map(|trigger| {
            let trigger = token_count(trigger);
            format!("a trigger of {trigger} does nothing: it does not exceed the budget of {budget}")
        }));
        Ok(plan)
    }

    /// Tokens of a message.
    fn tokens(&self, at: usize) -> usize {
        self.limit.counting.message(&self.view.messages[at])
    }

    /// Where the newest segments begin that fit into `room` tokens, and what is left of it.
    fn start(&self, mut room: usize) -> (usize, usize) {
        let mut start = self.view.messages.len();
        for segment in self.segments.iter().rev() {
            let Some(tokens) = self.segment_until(segment.clone(), room) else { break };
            room -= tokens;
            start = segment.start;
        }
        (start, room)
    }

    /// Where the segments begin that are left if tokens are removed in steps: the smallest multiple of `step` whose removal makes
    /// the others fit into `room`, rounded up to whole segments. `None` without steps, and if nothing would be left.
    fn stepped_start(&self, room: usize) -> Result<Option<usize>, ProcessorError> {
        let TokenLimit { step, max_tokens, .. } = *self.limit;
        if step <= 1 {
            return Ok(None);
        }
        let rendering = self.rendering.as_ref();
        let (count, places) = (self.view.messages.len(), joints(self.view.messages, &self.pairs));
        let tokens = |at| if self.preserved.contains(at) { 0 } else { self.tokens(at) };
        let sums: Vec<usize> = (0..count).map(tokens).collect();
        let excess = match rendering {
            Some(rendering) => rendering.whole()?.saturating_sub(max_tokens),
            None => sums.iter().sum::<usize>().saturating_sub(room),
        };
        let fits = |start: usize| {
            let kept = |at: &usize| *at >= start || self.preserved.contains(*at);
            rendering.is_none_or(|rendering| rendering.tokens_within(max_tokens, (0..count).filter(kept)).is_some())
        };
        let last = (0..count).rfind(|&at| !self.preserved.contains(at));
        let (mut removed, mut due) = (0, excess.next_multiple_of(step));
        for (at, sum) in sums.into_iter().enumerate().take_while(|(at, _)| last >= Some(*at)) {
            if removed >= due && places.binary_search(&at).is_ok() {
                if fits(at) {
                    return Ok(Some(at));
                }
                due = (removed + 1).next_multiple_of(step);
            }
            removed += sum;
        }
        Ok(None)
    }

    /// The same for what a template renders: sums of the newest messages propose a start, what the template adds to these is
    /// a better proposal, and rendering decides.
    fn rendered_start(&self, rendering: &Rendering<'_>, fixed: usize) -> usize {
        let (count, segments, budget) = (self.view.messages.len(), &self.segments, self.limit.max_tokens);
        let tried = RefCell::new(BTreeMap::new());
        let tokens = |first: usize| -> Option<usize> {
            let start = segments.get(first).map_or(count, |segment| segment.start);
            let kept = (0..count).filter(|&at| at >= start || self.preserved.contains(at));
            *tried.borrow_mut().entry(first).or_insert_with(|| rendering.tokens(kept).ok())
        };
        let mut sums = vec![None; segments.len()];
        let mut propose = |surplus: usize| {
            let (mut first, mut sum, mut messages) = (segments.len(), 0, 0);
            for (at, segment) in segments.iter().enumerate().rev() {
                let added = segment.clone().filter(|&at| !self.preserved.contains(at));
                let tokens = || added.map(|at| self.tokens(at)).sum::<usize>();
                let needed = sum + *sums[at].get_or_insert_with(tokens);
                if fixed + needed + (messages + segment.len()) * surplus > budget {
                    break;
                }
                (first, sum, messages) = (at, needed, messages + segment.len());
            }
            (first, sum, messages)
        };
        let (first, sum, messages) = propose(0);
        let added = tokens(first).map_or(0, |tokens| tokens.saturating_sub(fixed + sum));
        let (proposed, ..) = propose(added / messages.max(1));
        let first = newest_fitting(proposed, segments.len(), |first| tokens(first).map(|tokens| tokens <= budget));
        segments.get(first).map_or(count, |segment| segment.start)
    }

    /// Tokens of the preamble, the reserve and the preserved messages.
    fn fixed(&self) -> Result<usize, ProcessorError> {
        let TokenLimit { max_tokens: budget, preserve_system, first_user, .. } = *self.limit;
        let preserved = (0..self.view.messages.len()).map(|at| self.preserved_tokens(at));
        let needed = self.limit.counting.outside(self.view) + preserved.sum::<usize>();
        if needed <= budget {
            return Ok(needed);
        }
        Err(ProcessorError::BudgetBelowFixed { needed, budget, preserve_system, first_user })
    }

    /// Tokens of what is preserved of a message: the whole, or instructions beside its other parts, which are counted again
    /// with the message if that is kept.
    fn preserved_tokens(&self, at: usize) -> usize {
        if self.preserved.contains(at) {
            return self.tokens(at);
        }
        let message = &self.view.messages[at];
        let instructs = self.limit.preserve_system && message.parts.iter().any(Part::instructs);
        if instructs { self.limit.counting.instructions(message) } else { 0 }
    }

    /// Tokens of a segment without its preserved messages, if they are at most `limit`.
    fn segment_until(&self, segment: Range<usize>, limit: usize) -> Option<usize> {
        let mut total = 0;
        for at in segment.rev().filter(|&at| !self.preserved.contains(at)) {
            total += self.limit.counting.message_until(&self.view.messages[at], limit - total)?;
        }
        Some(total)
    }

    fn plan(&self, start: usize) -> Plan {
        let TokenLimit { step, max_tokens, .. } = *self.limit;
        let mut drops = DropSet::none(self.view, &self.pairs);
        let steps = if step > 1 { format!(", in steps of {step}") } else { String::new() };
        let reason = Reason::Owned(format!("does not fit into {}{steps}", token_count(max_tokens)));
        self.preserved.drop_others(&mut drops, 0..start, &reason);
        drops.into_plan()
    }

    /// The plan if not even the newest segment, which begins at `start`, fits into `room` tokens.
    fn overflow(&self, start: usize, room: usize) -> Result<Plan, ProcessorError> {
        let budget = self.limit.max_tokens;
        let reason = format!("the newest segment alone does not fit into {}", token_count(budget));
        let end = self.view.messages.len();
        let (start, note) = match self.limit.on_overflow {
            Overflow::Error => return Err(ProcessorError::SegmentTooLarge { budget }),
            Overflow::KeepNewest => (start, format!("{reason}; kept because of --on-overflow keep-newest")),
            Overflow::Truncate => match self.truncated_to_fit(start, room) {
                Some(plan) => return Ok(plan),
                None => (end, format!("{reason}, even with its texts shortened; dropped")),
            },
            Overflow::Empty => (end, format!("{reason}; dropped (choose another --on-overflow to keep it)")),
        };
        let mut plan = self.plan(start);
        plan.notes.push(note);
        Ok(plan)
    }

    /// As [`truncated`](Self::truncated); where a template counts, with less and less room until what it renders fits.
    fn truncated_to_fit(&self, start: usize, mut room: usize) -> Option<Plan> {
        let TokenLimit { counting, max_tokens, .. } = self.limit;
        loop {
            let plan = self.truncated(start, room)?;
            if counting.template.is_none() {
                return Some(plan);
            }
            let messages = apply_plan(self.view.messages.to_vec(), &plan);
            let rendered = counting.total(&View { messages: &messages, ..*self.view }).ok()?;
            if rendered <= *max_tokens {
                return Some(plan);
            }
            room = room.checked_sub(rendered - max_tokens)?;
        }
    }

    /// Keeps the messages from `start` on and shortens their texts to `room` tokens; `None` if that is impossible.
    fn truncated(&self, start: usize, room: usize) -> Option<Plan> {
        let mut plan = self.plan(start);
        let dropped = |at: usize| matches!(plan.decisions[at], Decision::Drop(_));
        let shortened = |at: &usize| !dropped(*at) && !self.preserved.contains(*at);
        let indices: Vec<usize> = (start..self.view.messages.len()).filter(shortened).collect();
        let cuts = plan.cuts();
        let is_cut = |part| cuts.contains(&part);
        for (at, text) in shorten(self.view.messages, &indices, is_cut, room, &self.limit.counting)? {
            let budget = token_count(self.limit.max_tokens);
            let reason = Reason::Owned(format!("the newest segment alone does not fit into {budget}"));
            plan.change(at.message, [Change::Rewrite(at.part, text)], reason);
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
