//! The provider's own figures in a log, and what follows from them: how its count is made of ours.
//!
//! A log contains neither the instructions and tool definitions of most programs nor the provider's tokenizer. Both are
//! fitted on the requests whose input the provider counted.

mod figures;
mod fit;
mod requests;
mod time;

pub use figures::{Figures, NO_FIGURES, observe};
pub use fit::{Calibrated, Calibration, Observed, calibrate, calibrate_next, percentile};
pub use requests::{Request, Session, sessions};
pub use time::seconds;
