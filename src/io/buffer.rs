//! Bytes that are read into again and again: what was cleared once is not cleared anew.

use std::io::{self, ErrorKind, Read};
use std::ops::Deref;

/// A buffer that holds a block and keeps its memory for the next.
#[derive(Debug, Default)]
pub struct Buffer {
    bytes: Vec<u8>,
    len: usize,
}

impl Buffer {
    /// Empties it.
    pub fn clear(&mut self) {
        self.len = 0;
    }

    /// Appends `bytes`.
    pub(super) fn append(&mut self, bytes: &[u8]) {
        self.spare(bytes.len()).copy_from_slice(bytes);
        self.len += bytes.len();
    }

    /// Keeps the first `len` bytes.
    pub(super) fn truncate(&mut self, len: usize) {
        self.len = self.len.min(len);
    }

    /// Reads up to `wanted` more bytes; fewer only where `stream` ends. Says how many.
    pub(super) fn read(&mut self, stream: &mut impl Read, wanted: usize) -> io::Result<usize> {
        let mut got = 0;
        while got < wanted {
            match stream.read(self.spare(wanted - got)) {
                Ok(0) => break,
                Ok(more) => {
                    got += more;
                    self.len += more;
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(got)
    }

    fn spare(&mut self, wanted: usize) -> &mut [u8] {
        let end = self.len + wanted;
        if self.bytes.len() < end {
            self.bytes.resize(end, 0);
        }
        &mut self.bytes[self.len..end]
    }
}

impl Deref for Buffer {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.bytes[..self.len]
    }
}
