//! The chain: processors in order, the output of one the input of the next, in one pass over the bytes.
//!
//! What a processor can be told stands in [`options`], once, for flags and for keys; [`Config`] is the file that says which
//! processors stand at which level.

mod chain;
mod config;
mod cutter;
pub mod options;

pub use chain::{Chain, Processors, Run, Stage};
pub use config::{Config, ConfigError, Origin, ProcessorEntry, Step, Value, schema};
pub use cutter::{Cut, Cutter, Decider, StageCount, Totals};
