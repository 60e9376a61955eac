//! The laws of the property tests, and the chains on which they are checked.

#[path = "../../tests/core/laws/bytes.rs"]
mod bytes;
#[path = "../../tests/core/laws/cases.rs"]
pub mod cases;
#[path = "../../tests/core/laws/check.rs"]
pub mod check;
