//! Which messages make up which interaction: what a rolling memory counts.
//!
//! Messages are taken one after the other and nothing is looked up ahead, so that a transcript taken in pieces falls into
//! the same interactions as one taken whole.

use std::collections::HashSet;

use crate::transcript::{Message, Pairs, PartRef, Role};

/// What counts as one interaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Counted {
    /// A message in which the user or the assistant speaks.
    Message,
    /// A message of the user and all that answers it.
    Exchange,
}

impl Counted {
    /// Its name, as `--unit` takes it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Message => "message",
            Self::Exchange => "exchange",
        }
    }
}

/// One interaction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Interaction {
    /// Its first message: what calls tools or answers them without a word belongs to what is said next.
    pub start: usize,
    /// The end of what it took for it to count: the message that speaks with the results of its calls; of an exchange, the
    /// answer that calls nothing more.
    pub arrived: usize,
    /// The messages that speak.
    pub said: Vec<usize>,
}

/// The interactions of `messages`; `skip` are messages that are none of theirs, such as summaries of ours. Subordinate
/// threads do not count: they belong to the interaction in whose course they run.
#[must_use]
pub(super) fn interactions(
    messages: &[Message<'_>],
    counted: Counted,
    skip: &dyn Fn(usize) -> bool,
) -> Vec<Interaction> {
    let pairs = Pairs::find(messages);
    let mut taker = Taker { counted, pairs: &pairs, taken: Vec::new(), open: None, next: 0 };
    for (at, message) in messages.iter().enumerate() {
        if !skip(at) {
            taker.take(at, message);
        }
    }
    taker.taken
}

/// What is under way: an interaction that was begun and has not arrived.
struct Open {
    start: usize,
    said: Vec<usize>,
    waiting: HashSet<PartRef>,
}

struct Taker<'p> {
    counted: Counted,
    pairs: &'p Pairs,
    taken: Vec<Interaction>,
    open: Option<Open>,
    /// Where the next interaction begins.
    next: usize,
}

impl Taker<'_> {
    fn take(&mut self, at: usize, message: &Message<'_>) {
        let main = message.thread == 0;
        let user = main && message.speaks_as(Role::User);
        let assistant = main && message.speaks_as(Role::Assistant);
        match self.counted {
            Counted::Message if user || assistant => self.begin(at, message),
            Counted::Exchange if user => self.begin(at, message),
            Counted::Exchange if assistant => self.answer(at, message),
            _ => self.attend(at, message),
        }
    }

    /// A new interaction; one that still waited for results waited in vain.
    fn begin(&mut self, at: usize, message: &Message<'_>) {
        self.close(at);
        let start = if self.counted == Counted::Exchange && !self.taken.is_empty() { at } else { self.next };
        let waiting = unanswered(at, message, self.pairs);
        let done = self.counted == Counted::Message && waiting.is_empty();
        self.open = Some(Open { start, said: vec![at], waiting });
        if done {
            self.close(at + 1);
        }
    }

    /// The assistant speaks within an exchange. After its answer it may go on: that belongs to the same exchange, which
    /// has arrived already.
    fn answer(&mut self, at: usize, message: &Message<'_>) {
        let final_word = unanswered(at, message, self.pairs).is_empty();
        match (&mut self.open, self.taken.last_mut()) {
            (Some(open), _) => {
                open.said.push(at);
                if final_word {
                    self.close(at + 1);
                }
            }
            (None, Some(last)) => last.said.push(at),
            (None, None) => {}
        }
    }

    /// Results that the open interaction waits for may complete it.
    fn attend(&mut self, at: usize, message: &Message<'_>) {
        let Some(open) = &mut self.open else { return };
        for (part, _) in message.results() {
            if let Some(call) = self.pairs.other_half(PartRef { message: at, part }) {
                open.waiting.remove(&call);
            }
        }
        if self.counted == Counted::Message && open.waiting.is_empty() {
            self.close(at + 1);
        }
    }

    fn close(&mut self, arrived: usize) {
        if let Some(Open { start, said, .. }) = self.open.take() {
            self.next = arrived;
            self.taken.push(Interaction { start, arrived, said });
        }
    }
}

/// The calls of a message that wait for a result in another one.
fn unanswered(at: usize, message: &Message<'_>, pairs: &Pairs) -> HashSet<PartRef> {
    message
        .calls()
        .filter(|(_, call)| !call.hosted)
        .map(|(part, _)| PartRef { message: at, part })
        .filter(|&call| pairs.other_half(call).is_none_or(|result| result.message != at))
        .collect()
}
