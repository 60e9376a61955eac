//! A stream in blocks of whole lines: what the engine hands to its workers.

use std::fs::File;
use std::io::{self, BufReader, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::{Buffer, Packing, Source};
use crate::error::{Error, ErrorKind};

/// Bytes that are read at a time. Smaller blocks stay in a core's second cache, but their hand-over between threads costs more
/// than that gains: on two cores 512 KiB take a fifth less time than 128 KiB, on one as long.
pub const BLOCK: usize = 512 * 1024;

/// An open input.
pub struct Blocks {
    name: String,
    packing: Packing,
    stream: Box<dyn Read + Send>,
    /// Bytes taken from the file so far, packed as they are.
    taken: Arc<AtomicU64>,
    /// Bytes that were read past the end of the last block.
    carry: Vec<u8>,
    /// Bytes handed out so far.
    given: u64,
    ended: bool,
}

impl Blocks {
    /// Opens `source`.
    ///
    /// # Errors
    /// What the system says.
    pub fn open(source: &Source) -> Result<Self, Error> {
        let opened = match &source.path {
            Some(path) => {
                File::open(path).and_then(refuse_directory).map(|file| Box::new(file) as Box<dyn Read + Send>)
            }
            None => Ok(Box::new(io::stdin()) as Box<dyn Read + Send>),
        };
        opened.and_then(|stream| Self::over(stream, &source.name)).map_err(|error| Error::system(&source.name, &error))
    }

    fn over(stream: Box<dyn Read + Send>, name: &str) -> io::Result<Self> {
        let taken = Arc::new(AtomicU64::new(0));
        let mut counted = Counted { stream, taken: Arc::clone(&taken) };
        let mut head = Vec::with_capacity(4);
        counted.by_ref().take(4).read_to_end(&mut head)?;
        let packing = Packing::of_head(&head);
        let (stream, carry) = match packing {
            // What was looked at is the first block's beginning.
            Packing::Plain => (Box::new(counted) as Box<dyn Read + Send>, head),
            packed => {
                let again = BufReader::with_capacity(128 * 1024, io::Cursor::new(head).chain(counted));
                (packed.unpack(again)?, Vec::new())
            }
        };
        Ok(Self { name: name.to_owned(), packing, stream, taken, carry, given: 0, ended: false })
    }

    /// How the input is packed.
    #[must_use]
    pub const fn packing(&self) -> Packing {
        self.packing
    }

    /// Bytes taken from the file so far, as they lie there.
    #[must_use]
    pub fn taken(&self) -> u64 {
        self.taken.load(Ordering::Relaxed)
    }

    /// Whether all was handed out.
    #[must_use]
    pub const fn is_done(&self) -> bool {
        self.ended && self.carry.is_empty()
    }

    /// Fills `block` with the next whole lines, about [`BLOCK`] bytes, or with one line that is longer, or with what is left.
    ///
    /// # Errors
    /// What the system or the unpacker says; what was read so far is lost.
    pub fn next_lines(&mut self, block: &mut Buffer) -> Result<(), Error> {
        block.clear();
        block.append(&self.carry);
        self.carry.clear();
        let mut searched = 0;
        while !self.ended {
            // A line longer than a block: read as much again, so that long lines cost no more than twice their length.
            let wanted = if block.len() < BLOCK { BLOCK - block.len() } else { block.len() };
            self.read(block, wanted)?;
            if let Some(newline) = memchr::memrchr(b'\n', &block[searched..]).filter(|_| !self.ended) {
                self.carry.extend_from_slice(&block[searched + newline + 1..]);
                block.truncate(searched + newline + 1);
                break;
            }
            searched = block.len();
        }
        self.given += block.len() as u64;
        Ok(())
    }

    /// Appends everything that is left to `text`.
    ///
    /// # Errors
    /// As [`Blocks::next_lines`].
    pub fn rest(&mut self, text: &mut Buffer) -> Result<(), Error> {
        text.append(&self.carry);
        self.carry.clear();
        while !self.ended {
            self.read(text, BLOCK.max(text.len() / 4))?;
        }
        Ok(())
    }

    fn read(&mut self, into: &mut Buffer, wanted: usize) -> Result<(), Error> {
        let read = into.read(&mut self.stream, wanted);
        let got = read.map_err(|error| self.broken(&error, into.len()))?;
        self.ended = got < wanted;
        Ok(())
    }

    fn broken(&self, error: &io::Error, unpacked: usize) -> Error {
        if self.packing == Packing::Plain {
            return Error::system(&self.name, error);
        }
        let what = format!(
            "the {} stream is {} near byte {}, after {} bytes of text: {error}",
            self.packing.name(),
            if error.kind() == io::ErrorKind::UnexpectedEof { "cut short" } else { "corrupt" },
            self.taken(),
            self.given + unpacked as u64,
        );
        Error::new(ErrorKind::Compression, &self.name, what)
    }
}

fn refuse_directory(file: File) -> io::Result<File> {
    if file.metadata()?.is_dir() { Err(io::ErrorKind::IsADirectory.into()) } else { Ok(file) }
}

struct Counted<R> {
    stream: R,
    taken: Arc<AtomicU64>,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let got = self.stream.read(into)?;
        self.taken.fetch_add(got as u64, Ordering::Relaxed);
        Ok(got)
    }
}
