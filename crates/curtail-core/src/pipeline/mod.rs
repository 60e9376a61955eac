//! The chain: processors in order, the output of one the input of the next. Stages that only drop share a pass over the bytes.
//!
//! [`Levels`] decides which processors apply to a network and an agent, [`Cutter`] applies a chain to a text.

mod calibrating;
mod chain;
mod cutter;
mod levels;
mod splitting;

pub use calibrating::calibrated;
pub use chain::{Chain, Processors, Run, Stage, ThoughtStep};
pub use cutter::{Cut, CutError, Cutter, Decider, StageCount, Totals};
pub use levels::{Agent, Levels, Network, Step, UnknownLevel};
pub use splitting::{Splitting, Window};
