//! The laws of the property tests, and the chains on which they are checked.

#[path = "../../crates/curtail-core/tests/core/laws/bytes.rs"]
mod bytes;
#[path = "../../crates/curtail-core/tests/core/laws/cases.rs"]
pub mod cases;
#[path = "../../crates/curtail-core/tests/core/laws/check.rs"]
pub mod check;
