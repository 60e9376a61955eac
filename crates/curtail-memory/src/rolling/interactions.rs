//! Groups messages into interactions, the unit of a rolling memory.
//!
//! Messages are read in order and never ahead, so a transcript that arrives in parts has the same interactions as a whole
//! one.

use std::collections::HashSet;

use curtail_core::transcript::{Message, Pairs, PartRef, Role, main_thread};

/// What one interaction is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Counted {
    /// A message of the user or the assistant with text or media.
    #[default]
    Message,
    /// A user message with text or media, and everything that answers it.
    Exchange,
}

impl Counted {
    /// The name that `--unit` accepts.
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
    /// The index of its first message. Messages with only tool calls or results belong to the next interaction.
    pub start: usize,
    /// The index after the message that completes it: a message with text or media, or the last result of its calls; for an
    /// exchange, the first answer that calls no tools.
    pub arrived: usize,
    /// The indices of its messages with text or media.
    pub utterances: Vec<usize>,
}

/// The interactions of `messages`, without the messages for which `skip` is true, such as earlier summaries. Messages of a
/// subagent form no interaction, unless the log is the subagent's own; they belong to the one during which they appear.
///
/// ```text
/// 0 user   1 assistant "Let me look", calls a   2 result of a   3 assistant calls b   4 result of b   5 assistant "Done"
/// Message:  [0]  [1, 2]  [3, 4, 5]         interaction 2 is complete with the result of a; 3 and 4 belong to the next text
/// Exchange: [0 ..= 5]                      it is complete with 5, the first answer without calls
/// ```
pub(super) fn interactions(
    messages: &[Message<'_>],
    counted: Counted,
    skip: &dyn Fn(usize) -> bool,
) -> Vec<Interaction> {
    let pairs = Pairs::from_messages(messages);
    let main = main_thread(messages);
    let mut grouper = Grouper { counted, main, pairs: &pairs, complete: Vec::new(), open: None, next: 0 };
    for (at, message) in messages.iter().enumerate() {
        if !skip(at) {
            grouper.take(at, message);
        }
    }
    grouper.complete
}

/// An interaction that has begun and is not complete.
struct Open {
    start: usize,
    utterances: Vec<usize>,
    /// Calls whose results it waits for.
    waiting: HashSet<PartRef>,
}

struct Grouper<'p> {
    counted: Counted,
    /// The thread whose messages form interactions.
    main: u32,
    pairs: &'p Pairs,
    complete: Vec<Interaction>,
    open: Option<Open>,
    /// Index of the first message of the next interaction.
    next: usize,
}

impl Grouper<'_> {
    fn take(&mut self, at: usize, message: &Message<'_>) {
        let is_main = message.thread == self.main;
        let user = is_main && message.has_text_as(Role::User);
        let assistant = is_main && message.has_text_as(Role::Assistant);
        match self.counted {
            Counted::Message if user || assistant => self.begin(at, message),
            Counted::Exchange if user => self.begin(at, message),
            Counted::Exchange if assistant => self.answer(at, message),
            _ => self.add_results(at, message),
        }
    }

    /// Begins an interaction. An open one ends here, even if results are missing.
    fn begin(&mut self, at: usize, message: &Message<'_>) {
        self.close(at);
        let start = if self.counted == Counted::Exchange && !self.complete.is_empty() { at } else { self.next };
        let waiting = unanswered(at, message, self.pairs);
        let is_complete = self.counted == Counted::Message && waiting.is_empty();
        self.open = Some(Open { start, utterances: vec![at], waiting });
        if is_complete {
            self.close(at + 1);
        }
    }

    /// Adds an assistant message to an exchange. After the final answer the exchange is complete, and further messages still
    /// belong to it.
    fn answer(&mut self, at: usize, message: &Message<'_>) {
        let is_final = unanswered(at, message, self.pairs).is_empty();
        match (&mut self.open, self.complete.last_mut()) {
            (Some(open), _) => {
                open.utterances.push(at);
                if is_final {
                    self.close(at + 1);
                }
            }
            (None, Some(last)) => last.utterances.push(at),
            (None, None) => {}
        }
    }

    /// Records results; the last result that the open interaction waits for completes it.
    fn add_results(&mut self, at: usize, message: &Message<'_>) {
        let Some(open) = &mut self.open else { return };
        for (part, _) in message.results() {
            if let Some(call) = self.pairs.counterpart(PartRef { message: at, part }) {
                open.waiting.remove(&call);
            }
        }
        if self.counted == Counted::Message && open.waiting.is_empty() {
            self.close(at + 1);
        }
    }

    fn close(&mut self, arrived: usize) {
        if let Some(Open { start, utterances, .. }) = self.open.take() {
            self.next = arrived;
            self.complete.push(Interaction { start, arrived, utterances });
        }
    }
}

/// The calls of a message that have no result in the same message.
fn unanswered(at: usize, message: &Message<'_>, pairs: &Pairs) -> HashSet<PartRef> {
    message
        .calls()
        .filter(|(_, call)| !call.hosted)
        .map(|(part, _)| PartRef { message: at, part })
        .filter(|&call| pairs.counterpart(call).is_none_or(|result| result.message != at))
        .collect()
}
