//! What a recorded session cost, and what it would have cost under another policy: reads its requests and the
//! provider's usage (`calibration`), and applies policies to them (`replay`).

#![forbid(unsafe_code)]

pub mod calibration;
pub mod replay;
mod requests;
