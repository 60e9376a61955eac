//! Splits a transcript into windows that each fit a token budget: pinned messages and context, then messages of their own.
//!
//! Every message is among the own messages of exactly one window, so every target is one exactly once. Here is what a window is and
//! what becomes of one that exceeds the budget; `filling.rs` decides which messages each one has.

use std::ops::Range;

use super::shorter_texts::shorten;
use super::{Change, Counting, Pins, Plan, ProcessorError, Reason, View, WindowUnit, apply_plan};
use crate::counting::token_count;
use crate::transcript::{Message, PartRef, Role};

/// Splits transcripts into windows.
///
/// ```
/// use curtail_core::dialects::{Framing, Reading};
/// use curtail_core::processors::{Counting, Split, View};
/// use curtail_tokens::tokenizers;
///
/// let chat = r#"{"role": "user", "content": "One?"}
/// {"role": "assistant", "content": "Two."}
/// {"role": "user", "content": "Three?"}
/// {"role": "assistant", "content": "Four."}"#;
/// let reading = Reading::new(Framing::Lines, None, None)?;
/// let document = reading.parse(chat)?;
/// let (_, transcript) = &reading.transcripts(&document)?[0];
/// let split = Split::new(5, Counting::new(tokenizers::tokenizer_by_name("o200k_base")?));
/// let view = View::of_layout(&transcript.layout, &transcript.messages);
/// let own: Vec<_> = split.windows(&view)?.into_iter().map(|window| window.own).collect();
/// assert_eq!(own, [0..2, 2..4]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Split {
    /// The most tokens of a window; `usize::MAX` for no limit.
    pub max_tokens: usize,
    /// How tokens are counted.
    pub counting: Counting,
    /// Which messages before its own a window repeats.
    pub overlap: Overlap,
    /// Which messages every window repeats.
    pub pins: Pins,
    /// Whether a window ends where the log was compacted. The next one begins with what the model read from there on.
    pub at_boundaries: bool,
    /// Which messages are targets.
    pub targets: TargetRule,
    /// What to do with a segment that fits into no window.
    pub on_overflow: SplitOverflow,
}

/// What a window repeats of the messages before its own: whole units, as many as fit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Overlap {
    /// The most units.
    pub count: usize,
    /// What is counted. Messages are repeated in whole segments.
    pub unit: WindowUnit,
}

impl Overlap {
    /// Nothing is repeated.
    pub const NONE: Self = Self { count: 0, unit: WindowUnit::Segments };
    /// Everything that fits, in whole turns.
    pub const ALL: Self = Self { count: usize::MAX, unit: WindowUnit::Turns };
}

/// Which assistant messages of a window are its targets, apart from those that the dataset excludes from training.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum TargetRule {
    /// All among its own messages.
    #[default]
    All,
    /// The same, but no window owns assistant messages of two turns: targets are only in its last turn.
    LastTurn,
}

/// What to do with a segment that does not fit together with the messages that every window repeats.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SplitOverflow {
    /// Fail with an error.
    #[default]
    Error,
    /// Give it a window of its own, with texts shortened in the middle.
    Truncate,
    /// Give it a window of its own that exceeds the budget, with a warning.
    Keep,
}

/// One window of a transcript. Numbers are indices into the messages that were split.
#[derive(Debug, Clone, Default)]
pub struct SplitWindow {
    /// Messages that it repeats because of what they are: instructions, the first user message, a boundary and what a compaction
    /// preserved, calls that wait for an answer.
    pub pinned: Vec<usize>,
    /// Messages of which it repeats only the instructions beside other parts.
    pub instructions: Vec<usize>,
    /// Messages that it repeats as context: the overlap, and the user message that begins the turn.
    pub context: Vec<usize>,
    /// The messages that belong to this window alone.
    pub own: Range<usize>,
    /// Tokens of all its messages before [`changes`](Self::changes), and outside them.
    pub tokens: usize,
    /// Shorter texts of parts.
    pub changes: Vec<(PartRef, String)>,
    /// Why it exceeds the budget or was shortened.
    pub note: Option<String>,
}

impl SplitWindow {
    /// All messages of the window, in order.
    #[must_use]
    pub fn messages(&self) -> Vec<usize> {
        let repeated = self.pinned.iter().chain(&self.instructions).chain(&self.context);
        let mut all: Vec<usize> = repeated.copied().collect();
        all.sort_unstable();
        all.extend(self.own.clone());
        all
    }
}

