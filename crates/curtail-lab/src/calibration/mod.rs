//! The provider's own figures in a log, and what follows from them: how its count is made of ours.
//!
//! A log contains neither the instructions and tool definitions of most programs nor the provider's tokenizer. Both are
//! fitted on the requests whose input the provider counted.

mod fit;
mod requests;

pub use fit::{Calibrated, Calibration, Figures, NO_FIGURES, Observed, calibrate, calibrate_next, observe, percentile};
pub use requests::{Request, Session, seconds, sessions};
