//! The costs and losses of policies: recorded sessions are run again, request by request.
//!
//! It reads transcripts and applies chains. It writes no transcript and sends nothing.

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
mod references;
mod remembered;
mod report;
mod run;
mod scores;
mod thoughts;
mod totals;
mod truth;
mod verdict;

pub use crate::calibration::{Calibrated, Calibration, Observed, Request, Session, calibrate, percentile, sessions};
pub use cache::{CacheRules, CacheUse};
pub use error::ReplayError;
pub use outcomes::outcome;
pub use policies::{AS_RECORDED, Apply, PRESETS, Policy, PolicyChain, Preset, ScaledChain};
pub use prices::{ModelPrice, PriceError, Prices};
pub use references::references;
pub use remembered::Remembered;
pub use report::{
    CalibrationReport, Missing, NamedTotal, PolicyReport, PolicyTotal, Recorded, RequestReport, SessionReport,
    TotalReport, Truth,
};
pub use run::Replay;
pub use verdict::{Group, Verdict};
