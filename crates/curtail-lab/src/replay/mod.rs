//! The costs and losses of policies: recorded sessions are run again, request by request.
//!
//! It reads transcripts and applies chains. It writes no transcript and sends nothing.

mod accuracy;
mod cache;
mod calls;
mod error;
mod growing;
mod history;
mod needs;
mod outcomes;
mod policies;
mod prefixes;
mod prices;
mod probes;
mod references;
mod remembered;
mod report;
mod run;
mod scores;
mod summaries;
mod thoughts;
mod totals;
mod verdict;

pub use crate::calibration::{Calibrated, Calibration, Observed, Request, Session, calibrate, percentile, sessions};
pub use cache::{CacheRules, CacheUse};
pub use error::ReplayError;
pub use outcomes::outcome;
pub use policies::{AS_RECORDED, Apply, Policy, PolicyChain, ScaledChain};
pub use prices::{ModelPrice, PriceError, Prices};
pub use references::references;
pub use remembered::Remembered;
pub use report::{
    Accuracy, CalibrationReport, Missing, NamedTotal, PolicyReport, PolicyTotal, Probe, Probes, Recorded,
    RequestReport, SessionReport, TotalReport,
};
pub use run::Replay;
pub use verdict::{Group, Verdict};
