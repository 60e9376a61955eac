//! Processors: pure functions from messages to a [`Plan`]. Those that decide about the same thing share a file.
//!
//! A processor knows no dialect, no bytes and no I/O. To add one: a file here, a line in the list below, and a command or a
//! flag that builds it.

// What they share.
mod applying;
mod blocks;
mod cascade;
mod counting;
mod error;
mod fitting;
mod keep;
mod pins;
mod plan;
mod rendering;
mod separated;
mod units;
mod view;
// The processors.
mod cap_results;
mod clear_results;
mod drop_messages;
mod live;
mod media_limits;
mod repair;
mod scaled_limit;
mod sliding;
mod split;
mod strip;
mod thinking;
mod token_limit;
mod tool_filter;
mod window;
// What one of them is made of.
mod answers;
mod exempt;
mod filling;
mod limit_overflow;
mod limited;
mod limiting;
mod name_globs;
mod newest_start;
mod overlap;
mod past_units;
mod rendered;
mod repeatable;
mod shorter_texts;
mod shrinking_window;
mod stale_results;
mod stepped_start;
mod stepped_window;
mod thought_prefixes;

pub use crate::globs::InvalidGlob;
pub use applying::apply_plan;
pub use blocks::{block_host, place_blocks};
pub use cap_results::{CapKeep, CapResults};
pub use cascade::DropSet;
pub use clear_results::{ClearResults, StaleResults};
pub use counting::{Calibrate, Counting, Overhead};
pub use drop_messages::{DropMessages, MessageRange, Seen};
pub use error::ProcessorError;
pub use exempt::Exempt;
pub use keep::Keep;
pub use live::{Live, drop_standing, without_rolled_back};
pub use media_limits::MediaLimits;
pub use name_globs::NameGlobs;
pub use pins::{Pins, Question};
pub use plan::{Change, Decision, Insert, Insertion, Plan, Prepend, Reason, Remark};
pub use repair::{Repair, RepairFor, RepairMode};
pub use scaled_limit::ScaledLimit;
pub(crate) use separated::KnownFaults;
pub use sliding::SlidingWindow;
pub(crate) use split::rewriting;
pub use split::{Overlap, Split, SplitOverflow, SplitWindow, TargetRule};
pub use strip::{Strip, StripKind};
pub use thinking::{Thinking, ThoughtModels};
pub use thought_prefixes::ThoughtPrefixes;
pub use token_limit::{Overflow, TokenLimit};
pub use tool_filter::{ToolFilter, ToolGlobs};
pub use units::WindowUnit;
pub use view::{Asked, OnSummary, View};
pub use window::HistoryWindow;

use std::any::Any;
use std::sync::Arc;

use crate::transcript::Standing;

/// Decides which messages of a transcript are kept, dropped, changed or inserted.
pub trait Processor: Any + Send + Sync {
    /// The name of its command.
    fn name(&self) -> &'static str;

    /// What it does and does not do.
    fn traits(&self) -> Traits {
        Traits::default()
    }

    /// How it counts tokens, if it does.
    fn counting(&self) -> Option<&Counting> {
        None
    }

    /// The same processor with another counting; `None` if it does not count.
    fn with_counting(&self, _counting: Counting) -> Option<Arc<dyn Processor>> {
        None
    }

    /// What to tell the user after all transcripts: which globs and numbers of the options matched nothing, for example.
    fn remarks(&self) -> Vec<String> {
        Vec::new()
    }

    /// Whether it would change `view`.
    ///
    /// # Errors
    /// As [`Processor::decide`].
    fn would_change(&self, view: &View<'_, '_>) -> Result<bool, ProcessorError> {
        Ok(!self.decide(view)?.is_identity())
    }

    /// Decides about every message of `view`, in order.
    ///
    /// # Errors
    /// Why no plan can be made, such as a budget that is too small. The message reads after the transcript's place.
    fn decide(&self, view: &View<'_, '_>) -> Result<Plan, ProcessorError>;
}

/// What a processor does and does not do. The default is that of one that drops or changes messages by itself, once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Traits {
    /// How many times a chain may apply it to its own result; it stops earlier when nothing changes.
    pub passes: usize,
    /// How many transcripts it should decide about at once, if it waits for another program; `None` if it computes.
    pub at_once: Option<usize>,
    /// Whether it sends messages to a program or a server.
    pub sends: bool,
    /// Whether it writes messages or results. What it wrote can be read otherwise than it was meant, so a chain reads the
    /// transcript again before the next stage.
    pub writes: bool,
    /// Whether it repairs pairs itself. After any other processor, a chain drops the calls and results that lost their
    /// counterpart.
    pub repairs_pairs: bool,
    /// What it drops before anything else if it drops something: messages that the model no longer reads.
    pub drops_first: &'static [Standing],
    /// Whether its options name what it drops, so that it may drop all messages.
    pub may_empty: bool,
    /// Whether it decides once about a transcript: its options number the messages or are a share of them, so that it would drop
    /// others of what it left.
    pub decides_once: bool,
}

impl Traits {
    /// The traits of a cut that moves by `step` at a time.
    fn in_steps(step: usize, drops_first: &'static [Standing]) -> Self {
        // A pair that was broken before leaves a cut that a step may now begin at. Each pass drops something, so they end.
        let passes = if step > 1 { usize::MAX } else { 1 };
        Self { passes, drops_first, ..Self::default() }
    }
}

impl Default for Traits {
    fn default() -> Self {
        Self {
            passes: 1,
            at_once: None,
            sends: false,
            writes: false,
            repairs_pairs: false,
            drops_first: &[],
            may_empty: false,
            decides_once: false,
        }
    }
}
