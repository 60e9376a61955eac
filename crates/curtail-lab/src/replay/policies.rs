//! Policies: chains of processors that are applied before every request.

use std::fmt;
use std::ops::Range;

use super::growing::Growing;
use super::history::{History, WrittenMessages, instructs, without_slots};
use super::prefixes::{Difference, Sent};
use crate::calibration::{Request, Session};
use curtail_core::pipeline::Chain;
use curtail_core::processors::{Counting, ProcessorError};
use curtail_core::transcript::{Layout, Message, Pairs, Part};

/// The name of the first policy: the requests as the log records them.
pub const AS_RECORDED: &str = "as recorded";

/// How a policy is applied from request to request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Apply {
    /// It sees the whole recorded history at each request.
    #[default]
    View,
    /// Its output is kept, and the next messages are appended to it.
    Rewrite,
}

/// A named policy.
#[derive(Debug)]
pub struct Policy {
    /// Its name.
    pub name: String,
    /// The command that applies it, without `curtail`. A budget in percent is relative to the largest request.
    pub command: String,
    /// What it does.
    pub chain: PolicyChain,
    /// Whether a sweep made it.
    pub swept: bool,
}

/// Makes the chain of a policy for a session, from our count of its largest recorded request.
pub type ScaledChain = Box<dyn Fn(u64) -> Result<Chain, Box<dyn std::error::Error + Send + Sync>> + Send + Sync>;

/// What a policy does.
pub enum PolicyChain {
    /// What was recorded.
    Recorded,
    /// The same chain for all sessions.
    Fixed(Chain),
    /// A chain for each session.
    Scaled(ScaledChain),
}

impl fmt::Debug for PolicyChain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Recorded => "Recorded",
            Self::Fixed(_) => "Fixed",
            Self::Scaled(_) => "Scaled",
        })
    }
}

impl Policy {
    /// The requests as the log records them.
    #[must_use]
    pub fn recorded() -> Self {
        Self { name: AS_RECORDED.to_owned(), command: String::new(), chain: PolicyChain::Recorded, swept: false }
    }
}

/// A policy that is applied to one session.
pub(super) struct Projection<'h, 'a> {
    chain: &'h Chain,
    apply: Apply,
    /// Whether the policy sees only the messages after the last compaction.
    live: bool,
    session: &'h Session,
    history: &'h History<'a>,
    /// The layout of the transcript, without its slots.
    layout: Layout<'a>,
    /// The output for the previous request, with [`Apply::Rewrite`].
    rewritten: Vec<Message<'a>>,
    /// The position of the first message that is not in `rewritten` yet.
    next: usize,
    /// Position of the last compaction before the previous request.
    live_from: usize,
    /// Index of the joint from which the previous request was decided; `None` if the whole history is needed.
    joint: Option<usize>,
    /// Whether the chain keeps every message that continues an in-flight round.
    keeps_rounds: bool,
    /// Whether the chain keeps every message that continues an in-flight round without text of a user or an assistant.
    keeps_silence: bool,
    /// How the policy decides incrementally, if it can.
    growing: Option<Growing>,
    /// The position at which the previous request ended.
    end: usize,
    /// The messages that the chain wrote or changed.
    written: WrittenMessages,
    counting: &'h Counting,
}

impl<'h, 'a> Projection<'h, 'a> {
    /// Applies `chain` to `session` and its `history`; `counting` counts the messages that it writes.
    pub(super) fn new(
        chain: &'h Chain,
        apply: Apply,
        live: bool,
        session: &'h Session,
        history: &'h History<'a>,
        layout: &Layout<'a>,
        counting: &'h Counting,
    ) -> Self {
        let layout = without_slots(layout);
        let is_view = !live && apply == Apply::View && session.rolled_back.is_empty();
        let stage = chain.stages.first().filter(|_| is_view && chain.stages.len() == 1 && chain.on_summary.is_none());
        let steady = stage.filter(|_| layout.reread.is_none()).map(|stage| &stage.processor);
        Self {
            joint: stage.filter(|stage| stage.processor.traits().growth.is_local).map(|_| 0),
            keeps_rounds: steady.is_some_and(|processor| {
                let growth = processor.traits().growth;
                growth.is_local && growth.keeps_rounds
            }),
            keeps_silence: steady.is_some_and(|processor| processor.traits().growth.keeps_silence) && history.plain,
            growing: steady.and_then(|processor| Growing::new(processor, history, &layout)),
            chain,
            apply,
            live,
            session,
            history,
            layout,
            rewritten: Vec::new(),
            next: 0,
            live_from: 0,
            end: 0,
            written: WrittenMessages::default(),
            counting,
        }
    }

