//! What a run is told, by flags and by keys: one struct for each policy, whose fields are both. `mod.rs` lists the processors
//! that a chain may have. It reads and decides; of itself it prints only warnings, and it runs nothing.

pub(crate) mod check;
pub(crate) mod choices;
pub(crate) mod config;
pub(crate) mod counting;
pub(crate) mod cut;
pub(crate) mod effects;
pub(crate) mod files;
pub(crate) mod filter;
pub(crate) mod global;
pub(crate) mod input;
pub(crate) mod keys;
pub(crate) mod limit;
pub(crate) mod memory;
pub(crate) mod numbers;
pub(crate) mod pages;
pub(crate) mod pins;
pub(crate) mod policy;
pub(crate) mod processor;
pub(crate) mod repair;
pub(crate) mod replay;
pub(crate) mod split;
pub(crate) mod store;
pub(crate) mod summarize;
pub(crate) mod summarizer;
pub(crate) mod variables;
pub(crate) mod verify;
pub(crate) mod window;

use filter::FilterOptions;
use keys::{ProcessorSpec, schema};
use limit::LimitOptions;
use memory::RecallOptions;
use repair::RepairOptions;
use summarize::SummarizeOptions;
use window::WindowOptions;

/// The processors that a chain may have, each under the name of its command, in the order of the documentation.
pub(crate) const PROCESSOR_SPECS: &[ProcessorSpec] = &[
    ProcessorSpec::of_processor::<WindowOptions>("window"),
    ProcessorSpec::of_processor::<FilterOptions>("filter"),
    ProcessorSpec::of_processor::<LimitOptions>("limit"),
    ProcessorSpec::of_processor::<SummarizeOptions>("summarize"),
    ProcessorSpec::of_processor::<RecallOptions>("memory"),
    ProcessorSpec::of_processor::<RepairOptions>("repair"),
];

/// The JSON Schema of `curtail.toml`.
pub(crate) fn configuration_schema() -> String {
    format!("{:#}\n", schema(PROCESSOR_SPECS, &check::schema()))
}
