//! The laws that hold for every command, every dialect and every input.

mod cases;
mod check;
mod fixtures;
mod generated;
