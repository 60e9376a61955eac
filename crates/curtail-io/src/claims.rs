//! A file that is read at any offset: blocks are claimed in order, and most of their bytes are read later, on any thread.

use std::fs::File;
use std::io::{self, Read, Seek as _};
use std::sync::Arc;

use super::buffer::{Buffer, Filled};
use crate::error::FileError;

/// The number of bytes that are read at once to find the end of a line.
const STEP: usize = 64 * 1024;

/// The first step, which is shorter because most lines end soon.
const FIRST_STEP: usize = 8 * 1024;

/// A regular file, and the offset of the next read.
#[derive(Debug, Clone)]
pub(super) struct Plain {
    pub(super) file: Arc<File>,
    pub(super) at: u64,
}

impl Plain {
    /// Reads `file` from its current offset on.
    pub(super) fn new(mut file: File) -> io::Result<Self> {
        let at = file.stream_position()?;
        Ok(Self { file: Arc::new(file), at })
    }

    /// Claims a block of whole lines that begins `back` bytes before the next read. Its first `front` bytes are left
    /// for later; the rest up to the end of a line is read. `None`, with nothing claimed, if no line ends before the
    /// block has more than `most` bytes.
    pub(super) fn claim(
        &mut self,
        block: &mut Buffer,
        front: usize,
        most: usize,
        back: usize,
    ) -> io::Result<Option<Unread>> {
        let begin = self.at - back as u64;
        block.clear();
        block.lengthen(front)?;
        let mut tail = Self { file: Arc::clone(&self.file), at: begin + front as u64 };
        let mut step = FIRST_STEP;
        while block.len() <= most {
            let searched = block.len();
            let filled = block.fill_from(&mut tail, step)?;
            if let Some(newline) = memchr::memchr(b'\n', &block[searched..]) {
                block.truncate(searched + newline + 1);
                self.at = begin + block.len() as u64;
                return Ok(Some(Unread { file: Arc::clone(&self.file), at: begin, len: front }));
            }
            if filled != Filled::Full {
                break;
            }
            step = STEP;
        }
        Ok(None)
    }
}

impl Read for Plain {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let got = read_at(&self.file, into, self.at)?;
        self.at += got as u64;
        Ok(got)
    }
}

/// The first bytes of a claimed block, which have not been read yet.
#[derive(Debug)]
pub struct Unread {
    pub(super) file: Arc<File>,
    at: u64,
    pub(super) len: usize,
}

impl Unread {
    /// Reads them into `block`. `name` is the name of the file in errors.
    ///
    /// # Errors
    /// The file cannot be read, or has become shorter.
    pub fn read(self, block: &mut Buffer, name: &str) -> Result<(), FileError> {
        let mut file = Plain { file: self.file, at: self.at };
        file.read_exact(block.front(self.len)).map_err(|error| match error.kind() {
            io::ErrorKind::UnexpectedEof => became_shorter(name),
            _ => FileError::system(name, &error),
        })
    }
}

/// The error of a file that became shorter while it was read, so that its last bytes are missing.
pub(super) fn became_shorter(name: &str) -> FileError {
    FileError::system(name, &io::Error::other("the file became shorter while it was read; run the command again"))
}

#[cfg(unix)]
fn read_at(file: &File, into: &mut [u8], at: u64) -> io::Result<usize> {
    std::os::unix::fs::FileExt::read_at(file, into, at)
}

#[cfg(windows)]
fn read_at(file: &File, into: &mut [u8], at: u64) -> io::Result<usize> {
    std::os::windows::fs::FileExt::seek_read(file, into, at)
}
