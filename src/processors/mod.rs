//! One processor per file: a pure function from messages to decisions.
//!
//! A processor knows no dialect, no bytes and no input or output. To add one: a file here, a line in the list below, and a
//! command or a flag that builds it.

mod apply_plan;
mod cascade;
mod clear_results;
mod counting;
mod history_window;
mod interactions;
mod plan;
mod repair;
mod rolling_summary;
mod shorten;
mod sliding_window;
mod strip;
mod summary_block;
mod token_limit;
mod tool_filter;
mod units;
mod utterances;
mod working_memory;

use std::sync::Arc;

pub use apply_plan::apply_plan;
pub use clear_results::ClearResults;
pub use counting::{Counting, Overhead};
pub use history_window::HistoryWindow;
pub use interactions::{Counted, Interaction};
pub use plan::{Change, Decision, Insert, Insertion, Plan, Prepend, Reason, Remark, View};
pub use repair::{Repair, RepairMode};
pub use rolling_summary::{RollingSummary, RollingView};
pub use sliding_window::SlidingWindow;
pub use strip::{Strip, StripKind};
pub use token_limit::{Overflow, TokenLimit};
pub use tool_filter::{ToolFilter, ToolGlobs};
pub use units::{Keep, WindowUnit};
pub use working_memory::{FoundUpdate, StateSource, WorkingMemory, updates};

/// Called whenever something was done that takes long enough to be counted while it goes on.
pub type OnSummary = Arc<dyn Fn() + Send + Sync>;

/// Decides what becomes of the messages of a transcript.
pub trait Processor: Send + Sync {
    /// The name of the command that it is known by.
    fn name(&self) -> &'static str;

    /// Calls `hear` from now on for every summary that was made.
    fn on_summary(&self, _hear: &OnSummary) {}

    /// How often it may be run on what it left before, until it changes nothing more.
    fn passes(&self) -> usize {
        1
    }

    /// Decides about every message, in order.
    ///
    /// # Errors
    /// What cannot be done, in words that read after the transcript's name: a budget that nothing fits, for example.
    fn decide(&self, view: &View<'_, '_>) -> Result<Plan, String>;
}
