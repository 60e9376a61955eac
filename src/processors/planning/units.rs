//! What a window counts, and what both windows keep besides.

use std::ops::Range;

use super::View;
use crate::transcript::{Message, Pairs, Role, segments, turns};

/// What a window's size counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum WindowUnit {
    /// Items, as they lie in the transcript.
    #[default]
    Items,
    /// Messages: consecutive items of the assistant (text, reasoning, calls) count once.
    Messages,
    /// From a speaking user message to just before the next.
    Turns,
    /// Calls with their results; any other message by itself.
    Segments,
}

impl WindowUnit {
    /// `messages` as runs, one a unit.
    pub(in crate::processors) fn runs(self, messages: &[Message<'_>]) -> Vec<Range<usize>> {
        match self {
            Self::Items => (0..messages.len()).map(|at| at..at + 1).collect(),
            Self::Messages => spoken(messages),
            Self::Turns => turns(messages),
            Self::Segments => segments(messages, &Pairs::find(messages)),
        }
    }

    /// The plural that a reason or a note calls it by.
    pub(in crate::processors) const fn plural(self) -> &'static str {
        match self {
            Self::Items => "items",
            Self::Messages => "messages",
            Self::Turns => "turns",
            Self::Segments => "segments",
        }
    }
}

fn spoken(messages: &[Message<'_>]) -> Vec<Range<usize>> {
    let mut runs: Vec<Range<usize>> = Vec::new();
    for (at, message) in messages.iter().enumerate() {
        let goes_on = at > 0 && message.role == Role::Assistant && messages[at - 1].role == Role::Assistant;
        match runs.last_mut() {
            Some(run) if goes_on => run.end = at + 1,
            _ => runs.push(at..at + 1),
        }
    }
    runs
}

/// What a window keeps besides its newest units.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Keep {
    /// System and developer messages, wherever they stand.
    pub system: bool,
    /// This many units at the head of the transcript.
    pub first: usize,
    /// Whether the window begins with a speaking user message: what stands before it in the window goes.
    pub start_on_user: bool,
}

impl Default for Keep {
    fn default() -> Self {
        Self { system: true, first: 0, start_on_user: false }
    }
}

impl Keep {
    /// Where the head that is kept ends, for units `runs`.
    pub(in crate::processors) fn head(self, runs: &[Range<usize>]) -> usize {
        runs.iter().take(self.first).next_back().map_or(0, |run| run.end)
    }

    /// Whether a message is preserved for its role.
    pub(in crate::processors) const fn preserves(self, message: &Message<'_>) -> bool {
        self.system && message.role.instructs()
    }

    /// `start`, moved on to the first speaking user message where that is asked for and there is one.
    pub(in crate::processors) fn front(self, view: &View<'_, '_>, start: usize) -> usize {
        if !self.start_on_user {
            return start;
        }
        let user = view.messages[start..].iter().position(|message| message.speaks_as(Role::User));
        user.map_or(start, |further| start + further)
    }
}
