//! Whether results are where the wire format requires them, computed without walking the messages between call and result.

use std::cell::OnceCell;

use foldhash::HashMap;

use super::{Message, PairingRules, PartRef, ReplyKey, ResultPlace, Role};

/// The messages between calls and results, counted once for a transcript.
pub struct Placement<'m, 'a> {
    messages: &'m [Message<'a>],
    results: ResultPlace,
    /// Messages of other roles than tool.
    others: Obstacles,
    /// Messages that are not only answers.
    talk: Obstacles,
    /// For each message: index of the next message of its thread that is not the assistant's.
    turn_end: Vec<usize>,
    /// For each message: index of the first part that is no result.
    first_other: Vec<usize>,
    /// The messages of each reply that a log wrote as several, without those that are only answers. Empty for most
    /// transcripts.
    replies: OnceCell<HashMap<ReplyKey<'m>, Vec<usize>>>,
}

impl<'m, 'a> Placement<'m, 'a> {
    /// Counts `messages` for the rules of a format.
    #[must_use]
    pub fn new(messages: &'m [Message<'a>], pairing_rules: PairingRules) -> Self {
        let mut ends: HashMap<u32, usize> = HashMap::default();
        let mut turn_end = vec![messages.len(); messages.len()];
        for (at, message) in messages.iter().enumerate().rev() {
            let end = ends.entry(message.thread).or_insert(messages.len());
            turn_end[at] = *end;
            if message.role != Role::Assistant {
                *end = at;
            }
        }
        Self {
            messages,
            results: pairing_rules.results,
            others: Obstacles::count(messages, |message| message.role != Role::Tool),
            talk: Obstacles::count(messages, |message| !is_answer(message)),
            turn_end,
            first_other: messages.iter().map(first_other).collect(),
            replies: OnceCell::new(),
        }
    }

    /// Whether `result` is where the format requires the result of `call`, which is in the same message or an earlier one.
    #[must_use]
    pub fn is_attached(&self, call: PartRef, result: PartRef) -> bool {
        if call.message == result.message {
            return true;
        }
        let (calling, answering) = (&self.messages[call.message], &self.messages[result.message]);
        let hosted = answering.parts[result.part].content.result().is_some_and(|result| result.same_message);
        if hosted {
            // The result of a tool that the provider runs is in the same reply, or at the start of the next one.
            let next = || calling.role == answering.role && self.is_next(call.message, result.message);
            return is_same_reply(calling, answering) || next();
        }
        match self.results {
            ResultPlace::Anywhere => true,
            ResultPlace::SameMessage => false,
            ResultPlace::RightAfter => self.others.between(call.message, result.message) == 0,
            ResultPlace::RightAfterTurn | ResultPlace::NextMessage => self.is_next(call.message, result.message),
            ResultPlace::NextMessageFirst => {
                self.is_next(call.message, result.message) && result.part <= self.first_other[result.message]
            }
        }
    }

    /// Whether only the rest of the assistant's turn, other results, and the rest of the reply are between two messages:
    /// providers join consecutive messages of one role.
    fn is_next(&self, calling: usize, answering: usize) -> bool {
        let turn_end = self.turn_end[calling];
        if turn_end >= answering {
            return true;
        }
        let talk = self.talk.before[answering] - self.talk.before[turn_end];
        talk == 0 || talk == self.of_reply(calling, turn_end, answering)
    }

    /// The number of messages from `from` to just before `to` that belong to the reply of `calling` and are not only answers.
    fn of_reply(&self, calling: usize, from: usize, to: usize) -> usize {
        let replies = self.replies.get_or_init(|| {
            let mut replies: HashMap<ReplyKey<'m>, Vec<usize>> = HashMap::default();
            for (at, message) in self.messages.iter().enumerate().filter(|(at, _)| self.talk.is_one[*at]) {
                if let Some(reply) = message.reply_key() {
                    replies.entry(reply).or_default().push(at);
                }
            }
            replies
        });
        let items = self.messages[calling].reply_key().and_then(|reply| replies.get(&reply));
        items.map_or(0, |items| items.partition_point(|&at| at < to) - items.partition_point(|&at| at < from))
    }
}

/// Messages that may not come between a call and its result.
struct Obstacles {
    is_one: Vec<bool>,
    /// For each message: the number of obstacles before it in its thread.
    before: Vec<usize>,
}

impl Obstacles {
    fn count(messages: &[Message<'_>], is_one: impl Fn(&Message<'_>) -> bool) -> Self {
        let mut seen: HashMap<u32, usize> = HashMap::default();
        let is_one: Vec<bool> = messages.iter().map(is_one).collect();
        let before = messages.iter().zip(&is_one).map(|(message, &is_one)| {
            let count = seen.entry(message.thread).or_default();
            std::mem::replace(count, *count + usize::from(is_one))
        });
        Self { before: before.collect(), is_one }
    }

    /// The number of obstacles between two messages of one thread, both excluded.
    fn between(&self, from: usize, to: usize) -> usize {
        self.before[to] - self.before[from] - usize::from(self.is_one[from])
    }
}

/// Whether a message has results and no text.
fn is_answer(message: &Message<'_>) -> bool {
    message.results().next().is_some() && !message.parts.iter().any(|part| part.content.speaks())
}

/// Index of the first part that is no result; the number of parts if there is none.
fn first_other(message: &Message<'_>) -> usize {
    message.parts.iter().take_while(|part| part.content.result().is_some()).count()
}

/// Whether two messages are parts of one reply of the provider, which session logs write as several messages.
pub(super) fn is_same_reply(one: &Message<'_>, other: &Message<'_>) -> bool {
    one.role == other.role && one.id.is_some() && one.id == other.id
}
