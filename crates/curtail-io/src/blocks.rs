//! Reads a stream in blocks of whole lines, which the engine passes to its workers.

use std::fs::File;
use std::io::{self, BufReader, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use super::rows::TableFormat;
use crate::buffer::Filled;
use crate::claims::{Plain, became_shorter};
use crate::error::{ErrorKind, FileError};
use crate::live::{Live, WaitControl};
use crate::stdin::unbuffered_input;
use crate::stream::{Counted, Stream, refuse_directory};
use crate::utf16::{ByteOrder, Utf16Reader};
use crate::{Buffer, Packing, Source, Stamp, Unread};

/// Bytes that are read at once. Smaller blocks fit the second-level cache of a core, but passing them between threads costs
/// more than that gains: on two cores, 512 KiB take a fifth less time than 128 KiB; on one core, the time is the same.
pub const BLOCK: usize = 512 * 1024;

/// The length in bytes from which on the beginning of a line is checked before the rest is read.
const LONG: usize = 4 * 1024 * 1024;

/// How much is read, and when reading stops before the end of an input.
#[derive(Debug, Clone)]
pub struct Limits {
    /// The number of bytes that are read at once, [`BLOCK`] by default.
    pub block: usize,
    /// The largest line, or text that is read as a whole, in bytes after decompression; `None` for no limit.
    pub max_record: Option<usize>,
    /// Set by the caller to stop waiting for an input that stalls.
    pub stop: Arc<AtomicBool>,
}

impl Default for Limits {
    fn default() -> Self {
        Self { block: BLOCK, max_record: None, stop: Arc::default() }
    }
}

/// Checks the beginning of a long line or text, and returns an error if it cannot be a transcript.
pub type Doubt<'d> = &'d dyn Fn(&[u8]) -> Option<FileError>;

/// An open input.
pub struct Blocks {
    name: String,
    packing: Packing,
    stream: Stream,
    /// Size, time and identity when it was opened; `None` unless it is a regular file.
    stamp: Option<Stamp>,
    /// The regular file, which may become shorter while it is read.
    file: Option<File>,
    /// Its format if it is a table, which another crate reads.
    table: Option<TableFormat>,
    /// For an input that may stall: whether to wait for it.
    wait_control: Option<Arc<WaitControl>>,
    /// The number of bytes read from the file so far, before decompression.
    taken: Arc<AtomicU64>,
    /// Bytes that were read past the end of the last block.
    carry: Vec<u8>,
    /// The number of bytes returned so far.
    returned: u64,
    ended: bool,
    /// Whether blocks contain the bytes of the file, neither decompressed nor converted.
    is_verbatim: bool,
    block: usize,
    max_record: Option<usize>,
}

impl Blocks {
    /// Opens `source`.
    ///
    /// # Errors
    /// It cannot be opened or read, is a directory, or is compressed in a way that is not supported.
    pub fn open(source: &Source, limits: &Limits) -> Result<Self, FileError> {
        let opened = match &source.path {
            Some(path) => File::open(path).and_then(refuse_directory),
            None => unbuffered_input(),
        };
        opened
            .and_then(|file| Self::from_file(file, source.path.is_some(), &source.name, limits))
            .map_err(|error| FileError::system(&source.name, &error))
    }

    fn from_file(file: File, has_path: bool, name: &str, limits: &Limits) -> io::Result<Self> {
        let stamp = Stamp::from_metadata(&file.metadata()?);
        let regular = stamp.is_some().then(|| file.try_clone()).transpose()?;
        let wait_control = stamp.is_none().then(|| WaitControl::new(&limits.stop));
        let mut stream = match &wait_control {
            Some(wait_control) => Stream::Other(Box::new(Live::new(file, Arc::clone(wait_control)))),
            None if has_path => Stream::Plain(Plain::new(file)?),
            // Standard input is read in order, so that another program can continue where this one stops reading.
            None => Stream::Other(Box::new(file)),
        };
        let head = head(&mut stream, wait_control.as_deref())?;
        if let Some((packing, program)) = Packing::unsupported(&head) {
            let message = format!("compressed with {packing}, which is not read; decompress it first (`{program}`)");
            return Err(io::Error::new(io::ErrorKind::Unsupported, message));
        }
        let taken = Arc::new(AtomicU64::new(head.len() as u64));
        let packing = Packing::of_head(&head);
        let table = TableFormat::of_head(&head);
        let (stream, carry) = match packing {
            // The bytes that were checked are the beginning of the first block.
            Packing::Plain => (stream, head),
            packed => {
                let counted = Counted { stream, taken: Arc::clone(&taken) };
                let whole = BufReader::with_capacity(128 * 1024, io::Cursor::new(head).chain(counted));
                (Stream::Other(packed.unpack(whole)?), Vec::new())
            }
        };
        Ok(Self {
            name: name.to_owned(),
            packing,
            stream,
            stamp,
            file: regular,
            table,
            wait_control,
            taken,
            carry,
            returned: 0,
            ended: false,
            is_verbatim: packing == Packing::Plain,
            block: limits.block,
            max_record: limits.max_record,
        })
    }

    /// How the input is compressed.
    pub const fn packing(&self) -> Packing {
        self.packing
    }

    /// Its format, if it begins like a table.
    pub const fn table(&self) -> Option<TableFormat> {
        self.table
    }

    /// Size, time and identity when it was opened; `None` unless it is a regular file.
    pub const fn stamp(&self) -> Option<&Stamp> {
        self.stamp.as_ref()
    }

    /// The number of bytes of the file that are in the blocks so far, before decompression.
    pub fn taken(&self) -> u64 {
        let taken = self.taken.load(Ordering::Relaxed);
        if self.is_verbatim { taken - self.carry.len() as u64 } else { taken }
    }

    /// Whether all bytes were returned.
    pub const fn is_done(&self) -> bool {
        self.ended && self.carry.is_empty()
    }

    /// Whether the input is a pipe or a device, which may stall.
    pub const fn is_live(&self) -> bool {
        self.wait_control.is_some()
    }

    /// As [`Blocks::next_lines`], but the first bytes of `block` may be left for [`Unread::read`], which can be called
    /// in any order and on any thread, while another thread claims the next block.
    ///
    /// # Errors
    /// As [`Blocks::next_lines`].
    pub(super) fn claim_lines(&mut self, block: &mut Buffer, doubt: Doubt<'_>) -> Result<Option<Unread>, FileError> {
        // A longer line is left to `next_lines`, which checks it before it reads it to its end.
        let most = self.max_record.map_or(LONG, |most| most.clamp(BLOCK, LONG));
        let back = self.carry.len();
        if let Stream::Plain(file) = &mut self.stream
            && let Some(unread) =
                file.claim(block, self.block - 1, most, back).map_err(|error| FileError::system(&self.name, &error))?
        {
            self.taken.fetch_add(block.len() as u64, Ordering::Relaxed);
            self.taken.fetch_sub(back as u64, Ordering::Relaxed);
            self.carry.clear();
            return Ok(Some(unread));
        }
        self.next_lines(block, doubt).map(|()| None)
    }

    /// Fills `block` with the next whole lines, about [`Limits::block`] bytes, or with one longer line, or with the rest; at least
    /// one of them is not blank, unless the input ends. If it stalls, these are the lines that have arrived.
    ///
    /// # Errors
    /// A read or decompression error, a line over the limit, or the error of `doubt`. The bytes read for this block are
    /// lost.
    pub(super) fn next_lines(&mut self, block: &mut Buffer, doubt: Doubt<'_>) -> Result<(), FileError> {
        block.clear();
        block.append(&self.carry).map_err(|error| self.read_error(&error, 0))?;
        self.carry.clear();
        let mut searched = 0;
        while !self.ended {
            // The bytes that were read to detect the compression may contain a record already.
            let waits = searched > 0 || !has_record(block);
            self.read_more(block, doubt, waits)?;
            if !self.ended
                && let Some(newline) = memchr::memrchr(b'\n', &block[searched..])
                && let end = searched + newline + 1
                // Blank lines at its beginning do not show what a file is.
                && !block[..end].trim_ascii().is_empty()
            {
                self.carry.extend_from_slice(&block[end..]);
                block.truncate(end);
                break;
            }
            searched = block.len();
        }
        self.returned += block.len() as u64;
        Ok(())
    }

    /// Reads UTF-16 as UTF-8 from now on, if `block`, which contains the first lines of the input, shows that it is UTF-16. It then
    /// fills `block` again. Returns whether it does.
    ///
    /// # Errors
    /// As [`Blocks::next_lines`].
    pub(super) fn convert_utf16(&mut self, block: &mut Buffer, doubt: Doubt<'_>) -> Result<bool, FileError> {
        let Some(order) = ByteOrder::of(block) else { return Ok(false) };
        let begun = io::Cursor::new([&**block, &self.carry].concat());
        let taken = Arc::clone(&self.taken);
        let rest: Box<dyn Read + Send> = match std::mem::replace(&mut self.stream, Stream::Other(Box::new(io::empty())))
        {
            stream if self.is_verbatim => Box::new(Counted { stream, taken }),
            stream => Box::new(stream),
        };
        self.stream = Stream::Other(Box::new(Utf16Reader::new(begun.chain(rest), order)));
        self.is_verbatim = false;
        self.ended = false;
        self.returned = 0;
        self.carry.clear();
        self.next_lines(block, doubt)?;
        Ok(true)
    }

    /// Takes what was returned for the whole input.
    pub(super) fn leave_rest(&mut self) {
        self.ended = true;
        self.carry.clear();
    }

    /// Appends the rest of the input to `text`.
    ///
    /// # Errors
    /// A read or decompression error, a text over the limit, or the error of `doubt`.
    pub fn rest(&mut self, text: &mut Buffer, doubt: Doubt<'_>) -> Result<(), FileError> {
        let carry = std::mem::take(&mut self.carry);
        text.append(&carry).map_err(|error| self.read_error(&error, 0))?;
        while !self.ended {
            self.read_more(text, doubt, true)?;
        }
        Ok(())
    }

    /// Reads the rest of a block, or a quarter of what `into` already contains, so that a long line or text takes at
    /// most a quarter more memory than its length.
    fn read_more(&mut self, into: &mut Buffer, doubt: Doubt<'_>, waits: bool) -> Result<(), FileError> {
        let before = into.len();
        let wanted = if before < self.block { self.block - before } else { self.block.max(before / 4) };
        // A byte more than is permitted shows that the limit is exceeded.
        let most = self.max_record.map_or(usize::MAX, |most| most.max(BLOCK).saturating_add(1));
        self.fill(into, wanted.min(most - before).min(self.expected()), waits)?;
        if before < LONG
            && into.len() >= LONG
            && let Some(error) = doubt(&into[..LONG / 4])
        {
            return Err(error);
        }
        match self.max_record {
            // A block may contain many lines.
            Some(most) if into.len() > most.max(BLOCK) => Err(too_long(&self.name, most)),
            _ => Ok(()),
        }
    }

    /// How many more bytes to request at most, so that a small file needs no memory for a whole block. It is more than
    /// the file should have left, to detect the end.
    fn expected(&self) -> usize {
        const UNIT: u64 = 16 * 1024;
        let Stream::Plain(file) = &self.stream else { return usize::MAX };
        // A file that had nothing there may have grown.
        let rest = self.stamp.as_ref().and_then(|stamp| stamp.len.checked_sub(file.at)).filter(|rest| *rest > 0);
        let wanted = rest.and_then(|rest| (rest + 1).checked_next_multiple_of(UNIT));
        wanted.and_then(|wanted| usize::try_from(wanted).ok()).unwrap_or(usize::MAX)
    }

    /// Reads up to `wanted` more bytes. If nothing has arrived and `waits` is set, waits until something does.
    fn fill(&mut self, into: &mut Buffer, wanted: usize, waits: bool) -> Result<(), FileError> {
        let before = into.len();
        loop {
            let filled =
                into.fill_from(&mut self.stream, wanted).map_err(|error| self.read_error(&error, into.len()))?;
            self.ended = filled == Filled::Ended;
            if self.is_verbatim {
                self.taken.fetch_add((into.len() - before) as u64, Ordering::Relaxed);
            }
            match &self.wait_control {
                Some(control) if waits && filled == Filled::Stalled && into.len() == before => control.allow_wait(),
                _ if self.ended => return self.refuse_shorter(),
                _ => return Ok(()),
            }
        }
    }

    /// Refuses a file that ended before all bytes were read that it had when it was opened.
    fn refuse_shorter(&self) -> Result<(), FileError> {
        let Some((file, stamp)) = self.file.as_ref().zip(self.stamp.as_ref()) else { return Ok(()) };
        if self.taken.load(Ordering::Relaxed) >= stamp.len {
            return Ok(());
        }
        // Standard input may begin within a file, and some files of the system are shorter than they say.
        let metadata = file.metadata().map_err(|error| FileError::system(&self.name, &error))?;
        if metadata.len() < stamp.len { Err(became_shorter(&self.name)) } else { Ok(()) }
    }

    /// An error with the place in the compressed and the decompressed stream. `unpacked` bytes were decompressed for
    /// this block.
    fn read_error(&self, error: &io::Error, unpacked: usize) -> FileError {
        if self.packing == Packing::Plain || error.kind() == io::ErrorKind::OutOfMemory {
            return FileError::system(&self.name, error);
        }
        let message = format!(
            "the {} stream is {} near byte {}, after {} bytes of text: {error}",
            self.packing.name(),
            if error.kind() == io::ErrorKind::UnexpectedEof { "cut short" } else { "corrupt" },
            self.taken(),
            self.returned + unpacked as u64,
        );
        FileError::new(ErrorKind::Compression, &self.name, message)
    }
}

/// The error for a line, or a text that is read as a whole, of more than `most` bytes.
pub fn too_long(name: &str, most: usize) -> FileError {
    let message = format!("longer than {most} bytes, the limit of --max-record; pass a larger one, or 0 for none");
    FileError::new(ErrorKind::Content, name, message)
}

/// Whether `block` has a whole line that is not blank.
fn has_record(block: &[u8]) -> bool {
    memchr::memrchr(b'\n', block).is_some_and(|end| !block[..end].trim_ascii().is_empty())
}

/// The first four bytes, which identify the compression of a stream, or all bytes of a shorter one. If the stream
/// stalls, fewer are enough once they exclude a compression: `[]` and a line break may be the whole first record.
pub(super) fn head(stream: &mut impl Read, wait_control: Option<&WaitControl>) -> io::Result<Vec<u8>> {
    let mut head = Vec::with_capacity(4);
    loop {
        let missing = 4 - head.len() as u64;
        match stream.take(missing).read_to_end(&mut head) {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock && Packing::may_be_packed(&head) => {}
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(head),
            read => return read.map(|_| head),
        }
        if let Some(wait_control) = wait_control {
            wait_control.allow_wait();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Seek as _, Write as _};

    use super::*;

    /// However it is read: in blocks of which a worker reads the beginning, or in order, as standard input.
    #[test]
    fn a_file_that_becomes_shorter_is_an_error() -> io::Result<()> {
        for has_path in [true, false] {
            for left in [BLOCK as u64, 3 * BLOCK as u64 / 2, 0] {
                let mut file = tempfile::tempfile()?;
                file.write_all("{}\n".repeat(BLOCK).as_bytes())?;
                file.rewind()?;
                let mut blocks = Blocks::from_file(file.try_clone()?, has_path, "a.jsonl", &Limits::default())?;
                let mut block = Buffer::default();
                blocks.next_lines(&mut block, &|_| None).unwrap();
                file.set_len(left)?;
                let mut read = || {
                    while !blocks.is_done() {
                        if let Some(unread) = blocks.claim_lines(&mut block, &|_| None)? {
                            unread.read(&mut block, "a.jsonl")?;
                        }
                    }
                    Ok(())
                };
                let read: Result<(), FileError> = read();
                assert!(read.is_err_and(|error| error.what.contains("became shorter")), "{has_path} {left}");
            }
        }
        Ok(())
    }
}
