//! How a token limit decides about a growing history, from sums of tokens: its messages are counted once, and not again for every
//! request. [`TokenLimit`] itself decides where more matters than instructions, the newest segments and one question before them.
//!
//! This is a second implementation of [`TokenLimit`], for speed. `sums_of_tokens_decide_as_the_limit_does`, a property in
//! `crates/curtail-core/tests/core/replay.rs`, holds them equal.

use std::ops::Range;

use super::history::History;
use super::runs::Runs;
use crate::requests::Request;
use curtail_core::processors::{Counting, Question, TokenLimit, View};
use curtail_core::transcript::{Layout, Role};

/// A token limit for the requests of one history.
pub(super) struct Newest {
    /// The number of tokens that a cut may keep.
    budget: usize,
    /// The number of tokens above which a request is cut.
    trigger: usize,
    /// Whether a cut keeps the question that an in-flight round answers.
    keeps_question: bool,
    /// Whether the first message has to be the user's.
    user_first: bool,
    /// Tokens outside the messages.
    outside: usize,
    /// For each position, the tokens of the original messages before it.
    before: Vec<Tokens>,
}

/// The tokens of some messages.
#[derive(Clone, Copy, Default, PartialEq)]
pub(super) struct Tokens {
    /// Those of instructions, which every cut keeps.
    instructions: usize,
    /// Those of all other messages.
    conversation: usize,
}

impl Tokens {
    pub(super) const fn all(self) -> usize {
        self.instructions + self.conversation
    }
}

/// What a request sends besides instructions.
#[derive(Default)]
struct Kept {
    /// Position from which on everything is sent.
    start: usize,
    /// Position of the question that is sent before that.
    question: Option<usize>,
}

impl Newest {
    /// `None` if `limit` keeps something else as well, or if a message does not count by itself.
    pub(super) fn new(limit: &TokenLimit, history: &History<'_>, layout: &Layout<'_>) -> Option<Self> {
        let counting = &limit.counting;
        let is_sum = counting.template.is_none() && counting.by_usage.is_none();
        let keeps_question = match limit.question {
            Question::InFlight => true,
            Question::Never => false,
            Question::Always => return None,
        };
        if !is_sum || !limit.preserve_system || !counts_from_the_end(limit) {
            return None;
        }
        Some(Self {
            budget: limit.max_tokens,
            trigger: limit.trigger.unwrap_or(0).max(limit.max_tokens),
            keeps_question,
            user_first: layout.rules.context.user_first,
            outside: counting.outside(&View::of_layout(layout, &history.messages)),
            before: tokens_before(counting, history),
        })
    }

    /// The messages that `request` sends; `None` if the limit itself has to decide.
    pub(super) fn runs(&self, request: &Request, history: &History<'_>) -> Option<Runs> {
        let end = request.at;
        let fits = self.outside + self.before[end].all() <= self.trigger;
        let kept = if fits { Kept::default() } else { self.cut(end, history)? };
        let mut ahead: Vec<usize> = history.instructions_before(kept.start).chain(kept.question).collect();
        ahead.sort_unstable();
        let mut runs = Runs::default();
        runs.push_all(&ahead);
        runs.push_all(history.originals_in(kept.start..end));
        Some(runs)
    }

    /// What a cut keeps of the messages before `end`; `None` if the limit itself has to decide.
    fn cut(&self, end: usize, history: &History<'_>) -> Option<Kept> {
        let start = self.newest_that_fit(end, history, 0)?;
        // Where the last turn begins.
        match history.last_texts[end].prompt {
            Some(prompt) if prompt < start => self.turn_begins_before(prompt, end, history),
            Some(_) => self.turn_begins_inside(start, end, history),
            None => (!self.user_first).then_some(Kept { start, question: None }),
        }
    }

    /// What it keeps if the last turn begins in what fits, from `start` on. That may have to begin with a message of the user.
    fn turn_begins_inside(&self, start: usize, end: usize, history: &History<'_>) -> Option<Kept> {
        let first = history.joints.partition_point(|&joint| joint < start);
        let mut joints = history.joints[first..].iter().copied();
        let start = joints.find(|&joint| !self.user_first || history.messages[joint].has_text_as(Role::User))?;
        (start < end).then_some(Kept { start, question: None })
    }

    /// What it keeps if the last turn begins before that, with `prompt`: this question as well, if the round is in flight.
    fn turn_begins_before(&self, prompt: usize, end: usize, history: &History<'_>) -> Option<Kept> {
        let newest = history.originals_in(0..end).last()?;
        // A turn that begins while a call is open is no `opening`: the round answers an earlier question, too.
        let opens_the_round = history.last_texts[end].opening == Some(prompt);
        if !self.keeps_question || !opens_the_round || !history.messages[*newest].has_tools() {
            return None;
        }
        let start = self.newest_that_fit(end, history, self.tokens(prompt..prompt + 1))?;
        Some(Kept { start, question: Some(prompt) })
    }

    /// The position from which on the newest segments before `end` fit beside `question` tokens. `None` if not even the last one
    /// fits, if they contain only instructions, or if one of their results has no call.
    fn newest_that_fit(&self, end: usize, history: &History<'_>, question: usize) -> Option<usize> {
        let room = self.budget.checked_sub(self.outside + self.before[end].instructions + question)?;
        let last = history.joints.partition_point(|&joint| joint < end).checked_sub(1)?;
        // An in-flight round may form several segments as long as its results are missing: all of them have to fit.
        if self.tokens(history.joints[last]..end) > room {
            return None;
        }
        let joints = &history.joints[..=last];
        let start = joints[joints.partition_point(|&joint| self.tokens(joint..end) > room)];
        // Segments without tokens are not looked at: whether they are enough is for the limit to decide.
        let has_own = self.before[end] != self.before[start]
            && history.originals_in(start..end).iter().any(|&at| !history.messages[at].role.instructs());
        (has_own && history.is_paired(start..end)).then_some(start)
    }

    /// The tokens of the messages at `positions`, without instructions.
    fn tokens(&self, positions: Range<usize>) -> usize {
        self.before[positions.end].conversation - self.before[positions.start].conversation
    }
}

/// Whether instructions, the newest messages and the question before them decide everything.
pub(super) const fn counts_from_the_end(limit: &TokenLimit) -> bool {
    !limit.first_user && limit.step <= 1
}

/// For each position, the tokens of the original messages before it.
pub(super) fn tokens_before(counting: &Counting, history: &History<'_>) -> Vec<Tokens> {
    let mut sum = Tokens::default();
    let mut before = vec![sum];
    let mut originals = history.originals.iter().copied().peekable();
    for (at, message) in history.messages.iter().enumerate() {
        if originals.next_if_eq(&at).is_some() {
            let part = if message.role.instructs() { &mut sum.instructions } else { &mut sum.conversation };
            *part += counting.message(message);
        }
        before.push(sum);
    }
    before
}
