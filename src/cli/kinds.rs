//! The one list of the processors that a chain can hold, each under the name of its command.

use super::memory::RecallOptions;
use super::summarize::SummarizeOptions;
use crate::pipeline::options::{FilterOptions, Kind, LimitOptions, RepairOptions, WindowOptions};

/// Every processor, in the order in which they are told of.
pub const KINDS: &[Kind] = &[
    Kind::of::<WindowOptions>("window"),
    Kind::of::<FilterOptions>("filter"),
    Kind::of::<LimitOptions>("limit"),
    Kind::of::<SummarizeOptions>("summarize"),
    Kind::of::<RecallOptions>("memory"),
    Kind::of::<RepairOptions>("repair"),
];
