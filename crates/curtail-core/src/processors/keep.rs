//! What a window keeps in addition to its newest units.

use std::ops::Range;

use super::applying::apply_plan;
use super::cascade::DropSet;
use super::pins::{AWAITED, Awaiting, LAST_USER, OPENER, PAIRED, QUESTION, Question, TASK, why_preserved};
use super::plan::{Decision, Plan, Reason};
use crate::transcript::{Message, Pairs, first_prompt, in_flight, prompts, segments};

/// Messages that a window keeps in addition to its newest units.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Keep {
    /// Whether system and developer messages are kept wherever they are; `true` by default.
    pub system: bool,
    /// Number of units to keep at the start of the transcript.
    pub first: usize,
    /// Whether the window drops its messages before the first speaking user message.
    pub start_on_user: bool,
    /// Whether the first message that a person wrote is kept wherever it is: the task.
    pub first_user: bool,
    /// When the last message that a person wrote is kept wherever it is. What moves in steps keeps the message that began the
    /// turn in which the cut is instead, because that one stays the same until the next step.
    pub question: Question,
}

impl Default for Keep {
    fn default() -> Self {
        Self { system: true, first: 0, start_on_user: false, first_user: false, question: Question::default() }
    }
}

impl Keep {
    /// The messages of a transcript that are kept, without a question.
    pub(super) fn among<'m, 'a>(self, messages: &'m [Message<'a>], pairs: &Pairs) -> Preserved<'m, 'a> {
        let task = if self.first_user { first_prompt(messages) } else { None };
        let awaiting = Awaiting::new(messages, pairs);
        let has_exchanges = messages.iter().any(Message::is_exchange);
        let segments = if has_exchanges { segments(messages, pairs) } else { Vec::new() };
        let preserved = Preserved {
            keep: self,
            messages,
            task,
            questions: Vec::new(),
            asked: QUESTION,
            awaiting,
            segments,
            whole: Vec::new(),
        };
        preserved.with_whole_segments()
    }

    /// The plan of `decide`, which gets the questions to keep. It decides without one first, because most cuts keep the question
    /// anyway. A question is not kept for a round of which nothing is left, unless it takes the place of the round.
    pub(super) fn with_question<'m, 'a>(
        self,
        messages: &'m [Message<'a>],
        pairs: &Pairs,
        decide: impl Fn(Preserved<'m, 'a>) -> Plan,
    ) -> Plan {
        let plan = decide(self.among(messages, pairs));
        if plan.is_identity() {
            return plan;
        }
        let mut questions = self.question.among(messages, pairs);
        if questions.iter().all(|&at| plan.asks_with(at, messages)) {
            return plan;
        }
        loop {
            let asking = decide(self.among(messages, pairs).asking(questions.clone()));
            let still = self.question.still(&questions, &asking, messages);
            match still.len() {
                0 => {
                    let after = apply_plan(messages.to_vec(), &plan);
                    // A call that waits for its answer since an earlier round is no part of this one.
                    let is_left = in_flight(&after) < after.len()
                        && (in_flight(messages)..messages.len()).any(|at| plan.keeps(at));
                    // Without its result, a message that answers a call of the round asks something else.
                    let is_whole = questions.iter().all(|&at| asking.decisions[at] == Decision::Keep);
                    if !is_left || questions.len() < 2 {
                        return if is_left && is_whole { asking } else { plan };
                    }
                    questions.remove(0);
                }
                count if count == questions.len() => return asking,
                _ => questions = still,
            }
        }
    }

    /// Whether the message is kept for its role, or because it is a boundary.
    const fn preserves(self, message: &Message<'_>) -> bool {
        self.system && message.instructs() || message.is_boundary() && message.standing.is_read()
    }

    /// `start`, moved forward to the next of `turn_starts` if `start_on_user` is set and there is one.
    pub(super) fn front(self, turn_starts: &[usize], start: usize) -> usize {
        let next = turn_starts.get(turn_starts.partition_point(|&turn| turn < start));
        next.copied().filter(|_| self.start_on_user).unwrap_or(start)
    }
}

