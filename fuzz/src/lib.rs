//! The bodies of the fuzz targets. Their laws are those of the property tests.

#![allow(dead_code, reason = "the property tests use more of the shared modules")]

pub mod bodies;
mod laws;
pub mod tokens;
