//! Cut LLM transcripts to size without breaking them.
//!
//! A transcript is read in its own wire format ([`dialects`]), processors decide which messages are kept ([`processors`],
//! [`pipeline`]), and what is kept is written back byte for byte ([`edit`]). A tool call is never separated from its
//! result.
//!
//! ```
//! use curtail::dialects::{Framing, Reading};
//! use curtail::pipeline::{Chain, Cutter};
//! use curtail::processors::SlidingWindow;
//!
//! let chat = concat!(
//!     "{\"role\": \"user\", \"content\": \"When does the first train leave?\"}\n",
//!     "{\"role\": \"assistant\", \"content\": \"At 05:12.\"}\n",
//!     "{\"role\": \"user\", \"content\": \"And the last one?\"}\n",
//! );
//! let window = SlidingWindow { size: 1, ..SlidingWindow::default() };
//! let cutter = Cutter { chain: Chain::default().then(window), ..Cutter::default() };
//! let mut shorter = String::new();
//! cutter.cut(&Reading::new(Framing::Lines, None, None)?, chat, &mut shorter)?;
//! assert_eq!(shorter, "{\"role\": \"user\", \"content\": \"And the last one?\"}\n");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Features
//!
//! All but `parquet` are on by default. Without any, the crate reads, cuts, checks and counts transcripts.
//!
//! - `cli`: the program; implies `http` and `store`
//! - `hf`: counts with a `tokenizer.json` of Hugging Face
//! - `http`: asks models over HTTP for summaries
//! - `parquet`: reads and writes a column of a Parquet or Arrow IPC file; implies `cli`
//! - `schema`: validates working memory against a JSON Schema
//! - `store`: keeps working memory and rolling memory in an `SQLite` file

#![forbid(unsafe_code)]

#[cfg(feature = "parquet")]
pub mod arrow;
#[cfg(feature = "cli")]
pub mod batch;
pub mod calibration;
pub mod checks;
#[cfg(feature = "cli")]
mod cli;
#[cfg(feature = "cli")]
mod console;
pub mod counting;
pub mod dialects;
pub mod digest;
pub mod edit;
pub mod error;
mod globs;
#[cfg(feature = "cli")]
pub mod io;
pub mod json;
pub mod ledger;
pub mod memory;
#[cfg(feature = "parquet")]
pub mod parquet;
pub mod pipeline;
pub mod processors;
#[cfg(feature = "cli")]
pub mod replay;
#[cfg(feature = "cli")]
pub mod reports;
pub mod rolling;
mod steps;
#[cfg(feature = "store")]
pub mod store;
mod suggest;
pub mod summarizers;
#[cfg(feature = "parquet")]
pub mod tables;
#[cfg(all(feature = "cli", not(feature = "parquet")))]
#[path = "tables/absent.rs"]
pub mod tables;
pub mod templates;
pub mod tokenizers;
pub mod transcript;
#[cfg(feature = "cli")]
pub mod view;
pub mod visible;

#[cfg(feature = "cli")]
#[doc(hidden)]
pub use cli::{main as run_program, reads_configuration};
#[cfg(feature = "cli")]
#[doc(hidden)]
pub use console::note_closed_streams;
#[cfg(debug_assertions)]
#[doc(hidden)]
pub use steps::{count_steps, steps};
