//! All integration tests, in one program: one module per command or layer, one runner, one setting for property tests.

#![allow(
    unreachable_pub,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a test may stop at what it did not expect, and say what it runs"
)]

mod architecture;
mod check;
mod cli;
mod corpus;
mod designs;
mod dialects;
mod docs;
mod growth;
mod json;
mod laws;
mod ledger;
mod memory;
mod memory_cli;
mod packaging;
mod program;
mod properties;
mod quality;
mod replay;
mod run;
mod server;
mod site;
mod spell;
mod store;
mod summarizers;
#[cfg(feature = "parquet")]
mod tables;
#[cfg(all(feature = "parquet", target_os = "linux"))]
mod tables_damaged;
mod tokens;
mod trust;
mod view;
