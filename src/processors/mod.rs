//! One processor per file: a pure function from messages to decisions.
//!
//! A processor knows no dialect, no bytes and no input or output. To add one: a file here, a line in the list below, and a
//! command or a flag that builds it.

mod clear_results;
mod history_window;
mod planning;
mod repair;
mod rolling;
mod sliding_window;
mod strip;
mod token_limit;
mod tool_filter;
mod working_memory;

use std::sync::Arc;

pub use clear_results::ClearResults;
pub use history_window::HistoryWindow;
pub use planning::{
    Change, Counting, Decision, Insert, Insertion, Keep, Overhead, Plan, Prepend, Reason, Remark, View, WindowUnit,
    apply_plan,
};
pub use repair::{Repair, RepairMode};
pub use rolling::{
    Counted, Interaction, InteractionRange, Rolling, RollingState, RollingSummary, RollingView, Summary, SummaryRange,
};
pub use sliding_window::SlidingWindow;
pub use strip::{Strip, StripKind};
pub use token_limit::{Overflow, TokenLimit};
pub use tool_filter::{ToolFilter, ToolGlobs};
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
