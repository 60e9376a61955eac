//! The only list of the processors that a chain may have, each under the name of its command.

use super::filter::FilterOptions;
use super::limit::LimitOptions;
use super::memory::RecallOptions;
use super::options::ProcessorSpec;
use super::repair::RepairOptions;
use super::summarize::SummarizeOptions;
use super::window::WindowOptions;

/// Every processor, in the order of the documentation.
pub(crate) const PROCESSOR_SPECS: &[ProcessorSpec] = &[
    ProcessorSpec::with_options::<WindowOptions>("window"),
    ProcessorSpec::with_options::<FilterOptions>("filter"),
    ProcessorSpec::with_options::<LimitOptions>("limit"),
    ProcessorSpec::with_options::<SummarizeOptions>("summarize"),
    ProcessorSpec::with_options::<RecallOptions>("memory"),
    ProcessorSpec::with_options::<RepairOptions>("repair"),
];
