//! How the processors that are known here decide about a growing conversation: from what they sent before, so that the history is
//! not read from its beginning for every request. Any other processor sees the whole history each time.

use std::any::Any;
use std::ops::Range;
use std::sync::Arc;

use super::history::History;
use super::prefixes::{Difference, Runs, Sent, WrittenMessages};
use crate::calibration::Request;
use curtail_core::pipeline::Chain;
use curtail_core::processors::{
    ClearResults, Counting, HistoryWindow, Keep, Processor, ProcessorError, Question, SlidingWindow, StaleResults,
    TokenLimit, View,
};
use curtail_core::steps;
use curtail_core::transcript::{Layout, Message, Role};
use curtail_memory::rolling::RollingSummary;

/// A chain, and the history to which it is applied.
pub(super) struct Applied<'h, 'a> {
    pub(super) chain: &'h Chain,
    /// The layout of the transcript, without its slots.
    pub(super) layout: Layout<'a>,
    pub(super) history: &'h History<'a>,
    /// Counts the messages that the chain writes.
    pub(super) counting: &'h Counting,
}

impl<'a> Applied<'_, 'a> {
    /// What the chain keeps of `messages`, and writes.
    pub(super) fn run(&self, messages: Vec<Message<'a>>) -> Result<Vec<Message<'a>>, ProcessorError> {
        self.run_in(self.chain, messages)
    }

    /// What `chain` keeps of `messages`, and writes.
    fn run_in(&self, chain: &Chain, messages: Vec<Message<'a>>) -> Result<Vec<Message<'a>>, ProcessorError> {
        Ok(chain.run(&self.layout, messages, |_, _, _| {})?.messages)
    }
}

/// Which decisions of a processor last as a conversation grows. The default is that of a processor that is not known here: none.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Growth {
    /// Whether what is kept follows from instructions and the end of the conversation alone: applied to the messages from a
    /// point on at which no pair is open, the processor keeps the same if it drops the first of them.
    pub(super) is_local: bool,
    /// Whether all messages are kept that are appended to the in-flight round, and the others are decided about as before.
    pub(super) keeps_rounds: bool,
    /// Whether all messages are kept that are appended to the in-flight round, as long as neither they nor the messages that they
    /// answer have text, and the others are decided about as before.
    pub(super) keeps_silence: bool,
}

impl Growth {
    pub(super) fn of(processor: &dyn Processor) -> Self {
        let processor: &dyn Any = processor;
        if let Some(window) = processor.downcast_ref::<HistoryWindow>() {
            let is_local = keeps_the_end(window.keep, window.step);
            Self { is_local, keeps_rounds: is_local && !window.cap_in_flight, ..Self::default() }
        } else if let Some(window) = processor.downcast_ref::<SlidingWindow>() {
            Self { is_local: keeps_the_end(window.keep, window.step), ..Self::default() }
        } else if let Some(limit) = processor.downcast_ref::<TokenLimit>() {
            Self { is_local: counts_from_the_end(limit), ..Self::default() }
        } else if let Some(memory) = processor.downcast_ref::<RollingSummary>() {
            Self { keeps_silence: memory.given.is_none(), ..Self::default() }
        } else {
            Self::default()
        }
    }
}

/// Whether instructions and the newest units are all that a window keeps.
const fn keeps_the_end(keep: Keep, step: usize) -> bool {
    keep.first == 0 && !keep.first_user && step <= 1
}

/// Whether instructions, the newest messages and the question before them decide everything.
const fn counts_from_the_end(limit: &TokenLimit) -> bool {
    !limit.first_user && limit.step <= 1
}

/// How a policy decides from what it decided about the previous request.
pub(super) enum Growing {
    /// It clears all but the last results.
    Results(Results),
    /// It keeps the newest segments that fit into a budget.
    Newest(Newest),
    /// It continues from the state in which an earlier part of the history left it.
    Resumed(Box<Resumed>),
}

impl Growing {
    /// How `processor` decides about a growing `history`; `None` if it has to see the whole history each time.
    pub(super) fn new(processor: &dyn Processor, history: &History<'_>, layout: &Layout<'_>) -> Option<Self> {
        let processor: &dyn Any = processor;
        if let Some(clear) = processor.downcast_ref() {
            return Some(Self::Results(Results::new(clear)?));
        }
        if !history.plain {
            return None;
        }
        if let Some(limit) = processor.downcast_ref() {
            return Some(Self::Newest(Newest::new(limit, history, layout)?));
        }
        Some(Self::Resumed(Box::new(Resumed::new(processor.downcast_ref()?))))
    }

