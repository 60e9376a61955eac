//! The Node module of curtail: texts in, which the package `curtail-cli` in `node/` writes of the values of JavaScript; texts out,
//! and for values which of their messages are kept, so that the package returns the same objects.

// What the macros of napi write.
#![allow(unsafe_code, reason = "functions that Node calls are registered by pointers")]

mod answer;
pub mod command;
mod reader;
mod record;
