//! The chain: processors in order, the output of one the input of the next. Stages that only drop share a pass over the bytes.
//!
//! [`ProcessorLevels`] decides which processors apply to a network and an agent, [`TextCutter`] applies a chain to a text.

mod chain;
mod cutter;
mod levels;
mod splitting;

pub use chain::{Chain, Processors, Run, Stage, ThoughtStep, calibrated};
pub use cutter::{Cut, CutError, Decider, StageCount, TextCutter, Totals};
pub use levels::{AgentLevel, Network, ProcessorLevels, Step, UnknownLevel};
pub use splitting::{Splitting, Window};
