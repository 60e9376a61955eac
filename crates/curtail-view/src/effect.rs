//! What a policy does to a transcript: the fate of every message, and the messages that it writes.

use std::collections::HashMap;

use super::requests::{Cost, Request, SentMessages, sample};
use curtail_core::explain::{Explained, explain};
use curtail_core::json::{Span, Value};
use curtail_core::pipeline::Chain;
use curtail_core::processors::{Counting, ProcessorError};
use curtail_core::transcript::{Content, Layout, Message, Origin, Part, PartOrigin, Standing, supersede};
use curtail_lab::Session;

/// A chain whose effect is shown.
pub struct Policy {
    /// The chain.
    pub chain: Chain,
    /// The chain as the user wrote it.
    pub label: String,
}

/// How many requests the policy is applied to for its curve.
const SAMPLES: usize = 64;

/// What a policy does.
pub(super) struct Effect<'a> {
    /// The policy as the user wrote it.
    pub(super) label: String,
    /// The fate of every message that was read.
    pub(super) fates: Vec<Fate>,
    /// The messages that the policy wrote.
    pub(super) drafts: Vec<Drafted<'a>>,
    /// Notes of the processors.
    pub(super) notes: Vec<String>,
    /// Messages after the policy.
    pub(super) messages: usize,
    /// Tokens after the policy.
    pub(super) tokens: usize,
    /// Tokens that the policy would have sent, at some of the requests.
    pub(super) requests: Vec<Request>,
}

/// The fate of a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Fate {
    pub(super) state: State,
    /// What was done and why, for each decision about it.
    pub(super) reasons: Vec<String>,
    /// Its tokens after the policy.
    pub(super) tokens: usize,
    /// The fates of its parts.
    pub(super) parts: Vec<PartFate>,
}

impl Fate {
    fn of_dropped(message: &Message<'_>) -> Self {
        let parts = vec![PartFate::Dropped; message.parts.len()];
        Self { state: State::Dropped, reasons: Vec::new(), tokens: 0, parts }
    }

    /// The reason of the decision that its state comes from. A message that is changed may have remarks behind the change, such as
    /// that a later stage keeps it; nothing follows what drops one.
    pub(super) fn deciding_reason(&self) -> &str {
        let mut changes =
            self.reasons.iter().filter(|reason| ["changed", "moved"].iter().any(|word| reason.starts_with(word)));
        let change = changes.next_back().filter(|_| self.state == State::Changed);
        change.or(self.reasons.last()).map_or("", String::as_str)
    }
}

/// Whether a message is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum State {
    Kept,
    Changed,
    Dropped,
}

impl State {
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Kept => "kept",
            Self::Changed => "changed",
            Self::Dropped => "dropped",
        }
    }
}

/// The fate of a part.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum PartFate {
    Kept,
    Dropped,
    /// It has this text now, and so many tokens.
    Rewritten {
        text: String,
        tokens: usize,
    },
}

impl PartFate {
    /// Tokens after the policy of a part that had `before`.
    pub(super) const fn tokens(&self, before: usize) -> usize {
        match self {
            Self::Kept => before,
            Self::Dropped => 0,
            Self::Rewritten { tokens, .. } => *tokens,
        }
    }
}

/// A message that the policy wrote.
pub(super) struct Drafted<'a> {
    /// Index of the message that follows it.
    pub(super) before: usize,
    pub(super) message: Message<'a>,
    pub(super) tokens: usize,
}

impl Effect<'_> {
    /// Tokens after the policy that a model reads: without messages that the log itself removed from the context.
    pub(super) fn live_tokens(&self, messages: &[Message<'_>], outside: usize) -> usize {
        let read = messages.iter().zip(&self.fates).filter(|(message, _)| message.standing.is_read());
        let drafts = self.drafts.iter().map(|draft| draft.tokens);
        outside + read.map(|(_, fate)| fate.tokens).chain(drafts).sum::<usize>()
    }

    /// How many messages have this state.
    pub(super) fn count(&self, state: State) -> usize {
        self.fates.iter().filter(|fate| fate.state == state).count()
    }
}