impl Split {
    /// Windows of `max_tokens` as `counting` counts them, with system messages pinned and without overlap.
    #[must_use]
    pub fn new(max_tokens: usize, counting: Counting) -> Self {
        Self {
            max_tokens,
            counting,
            overlap: Overlap::NONE,
            pins: Pins { system: true, ..Pins::default() },
            at_boundaries: false,
            targets: TargetRule::default(),
            on_overflow: SplitOverflow::default(),
        }
    }

    /// The window of a segment that exceeds the budget together with the messages that it must repeat.
    pub(super) fn overflow(&self, view: &View<'_, '_>, mut window: SplitWindow) -> Result<SplitWindow, ProcessorError> {
        let first = window.own.start;
        let last = window.own.end - 1;
        let budget = token_count(self.max_tokens);
        let (reason, own) = match first == last {
            true => (format!("message {first} does not fit into {budget}"), "its own"),
            false => (format!("messages {first} to {last} belong together and do not fit into {budget}"), "their own"),
        };
        match self.on_overflow {
            SplitOverflow::Error => Err(ProcessorError::WindowTooSmall { what: reason }),
            SplitOverflow::Keep => {
                window.note = Some(format!("{reason}; kept in a window of {own} (--on-overflow keep)"));
                Ok(window)
            }
            SplitOverflow::Truncate => match self.shortened(view, &window) {
                Some(changes) => {
                    window.note = Some(format!("{reason}; shortened"));
                    Ok(SplitWindow { changes, ..window })
                }
                None => {
                    Err(ProcessorError::WindowTooSmall { what: format!("{reason}, even with their texts shortened") })
                }
            },
        }
    }

    /// The changes that make `window` fit. Texts of the assistant are shortened only if shortening all others is not enough.
    fn shortened(&self, view: &View<'_, '_>, window: &SplitWindow) -> Option<Vec<(PartRef, String)>> {
        let shortened =
            self.shortened_beside(view, window, |message| is_fixed(message) || message.role == Role::Assistant);
        shortened.or_else(|| self.shortened_beside(view, window, is_fixed))
    }

    /// The changes that make `window` fit and leave the texts of the messages that `keeps` selects.
    fn shortened_beside(
        &self,
        view: &View<'_, '_>,
        window: &SplitWindow,
        keeps: impl Fn(&Message<'_>) -> bool,
    ) -> Option<Vec<(PartRef, String)>> {
        let all = window.messages();
        let mut room = self.max_tokens.checked_sub(self.counting.outside(view))?;
        let mut others = Vec::new();
        for &at in &all {
            let message = &view.messages[at];
            if window.instructions.contains(&at) {
                room = room.checked_sub(self.counting.instructions(message))?;
            } else if keeps(message) {
                room = room.checked_sub(self.counting.message(message))?;
            } else {
                others.push(at);
            }
        }
        loop {
            let changes = shorten(view, &others, |_| false, room, &self.counting)?;
            match self.excess(view, &all, &changes) {
                Some(0) => return Some(changes),
                // A template adds to the texts: try again with less.
                excess => room = room.checked_sub(excess?)?,
            }
        }
    }

    /// By how many tokens the messages `all` exceed the budget with `changes`, as a template renders them; `None` if it
    /// refuses them.
    fn excess(&self, view: &View<'_, '_>, all: &[usize], changes: &[(PartRef, String)]) -> Option<usize> {
        if self.counting.template.is_none() {
            return Some(0);
        }
        let plan = rewriting(all, changes, &Reason::default());
        let messages = apply_plan(all.iter().map(|&at| view.messages[at].clone()).collect(), &plan);
        let tokens = self.counting.total(&View { messages: &messages, ..*view }).ok()?;
        Some(tokens.saturating_sub(self.max_tokens))
    }
}

/// Whether no text of the message is ever shortened.
fn is_fixed(message: &Message<'_>) -> bool {
    message.role.instructs() || message.is_boundary()
}

/// The plan for the messages `all`, whose indices ascend, that writes these texts into parts of them.
pub(crate) fn rewriting(all: &[usize], texts: &[(PartRef, String)], reason: &Reason) -> Plan {
    let mut plan = Plan::keep(all.len());
    for (at, text) in texts {
        if let Ok(nth) = all.binary_search(&at.message) {
            plan.change(nth, [Change::Rewrite(at.part, text.clone())], reason.clone());
        }
    }
    plan
}
