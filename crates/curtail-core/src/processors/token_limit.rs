//! The newest complete segments that fit a token budget.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use super::counting::Rendering;
use super::fitting::newest_fitting;
use super::shorter_texts::shorten;
use super::units::{Preserved, opener};
use super::{
    Change, Counting, DropSet, Keep, Plan, Processor, ProcessorError, Question, Reason, Traits, View, apply_plan,
};
use crate::counting::token_count;
use crate::transcript::{Pairs, Part, Role, Standing, joints, prompts, segments};

/// What to do when the newest segment does not fit together with the question of a person that it follows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Overflow {
    /// Keep the newest segments that fit although they ask nothing, or only preserved messages, with a warning.
    Empty,
    /// Keep the newest segment although it exceeds the budget, with a warning.
    KeepNewest,
    /// Shorten the texts of the newest segment in the middle, and those of the question if that is not enough.
    Truncate,
    /// Fail with an error.
    #[default]
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
    /// When the last message that a person wrote is kept, and counted after those.
    pub question: Question,
    /// Tokens that are dropped at a time, counted from the start of the transcript: so the earlier requests of a conversation are
    /// prefixes of the later ones until the next step, and stay in the provider's cache.
    pub step: usize,
}

impl TokenLimit {
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
            question: Question::default(),
            step: 1,
        }
    }
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
            may_empty: self.on_overflow == Overflow::Empty,
            ..Traits::default()
        }
    }

    fn counting(&self) -> Option<&Counting> {
        Some(&self.counting)
    }

    fn with_counting(&self, counting: Counting) -> Option<Arc<dyn Processor>> {
        Some(Arc::new(Self { counting, ..self.clone() }))
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
        let segments = segments(view.messages, &pairs);
        let preserved = self.keep().among(view.messages, &pairs);
        let transcript = Segmented { view, pairs: &pairs, segments: &segments, rendering: rendering.as_ref() };
        let mut plan = Limiting { limit: self, transcript, preserved }.decide()?;
        plan.notes.extend(self.trigger.filter(|trigger| *trigger <= self.max_tokens).map(|trigger| {
            let trigger = token_count(trigger);
            let budget = self.max_tokens;
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

    fn keep(&self) -> Keep {
        let first_user = self.first_user;
        let question = self.question;
        Keep { system: self.preserve_system, first_user, question, ..Keep::default() }
    }
}

/// A transcript that may have to be cut, and its segments.
#[derive(Clone, Copy)]
struct Segmented<'l, 'v, 'a> {
    view: &'v View<'v, 'a>,
    pairs: &'l Pairs,
    segments: &'l [Range<usize>],
    /// Renders messages, if a chat template counts.
    rendering: Option<&'l Rendering<'l>>,
}

/// A cut that keeps these messages and the newest segments that fit beside them.
struct Limiting<'l, 'v, 'a> {
    pub(super) limit: &'l TokenLimit,
    transcript: Segmented<'l, 'v, 'a>,
    preserved: Preserved<'v, 'a>,
}

impl Limiting<'_, '_, '_> {
    pub(super) fn decide(&self) -> Result<Plan, ProcessorError> {
        let fixed = match self.fixed() {
            Ok(fixed) => fixed,
            Err(error) => return self.with_shorter_question().ok_or(error),
        };
        if let Some(start) = self.stepped_start(self.limit.max_tokens - fixed)? {
            let stepped = self.opening(start);
            if self.limit.on_overflow == Overflow::Empty || stepped.keeps_enough(start) {
                return Ok(stepped.noted_plan(start));
            }
        }
        let newest = self.newest_start(fixed);
        let start = self.user_start(newest);
        if self.keeps_enough(start) {
            return Ok(self.noted_plan(start));
        }
        let Segmented { view, pairs, .. } = self.transcript;
        self.decide_asking(self.limit.question.among(view.messages, pairs), newest)
    }

    /// The plan that keeps `questions`. Without them, the newest segments that fit begin at `newest`.
    fn decide_asking(&self, questions: Vec<usize>, newest: usize) -> Result<Plan, ProcessorError> {
        let asking = self.asking(questions);
        let start = asking.newest_start_beside_question().filter(|start| asking.keeps_enough(*start));
        let plan = match start {
            Some(start) => asking.noted_plan(start),
            None => self.overflow(&asking, newest)?,
        };
        let questions = asking.preserved.questions();
        let messages = self.transcript.view.messages;
        let still = self.limit.question.still(questions, &plan, messages);
        if still.len() == questions.len() {
            return Ok(plan);
        }
        if !still.is_empty() {
            return self.decide_asking(still, newest);
        }
        // Nothing is left of the round that answers them.
        let without = self.decide_asking(Vec::new(), newest)?;
        Ok(if self.limit.question.is_open_after(&without, messages) { plan } else { without })
    }

    /// The same cut, if it keeps these questions as well.
    fn asking(&self, questions: Vec<usize>) -> Self {
        let preserved = self.limit.keep().among(self.transcript.view.messages, self.transcript.pairs).asking(questions);
        Self { preserved, ..*self }
    }

    /// The same cut, if it begins at `start` and moves in steps.
    fn opening(&self, start: usize) -> Self {
        let preserved = self.limit.keep().among(self.transcript.view.messages, self.transcript.pairs).opening(start);
        Self { preserved, ..*self }
    }

    /// Where the newest segments begin that fit beside the `fixed` tokens of what is preserved.
    fn newest_start(&self, fixed: usize) -> usize {
        match self.transcript.rendering {
            Some(rendering) => self.rendered_start(rendering, fixed),
            None => self.start(self.limit.max_tokens - fixed),
        }
    }

    /// The same beside the question, which is counted first; `None` if no question is kept, or if it does not fit.
    fn newest_start_beside_question(&self) -> Option<usize> {
        let fixed = self.needed();
        let is_asked = !self.preserved.questions().is_empty();
        (is_asked && fixed <= self.limit.max_tokens).then(|| self.user_start(self.newest_start(fixed)))
    }

    /// `start`, moved forward to the next message of the user with text where a transcript has to begin with one, unless a message
    /// of a person is kept before it.
    fn user_start(&self, start: usize) -> usize {
        let view = self.transcript.view;
        let prompts = prompts(view.messages);
        let is_asked = prompts.iter().any(|&at| at < start && self.preserved.contains(at));
        if start == 0 || !view.context.user_first || prompts.is_empty() || is_asked {
            return start;
        }
        let is_user = |at: &usize| view.messages[*at].has_text_as(Role::User);
        let starts = self.transcript.segments.iter().map(|segment| segment.start);
        starts.filter(|at| *at >= start).find(is_user).unwrap_or(view.messages.len())
    }

    /// Whether a cut that begins at `start` keeps a message of its own, and a message of a person if there is one.
    fn keeps_enough(&self, start: usize) -> bool {
        let messages = self.transcript.view.messages;
        let is_own = || (start..messages.len()).any(|at| !self.preserved.contains(at));
        let prompts = prompts(messages);
        let stays = |at: &usize| *at >= start || self.preserved.contains(*at);
        // A pinned task, or the question of a call that waits, is not what the in-flight round answers.
        let is_open = || !self.limit.question.among(messages, self.transcript.pairs).is_empty();
        let asks = || prompts.last().is_none_or(|last| stays(last) || prompts.iter().any(stays) && !is_open());
        start == 0 || is_own() && asks() || (0..messages.len()).all(|at| self.preserved.contains(at))
    }

    /// The plan that drops what is before `start`, with a note if no message of a person is left.
    fn noted_plan(&self, start: usize) -> Plan {
        let mut plan = self.plan(start);
        plan.notes.extend(self.preserved.without_task(&plan));
        plan
    }

    /// Tokens of a message.
    fn tokens(&self, at: usize) -> usize {
        self.limit.counting.message(&self.transcript.view.messages[at])
    }

    /// Where the newest segments begin that fit into `room` tokens.
    fn start(&self, mut room: usize) -> usize {
        let mut start = self.transcript.view.messages.len();
        for segment in self.transcript.segments.iter().rev() {
            let Some(tokens) = self.segment_until(segment.clone(), room) else { break };
            room -= tokens;
            start = segment.start;
        }
        start
    }

    /// Where the segments begin that are left if tokens are removed in steps: the smallest multiple of `step` whose removal makes
    /// the others fit into `room`, rounded up to whole segments. `None` without steps, and if nothing would be left.
    fn stepped_start(&self, room: usize) -> Result<Option<usize>, ProcessorError> {
        let TokenLimit { step, max_tokens, .. } = *self.limit;
        if step <= 1 {
            return Ok(None);
        }
        let Segmented { view, pairs, rendering, .. } = self.transcript;
        let count = view.messages.len();
        let places = joints(view.messages, pairs);
        let openers = if self.limit.question == Question::Never { Vec::new() } else { prompts(view.messages) };
        let opener = |at: usize| opener(&openers, at).filter(|&opener| !self.preserved.contains(opener));
        let sums: Vec<usize> = (0..count).map(|at| self.removed_tokens(at)).collect();
        let excess = match rendering {
            Some(rendering) => rendering.whole()?.saturating_sub(max_tokens),
            None => sums.iter().sum::<usize>().saturating_sub(room),
        };
        let fits = |start: usize| {
            let kept = |at: &usize| *at >= start || self.preserved.contains(*at) || opener(start) == Some(*at);
            rendering.is_none_or(|rendering| rendering.tokens_within(max_tokens, (0..count).filter(kept)).is_some())
        };
        let last = (0..count).rfind(|&at| !self.preserved.contains(at));
        // What begins the turn at a place is kept, too, so more has to be removed before it.
        let needed = |at: usize| excess + opener(at).map_or(0, |opener| self.removed_tokens(opener));
        let mut removed = 0;
        let mut due = 0;
        for (at, sum) in sums.into_iter().enumerate().take_while(|(at, _)| last >= Some(*at)) {
            if removed >= needed(at).next_multiple_of(step).max(due) && places.binary_search(&at).is_ok() {
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
        let Segmented { view, segments, .. } = self.transcript;
        let count = view.messages.len();
        let budget = self.limit.max_tokens;
        let tried = RefCell::new(BTreeMap::new());
        let tokens = |first: usize| -> Option<usize> {
            let start = segments.get(first).map_or(count, |segment| segment.start);
            let kept = (0..count).filter(|&at| at >= start || self.preserved.contains(at));
            *tried.borrow_mut().entry(first).or_insert_with(|| rendering.tokens(kept).ok())
        };
        let mut sums = vec![None; segments.len()];
        let mut propose = |surplus: usize| {
            let mut first = segments.len();
            let mut sum = 0;
            let mut messages = 0;
            for (at, segment) in segments.iter().enumerate().rev() {
                let added = segment.clone().filter(|&at| !self.preserved.contains(at));
                let tokens = || added.map(|at| self.removed_tokens(at)).sum::<usize>();
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

    /// Tokens of the preamble, the reserve and the preserved messages, which fit.
    fn fixed(&self) -> Result<usize, ProcessorError> {
        let TokenLimit { max_tokens: budget, preserve_system, first_user, .. } = *self.limit;
        let needed = self.needed();
        if needed <= budget {
            return Ok(needed);
        }
        Err(ProcessorError::BudgetBelowFixed { needed, budget, preserve_system, first_user })
    }

    /// Tokens of the preamble, the reserve and the preserved messages.
    fn needed(&self) -> usize {
        self.needed_beside(&[])
    }

    /// The same without those of `questions`.
    fn needed_beside(&self, questions: &[usize]) -> usize {
        let others = (0..self.transcript.view.messages.len()).filter(|at| !questions.contains(at));
        let preserved = others.map(|at| self.preserved_tokens(at));
        self.limit.counting.outside(self.transcript.view) + preserved.sum::<usize>()
    }

    /// Tokens of what is preserved of a message: the whole, or instructions beside its other parts.
    fn preserved_tokens(&self, at: usize) -> usize {
        if self.preserved.contains(at) {
            return self.tokens(at);
        }
        let message = &self.transcript.view.messages[at];
        let instructs = self.limit.preserve_system && message.parts.iter().any(Part::instructs);
        if instructs { self.limit.counting.instructions(message) } else { 0 }
    }

    /// Tokens of a segment without its preserved messages, if they are at most `limit`.
    fn segment_until(&self, segment: Range<usize>, limit: usize) -> Option<usize> {
        let mut total = 0;
        for at in segment.rev().filter(|&at| !self.preserved.contains(at)) {
            let instructions = self.preserved_tokens(at);
            let message = &self.transcript.view.messages[at];
            total += self.limit.counting.message_until(message, limit - total + instructions)? - instructions;
        }
        Some(total)
    }

    /// Tokens that a cut removes with a message.
    fn removed_tokens(&self, at: usize) -> usize {
        self.tokens(at) - self.preserved_tokens(at)
    }

    fn plan(&self, start: usize) -> Plan {
        let TokenLimit { step, max_tokens, .. } = *self.limit;
        let mut drops = DropSet::none(self.transcript.view, self.transcript.pairs);
        let steps = if step > 1 { format!(", in steps of {step}") } else { String::new() };
        let reason = Reason::Owned(format!("does not fit into {}{steps}", token_count(max_tokens)));
        self.preserved.drop_others(&mut drops, 0..start, &reason);
        drops.into_plan()
    }

    /// The plan if the newest segment does not fit beside the question that `asking` keeps, or if nothing would be asked. Without a
    /// question, the newest segments that fit begin at `start`.
    fn overflow(&self, asking: &Self, start: usize) -> Result<Plan, ProcessorError> {
        let newest = self.newest();
        let reason = || format!("the newest segment alone does not fit into {}", token_count(self.limit.max_tokens));
        let fits = (start..self.transcript.view.messages.len()).any(|at| !self.preserved.contains(at));
        let is_asked = !asking.preserved.questions().is_empty();
        let (plan, note) = match self.limit.on_overflow {
            Overflow::Error => return Err(self.too_large(asking)),
            Overflow::Truncate => return self.truncated_to_fit(asking).ok_or_else(|| self.too_large(asking)),
            Overflow::KeepNewest if is_asked => (asking.noted_plan(newest), Some("kept with its question")),
            Overflow::KeepNewest if !fits => (self.noted_plan(newest), Some("kept")),
            Overflow::Empty if !fits => (self.noted_plan(start), Some("dropped")),
            Overflow::Empty | Overflow::KeepNewest => (self.noted_plan(start), None),
        };
        let why = if self.limit.on_overflow == Overflow::Empty { "empty" } else { "keep-newest" };
        let note = note.map(|outcome| format!("{}; {outcome} because of --on-overflow {why}", reason()));
        Ok(Plan { notes: note.into_iter().chain(plan.notes).collect(), ..plan })
    }

    /// Where the newest segment begins that is not preserved.
    fn newest(&self) -> usize {
        let newest = self.transcript.segments.iter().rfind(|segment| !self.preserved.contains_all(segment));
        newest.map_or(self.transcript.view.messages.len(), |segment| segment.start)
    }

    /// The error that names the smallest budget that keeps what a person asked last: with the newest segment while a round is in
    /// flight, else with everything after it.
    fn too_large(&self, asking: &Self) -> ProcessorError {
        let Segmented { view, segments, rendering, .. } = self.transcript;
        let budget = self.limit.max_tokens;
        let reserve = self.limit.counting.reserve;
        let prompt = prompts(view.messages).pop();
        let of_prompt = |prompt: usize| segments[segments.partition_point(|segment| segment.end <= prompt)].start;
        let start = match prompt.filter(|_| asking.preserved.questions().is_empty()) {
            Some(prompt) => of_prompt(prompt),
            None => self.newest(),
        };
        let count = view.messages.len();
        let rest = (start..count).map(|at| asking.removed_tokens(at));
        let sum = asking.needed() + rest.sum::<usize>();
        let kept = (0..count).filter(|&at| at >= start || asking.preserved.contains(at));
        let needed = rendering.and_then(|rendering| rendering.tokens(kept).ok()).unwrap_or(sum);
        match prompt {
            Some(_) => ProcessorError::QuestionTooLarge { needed, budget, reserve },
            None => ProcessorError::SegmentTooLarge { needed, budget, reserve },
        }
    }

    /// The plan that keeps what a person asked last and the newest segment, with texts shortened to the budget: those of the
    /// question only if shortening the others is not enough. `None` if that is impossible.
    fn truncated_to_fit(&self, asking: &Self) -> Option<Plan> {
        let budget = self.limit.max_tokens;
        let prompt = || prompts(self.transcript.view.messages).last().copied().into_iter().collect();
        let fallback = || self.asking(prompt());
        let fallback = asking.preserved.questions().is_empty().then(fallback);
        let asking = fallback.as_ref().unwrap_or(asking);
        let newest = self.newest();
        let room = budget.checked_sub(asking.needed());
        let others_shortened = room.and_then(|room| asking.truncated_into(newest, room, &[]));
        let questions = asking.preserved.questions();
        others_shortened
            .or_else(|| asking.truncated_into(newest, budget.checked_sub(asking.needed_beside(questions))?, questions))
    }

    /// The plan that shortens the question although a call that waits keeps it; `None` unless what exceeds the budget is shortened.
    fn with_shorter_question(&self) -> Option<Plan> {
        let Segmented { view, pairs, .. } = self.transcript;
        let asking = || self.asking(self.limit.question.among(view.messages, pairs));
        (self.limit.on_overflow == Overflow::Truncate).then(|| self.truncated_to_fit(&asking()))?
    }

    /// As [`truncated`](Self::truncated); where a template counts, with less and less room until what it renders fits.
    fn truncated_into(&self, start: usize, mut room: usize, questions: &[usize]) -> Option<Plan> {
        let TokenLimit { counting, max_tokens, .. } = self.limit;
        let view = self.transcript.view;
        loop {
            let plan = self.truncated(start, room, questions)?;
            if counting.template.is_none() {
                return Some(plan);
            }
            let messages = apply_plan(view.messages.to_vec(), &plan);
            let rendered = counting.total(&View { messages: &messages, ..*view }).ok()?;
            if rendered <= *max_tokens {
                return Some(plan);
            }
            room = room.checked_sub(rendered - max_tokens)?;
        }
    }

    /// Keeps the messages from `start` on and shortens their texts and those of `questions` to `room` tokens; `None` if that is
    /// impossible, or if nothing would be left of a question.
    fn truncated(&self, start: usize, room: usize, questions: &[usize]) -> Option<Plan> {
        let messages = self.transcript.view.messages;
        let mut plan = self.plan(start);
        let is_newest = |at: usize| at >= start && !self.preserved.contains(at);
        let shortened = |at: &usize| plan.keeps(*at) && (is_newest(*at) || questions.contains(at));
        let indices: Vec<usize> = (0..messages.len()).filter(shortened).collect();
        let cuts = plan.cuts();
        let is_cut = |part| cuts.contains(&part);
        for (at, text) in shorten(messages, &indices, is_cut, room, &self.limit.counting)? {
            if questions.contains(&at.message) && text.trim().is_empty() {
                return None;
            }
            let budget = token_count(self.limit.max_tokens);
            let reason = Reason::Owned(format!("the newest segment alone does not fit into {budget}"));
            plan.change(at.message, [Change::Rewrite(at.part, text)], reason);
        }
        Some(plan)
    }
}