    /// How `request` differs from the previous one, which sent `sent`.
    ///
    /// # Errors
    /// The error of the processor that cannot decide.
    pub(super) fn difference(&mut self, request: &Request, sent: &Sent) -> Result<Difference, ProcessorError> {
        if let Some(new) = self.continued(request, sent) {
            return Ok(sent.extended(new));
        }
        let (chain, history, layout) = (self.chain, self.history, &self.layout);
        match &mut self.growing {
            Some(Growing::Results(results)) => {
                let run = |messages| Ok(chain.run(layout, messages, |_, _, _| {})?.messages);
                return results.difference(request, sent, history, self.counting, &mut self.written, run);
            }
            Some(Growing::Newest(newest)) => {
                if let Some(runs) = newest.runs(request, history) {
                    return Ok(runs.into());
                }
            }
            Some(Growing::Resumed(_)) | None => {}
        }
        let messages = self.messages(request)?;
        Ok(self.written.runs(history, self.counting, &messages).into())
    }

    /// The positions that `request` adds to `before`, what the previous one sent. `None` if the policy has to decide;
    /// it need not if the new messages continue the in-flight round and answer only calls that were sent.
    pub(super) fn continued(&mut self, request: &Request, before: &Sent) -> Option<Range<usize>> {
        let history = self.history;
        let new = std::mem::replace(&mut self.end, request.at)..request.at;
        let in_round = |end: usize| {
            let last = end.checked_sub(1)?;
            history.answers[last].as_ref().filter(|_| history.messages[last].has_tools())
        };
        let is_silent = || self.keeps_silence && history.silent[new.clone()].iter().all(|silent| *silent);
        let is_sent = |call: &usize| *call >= new.start || before.sends(*call);
        // A message whose results were dropped does not belong to the round: the calls before it stay unanswered.
        let is_whole = |calls: &Vec<usize>| calls.iter().all(is_sent);
        if !(self.keeps_rounds || is_silent())
            || new.is_empty()
            || !in_round(new.start).is_some_and(is_whole)
            || in_round(new.end).is_none()
        {
            return None;
        }
        // What is beside results of earlier calls can outlive them, and then the round ends with it.
        let is_plain = |at: usize| {
            let message = &history.messages[at];
            let is_worth_keeping = |part: &Part<'_>| !part.content.is_tool() && part.is_worth_keeping();
            message.results().next().is_none() || !message.parts.iter().any(is_worth_keeping)
        };
        let answers_sent = |at: usize| history.answers[at].as_ref().is_some_and(|calls| calls.iter().all(is_sent));
        let continues = |at: usize| is_plain(at) && answers_sent(at);
        new.clone().all(continues).then_some(new)
    }

