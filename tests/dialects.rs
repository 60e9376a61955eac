//! Every dialect on its fixtures: what is read, that nothing to do changes nothing, and that sniffing tells it from the others.

#![allow(
    unreachable_pub,
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test may stop at what it did not expect"
)]

#[path = "dialects/data.rs"]
mod data;
#[path = "dialects/files.rs"]
mod files;
#[path = "dialects/identity.rs"]
mod identity;
#[path = "dialects/sniffing.rs"]
mod sniffing;
#[path = "dialects/views.rs"]
mod views;
