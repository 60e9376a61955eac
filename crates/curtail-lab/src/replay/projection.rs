//! A policy that is applied to the requests of a session, one after another.

use std::ops::Range;

use super::applied::Applied;
use super::growing::{Growing, Growth};
use super::history::{History, instructs};
use super::policies::Apply;
use super::runs::Difference;
use super::sent::Sent;
use super::written::WrittenMessages;
use crate::requests::{Request, Session, is_within};
use curtail_core::pipeline::Chain;
use curtail_core::processors::{Counting, ProcessorError};
use curtail_core::transcript::{Layout, Message, Pairs};

/// A policy that is applied to one session.
pub(super) struct Projection<'h, 'a> {
    subject: Subject<'h, 'a>,
    /// What lasts of its decisions.
    growth: Growth,
    /// How it decides incrementally, if it can.
    growing: Option<Growing>,
    sees: Sees<'a>,
    /// The position at which the previous request ended.
    end: usize,
    /// The messages that the chain wrote or changed.
    written: WrittenMessages,
}

/// What the policy sees at a request about which it cannot decide incrementally.
enum Sees<'a> {
    /// The whole history.
    History,
    /// The history from the joint with this index on, as far as that is enough.
    FromJoint(usize),
    /// Its output for the previous request, and the messages after it.
    Output(Output<'a>),
}

/// What a policy made of the previous request.
#[derive(Default)]
struct Output<'a> {
    messages: Vec<Message<'a>>,
    /// The position of the first message that it did not see yet.
    next: usize,
    /// Position of the last compaction before the previous request.
    live_from: usize,
    /// Positions of the messages before the previous request that were not rolled back.
    in_force: Vec<Range<usize>>,
}

impl<'h, 'a> Projection<'h, 'a> {
    /// Applies `chain` to `session` and its `history`; `counting` counts the messages that it writes.
    pub(super) fn new(
        chain: &'h Chain,
        apply: Apply,
        live: bool,
        session: &'h Session,
        history: &'h History<'a>,
        layout: &'h Layout<'a>,
        counting: &'h Counting,
    ) -> Self {
        let is_compacted = session.summaries.contains(&true) || session.requests.iter().any(|one| one.live_from > 0);
        let is_view =
            apply == Apply::View && !(live && is_compacted) && !session.requests.iter().any(Request::follows_rollback);
        let stage = chain.stages.first().filter(|_| is_view && chain.stages.len() == 1 && chain.on_summary.is_none());
        let processor = stage.map(|stage| &*stage.processor);
        let growth = processor.map_or_else(Growth::default, Growth::of);
        // A message that is dropped with another has to be seen with it.
        let is_local = growth.is_local && !history.has_dependent();
        // Messages that are read again, or dropped, as their neighbors change do not last.
        let lasting = processor.filter(|_| layout.rules.reread.is_none() && layout.rules.strangers.is_none());
        Self {
            growth: Growth {
                is_local,
                keeps_rounds: is_local && growth.keeps_rounds && lasting.is_some(),
                keeps_silence: growth.keeps_silence && lasting.is_some() && history.plain,
            },
            growing: lasting.and_then(|processor| Growing::new(processor, history, layout)),
            sees: match apply {
                Apply::Rewrite => Sees::Output(Output::default()),
                Apply::View if is_local => Sees::FromJoint(0),
                Apply::View => Sees::History,
            },
            subject: Subject { applied: Applied { chain, layout, history, counting }, live },
            end: 0,
            written: WrittenMessages::default(),
        }
    }

    /// How `request` differs from the previous one, which sent `sent`.
    ///
    /// # Errors
    /// The error of the processor that cannot decide.
    pub(super) fn difference(&mut self, request: &Request, sent: &Sent) -> Result<Difference, ProcessorError> {
        let Self { subject, growing, sees, written, .. } = self;
        let Applied { history, counting, .. } = subject.applied;
        let new = std::mem::replace(&mut self.end, request.at)..request.at;
        if self.growth.keeps(&new, history) && is_in_round(&new, sent, history) {
            return Ok(sent.extended(new));
        }
        if let Some(growing) = growing
            && let Some(difference) = growing.difference(request, sent, &subject.applied, written)?
        {
            return Ok(difference);
        }
        let messages = match sees {
            Sees::History => subject.applied.run(history.messages_at(&subject.positions(0, request)))?,
            Sees::FromJoint(joint) => subject.view_from(joint, request)?,
            Sees::Output(output) => subject.rewrite(output, request)?,
        };
        Ok(written.runs(history, counting, &messages).into())
    }
}

impl Growth {
    /// Whether the policy keeps the messages at `new` if they continue the in-flight round.
    fn keeps(self, new: &Range<usize>, history: &History<'_>) -> bool {
        self.keeps_rounds || self.keeps_silence && history.silent[new.clone()].iter().all(|silent| *silent)
    }
}

/// Whether the messages at `new` continue the in-flight round of `before`, what the previous request sent, and answer only calls
/// that were sent.
fn is_in_round(new: &Range<usize>, before: &Sent, history: &History<'_>) -> bool {
    !new.is_empty()
        && history.ends_in_round(new.start)
        // A message whose results were dropped does not belong to the round: the calls before it stay unanswered.
        && answers_sent(new.start - 1, new, before, history)
        && history.ends_in_round(new.end)
        && new.clone().all(|at| {
            !outlives_results(&history.messages[at]) && answers_sent(at, new, before, history)
        })
}

