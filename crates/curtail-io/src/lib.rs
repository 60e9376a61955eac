//! Input and output: finds and reads inputs, decompresses and compresses them, and writes outputs without damaging
//! files.
//!
//! This layer knows files, streams, lines, and the columns of tables. It reads no transcript: [`batch`] passes texts on, and
//! recognizes records of a damaged log by their keys and by the usual types of blocks; `event_folders` recognizes logs with one
//! event per file; `shape` fits JSON values to the columns of a table, of which it knows where messages have their text.

#![forbid(unsafe_code)]
#![allow(clippy::must_use_candidate, reason = "only crates of this workspace call it")]

#[cfg(any(target_os = "linux", target_os = "android", target_vendor = "apple"))]
mod attributes;
#[cfg(all(unix, not(any(target_os = "linux", target_os = "android", target_vendor = "apple"))))]
#[path = "no_attributes.rs"]
mod attributes;
mod backup;
pub mod batch;
mod blocks;
mod buffer;
mod claims;
mod compression;
mod error;
mod event_folders;
mod file_names;
mod file_uses;
mod follow;
mod live;
mod manifest;
mod metadata;
mod open_files;
mod permissions;
mod refusals;
mod replace;
mod replaced;
mod rows;
mod scratch;
mod shape;
mod sink;
mod source;
mod stdin;
mod stream;
mod tables;
mod target;
mod utf16;
mod walk_globs;

pub use backup::Backup;
pub use blocks::{BLOCK, Blocks, Doubt, Limits, too_long};
pub use buffer::Buffer;
pub use claims::Unread;
pub use compression::Packing;
pub use error::{ErrorKind, FileError};
pub use file_uses::FileUses;
pub use follow::{Follow, Growth};
pub use manifest::{MANIFEST, Manifest};
pub use metadata::Stamp;
pub use permissions::options_of_copy;
pub use rows::{RowBlock, RowGroup, RowPlace, RowResult, TableFormat};
pub use scratch::{Scratch, sweep};
pub use shape::{Element, Field, Fit, Fitted, Shape};
pub use sink::{CompleteFile, FileSink, Put, Replace};
pub use source::{Beside, Inputs, Source, Wanted, find_sources, is_like_suffix};
pub use stdin::{input, note_closed_input};
pub use tables::{OpenTable, Rows, Table, TableSink, WantedColumn};
pub use target::{
    DIRECTORY_ADVICE, Destination, Existing, Targets, refuse_directory_as_file, refuse_file_as_directory,
};
