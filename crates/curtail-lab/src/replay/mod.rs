//! Measures what policies cost and lose: recorded sessions are replayed, request by request.
//!
//! It reads transcripts and applies chains. It writes no transcript and sends nothing to a provider.

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

pub use crate::calibration::{Calibrated, Calibration, Observed, Request, Session, calibrate, percentile, sessions};
pub use history::Remembered;
pub use policies::{AS_RECORDED, Apply, Policy, PolicyChain, ScaledChain};
pub use prices::{CacheRules, CacheUse, ModelPrice, PriceError, Prices};
pub use references::references;
pub use report::{
    Accuracy, CalibrationReport, Group, Losses, Missing, NamedTotal, PolicyReport, PolicyTotal, Probe, Probes,
    Recorded, RequestReport, SessionReport, TotalReport, Verdict, outcome,
};
pub use run::{Replay, ReplayError};
