//! What a recorded session cost, and what it would have cost under another policy: reads its requests and the
//! provider's usage (`calibration`, `figures`), and applies policies to them (`replay`).

#![forbid(unsafe_code)]
#![allow(clippy::must_use_candidate, reason = "only crates of this workspace call it")]

pub mod calibration;
mod copies;
pub mod figures;
mod links;
pub mod replay;
mod requests;

pub use copies::{CountedRequest, SeenRequests, counted_requests};
pub use requests::{Compaction, Request, Session, sessions};
