//! Input and output: finds and reads inputs, decompresses and compresses them, and writes outputs without damaging
//! files.
//!
//! This layer knows files, streams and lines. Only [`batch`] knows that a text contains transcripts, and it knows none of their
//! messages.

#![forbid(unsafe_code)]
#![allow(clippy::must_use_candidate, reason = "only the program calls this crate")]

pub mod batch;
mod blocks;
mod compression;
mod error;
mod manifest;
mod metadata;
mod refusals;
mod replace;
mod scratch;
mod sink;
mod source;
mod stream;
mod tables;
mod target;

pub use blocks::{BLOCK, Blocks, Doubt, Limits, RowBlock, RowGroup, RowPlace, RowResult, TableFormat, too_long};
pub use compression::Packing;
pub use error::{ErrorKind, FileError};
pub use manifest::{MANIFEST, Manifest};
pub use metadata::{Stamp, options_of_copy};
pub use replace::Backup;
pub use scratch::{Scratch, sweep};
pub use sink::{CompleteFile, FileSink, Put, Replace};
pub use source::{Beside, Inputs, Source, Wanted, find_sources, input, is_like_suffix, note_closed_input};
pub use stream::{Buffer, Follow, Growth, Unread};
pub use tables::{OpenTable, Rows, Table, TableSink, WantedColumn};
pub use target::{
    DIRECTORY_ADVICE, Destination, Existing, FileUses, Targets, refuse_directory_as_file, refuse_file_as_directory,
};
