//! Plans: what a processor decides, how drops cascade, and how a plan is applied to messages.
//!
//! Processors share this machinery; it contains no policy of its own.

mod apply_plan;
mod cascade;
mod counting;
mod known_faults;
mod placing;
mod plan;
mod rendering;
mod search;
mod shorten;
mod units;

pub use apply_plan::apply_plan;
pub use cascade::DropSet;
pub use counting::{Counting, Overhead};
pub(crate) use known_faults::KnownFaults;
pub use placing::{add_changes, place_blocks};
pub use plan::{Asked, Change, Decision, Insert, Insertion, OnSummary, Plan, Prepend, Reason, Remark, View};
pub(in crate::processors) use rendering::Rendering;
pub(in crate::processors) use search::newest_fitting;
pub use shorten::CapKeep;
pub(super) use shorten::{capped, shorten};
pub use units::{Keep, Pins, WindowUnit};
