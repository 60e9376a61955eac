//! Plans: what a processor decides, how drops cascade, and how a plan is applied to messages.
//!
//! Processors share this machinery; it contains no policy of its own.

mod apply_plan;
mod cascade;
mod counting;
mod plan;
mod shorten;
mod units;

pub use apply_plan::apply_plan;
pub use cascade::DropSet;
pub(crate) use cascade::KnownFaults;
pub use counting::{Counting, Overhead};
pub(in crate::processors) use counting::{Rendering, newest_fitting};
pub use plan::{
    Asked, Change, Decision, Insert, Insertion, OnSummary, Plan, Prepend, Reason, Remark, View, add_changes,
    place_blocks,
};
pub use shorten::CapKeep;
pub(super) use shorten::{capped, shorten};
pub use units::{Keep, Pins, WindowUnit};
