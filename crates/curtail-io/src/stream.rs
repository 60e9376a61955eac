//! The bytes of an input: from a file, which is read at any offset, or from a stream, which may stall.

use std::fs::File;
use std::io::{self, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::claims::Plain;

/// Where the bytes of an input come from.
pub(super) enum Stream {
    /// A regular file that is not compressed, which can be read at any place.
    Plain(Plain),
    Other(Box<dyn Read + Send>),
}

impl Read for Stream {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Plain(file) => file.read(into),
            Self::Other(stream) => stream.read(into),
        }
    }
}

/// A stream that counts its bytes.
pub(super) struct Counted<R> {
    pub(super) stream: R,
    pub(super) taken: Arc<AtomicU64>,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let got = self.stream.read(into)?;
        self.taken.fetch_add(got as u64, Ordering::Relaxed);
        Ok(got)
    }
}

/// The file, unless it is a directory.
pub(super) fn refuse_directory(file: File) -> io::Result<File> {
    if file.metadata()?.is_dir() { Err(io::ErrorKind::IsADirectory.into()) } else { Ok(file) }
}
