//! How the processors that are known here decide about a growing conversation: from what they sent before, so that the history is
//! not read from its beginning for every request. Any other processor sees the whole history each time.

use std::any::Any;

use super::applied::Applied;
use super::history::History;
use super::newest::{Newest, counts_from_the_end};
use super::results::Results;
use super::resumed::Resumed;
use super::runs::Difference;
use super::sent::Sent;
use super::written::WrittenMessages;
use crate::requests::Request;
use curtail_core::processors::{HistoryWindow, Keep, Processor, ProcessorError, SlidingWindow, TokenLimit};
use curtail_core::transcript::Layout;
use curtail_memory::rolling::RollingSummary;

/// Which decisions of a processor last as a conversation grows. The default is that of a processor that is not known here: none.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Growth {
    /// Whether what is kept follows from instructions and the end of the conversation alone: applied to the messages from a
    /// point on at which no pair is open, the processor keeps the same if it drops the first of them.
    pub(super) is_local: bool,
    /// Whether all messages are kept that are appended to the in-flight round, and the others are decided about as before.
    pub(super) keeps_rounds: bool,
    /// Whether all messages are kept that are appended to the in-flight round, as long as neither they nor the messages that they
    /// answer have text, and the others are decided about as before.
    pub(super) keeps_silence: bool,
}

impl Growth {
    pub(super) fn of(processor: &dyn Processor) -> Self {
        let processor: &dyn Any = processor;
        if let Some(window) = processor.downcast_ref::<HistoryWindow>() {
            let is_local = keeps_the_end(window.keep, window.step);
            Self { is_local, keeps_rounds: is_local && !window.cap_in_flight, ..Self::default() }
        } else if let Some(window) = processor.downcast_ref::<SlidingWindow>() {
            Self { is_local: keeps_the_end(window.keep, window.step), ..Self::default() }
        } else if let Some(limit) = processor.downcast_ref::<TokenLimit>() {
            Self { is_local: counts_from_the_end(limit), ..Self::default() }
        } else if let Some(memory) = processor.downcast_ref::<RollingSummary>() {
            Self { keeps_silence: memory.given.is_none(), ..Self::default() }
        } else {
            Self::default()
        }
    }
}

/// Whether instructions and the newest units are all that a window keeps.
const fn keeps_the_end(keep: Keep, step: usize) -> bool {
    keep.first == 0 && !keep.first_user && step <= 1
}

/// How a policy decides from what it decided about the previous request.
pub(super) enum Growing {
    /// It clears all but the last results, or shortens each.
    Results(Box<Results>),
    /// It keeps the newest segments that fit into a budget.
    Newest(Newest),
    /// It continues from the state in which an earlier part of the history left it.
    Resumed(Box<Resumed>),
}

impl Growing {
    /// How `processor` decides about a growing `history`; `None` if it has to see the whole history each time.
    pub(super) fn new(processor: &dyn Processor, history: &History<'_>, layout: &Layout<'_>) -> Option<Self> {
        let processor: &dyn Any = processor;
        if let Some(clear) = processor.downcast_ref() {
            return Some(Self::Results(Box::new(Results::clearing(clear, history, layout)?)));
        }
        if let Some(cap) = processor.downcast_ref() {
            return Some(Self::Results(Box::new(Results::capping(cap)?)));
        }
        if !history.plain {
            return None;
        }
        if let Some(limit) = processor.downcast_ref() {
            return Some(Self::Newest(Newest::new(limit, history, layout)?));
        }
        Some(Self::Resumed(Box::new(Resumed::new(processor.downcast_ref()?))))
    }

    /// How `request` differs from the previous one, which sent `sent`; `None` if the policy itself has to decide.
    ///
    /// # Errors
    /// The error of the processor that cannot decide.
    pub(super) fn difference(
        &mut self,
        request: &Request,
        sent: &Sent,
        applied: &Applied<'_, '_>,
        written: &mut WrittenMessages,
    ) -> Result<Option<Difference>, ProcessorError> {
        Ok(match self {
            Self::Results(results) => Some(results.difference(request, sent, applied, written)?),
            Self::Newest(newest) => newest.runs(request, applied.history).map(Difference::from),
            Self::Resumed(resumed) => {
                let messages = resumed.messages(request, applied)?;
                Some(written.runs(applied.history, applied.counting, &messages).into())
            }
        })
    }
}
