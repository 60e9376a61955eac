//! Policies: chains of processors that are applied before every request.

use std::ops::Range;
use std::sync::Arc;

use super::history::{History, WrittenMessages, instructs, without_slots};
use super::prefixes::{Difference, Runs, Sent};
use crate::calibration::{Request, Session};
use curtail_core::pipeline::{Chain, Stage};
use curtail_core::processors::{Budget, Counting, Processor, ProcessorError, View};
use curtail_core::steps;
use curtail_core::transcript::{Layout, Message, Pairs, Part, Role};

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

impl Policy {
    /// The requests as the log records them.
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
            // A message that is dropped with another has to be seen with it.
            joint: stage
                .filter(|stage| stage.processor.traits().growth.is_local && !history.has_dependent())
                .map(|_| 0),
            keeps_rounds: steady.is_some_and(|processor| {
                let growth = processor.traits().growth;
                growth.is_local && growth.keeps_rounds && !history.has_dependent()
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

// Policies that decide about a growing conversation incrementally, from what they sent before, so that the history is
// not read from its beginning for every request.

/// How a policy decides incrementally, from request to request.
enum Growing {
    /// It clears all but the last results.
    Results(Results),
    /// It keeps the newest segments that fit into a budget.
    Newest(Newest),
    /// It continues from the state in which an earlier part of the history left it.
    Resumed(Resumed),
}

impl Growing {
    /// How `processor` decides about a growing `history`; `None` if it has to see the whole history each time.
    fn new(processor: &Arc<dyn Processor>, history: &History<'_>, layout: &Layout<'_>) -> Option<Self> {
        if let Some(last) = processor.traits().growth.last_results {
            return Some(Self::Results(Results { last, open: Vec::new(), next: 0 }));
        }
        if !history.plain {
            return None;
        }
        Some(match processor.budget() {
            Some(budget) => Self::Newest(Newest::new(budget, history, layout)),
            None => Self::Resumed(Resumed { chain: None, from: 0, most: FIRST_SEARCH }),
        })
    }
}

/// The results that are not cleared yet: a policy clears a result once enough others follow it.
struct Results {
    /// How many of the last results are never cleared.
    last: usize,
    /// Positions of messages with results that are not all cleared, and the number of their results.
    open: Vec<(usize, usize)>,
    /// Index in [`History::originals`] of the first message that no request has sent.
    next: usize,
}

impl Results {
    /// How `request` differs from the previous one, which sent `sent`. `run` applies the policy.
    fn difference<'a>(
        &mut self,
        request: &Request,
        sent: &Sent,
        history: &History<'a>,
        counting: &Counting,
        written: &mut WrittenMessages,
        run: impl FnOnce(Vec<Message<'a>>) -> Result<Vec<Message<'a>>, ProcessorError>,
    ) -> Result<Difference, ProcessorError> {
        let end = history.originals.partition_point(|&at| at < request.at);
        let new = &history.originals[self.next.min(end)..end];
        let known = self.open.len();
        let results = new.iter().map(|&at| (at, history.messages[at].results().count()));
        self.open.extend(results.filter(|(_, count)| *count > 0));
        let mut at = self.next;
        self.next = end;
        let mut difference = sent.extended(0..0);
        if self.open.len() > known {
            let messages = self.open.iter().map(|&(at, _)| history.messages[at].clone()).collect();
            let first = self.open[0].0;
            difference = sent.cut(first);
            at = history.originals.partition_point(|&position| position < first).min(at);
            for message in run(messages)? {
                let Some(position) = history.position(&message) else { continue };
                let before = history.originals.partition_point(|&other| other < position);
                push_all(&mut difference.runs, &history.originals[at..before]);
                written.push(&mut difference.runs, history, counting, &message);
                at = before + 1;
            }
        }
        push_all(&mut difference.runs, &history.originals[at..end]);
        self.close();
        Ok(difference)
    }

    /// Forgets the messages whose results are all cleared.
    fn close(&mut self) {
        let (mut behind, mut open) = (0, self.open.len());
        while open > 0 && behind < self.last {
            open -= 1;
            behind += self.open[open].1;
        }
        self.open.drain(..open);
    }
}

/// Appends the messages at `positions`, as they were recorded.
fn push_all(runs: &mut Runs, positions: &[usize]) {
    let mut rest = positions;
    while let Some(&first) = rest.first() {
        // Positions ascend, so a run without a gap is found by bisection.
        let count = longest(rest.len(), |count| rest[count - 1] - first == count - 1);
        runs.push(first..first + count);
        rest = &rest[count..];
    }
}

/// The largest number from 1 to `most` for which `holds` is true. It must be true for 1, and stay false once it is
/// false.
fn longest(most: usize, holds: impl Fn(usize) -> bool) -> usize {
    let (mut low, mut high) = (1, most);
    while low < high {
        steps::count(1);
        let middle = low + (high - low).div_ceil(2);
        if holds(middle) { low = middle } else { high = middle - 1 }
    }
    low
}

/// Sums of tokens, from which the newest segments that fit into a budget are found.
struct Newest {
    /// The budget in tokens.
    most: usize,
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
    fn new(budget: Budget<'_>, history: &History<'_>, layout: &Layout<'_>) -> Self {
        let view = View::of_layout(layout, &history.messages);
        let mut sums = vec![[0; 2]];
        let mut originals = history.originals.iter().copied().peekable();
        for (at, message) in history.messages.iter().enumerate() {
            let [all, instructing] = sums[at];
            let is_original = originals.next_if_eq(&at).is_some();
            let tokens = if is_original { budget.counting.message(message) } else { 0 };
            sums.push([all + tokens, instructing + if message.role.instructs() { tokens } else { 0 }]);
        }
        let outside = budget.counting.outside(&view);
        let Budget { most, trigger, asks, .. } = budget;
        Self { most, trigger, asks, user_first: layout.context.user_first, outside, sums }
    }

    /// The messages that `request` sends; `None` if the policy itself has to decide.
    fn runs(&self, request: &Request, history: &History<'_>) -> Option<Runs> {
        let end = request.at;
        let fits = self.outside + self.sums[end][0] <= self.trigger;
        let cut = if fits { Newer { start: 0, question: None } } else { self.cut(end, history)? };
        let mut runs = Runs::default();
        let before = history.instructions.partition_point(|&at| at < cut.start);
        let is_original = |at: &usize| history.originals.binary_search(at).is_ok();
        let mut kept: Vec<usize> = history.instructions[..before].iter().copied().filter(is_original).collect();
        kept.extend(cut.question);
        kept.sort_unstable();
        kept.into_iter().for_each(|at| runs.push(at..at + 1));
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
                let asks = |joint: &&usize| !self.user_first || history.messages[**joint].has_text_as(Role::User);
                let start = *history.joints[first..].iter().find(asks).filter(|joint| **joint < end)?;
                Some(Newer { start, question: None })
            }
            Some(prompt) => {
                let last = history.originals_in(0..end).last()?;
                let answers = self.asks && opening == Some(prompt) && history.messages[*last].has_tools();
                let [[all, instructing], [before, instructing_before]] = [self.sums[prompt + 1], self.sums[prompt]];
                let tokens = (all - before) - (instructing - instructing_before);
                let start = self.start(end, history, tokens).filter(|_| answers)?;
                Some(Newer { start, question: Some(prompt) })
            }
            None => Some(Newer { start, question: None }).filter(|_| !self.user_first),
        }
    }

    /// The position from which on the newest segments before `end` fit beside `question` tokens. `None` if not even the last one fits, if they
    /// contain only instructions, or if one of their results has no call.
    fn start(&self, end: usize, history: &History<'_>, question: usize) -> Option<usize> {
        let room = self.most.checked_sub(self.outside + self.sums[end][1] + question)?;
        let free = |at: usize| self.sums[at][0] - self.sums[at][1];
        let last = history.joints.partition_point(|&joint| joint < end).checked_sub(1)?;
        let joint = history.joints[last];
        // An in-flight round may form several segments as long as its results are missing: all of them have to fit.
        if free(end) - free(joint) > room {
            return None;
        }
        let joints = &history.joints[..=last];
        let start = joints[joints.partition_point(|&joint| free(end) - free(joint) > room)];
        let is_empty = self.sums[end] == self.sums[start]
            || history.originals[history.originals.partition_point(|&at| at < start)..]
                .iter()
                .take_while(|&&at| at < end)
                .all(|&at| history.messages[at].role.instructs());
        (!is_empty && history.is_paired(start..end)).then_some(start)
    }
}

/// The number of messages above which a first state is looked for.
const FIRST_SEARCH: usize = 32;

/// The number of messages above which the next state is looked for, if the last search saw `messages`: a quarter more,
/// so that the searches take no more time than the decisions.
const fn next_search(messages: usize) -> usize {
    messages + messages / 4 + 8
}

/// The state from which a policy continues.
struct Resumed {
    /// The policy in that state; `None` for the policy itself.
    chain: Option<Chain>,
    /// Position of the first message, besides instructions, that it has to see.
    from: usize,
    /// The number of messages above which a later state is looked for.
    most: usize,
}

impl Resumed {
    /// The messages that `chain` sends with `request`.
    fn messages<'a>(
        &mut self,
        request: &Request,
        history: &History<'a>,
        chain: &Chain,
        layout: &Layout<'a>,
    ) -> Result<Vec<Message<'a>>, ProcessorError> {
        let is_paired = history.is_paired(self.from..request.at);
        let from = if is_paired { self.from } else { 0 };
        let mut positions = positions(from, request, history);
        let mut messages = history.messages_at(&positions);
        if is_paired && messages.len() > self.most && self.resume(&messages, &positions, history, chain, layout) {
            positions = self::positions(self.from, request, history);
            messages = history.messages_at(&positions);
        }
        let chain = self.chain.as_ref().filter(|_| is_paired).unwrap_or(chain);
        Ok(chain.run(layout, messages, |_, _, _| {})?.messages)
    }

    /// Looks for a later state in `messages`, which are at `positions`; returns whether there is one.
    fn resume<'a>(
        &mut self,
        messages: &[Message<'a>],
        positions: &[usize],
        history: &History<'a>,
        chain: &Chain,
        layout: &Layout<'a>,
    ) -> bool {
        self.most = next_search(messages.len());
        let chain = self.chain.as_ref().unwrap_or(chain);
        let Some(stage) = chain.stages.first() else { return false };
        let view = View::of_layout(layout, messages);
        let is_joint = |at: usize| positions.get(at).is_some_and(|at| history.joints.binary_search(at).is_ok());
        let Some((processor, index)) = stage.processor.resumed(&view, &is_joint) else { return false };
        self.from = positions[index];
        self.most = next_search(messages.len() - index);
        let stage = Stage { level: stage.level.clone(), processor };
        self.chain = Some(Chain { stages: vec![stage], ..Chain::default() });
        true
    }
}

/// The positions that a policy sees before `request`: those from `from` on, and instructions.
fn positions(from: usize, request: &Request, history: &History<'_>) -> Vec<usize> {
    let before = history.instructions.iter().copied().take_while(|&at| at < from);
    let before = before.filter(|at| history.originals.binary_search(at).is_ok());
    before.chain(history.originals_in(from..request.at).iter().copied()).collect()
}
