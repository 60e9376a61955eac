//! What a processor sees of a transcript, and who hears of the summaries that it makes.

use std::fmt;
use std::sync::Arc;

use crate::json::Text;
use crate::transcript::{FormatRules, Layout, Message};

/// The part of a transcript that a processor sees.
#[derive(Debug, Clone, Copy)]
pub struct View<'v, 'a> {
    /// The messages, in order.
    pub messages: &'v [Message<'a>],
    /// Instructions and tool definitions outside the list of messages.
    pub preamble: &'v [Text<'a>],
    /// Replies outside the list of messages, which follow it.
    pub replies: &'v [Text<'a>],
    /// What the format says of the messages.
    pub rules: FormatRules,
    /// Called after each summary that a processor makes; `None` without an observer.
    pub on_summary: Option<&'v OnSummary>,
}

impl<'v, 'a> View<'v, 'a> {
    /// A view of messages of a transcript with this layout, without an observer.
    #[must_use]
    pub fn of_layout(layout: &'v Layout<'a>, messages: &'v [Message<'a>]) -> Self {
        let Layout { preamble, replies, rules, .. } = layout;
        Self { messages, preamble, replies, rules: *rules, on_summary: None }
    }

    /// The same view, with an observer of summaries.
    #[must_use]
    pub const fn observed_by(self, on_summary: Option<&'v OnSummary>) -> Self {
        Self { on_summary, ..self }
    }
}

/// An observer that is called after each summary, for example to advance a progress bar. It may be called from several
/// threads at once.
#[derive(Clone)]
pub struct OnSummary(Arc<dyn Fn(Option<Asked>) + Send + Sync>);

/// What left the process to make a summary.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Asked {
    /// Digest of the request.
    pub digest: u64,
    /// Its tokens.
    pub tokens: usize,
}

impl OnSummary {
    /// Wraps a function, which learns what was sent; `None` if nothing left the process.
    #[must_use]
    pub fn new(observer: impl Fn(Option<Asked>) + Send + Sync + 'static) -> Self {
        Self(Arc::new(observer))
    }

    /// Reports one summary.
    pub fn call(&self, asked: Option<Asked>) {
        (self.0)(asked);
    }
}

impl fmt::Debug for OnSummary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("OnSummary")
    }
}
