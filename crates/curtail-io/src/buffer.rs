//! A buffer that is reused, so that its memory is allocated and zeroed only once.

use std::io::{self, ErrorKind, Read};
use std::ops::Deref;

/// How a read ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Filled {
    /// With as many bytes as requested.
    Full,
    /// With the last bytes of the stream.
    Ended,
    /// With the bytes that have arrived so far.
    Stalled,
}

/// A buffer for a block, which reuses its memory for the next one.
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
    ///
    /// # Errors
    /// There is no memory for them.
    pub fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.spare(bytes.len())?.copy_from_slice(bytes);
        self.len += bytes.len();
        Ok(())
    }

    /// Keeps the first `len` bytes.
    pub(super) fn truncate(&mut self, len: usize) {
        self.len = self.len.min(len);
    }

    /// Makes it longer by `len` bytes, whose content is to be written through [`Buffer::front`].
    pub(super) fn lengthen(&mut self, len: usize) -> io::Result<()> {
        self.spare(len)?;
        self.len += len;
        Ok(())
    }

    /// The first `len` bytes.
    pub(super) fn front(&mut self, len: usize) -> &mut [u8] {
        &mut self.bytes[..len.min(self.len)]
    }

    /// Appends `wanted` bytes from `stream`, or fewer if it ends or stalls.
    pub(super) fn fill_from(&mut self, stream: &mut impl Read, wanted: usize) -> io::Result<Filled> {
        let mut got = 0;
        while got < wanted {
            match stream.read(self.spare(wanted - got)?) {
                Ok(0) => return Ok(Filled::Ended),
                Ok(more) => {
                    got += more;
                    self.len += more;
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(Filled::Stalled),
                Err(error) => return Err(error),
            }
        }
        Ok(Filled::Full)
    }

    /// Memory for `wanted` bytes after the last one; an error if there is not enough.
    fn spare(&mut self, wanted: usize) -> io::Result<&mut [u8]> {
        let end = self.len + wanted;
        if self.bytes.len() < end {
            self.bytes.try_reserve_exact(end - self.bytes.len()).map_err(|_| ErrorKind::OutOfMemory)?;
            self.bytes.resize(end, 0);
        }
        Ok(&mut self.bytes[self.len..end])
    }
}

impl Deref for Buffer {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.bytes[..self.len]
    }
}
