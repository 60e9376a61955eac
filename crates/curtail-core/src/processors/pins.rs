//! Messages that a cut keeps wherever they are: instructions, the task, the question that is being answered, and calls that wait.

use foldhash::HashSet;

use super::applying::apply_plan;
use super::plan::{Plan, Reason};
use crate::transcript::{Message, Pairs, PartRef, open_questions, prompts};

/// When the last message that a person wrote is kept wherever it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Question {
    /// While a round is in flight that answers it, and as long as a part of that round is kept.
    #[default]
    InFlight,
    /// Always.
    Always,
    /// Never.
    Never,
}

impl Question {
    /// Indices of the messages that are kept.
    pub(super) fn among(self, messages: &[Message<'_>], pairs: &Pairs) -> Vec<usize> {
        let mut questions = match self {
            Self::Never => return Vec::new(),
            Self::InFlight | Self::Always => open_questions(messages, pairs),
        };
        if self == Self::Always && questions.is_empty() {
            questions.extend(prompts(messages).last());
        }
        questions
    }

    /// Whether a round is in flight after `plan` whose question is kept, or has to be.
    pub(super) fn is_open_after(self, plan: &Plan, messages: &[Message<'_>]) -> bool {
        !self.among_left(plan, messages).is_empty()
    }

    /// Those of `questions` that are still to be kept after `plan`: a part of the round that answers them may be gone, or all of
    /// it.
    pub(super) fn still(self, questions: &[usize], plan: &Plan, messages: &[Message<'_>]) -> Vec<usize> {
        let kept: Vec<usize> = (0..messages.len()).filter(|&at| plan.keeps(at)).collect();
        let open = self.among_left(plan, messages).into_iter();
        open.map(|at| kept[at]).filter(|at| questions.contains(at)).collect()
    }

    /// The questions to keep once `plan` is applied, as indices of the messages that it leaves.
    fn among_left(self, plan: &Plan, messages: &[Message<'_>]) -> Vec<usize> {
        let left = apply_plan(messages.to_vec(), plan);
        self.among(&left, &Pairs::from_messages(&left))
    }
}

/// Messages that a cut keeps wherever they are, and that every window of a split repeats. The default pins only the question
/// that an in-flight round answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Pins {
    /// System and developer messages.
    pub system: bool,
    /// The first message that a person wrote.
    pub first_user: bool,
    /// When the last message that a person wrote is pinned.
    pub question: Question,
}

// Why messages are kept.

pub(super) const TASK: Reason = Reason::Borrowed("the first user message is pinned");
pub(super) const QUESTION: Reason = Reason::Borrowed("the question that the in-flight round answers");
pub(super) const LAST_USER: Reason = Reason::Borrowed("the last user message is pinned");
pub(super) const LAST_ASKED: Reason = Reason::Borrowed("the last message that a person wrote");
pub(super) const PAIRED: Reason = Reason::Borrowed("an entry that is kept has its call or its result");
pub(super) const OPENER: Reason = Reason::Borrowed("the turn in which the cut begins");
pub(super) const AWAITED: Reason = Reason::Borrowed("a call is left open on purpose, and its answer can still come");

/// What stays because the answer to a deferred call can still come.
#[derive(Debug, Clone, Default)]
pub(super) struct Awaiting {
    /// The call, its results so far, and what is not kept without it.
    pub(super) parts: HashSet<PartRef>,
    /// The messages of these, and the thoughts that led to them.
    pub(super) messages: HashSet<usize>,
}

impl Awaiting {
    pub(super) fn new(messages: &[Message<'_>], pairs: &Pairs) -> Self {
        Self { parts: pairs.awaiting(messages), messages: pairs.awaiting_messages(messages) }
    }
}

/// Why a message is kept that gives instructions or is a boundary.
pub(super) const fn why_preserved(message: &Message<'_>) -> Reason {
    Reason::Borrowed(if message.role.instructs() {
        "system and developer messages are preserved"
    } else {
        "replaces everything before it"
    })
}
