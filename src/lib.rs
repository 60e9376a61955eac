//! The program `curtail`: its command line, batches, reports and pages. To cut transcripts from your own program, use
//! the crate `curtail-core`.

#![forbid(unsafe_code)]

mod cli;
mod console;
mod cutting;
mod options;
mod process;
#[doc(hidden)]
pub mod reports;
mod sessions;
mod works;

#[doc(hidden)]
pub use cli::{embedded, main as run_program, reads_configuration};
#[doc(hidden)]
pub use console::note_closed_streams;
