//! The laws that hold for every command, every dialect and every input.

mod accounted;
mod alternation;
mod boundaries;
pub mod bounded;
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
pub mod rolled_back;
mod signed;
mod split;
mod states;
mod steps;
mod thoughts;
mod trees;
