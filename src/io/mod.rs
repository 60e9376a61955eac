//! Bytes in, bytes out: where inputs come from, how they are packed, where outputs go.
//!
//! This layer knows files, streams and lines; it knows nothing of messages.

mod blocks;
mod buffer;
mod compression;
mod manifest;
mod progress;
mod sink;
mod source;
mod target;

pub use blocks::{BLOCK, Blocks};
pub use buffer::Buffer;
pub use compression::Packing;
pub use manifest::{MANIFEST, Manifest};
pub use progress::{Progress, Show};
pub use sink::{FileSink, Replace};
pub use source::{Source, Wanted, find_sources};
pub use target::{Destination, Targets};
