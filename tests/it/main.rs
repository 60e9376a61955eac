//! The tests of the program, in one program of their own: one module per command or layer, one runner.

#![allow(
    dead_code,
    unreachable_pub,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a test may stop at what it did not expect, and say what it runs"
)]

mod architecture;
mod browser;
mod check;
mod cli;
mod compactions;
mod corpus;
mod designs;
mod docs;
mod facts;
mod growth;
#[path = "../../fuzz/src/laws.rs"]
mod laws;
mod memory;
mod memory_cli;
mod new_session;
mod packaging;
mod pictures;
mod program;
#[path = "../../crates/curtail-core/tests/core/properties.rs"]
mod properties;
mod quality;
mod readers;
mod replay;
mod run;
#[path = "../../crates/curtail-core/tests/core/serializers/mod.rs"]
mod serializers;
mod server;
mod sessions;
mod site;
mod store;
mod summarizers;
#[cfg(feature = "parquet")]
mod tables;
#[cfg(all(feature = "parquet", target_os = "linux"))]
mod tables_damaged;
#[cfg(target_os = "linux")]
mod terminal;
mod tokens;
mod trust;
mod verify;
mod view;
