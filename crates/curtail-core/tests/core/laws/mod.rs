//! The laws that hold for every command, every dialect and every input.

mod accounted;
mod alternation;
pub mod boundaries;
pub mod bytes;
pub mod cases;
mod chains;
pub mod check;
mod figures;
pub mod fixtures;
pub mod generated;
mod media;
mod parents;
mod question;
mod read_again;
mod real;
mod regressions;
mod rolled_back;
mod signed;
mod split;
mod steps;
mod thoughts;
