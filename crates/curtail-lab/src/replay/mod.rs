//! Measures what policies cost and lose: recorded sessions are replayed, request by request.
//!
//! It reads transcripts and applies chains. It writes no transcript and sends nothing to a provider.

mod cache;
mod growing;
mod history;
mod needs;
mod policies;
mod prefixes;
mod prices;
mod references;
mod report;
mod run;
mod scores;
mod totals;

pub use crate::calibration::{Calibrated, Calibration, Observed, Request, Session, calibrate, percentile, sessions};
pub use cache::{CacheRules, CacheUse};
pub use history::Remembered;
pub use policies::{AS_RECORDED, Apply, Policy, PolicyChain, ScaledChain};
pub use prices::{ModelPrice, PriceError, Prices};
pub use references::references;
pub use report::{
    Accuracy, CalibrationReport, Missing, NamedTotal, PolicyReport, PolicyTotal, Probe, Probes, Recorded,
    RequestReport, SessionReport, TotalReport, outcome,
};
pub use run::{Replay, ReplayError};
pub use totals::{Group, Verdict};
