//! Bytes in, bytes out: where inputs come from, how they are compressed, where outputs are written.
//!
//! This layer knows files, streams and lines, but no messages.

mod access;
mod backup;
mod blocks;
mod buffer;
#[cfg(feature = "parquet")]
mod columns;
mod compression;
mod folders;
#[cfg(feature = "parquet")]
mod guard;
mod holders;
mod identity;
mod live;
mod manifest;
mod plain;
mod progress;
mod replaced;
mod rows;
mod scratch;
mod sink;
mod source;
mod target;

pub use backup::Backup;
pub use blocks::{BLOCK, Blocks, Doubt, Limits, too_long};
pub use buffer::Buffer;
#[cfg(feature = "parquet")]
pub use columns::choose_column;
pub use compression::Packing;
#[cfg(feature = "parquet")]
pub use guard::guarded;
pub use identity::{FileUses, Stamp};
pub use manifest::{MANIFEST, Manifest};
pub use plain::Unread;
pub use progress::{Progress, Show};
pub use rows::{RowBlock, RowGroup, RowPlace, RowResult, TableFormat};
pub use scratch::Scratch;
pub use sink::{FileSink, Put, Replace};
pub use source::{Inputs, Source, Wanted, find_sources, is_like_suffix};
pub use target::{Destination, Existing, Targets, refuse_file_as_directory};
