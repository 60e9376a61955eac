//! The newest segments within a budget.

use std::ops::Range;

use super::history::History;
use super::results::push_all;
use super::runs::Runs;
use crate::calibration::Request;
use curtail_core::processors::{Counting, Question, TokenLimit, View};
use curtail_core::transcript::{Layout, Role};

/// Sums of tokens, from which the newest segments that fit into a budget are found.
pub(super) struct Newest {
    /// The budget in tokens.
    pub(super) most: usize,
    /// The number of tokens above which the policy cuts.
    trigger: usize,
    /// Whether the question that an in-flight round answers is kept.
    asks: bool,
    /// Whether the first message has to be the user's.
    user_first: bool,
    /// Tokens outside the messages.
    outside: usize,
    /// For each position, the tokens of the original messages before it, and of the instructions among them.
    sums: Vec<[usize; 2]>,
}

/// What a budget keeps, besides instructions.
struct Newer {
    /// Position of the first message of the newest segments.
    start: usize,
    /// Position of the question that is kept before them.
    question: Option<usize>,
}

impl Newest {
    /// `None` if `limit` keeps more than instructions, the newest segments and the question that an in-flight round answers, or if
    /// a message does not count by itself.
    pub(super) fn new(limit: &TokenLimit, history: &History<'_>, layout: &Layout<'_>) -> Option<Self> {
        let counting = &limit.counting;
        let is_sum = counting.template.is_none() && counting.by_usage.is_none();
        let asks = match limit.question {
            Question::InFlight => true,
            Question::Never => false,
            Question::Always => return None,
        };
        if !is_sum || !limit.preserve_system || !counts_from_the_end(limit) {
            return None;
        }
        Some(Self {
            most: limit.max_tokens,
            trigger: limit.trigger.unwrap_or(0).max(limit.max_tokens),
            asks,
            user_first: layout.context.user_first,
            outside: counting.outside(&View::of_layout(layout, &history.messages)),
            sums: sums(counting, history),
        })
    }

    /// The messages that `request` sends; `None` if the policy itself has to decide.
    pub(super) fn runs(&self, request: &Request, history: &History<'_>) -> Option<Runs> {
        let end = request.at;
        let fits = self.outside + self.sums[end][0] <= self.trigger;
        let cut = if fits { Newer { start: 0, question: None } } else { self.cut(end, history)? };
        let mut before: Vec<usize> = history.instructions_before(cut.start).chain(cut.question).collect();
        before.sort_unstable();
        let mut runs = Runs::default();
        for at in before {
            runs.push(at..at + 1);
        }
        push_all(&mut runs, history.originals_in(cut.start..end));
        Some(runs)
    }

    /// What is kept of the messages before `end`; `None` if the policy itself has to decide.
    fn cut(&self, end: usize, history: &History<'_>) -> Option<Newer> {
        let start = self.start(end, history, 0)?;
        let [_, prompt, _, opening] = history.last_texts[end];
        match prompt {
            Some(prompt) if prompt >= start => {
                let first = history.joints.partition_point(|&joint| joint < start);
                let mut joints = history.joints[first..].iter().copied();
                let start = joints.find(|&joint| !self.user_first || history.messages[joint].has_text_as(Role::User));
                Some(Newer { start: start.filter(|start| *start < end)?, question: None })
            }
            Some(prompt) => {
                let last = history.originals_in(0..end).last()?;
                let is_answered = self.asks && opening == Some(prompt) && history.messages[*last].has_tools();
                let tokens = self.spoken(prompt..prompt + 1);
                let start = self.start(end, history, tokens).filter(|_| is_answered)?;
                Some(Newer { start, question: Some(prompt) })
            }
            None => Some(Newer { start, question: None }).filter(|_| !self.user_first),
        }
    }

    /// The position from which on the newest segments before `end` fit beside `question` tokens. `None` if not even the last one
    /// fits, if they contain only instructions, or if one of their results has no call.
    fn start(&self, end: usize, history: &History<'_>, question: usize) -> Option<usize> {
        let room = self.most.checked_sub(self.outside + self.sums[end][1] + question)?;
        let last = history.joints.partition_point(|&joint| joint < end).checked_sub(1)?;
        // An in-flight round may form several segments as long as its results are missing: all of them have to fit.
        if self.spoken(history.joints[last]..end) > room {
            return None;
        }
        let joints = &history.joints[..=last];
        let start = joints[joints.partition_point(|&joint| self.spoken(joint..end) > room)];
        let has_own = self.sums[end] != self.sums[start]
            && history.originals_in(start..end).iter().any(|&at| !history.messages[at].role.instructs());
        (has_own && history.is_paired(start..end)).then_some(start)
    }

    /// The tokens of the messages in `range`, without instructions.
    fn spoken(&self, range: Range<usize>) -> usize {
        let [all, instructing] = self.sums[range.end];
        let [all_before, instructing_before] = self.sums[range.start];
        (all - all_before) - (instructing - instructing_before)
    }
}

/// For each position, the tokens of the original messages before it, and of the instructions among them.
fn sums(counting: &Counting, history: &History<'_>) -> Vec<[usize; 2]> {
    let mut sums = vec![[0; 2]];
    let mut originals = history.originals.iter().copied().peekable();
    for (at, message) in history.messages.iter().enumerate() {
        let [all, instructing] = sums[at];
        let is_original = originals.next_if_eq(&at).is_some();
        let tokens = if is_original { counting.message(message) } else { 0 };
        sums.push([all + tokens, instructing + if message.role.instructs() { tokens } else { 0 }]);
    }
    sums
}

/// Whether instructions, the newest messages and the question before them decide everything.
pub(super) const fn counts_from_the_end(limit: &TokenLimit) -> bool {
    !limit.first_user && limit.step <= 1
}
