//! The one list of the processors that a chain can hold, each under the name of its command.

use super::memory::RecallOptions;
use super::summarize::SummarizeOptions;
use crate::cli::options::{FilterOptions, LimitOptions, ProcessorSpec, RepairOptions, WindowOptions};

/// Every processor, in the order of the documentation.
pub(crate) const PROCESSOR_SPECS: &[ProcessorSpec] = &[
    ProcessorSpec::of::<WindowOptions>("window"),
    ProcessorSpec::of::<FilterOptions>("filter"),
    ProcessorSpec::of::<LimitOptions>("limit"),
    ProcessorSpec::of::<SummarizeOptions>("summarize"),
    ProcessorSpec::of::<RecallOptions>("memory"),
    ProcessorSpec::of::<RepairOptions>("repair"),
];