/// A transcript as it was recorded.
pub(super) struct Recorded<'r, 'a> {
    pub(super) layout: &'r Layout<'a>,
    pub(super) messages: &'r [Message<'a>],
    pub(super) costs: &'r [Cost],
    pub(super) sessions: &'r [Session],
    pub(super) requests: &'r [Request],
    pub(super) counting: &'r Counting,
    /// Tokens outside the messages.
    pub(super) outside: usize,
    /// Where each of `messages` is among them, by its index in the transcript that was read: there can be fewer than were read.
    pub(super) positions: HashMap<usize, usize>,
}

/// Where each of `messages` is among them, by its index in the transcript that was read.
pub(super) fn positions(messages: &[Message<'_>]) -> HashMap<usize, usize> {
    messages.iter().enumerate().filter_map(|(at, message)| Some((message.source_index()?, at))).collect()
}

impl<'a> Recorded<'_, 'a> {
    /// Applies `policy` to the messages, and to the history before some of the requests.
    pub(super) fn effect(&self, policy: &Policy) -> Result<Effect<'a>, ProcessorError> {
        let mut reasons: HashMap<usize, Vec<String>> = HashMap::new();
        let several = policy.chain.stages.len() > 1;
        let run = policy.chain.run(self.layout, self.messages.to_vec(), |stage, messages, plan| {
            for explained in explain(messages, plan) {
                let Explained { message: Some(index), action, reason, .. } = &explained else { continue };
                let Some(at) = self.positions.get(index) else { continue };
                reasons.entry(*at).or_default().push(if several {
                    format!("{action} by {}: {reason}", stage.label())
                } else {
                    explained.outcome()
                });
            }
        })?;
        let (fates, drafts) = self.fates_and_drafts(&run.messages, reasons);
        let kept = fates.iter().map(|fate| fate.tokens).chain(drafts.iter().map(|draft| draft.tokens));
        let tokens = self.outside + kept.sum::<usize>();
        let label = policy.label.clone();
        let notes = run.notes;
        let requests = self.curve(policy)?;
        Ok(Effect { label, fates, drafts, notes, messages: run.messages.len(), tokens, requests })
    }

    /// Where the message that `message` was made of is; `None` for a draft.
    fn position(&self, message: &Message<'_>) -> Option<usize> {
        self.positions.get(&message.source_index()?).copied()
    }

    fn fates_and_drafts(
        &self,
        after: &[Message<'a>],
        mut reasons: HashMap<usize, Vec<String>>,
    ) -> (Vec<Fate>, Vec<Drafted<'a>>) {
        let Self { messages: before, costs, counting, .. } = self;
        let mut fates: Vec<Fate> = before.iter().map(Fate::of_dropped).collect();
        let mut drafts = Vec::new();
        let mut follows = before.len();
        for message in after.iter().rev() {
            if let Some(at) = self.position(message) {
                fates[at] = fate(&before[at], message, costs[at].tokens, counting);
                follows = at;
            } else {
                let tokens = counting.message(message);
                drafts.push(Drafted { before: follows, message: message.clone(), tokens });
            }
        }
        drafts.reverse();
        // A draft after a message that the policy moved stays behind the drafts before it.
        let mut last = 0;
        for draft in &mut drafts {
            last = draft.before.max(last);
            draft.before = last;
        }
        for (at, fate) in fates.iter_mut().enumerate() {
            fate.reasons = reasons.remove(&at).unwrap_or_default();
        }
        (fates, drafts)
    }

    /// What the policy would have sent at some of the requests. Each time, it sees the history as recorded; what it keeps of messages
    /// that the request did not send, such as those before a boundary or of a sub-agent, is not sent either.
    fn curve(&self, policy: &Policy) -> Result<Vec<Request>, ProcessorError> {
        let mut curve = Vec::new();
        for Request { message, .. } in sample(self.requests, SAMPLES) {
            let before = SentMessages::before(message, self.sessions, |at| self.messages[at].standing.is_read());
            let run = policy.chain.run(self.layout, history_at(self.messages, message, &before), |_, _, _| {})?;
            let tokens = run.messages.iter().map(|message| match self.position(message) {
                Some(at) if !before.sent.contains(&at) => 0,
                Some(at) if message.is_intact() => self.costs[at].tokens,
                _ => self.counting.message(message),
            });
            curve.push(Request { message, tokens: self.outside + tokens.sum::<usize>() });
        }
        Ok(curve)
    }
}