    /// The messages that are sent with `request`.
    ///
    /// # Errors
    /// The error of the processor that cannot decide.
    fn messages(&mut self, request: &Request) -> Result<Vec<Message<'a>>, ProcessorError> {
        if let Some(Growing::Resumed(resumed)) = self.growing.as_mut().filter(|_| self.joint.is_none()) {
            return resumed.messages(request, self.history, self.chain, &self.layout);
        }
        match (self.apply, self.joint) {
            (Apply::Rewrite, _) => self.rewrite(request),
            (Apply::View, Some(joint)) => self.view_from(request, joint),
            (Apply::View, None) => {
                let positions = self.positions(request, 0);
                self.run(self.history.messages_at(&positions))
            }
        }
    }

    /// The positions from `from` on that the policy sees at `request`.
    fn positions(&self, request: &Request, from: usize) -> Vec<usize> {
        let is_visible = |position: &usize| {
            !self.session.summaries[*position] && !self.session.is_rolled_back(*position, request.at)
        };
        if self.live {
            return request.sent.iter().cloned().flatten().filter(|position| *position >= from).collect();
        }
        (from..request.at).filter(is_visible).collect()
    }

    fn run(&self, messages: Vec<Message<'a>>) -> Result<Vec<Message<'a>>, ProcessorError> {
        Ok(self.chain.run(&self.layout, messages, |_, _, _| {})?.messages)
    }

    /// Whether the calls of all results are among `messages`.
    fn is_closed(messages: &[Message<'_>]) -> bool {
        let pairs = Pairs::from_messages(messages);
        pairs.results().iter().all(|&result| pairs.counterpart(result).is_some())
    }

    fn rewrite(&mut self, request: &Request) -> Result<Vec<Message<'a>>, ProcessorError> {
        if self.live && request.live_from > self.live_from {
            (self.rewritten, self.next, self.live_from) = (Vec::new(), 0, request.live_from);
        }
        let new = self.positions(request, self.next);
        self.next = request.at;
        let mut messages = std::mem::take(&mut self.rewritten);
        if !self.session.rolled_back.is_empty() {
            let is_rolled_back = |message: &Message<'_>| {
                let position = self.history.position(message);
                position.is_some_and(|position| self.session.is_rolled_back(position, request.at))
            };
            messages.retain(|message| !is_rolled_back(message));
        }
        messages.extend(new.into_iter().map(|position| self.history.messages[position].clone()));
        let sent = self.run(messages)?;
        self.rewritten.clone_from(&sent);
        Ok(sent)
    }

    /// The messages that a local policy sends. If such a policy drops the message at a joint, it decides the same from
    /// this joint on as from the beginning. So the time depends on what is sent, not on the length of the history.
    ///
    /// After messages 0 to 99, each of which is a joint, `window -n 3` sends 97 to 99. From joint 98 on it would send 98, which
    /// shows nothing about 97. The search goes back in growing steps, to 97 and to 95. There, the policy drops 95, so it would
    /// drop everything before 95 as well.
    fn view_from(&mut self, request: &Request, joint: usize) -> Result<Vec<Message<'a>>, ProcessorError> {
        let history = self.history;
        let (mut joint, mut step) = (joint, 1);
        loop {
            let from = history.joints.get(joint).copied().filter(|&from| joint > 0 && from < request.at).unwrap_or(0);
            // A role that has no text after the joint may have text before it.
            let has_all_texts = history.last_texts[request.at].iter().flatten().all(|&position| position >= from);
            let is_droppable = |at: usize| !instructs(&history.messages[at]) && !self.session.summaries[at];
            let first = (from..request.at).find(|&at| is_droppable(at));
            if from == 0 || has_all_texts && first.is_some() {
                let before = history.instructions.iter().copied().take_while(|&position| position < from);
                let before: Vec<usize> = before.filter(|&position| !self.session.summaries[position]).collect();
                let positions = [before, self.positions(request, from)].concat();
                let messages = history.messages_at(&positions);
                if from == 0 || Self::is_closed(&messages) {
                    let sent = self.run(messages)?;
                    let is_sent = |first| sent.iter().any(|message| history.position(message) == Some(first));
                    if from == 0 || first.is_some_and(|first| !is_sent(first)) {
                        self.joint = Some(self.joint_before(&sent).unwrap_or(joint));
                        return Ok(sent);
                    }
                }
            }
            joint = joint.saturating_sub(step);
            step *= 2;
        }
    }

    /// Index of the last joint before all messages that are sent, instructions aside.
    fn joint_before(&self, sent: &[Message<'a>]) -> Option<usize> {
        let kept = sent.iter().filter(|message| !message.role.instructs());
        let first = kept.filter_map(|message| self.history.position(message)).min();
        let joints = &self.history.joints;
        first.map(|first| joints.partition_point(|&joint| joint < first).saturating_sub(1))
    }
}
