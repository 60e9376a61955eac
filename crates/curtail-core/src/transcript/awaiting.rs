//! What stays because the answer to a deferred call can still come.

use foldhash::{HashMap, HashSet};

use super::pairing::deferred;
use super::{Message, Pairs, PartRef, Role, own_blocks};

impl Pairs {
    /// The parts that stay because an answer to a deferred call can still come: the call, its results so far, and what is not
    /// kept without it.
    #[must_use]
    pub fn awaiting(&self, messages: &[Message<'_>]) -> HashSet<PartRef> {
        let mut awaiting: HashSet<PartRef> = HashSet::default();
        let calls = self.calls().iter().copied();
        let mut open: Vec<PartRef> =
            calls.filter(|call| deferred(messages, *call).is_some_and(|call| call.waits)).collect();
        if open.is_empty() {
            return awaiting;
        }
        let mut replies: HashMap<u32, usize> = HashMap::default();
        for (at, message) in messages.iter().enumerate() {
            if message.role == Role::Assistant && message.standing.is_read() {
                replies.insert(message.thread, at);
            }
        }
        open.retain(|&call| self.can_be_answered(messages, call, &replies));
        while let Some(part) = open.pop() {
            if !awaiting.insert(part) {
                continue;
            }
            let message = &messages[part.message];
            open.extend(self.counterpart(part));
            open.extend(self.claimants(part));
            open.extend(self.program(part));
            let this = &message.parts[part.part];
            let batch = message.call_rules.indivisible && this.content.call().is_some();
            let element = this.place().map(|place| place.element);
            for (nth, other) in message.parts.iter().enumerate() {
                let is_in_element = other.place().is_some_and(|place| Some(place.element) == element);
                if batch && other.content.call().is_some() || is_in_element {
                    open.push(PartRef { part: nth, ..part });
                }
            }
        }
        awaiting
    }

    /// The messages of the parts that [stay](Self::awaiting), the thoughts that led to them, and the questions that those answer.
    #[must_use]
    pub fn awaiting_messages(&self, messages: &[Message<'_>]) -> HashSet<usize> {
        let mut whole: HashSet<usize> = self.awaiting(messages).into_iter().map(|part| part.message).collect();
        let questions = Self::asked(messages, &whole);
        for mut at in whole.clone() {
            while at > 0 && messages[at - 1].is_bound_reasoning() {
                at -= 1;
                whole.insert(at);
            }
        }
        whole.extend(questions);
        whole
    }

    /// For the calls in the messages `whole` that a model reads: the message of a person that began their turns. Without it, a
    /// call could come first, which some providers refuse.
    fn asked(messages: &[Message<'_>], whole: &HashSet<usize>) -> Vec<usize> {
        let mut questions = Vec::new();
        let Some(&last) = whole.iter().max() else { return questions };
        let mut asked: HashMap<u32, usize> = HashMap::default();
        for (at, message) in messages.iter().enumerate().take(last + 1) {
            if !message.standing.is_read() {
                continue;
            }
            // Nobody asked with a block that this program wrote.
            if message.begins_turn() && own_blocks(message) < message.parts.len() {
                asked.insert(message.thread, at);
            } else if whole.contains(&at) && message.calls().next().is_some() {
                questions.extend(asked.get(&message.thread));
            }
        }
        questions
    }

    /// Whether an answer to this call that waits can still come, or has come and no reply follows it. `replies` has the last reply
    /// of each thread.
    fn can_be_answered(&self, messages: &[Message<'_>], call: PartRef, replies: &HashMap<u32, usize>) -> bool {
        if messages[call.message].standing.is_rolled_back() {
            return false;
        }
        let Some(result) = self.counterpart(call) else { return true };
        let is_interim = result.part_in(messages).content.result().is_some_and(|result| result.interim);
        let message = &messages[result.message];
        let is_used = replies.get(&message.thread).is_some_and(|&reply| reply > result.message);
        is_interim || message.standing.is_in_force() && !is_used
    }
}