fn fate<'a>(before: &Message<'a>, after: &Message<'a>, tokens: usize, counting: &Counting) -> Fate {
    if after.is_intact() && before.parts.len() == after.parts.len() {
        let state = if matches!(after.origin, Origin::Moved(_)) { State::Changed } else { State::Kept };
        return Fate { state, reasons: Vec::new(), tokens, parts: vec![PartFate::Kept; before.parts.len()] };
    }
    let parts = before.parts.iter().map(|part| part_fate(part, after, counting)).collect();
    Fate { state: State::Changed, reasons: Vec::new(), tokens: counting.message(after), parts }
}

fn part_fate<'a>(part: &Part<'a>, after: &Message<'a>, counting: &Counting) -> PartFate {
    let kind = std::mem::discriminant(&part.content);
    let mut same = after.parts.iter().filter(|other| place(other) == place(part));
    let same_kind = same.clone().find(|other| std::mem::discriminant(&other.content) == kind);
    // What was rewritten may be of another kind: a text in place of an image, or a result in place of an open call.
    match same_kind.or_else(|| same.find(|other| other.place().is_some() && is_rewritten(other))) {
        None => PartFate::Dropped,
        Some(other) if is_rewritten(other) => {
            PartFate::Rewritten { text: texts(&other.content).join("\n"), tokens: counting.part(other) }
        }
        Some(_) => PartFate::Kept,
    }
}

/// Where a part is; parts of one text are in the same element.
fn place<'a>(part: &Part<'a>) -> Option<(Value<'a>, Option<Span>)> {
    part.place().map(|place| (place.element, place.piece))
}

const fn is_rewritten(part: &Part<'_>) -> bool {
    matches!(part.origin, PartOrigin::Rewritten(_))
}

/// The texts of a part that a policy wrote or changed; of a call, its arguments.
pub(super) fn texts(content: &Content<'_>) -> Vec<String> {
    let texts = match content {
        Content::Text(text) | Content::Reasoning(text) | Content::Unknown(text) => std::slice::from_ref(text),
        Content::ToolCall(call) => std::slice::from_ref(&call.arguments),
        Content::ToolResult(result) => &result.content,
        Content::Media(_) | Content::Other => &[],
    };
    texts.iter().map(|text| text.decode().into_owned()).collect()
}

/// The first `count` messages of `all`, as they were before later boundaries and before they were rolled back.
fn history_at<'a>(all: &[Message<'a>], count: usize, before: &SentMessages) -> Vec<Message<'a>> {
    let mut messages = all[..count].to_vec();
    let is_replaced_later = all[count..].iter().any(Message::is_boundary);
    for (at, message) in messages.iter_mut().enumerate() {
        let was_live = match message.standing {
            Standing::RolledBack | Standing::Abandoned => before.in_force.contains(&at),
            Standing::Live | Standing::Preserved | Standing::Superseded => is_replaced_later,
            Standing::Unsent => false,
        };
        if was_live {
            message.standing = Standing::Live;
        }
    }
    if is_replaced_later {
        supersede(&mut messages);
    }
    messages
}

#[cfg(test)]
mod tests {
    use super::{Fate, State};

    #[test]
    fn the_decision_that_set_the_state_is_named() {
        let rewritten = "changed by filter: 1 part rewritten: older tool result";
        let kept = "kept by limit: the placeholder would be longer";
        for (state, reasons, deciding) in [
            (State::Dropped, [rewritten, "dropped by summarize: old"], "dropped by summarize: old"),
            (State::Changed, [rewritten, kept], rewritten),
            (State::Changed, [kept, rewritten], rewritten),
        ] {
            let fate = Fate { state, reasons: reasons.map(String::from).into(), tokens: 0, parts: Vec::new() };
            assert_eq!(fate.deciding_reason(), deciding);
        }
    }
}
