//! The newest complete segments that fit a budget of tokens.

use super::planning::DropSet;
use super::planning::shorten;
use super::{Change, Counting, Decision, Keep, Plan, Processor, Reason, View};
use crate::transcript::{Message, Pairs, PartRef, segments};

/// What to do when not even the newest segment fits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Overflow {
    /// Nothing but what is preserved stays, with a warning.
    #[default]
    Empty,
    /// The newest segment stays all the same, with a warning.
    KeepNewest,
    /// The texts of the newest segment are shortened in the middle.
    Truncate,
    /// It is an error.
    Error,
}

/// Keeps what fits `max_tokens`, newest segments first, contiguous.
///
/// Counting goes from the newest segment backwards and stops where the budget does: what is older is never counted.
#[derive(Clone)]
pub struct TokenLimit {
    /// The budget in tokens.
    pub max_tokens: usize,
    /// Nothing is cut while the total is not above this many tokens.
    pub trigger: Option<usize>,
    /// How tokens are counted.
    pub counting: Counting,
    /// What to do when nothing fits.
    pub on_overflow: Overflow,
    /// Whether system and developer messages stay and count first.
    pub preserve_system: bool,
}

impl Processor for TokenLimit {
    fn name(&self) -> &'static str {
        "limit"
    }

    fn decide(&self, view: &View<'_, '_>) -> Result<Plan, String> {
        let bar = self.trigger.filter(|trigger| *trigger > self.max_tokens);
        if self.counting.surely_fits(view, bar.unwrap_or(self.max_tokens))
            || bar.is_some_and(|bar| self.counting.total_until(view, bar).is_some())
        {
            return Ok(Plan::keep(view.messages.len()));
        }
        let fixed = self.fixed(view)?;
        let pairs = Pairs::find(view.messages);
        let segments = segments(view.messages, &pairs);
        let mut left = self.max_tokens - fixed;
        let mut start = view.messages.len();
        for segment in segments.iter().rev() {
            let Some(tokens) = self.segment_until(&view.messages[segment.clone()], left) else { break };
            left -= tokens;
            start = segment.start;
        }
        if start == 0 {
            return Ok(Plan::keep(view.messages.len()));
        }
        let rest_is_empty = !(start..view.messages.len()).any(|at| !self.preserves(&view.messages[at]));
        let newest =
            segments.iter().rfind(|segment| view.messages[(*segment).clone()].iter().any(|m| !self.preserves(m)));
        match newest {
            Some(newest) if rest_is_empty => self.overflow(view, &pairs, newest.start, left),
            _ => Ok(self.plan(view, &pairs, start)),
        }
    }
}

impl TokenLimit {
    /// Tokens of what stays in any case.
    fn fixed(&self, view: &View<'_, '_>) -> Result<usize, String> {
        let preserved = view.messages.iter().filter(|message| self.preserves(message));
        let fixed =
            self.counting.outside(view) + preserved.map(|message| self.counting.message(message)).sum::<usize>();
        if fixed <= self.max_tokens {
            return Ok(fixed);
        }
        let way_out = if self.preserve_system { " or pass --no-preserve-system" } else { "" };
        Err(format!(
            "what must stay needs {fixed} tokens, more than the budget of {}; raise --max-tokens{way_out}",
            self.max_tokens
        ))
    }

    fn preserves(&self, message: &Message<'_>) -> bool {
        Keep { system: self.preserve_system, ..Keep::default() }.preserves(message)
    }

    /// Tokens of a segment without what is preserved, if they are at most `limit`.
    fn segment_until(&self, messages: &[Message<'_>], limit: usize) -> Option<usize> {
        let mut total = 0;
        for message in messages.iter().rev().filter(|message| !self.preserves(message)) {
            total += self.counting.message_until(message, limit - total)?;
        }
        Some(total)
    }

    fn plan(&self, view: &View<'_, '_>, pairs: &Pairs, start: usize) -> Plan {
        let mut drops = DropSet::none(view, pairs);
        let reason = Reason::Owned(format!("does not fit into {} tokens", self.max_tokens));
        for (at, message) in view.messages.iter().enumerate().take(start) {
            if !self.preserves(message) {
                drops.drop_message(at, reason.clone());
            }
        }
        drops.into_plan()
    }

    /// Not even the newest segment, which begins at `start`, fits the `left` tokens.
    fn overflow(&self, view: &View<'_, '_>, pairs: &Pairs, start: usize, left: usize) -> Result<Plan, String> {
        let budget = self.max_tokens;
        let words = format!("the newest segment alone does not fit into {budget} tokens");
        if self.on_overflow == Overflow::Truncate {
            let mut plan = self.plan(view, pairs, start);
            let dropped = |at: usize| matches!(plan.decisions[at], Decision::Drop(_));
            let stays = |at: &usize| !dropped(*at) && !self.preserves(&view.messages[*at]);
            let own: Vec<usize> = (start..view.messages.len()).filter(stays).collect();
            let gone = |part: PartRef| match &plan.decisions[part.message] {
                Decision::Change(changes, _) => changes.contains(&Change::Cut(part.part)),
                _ => false,
            };
            if let Some(changes) = shorten(view.messages, &own, gone, left, &self.counting) {
                for (at, changes) in changes {
                    match &mut plan.decisions[at] {
                        Decision::Change(own, _) => own.extend(changes),
                        decision => *decision = Decision::Change(changes, Reason::Owned(words.clone())),
                    }
                }
                return Ok(plan);
            }
        }
        let (start, note) = match self.on_overflow {
            Overflow::KeepNewest => (start, format!("{words}; it is kept all the same")),
            Overflow::Error => return Err(words),
            Overflow::Truncate => {
                (view.messages.len(), format!("{words}, nor can its texts be shortened that far; it is dropped"))
            }
            Overflow::Empty => (view.messages.len(), format!("{words}; it is dropped (see --on-overflow)")),
        };
        let mut plan = self.plan(view, pairs, start);
        plan.notes.push(note);
        Ok(plan)
    }
}