/// The messages of a transcript that are kept wherever they are.
pub(super) struct Preserved<'m, 'a> {
    pub(super) keep: Keep,
    messages: &'m [Message<'a>],
    /// Index of the message that `first_user` keeps.
    task: Option<usize>,
    /// Indices of the messages that `question` keeps.
    pub(super) questions: Vec<usize>,
    /// Why they are kept.
    pub(super) asked: Reason,
    awaiting: Awaiting,
    /// The segments of a transcript with exchanges; none of another.
    segments: Vec<Range<usize>>,
    /// Those of the exchanges that are kept: an exchange is dropped with its call or result.
    whole: Vec<Range<usize>>,
}

impl Preserved<'_, '_> {
    /// The same, and these questions.
    pub(super) fn asking(self, questions: Vec<usize>) -> Self {
        let asked = if self.keep.question == Question::Always { LAST_USER } else { QUESTION };
        Self { questions, asked, ..self }.with_whole_segments()
    }

    /// The same, and the message that began the turn in which a window begins that moves in steps. What is appended later cannot
    /// change it. None if a turn begins there.
    pub(super) fn opening(self, start: usize) -> Self {
        let opener = opener(&prompts(self.messages), start).filter(|_| self.keep.question != Question::Never);
        Self { questions: opener.into_iter().collect(), asked: OPENER, ..self }.with_whole_segments()
    }

    fn with_whole_segments(mut self) -> Self {
        let pinned = self.task.iter().chain(&self.questions).filter(|at| self.messages[**at].is_exchange());
        self.whole =
            pinned.filter_map(|at| self.segments.iter().find(|segment| segment.contains(at)).cloned()).collect();
        self
    }

    fn is_in_whole(&self, at: usize) -> bool {
        self.whole.iter().any(|segment| segment.contains(&at))
    }

    /// Whether the message is one of them.
    pub(super) fn contains(&self, at: usize) -> bool {
        let is_pinned = self.task == Some(at) || self.questions.contains(&at) || self.awaiting.messages.contains(&at);
        is_pinned || self.is_in_whole(at) || self.keep.preserves(&self.messages[at])
    }

    /// Whether all messages of the unit are.
    pub(super) fn contains_all(&self, unit: &Range<usize>) -> bool {
        unit.clone().all(|at| self.contains(at))
    }

    /// The end of the first units, which are kept. Units that are preserved in any case are not counted.
    pub(super) fn head(&self, units: &[Range<usize>]) -> usize {
        let others = units.iter().filter(|unit| !self.contains_all(unit));
        others.take(self.keep.first).last().map_or(0, |unit| unit.end)
    }

    /// Drops the messages of `outside`, which is not in the window, except for what is preserved of them.
    pub(super) fn drop_others(&self, drops: &mut DropSet<'_, '_>, outside: Range<usize>, reason: &Reason) {
        for at in outside {
            let message = &self.messages[at];
            if self.task == Some(at) {
                drops.spare(at, TASK);
            } else if self.questions.contains(&at) {
                drops.spare(at, self.asked.clone());
            } else if self.awaiting.messages.contains(&at) {
                drops.spare(at, AWAITED);
            } else if self.is_in_whole(at) {
                drops.spare(at, PAIRED);
            } else if self.keep.preserves(message) {
                drops.spare(at, why_preserved(message));
            } else if self.keep.system {
                drops.drop_but_instructions(at, reason);
            } else {
                drops.drop_message(at, reason.clone());
            }
        }
    }

    /// The note that no message of a person is left, if `plan` drops all of them and keeps others.
    pub(super) fn without_task(&self, plan: &Plan) -> Option<String> {
        let prompts = prompts(self.messages);
        let is_lost = !self.keep.first_user
            && !prompts.is_empty()
            && self.messages.iter().enumerate().any(|(at, message)| plan.keeps(at) && !message.role.instructs())
            && !prompts.into_iter().any(|at| plan.asks_with(at, self.messages));
        is_lost.then(|| {
            String::from("no message that a person wrote is kept; pass --pin first-user to keep the first one, which states the task")
        })
    }
}

/// The last of `prompts` before `start`, if the turn that it begins goes on there.
pub(super) fn opener(prompts: &[usize], start: usize) -> Option<usize> {
    let before = prompts.partition_point(|&at| at < start);
    let begins = prompts.get(before) == Some(&start);
    before.checked_sub(1).filter(|_| !begins).map(|last| prompts[last])
}
