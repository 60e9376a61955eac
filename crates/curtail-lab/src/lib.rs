//! What a recorded session cost, and what it would have cost under another policy: its requests, the provider's figures, and
//! `replay`.

#![forbid(unsafe_code)]

pub mod calibration;
pub mod replay;
