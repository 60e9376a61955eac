//! The provider's usage in a log, and the calibration of our token count by it.
//!
//! A log contains neither the instructions and tool definitions of most programs nor the provider's tokenizer. Both are
//! fitted on the requests whose input the provider counted.

mod fit;
mod requests;

pub use fit::{Calibrated, Calibration, Figures, NO_FIGURES, Observed, calibrate, calibrate_next, observe, percentile};
pub use requests::{Request, Session, seconds, sessions};
