//! The laws that hold for every command, every dialect and every input.

#![allow(
    unreachable_pub,
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test may stop at what it did not expect"
)]

mod cases;
mod check;
mod fixtures;
mod generated;
#[path = "../spell/mod.rs"]
mod spell;
