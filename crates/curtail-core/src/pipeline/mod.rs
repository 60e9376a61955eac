//! The chain: processors in order, the output of one the input of the next. Stages that only drop share a pass over the bytes.
//!
//! [`ProcessorLevels`] decides which processors apply to a network and an agent, [`TextCutter`] applies a chain to a text.

mod chain;
mod cut;
mod cutter;
mod levels;
mod pauses;
mod record_edits;
mod run;
mod separators;
mod sides;
mod splitting;
mod thoughts;

pub use chain::{Chain, Processors, Splitting, Stage, calibrated};
pub use cut::{Cut, CutError, Decider, StageCount, Totals, Window};
pub use cutter::TextCutter;
pub use levels::{AgentLevel, Network, ProcessorLevels, Step, UnknownLevel};
pub use run::Run;
