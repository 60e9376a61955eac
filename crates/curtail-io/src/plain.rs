//! A file that is read at any place: a block is claimed in order, and most of its bytes are read later, on any thread.

use std::fs::File;
use std::io::{self, Read, Seek as _};
use std::sync::Arc;

use super::buffer::{Buffer, Filled};
use curtail_core::error::FileError;

/// Bytes that are read at once in search of the end of a line.
const STEP: usize = 64 * 1024;

/// The first step is shorter: most lines end soon.
const FIRST_STEP: usize = 8 * 1024;

/// A regular file and the place of the next read.
#[derive(Debug, Clone)]
pub(super) struct Plain {
    file: Arc<File>,
    at: u64,
}

impl Plain {
    /// Reads `file` from its current place on.
    pub(super) fn new(mut file: File) -> io::Result<Self> {
        let at = file.stream_position()?;
        Ok(Self { file: Arc::new(file), at })
    }

    /// The place of the next read.
    pub(super) const fn place(&self) -> u64 {
        self.at
    }

    /// Claims a block of whole lines that begins `back` bytes before the next read: `front` bytes, which are left for later,
    /// and what follows them up to the end of a line. `None` if no line ends before the block is longer than `most` bytes;
    /// nothing is claimed then.
    pub(super) fn claim(
        &mut self,
        block: &mut Buffer,
        front: usize,
        most: usize,
        back: usize,
    ) -> io::Result<Option<Unread>> {
        let begin = self.at - back as u64;
        block.clear();
        block.leave(front)?;
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

/// The first bytes of a claimed block, which were not read yet.
#[derive(Debug)]
pub struct Unread {
    file: Arc<File>,
    at: u64,
    len: usize,
}

impl Unread {
    /// Reads them into `block`. `name` is the file in errors.
    ///
    /// # Errors
    /// What the system says, or the file became shorter.
    pub fn read(self, block: &mut Buffer, name: &str) -> Result<(), FileError> {
        let mut from = Plain { file: self.file, at: self.at };
        from.read_exact(block.front(self.len)).map_err(|error| match error.kind() {
            io::ErrorKind::UnexpectedEof => {
                let what = "the file became shorter while it was read; run the command again";
                FileError::system(name, &io::Error::other(what))
            }
            _ => FileError::system(name, &error),
        })
    }
}

#[cfg(unix)]
fn read_at(file: &File, into: &mut [u8], at: u64) -> io::Result<usize> {
    std::os::unix::fs::FileExt::read_at(file, into, at)
}

#[cfg(windows)]
fn read_at(file: &File, into: &mut [u8], at: u64) -> io::Result<usize> {
    std::os::windows::fs::FileExt::seek_read(file, into, at)
}