    /// How `request` differs from the previous one, which sent `sent`; `None` if the policy itself has to decide.
    ///
    /// # Errors
    /// The error of the processor that cannot decide.
    pub(super) fn difference(
        &mut self,
        request: &Request,
        sent: &Sent,
        applied: &Applied<'_, '_>,
        written: &mut WrittenMessages,
    ) -> Result<Option<Difference>, ProcessorError> {
        Ok(match self {
            Self::Results(results) => Some(results.difference(request, sent, applied, written)?),
            Self::Newest(newest) => newest.runs(request, applied.history).map(Difference::from),
            Self::Resumed(resumed) => {
                let messages = resumed.messages(request, applied)?;
                Some(written.runs(applied.history, applied.counting, &messages).into())
            }
        })
    }
}

// Results.

/// The results that are not cleared yet: a policy clears a result once enough others follow it.
pub(super) struct Results {
    /// How many of the last results are never cleared.
    last: usize,
    /// Positions of messages with results that are not all cleared, and the number of their results.
    open: Vec<(usize, usize)>,
    /// Index in [`History::originals`] of the first message that no request has sent.
    next: usize,
}

impl Results {
    /// `None` if `clear` looks at more than the number of results that follow a result.
    fn new(clear: &ClearResults) -> Option<Self> {
        let StaleResults::AllButLast(last) = clear.stale else { return None };
        clear.is_plain().then_some(Self { last, open: Vec::new(), next: 0 })
    }

    fn difference(
        &mut self,
        request: &Request,
        sent: &Sent,
        applied: &Applied<'_, '_>,
        written: &mut WrittenMessages,
    ) -> Result<Difference, ProcessorError> {
        let Applied { history, counting, .. } = applied;
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
            for message in applied.run(messages)? {
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
        let mut behind = 0;
        let mut open = self.open.len();
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
    let mut low = 1;
    let mut high = most;
    while low < high {
        steps::count(1);
        let middle = low + (high - low).div_ceil(2);
        if holds(middle) {
            low = middle;
        } else {
            high = middle - 1;
        }
    }
    low
}

// The newest segments within a budget.

/// Sums of tokens, from which the newest segments that fit into a budget are found.
pub(super) struct Newest {
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
    /// `None` if `limit` keeps more than instructions, the newest segments and the question that an in-flight round answers, or if
    /// a message does not count by itself.
    fn new(limit: &TokenLimit, history: &History<'_>, layout: &Layout<'_>) -> Option<Self> {
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
    fn runs(&self, request: &Request, history: &History<'_>) -> Option<Runs> {
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

// A rolling memory that continues from its summaries.

/// The number of messages above which a first state is looked for.
const FIRST_SEARCH: usize = 32;

/// The number of messages above which the next state is looked for, if the last search saw `messages`: a quarter more,
/// so that the searches take no more time than the decisions.
const fn next_search(messages: usize) -> usize {
    messages + messages / 4 + 8
}

/// The state from which a rolling memory continues.
pub(super) struct Resumed {
    /// The memory in that state.
    memory: RollingSummary,
    /// The chain that contains it alone; `None` for the policy itself.
    chain: Option<Chain>,
    /// Position of the first message, besides instructions, that it has to see.
    from: usize,
    /// The number of messages above which a later state is looked for.
    most: usize,
}

impl Resumed {
    fn new(memory: &RollingSummary) -> Self {
        Self { memory: memory.clone(), chain: None, from: 0, most: FIRST_SEARCH }
    }

    /// The messages that the policy sends with `request`.
    fn messages<'a>(
        &mut self,
        request: &Request,
        applied: &Applied<'_, 'a>,
    ) -> Result<Vec<Message<'a>>, ProcessorError> {
        let history = applied.history;
        // A result without a call may belong to one before the state.
        if !history.is_paired(self.from..request.at) {
            return applied.run(history.messages_at(history.originals_in(0..request.at)));
        }
        let mut positions = history.positions(self.from, request.at);
        let mut messages = history.messages_at(&positions);
        if messages.len() > self.most && self.resume(&messages, &positions, applied) {
            positions = history.positions(self.from, request.at);
            messages = history.messages_at(&positions);
        }
        applied.run_in(self.chain.as_ref().unwrap_or(applied.chain), messages)
    }

    /// Looks for a later state in `messages`, which are at `positions`; returns whether there is one.
    fn resume<'a>(&mut self, messages: &[Message<'a>], positions: &[usize], applied: &Applied<'_, 'a>) -> bool {
        self.most = next_search(messages.len());
        let joints = &applied.history.joints;
        let view = View::of_layout(&applied.layout, messages);
        let resumed = self
            .memory
            .resumed(&view, |at| positions.get(at).is_some_and(|position| joints.binary_search(position).is_ok()));
        let Some((memory, index)) = resumed else { return false };
        self.from = positions[index];
        self.most = next_search(messages.len() - index);
        // Only a chain of one stage is resumed.
        let mut stage = applied.chain.stages[0].clone();
        stage.processor = Arc::new(memory.clone());
        self.chain = Some(Chain { stages: vec![stage], ..Chain::default() });
        self.memory = memory;
        true
    }
}