/// Whether the message at `at` may continue a round, and all calls that it answers are at `new` or were sent `before`.
fn answers_sent(at: usize, new: &Range<usize>, before: &Sent, history: &History<'_>) -> bool {
    let calls = history.answers[at].as_ref();
    calls.is_some_and(|calls| calls.iter().all(|&call| call >= new.start || before.sends(call)))
}

/// Whether something beside the results of earlier calls can outlive them: the round would end with it.
fn outlives_results(message: &Message<'_>) -> bool {
    message.results().next().is_some()
        && message.parts.iter().any(|part| !part.content.is_tool() && part.is_worth_keeping())
}

/// A policy, and what it is applied to.
struct Subject<'h, 'a> {
    applied: Applied<'h, 'a>,
    /// Whether the policy sees only the messages after the last compaction.
    live: bool,
}

impl<'a> Subject<'_, 'a> {
    /// The positions from `from` on that the policy sees at `request`.
    fn positions(&self, from: usize, request: &Request) -> Vec<usize> {
        if self.live {
            return request.sent.iter().cloned().flatten().filter(|position| *position >= from).collect();
        }
        let originals = self.applied.history.originals_in(from..request.at).iter().copied();
        originals.filter(|&position| !request.is_rolled_back(position)).collect()
    }

    /// The messages that a local policy sends. If such a policy drops the message at a joint, it decides the same from
    /// this joint on as from the beginning. So the time depends on what is sent, as long as the last prompt and the last texts are
    /// behind the joint: while one prompt is followed by calls alone, every request reads the whole history.
    ///
    /// After messages 0 to 99, each of which is a joint, `window -n 3` sends 97 to 99. From joint 98 on it would send 98, which
    /// shows nothing about 97. The search goes back in growing steps, to 97 and to 95. There, the policy drops 95, so it would
    /// drop everything before 95 as well.
    ///
    /// The search begins at the joint `from`, and leaves there the one from which the next request is decided.
    fn view_from(&self, from: &mut usize, request: &Request) -> Result<Vec<Message<'a>>, ProcessorError> {
        let mut joint = *from;
        let mut back = 1;
        loop {
            if let Some(sent) = self.sent_from(joint, request)? {
                *from = self.joint_before(&sent).unwrap_or(joint);
                return Ok(sent);
            }
            joint = joint.saturating_sub(back);
            back *= 2;
        }
    }

    /// The messages that a local policy sends if it sees instructions and the messages from `joint` on; `None` if it could send
    /// others that are before.
    fn sent_from(&self, joint: usize, request: &Request) -> Result<Option<Vec<Message<'a>>>, ProcessorError> {
        let history = self.applied.history;
        let from = history.joints.get(joint).copied().filter(|&from| joint > 0 && from < request.at).unwrap_or(0);
        if from == 0 {
            return self.applied.run(history.messages_at(history.originals_in(0..request.at))).map(Some);
        }
        // A role that has no text after the joint may have text before it.
        if history.last_texts[request.at].is_any_before(from) {
            return Ok(None);
        }
        let mut originals = history.originals_in(from..request.at).iter();
        let Some(&first) = originals.find(|&&at| !instructs(&history.messages[at])) else { return Ok(None) };
        let messages = history.messages_at(&history.positions(from, request.at));
        if !is_closed(&messages) {
            return Ok(None);
        }
        let sent = self.applied.run(messages)?;
        let is_dropped = !sent.iter().any(|message| history.position(message) == Some(first));
        Ok(is_dropped.then_some(sent))
    }

    /// Index of the last joint before all messages that are sent, instructions aside.
    fn joint_before(&self, sent: &[Message<'a>]) -> Option<usize> {
        let history = self.applied.history;
        let kept = sent.iter().filter(|message| !message.role.instructs());
        let first = kept.filter_map(|message| history.position(message)).min()?;
        Some(history.joints.partition_point(|&joint| joint < first).saturating_sub(1))
    }

    /// What the policy makes of its last output and the messages after it.
    fn rewrite(&self, output: &mut Output<'a>, request: &Request) -> Result<Vec<Message<'a>>, ProcessorError> {
        // What was rolled back and is sent again is decided about anew.
        let known = request.in_force.iter().map(|run| run.start..run.end.min(output.next));
        let is_restored = known.filter(|run| !run.is_empty()).any(|run| !is_within(&run, &output.in_force));
        if is_restored || self.live && request.live_from > output.live_from {
            *output = Output { live_from: request.live_from, ..Output::default() };
        }
        let new = self.positions(output.next, request);
        output.next = request.at;
        output.in_force.clone_from(&request.in_force);
        let history = self.applied.history;
        let mut messages = std::mem::take(&mut output.messages);
        if request.follows_rollback() {
            messages.retain(|message| {
                let position = history.position(message);
                !position.is_some_and(|position| request.is_rolled_back(position))
            });
        }
        messages.extend(new.into_iter().map(|position| history.messages[position].clone()));
        let sent = self.applied.run(messages)?;
        output.messages.clone_from(&sent);
        Ok(sent)
    }
}

/// Whether the calls of all results are among `messages`.
fn is_closed(messages: &[Message<'_>]) -> bool {
    let pairs = Pairs::from_messages(messages);
    pairs.results().iter().all(|&result| pairs.counterpart(result).is_some())
}
