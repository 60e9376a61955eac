//! The tests of the library: its laws, its dialects and processors, its checks and their repairs, the replay of sessions, what
//! it exports, and its reader of JSON. None of them starts the program.

#![allow(
    unreachable_pub,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a test may stop at what it did not expect, and say what it runs"
)]

mod answers;
mod api;
mod checked;
mod dialects;
mod findings;
mod json;
mod laws;
mod library;
mod mending;
mod processors;
mod properties;
mod replay;
mod serializers;
mod sound;
