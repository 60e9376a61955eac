//! Results that a cut brings next to calls in a text which they did not answer.
//!
//! A text and the results behind it are read as an exchange once, and stay one: no cut brings them another result.

use super::{Exchange, calls, has_structures, is_written, tags_result};
use crate::json::Text;
use crate::transcript::{Message, Role};

/// Whether a cut of `messages` can make neighbors of a result and a call in a text: there is such a call, or a result follows none.
pub(in crate::dialects) fn may_meet_strangers(messages: &[Message<'_>]) -> bool {
    let mut has_call = false;
    messages.iter().any(|message| {
        if message.role == Role::Tool || message.results().next().is_some() {
            return !has_call;
        }
        has_call = message.calls().next().is_some();
        is_written(message) || tags_result(message)
    })
}

/// The messages that a cut brought next to calls in a text which they did not answer. A reader would take them for results of
/// those. They leave with what kept them apart, so that an exchange stays as it was read.
pub(in crate::dialects) fn strangers(messages: &[Message<'_>]) -> Vec<usize> {
    let has_structures = has_structures(messages.iter());
    let mut strangers = Vec::new();
    let mut open: Option<Answering> = None;
    for (at, message) in messages.iter().enumerate() {
        if let Some(answering) = &mut open {
            if answering.takes(message) {
                continue;
            }
            if answering.would_take(message) {
                strangers.push(at);
                continue;
            }
        }
        open = is_written(message).then(|| Answering::of(message));
        if let Some(exchange) = Exchange::find(message, messages[at + 1..].iter(), has_structures) {
            strangers.extend(at + 1..=at + exchange.answers);
        }
    }
    strangers
}

/// The results of calls in a text, one after the other.
struct Answering {
    thread: u32,
    /// The number of results that are still to come.
    open: usize,
    /// Whether a message of the user can be a result.
    may_be_tagged: bool,
}

impl Answering {
    fn of(asking: &Message<'_>) -> Self {
        let mut written = asking.calls().filter_map(|(_, call)| call.written.as_deref());
        let may_be_tagged = matches!(written.next(), Some(Text::Escaped(raw)) if calls(raw).is_some());
        Self { thread: asking.thread, open: asking.calls().count(), may_be_tagged }
    }

    /// Whether a message has the next results.
    fn takes(&mut self, message: &Message<'_>) -> bool {
        let results = message.results().count();
        let is_next = (1..=self.open).contains(&results);
        self.open -= if is_next { results } else { 0 };
        is_next
    }

    /// Whether a reader would take a message for one more result.
    fn would_take(&self, message: &Message<'_>) -> bool {
        message.thread == self.thread && (message.role == Role::Tool || self.may_be_tagged && tags_result(message))
    }
}
