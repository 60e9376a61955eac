//! The laws of the property tests, and the chains that they are tried with.

#[path = "../../tests/it/laws/cases.rs"]
pub mod cases;
#[path = "../../tests/it/laws/check.rs"]
pub mod check;
