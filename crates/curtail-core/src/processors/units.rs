//! What one unit of a window is.

use std::ops::Range;

use crate::numbers::number_of;
use crate::transcript::{Message, Pairs, Role, segments, turns};

/// What one unit of a window is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum WindowUnit {
    /// An item, as the transcript contains it.
    #[default]
    Items,
    /// A message; consecutive assistant items (text, reasoning, calls) are one message.
    Messages,
    /// From a speaking user message to just before the next one.
    Turns,
    /// Calls with their results; any other message is a segment of its own.
    Segments,
}

impl WindowUnit {
    /// The ranges of `messages` that are one unit each.
    pub(super) fn runs(self, messages: &[Message<'_>]) -> Vec<Range<usize>> {
        match self {
            Self::Items => (0..messages.len()).map(|at| at..at + 1).collect(),
            Self::Messages => assistant_runs(messages),
            Self::Turns => turns(messages),
            Self::Segments => segments(messages, &Pairs::from_messages(messages)),
        }
    }

    /// The plural that reasons and notes use.
    pub(super) const fn plural(self) -> &'static str {
        match self {
            Self::Items => "items",
            Self::Messages => "messages",
            Self::Turns => "turns",
            Self::Segments => "segments",
        }
    }

    /// As many units, as reasons name them.
    pub(super) fn count(self, size: usize) -> String {
        number_of(size, self.plural().trim_end_matches('s'))
    }

    /// The last `size` units, as reasons name them.
    pub(super) fn last(self, size: usize) -> String {
        match size {
            1 => format!("the last {}", self.plural().trim_end_matches('s')),
            _ => format!("the last {size} {}", self.plural()),
        }
    }
}

/// Single messages, with consecutive assistant messages of a conversation joined.
fn assistant_runs(messages: &[Message<'_>]) -> Vec<Range<usize>> {
    let runs = messages.chunk_by(|before, next| {
        before.thread == next.thread && before.role == Role::Assistant && next.role == Role::Assistant
    });
    let mut start = 0;
    let runs = runs.map(|run| {
        let first = start;
        start += run.len();
        first..start
    });
    runs.collect()
}
