//! The bytes of an input: from a file, which is read at any offset, or from a stream, which may stall; and the buffer for
//! them.

use std::fs::File;
use std::io::{self, ErrorKind, Read, Seek, SeekFrom};
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use crate::error::FileError;
use crate::source;

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

/// Standard input without a buffer, because a buffer would only copy the blocks again.
#[cfg(unix)]
pub(super) fn stdin() -> io::Result<File> {
    use std::os::fd::AsFd as _;
    source::input()?.as_fd().try_clone_to_owned().map(File::from)
}

#[cfg(windows)]
pub(super) fn stdin() -> io::Result<File> {
    use std::os::windows::io::AsHandle as _;
    source::input()?.as_handle().try_clone_to_owned().map(File::from)
}

pub(super) fn refuse_directory(file: File) -> io::Result<File> {
    if file.metadata()?.is_dir() { Err(io::ErrorKind::IsADirectory.into()) } else { Ok(file) }
}

// A buffer that is reused, so that its memory is allocated and zeroed only once.

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

    /// Appends `len` bytes of any content, to be written through [`Buffer::front`].
    pub(super) fn reserve(&mut self, len: usize) -> io::Result<()> {
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

// A file that is read at any offset: blocks are claimed in order, and most of their bytes are read later, on any thread.

/// The number of bytes that are read at once to find the end of a line.
const STEP: usize = 64 * 1024;

/// The first step, which is shorter because most lines end soon.
const FIRST_STEP: usize = 8 * 1024;

/// A regular file, and the offset of the next read.
#[derive(Debug, Clone)]
pub(super) struct Plain {
    file: Arc<File>,
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
        block.reserve(front)?;
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
    file: Arc<File>,
    at: u64,
    len: usize,
}

impl Unread {
    /// Reads them into `block`. `name` is the name of the file in errors.
    ///
    /// # Errors
    /// The file cannot be read, or has become shorter.
    pub fn read(self, block: &mut Buffer, name: &str) -> Result<(), FileError> {
        let mut file = Plain { file: self.file, at: self.at };
        file.read_exact(block.front(self.len)).map_err(|error| match error.kind() {
            io::ErrorKind::UnexpectedEof => {
                let message = "the file became shorter while it was read; run the command again";
                FileError::system(name, &io::Error::other(message))
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

// Inputs that may stall: pipes and devices. A reader can process the bytes that have arrived instead of waiting for more.

/// Whether the next read may wait for bytes, and whether the program should end.
#[derive(Debug, Default)]
pub(super) struct WaitControl {
    may_wait: AtomicBool,
    stop: Arc<AtomicBool>,
}

impl WaitControl {
    /// No read may wait yet, and none waits any longer once `stop` is set.
    pub(super) fn new(stop: &Arc<AtomicBool>) -> Arc<Self> {
        Arc::new(Self { may_wait: AtomicBool::new(false), stop: Arc::clone(stop) })
    }

    /// Allows the next read to wait until bytes arrive.
    pub(super) fn allow_wait(&self) {
        self.may_wait.store(true, Ordering::Relaxed);
    }
}

/// A stream whose reads fail with [`ErrorKind::WouldBlock`] if nothing has arrived, unless its [`WaitControl`] allows
/// to wait.
pub(super) struct Live {
    file: File,
    control: Arc<WaitControl>,
}

impl Live {
    pub(super) const fn new(file: File, control: Arc<WaitControl>) -> Self {
        Self { file, control }
    }
}

impl Read for Live {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let may_wait = self.control.may_wait.load(Ordering::Relaxed);
        while !has_arrived(&self.file, may_wait)? {
            if self.control.stop.load(Ordering::Relaxed) {
                return Err(io::Error::other("interrupted"));
            }
            if !may_wait {
                return Err(ErrorKind::WouldBlock.into());
            }
        }
        let got = self.file.read(into)?;
        self.control.may_wait.store(false, Ordering::Relaxed);
        Ok(got)
    }
}

/// Whether a read would return at once, with bytes or at the end. Waits up to 100 milliseconds for that if `may_wait`.
#[cfg(unix)]
fn has_arrived(file: &File, may_wait: bool) -> io::Result<bool> {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    let timeout = Timespec { tv_sec: 0, tv_nsec: if may_wait { 100_000_000 } else { 0 } };
    match poll(&mut [PollFd::new(file, PollFlags::IN)], Some(&timeout)) {
        Err(rustix::io::Errno::INTR) => Ok(false),
        polled => Ok(polled? > 0),
    }
}

/// This system does not report arrived bytes: a read that must not wait finds nothing, and any other read waits.
#[cfg(not(unix))]
fn has_arrived(_file: &File, may_wait: bool) -> io::Result<bool> {
    Ok(may_wait)
}

// A growing file, whose new complete lines are read.

/// The pause between two checks of a file that has not grown.
const PAUSE: Duration = Duration::from_millis(200);

/// Reads a growing file, or standard input until it ends.
#[derive(Debug)]
pub struct Follow {
    source: FollowSource,
    /// The bytes after the last complete line.
    rest: Vec<u8>,
    /// The longest line in bytes; `None` for no limit.
    limit: Option<usize>,
}

#[derive(Debug)]
enum FollowSource {
    File { path: PathBuf, read: u64 },
    Stdin,
}

/// New input.
#[derive(Debug, PartialEq, Eq)]
pub enum Growth {
    /// Complete lines.
    Lines(Vec<u8>),
    /// The end of standard input, with any bytes after its last line break.
    End(Vec<u8>),
}

impl Follow {
    /// Follows the file at `path`; standard input if `None`. A line may have up to `limit` bytes; `None` for no limit.
    pub fn new(path: Option<&Path>, limit: Option<usize>) -> Self {
        let source = path.map_or(FollowSource::Stdin, |path| FollowSource::File { path: path.to_owned(), read: 0 });
        Self { source, rest: Vec::new(), limit }
    }

    /// Waits for new complete lines.
    ///
    /// # Errors
    /// The file cannot be read, it became shorter (so its content may have changed), or a line is too long.
    pub fn wait(&mut self) -> io::Result<Growth> {
        loop {
            let before = self.rest.len();
            let ended = self.read_available()?;
            if let Some(end) = self.rest[before..].iter().rposition(|&byte| byte == b'\n') {
                let after = self.rest.split_off(before + end + 1);
                return Ok(Growth::Lines(std::mem::replace(&mut self.rest, after)));
            }
            if self.limit.is_some_and(|limit| self.rest.len() > limit) {
                return Err(io::Error::other("a line is longer than --max-record; pass a larger one, or 0 for none"));
            }
            if ended {
                return Ok(Growth::End(std::mem::take(&mut self.rest)));
            }
        }
    }

    /// Reads the available bytes and pauses if there are none; returns whether the input has ended.
    fn read_available(&mut self) -> io::Result<bool> {
        match &mut self.source {
            FollowSource::Stdin => {
                let mut chunk = [0; 1 << 13];
                let count = io::stdin().lock().read(&mut chunk)?;
                self.rest.extend_from_slice(&chunk[..count]);
                Ok(count == 0)
            }
            FollowSource::File { path, read } => {
                let most = self.limit.map_or(u64::MAX, |limit| limit as u64 + 1);
                let grown = read_new(path, read, most, &mut self.rest)?;
                if !grown {
                    std::thread::sleep(PAUSE);
                }
                Ok(false)
            }
        }
    }
}

/// Appends the bytes after the first `read` bytes of the file to `into`, `most` at most.
fn read_new(path: &Path, read: &mut u64, most: u64, into: &mut Vec<u8>) -> io::Result<bool> {
    let mut file = File::open(path)?;
    if file.metadata()?.len() < *read {
        return Err(io::Error::other("the file became shorter; start again to follow its new content"));
    }
    file.seek(SeekFrom::Start(*read))?;
    let count = file.take(most).read_to_end(into)?;
    *read += count as u64;
    Ok(count > 0)
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::{Follow, Growth};

    #[test]
    fn lines_come_whole() -> std::io::Result<()> {
        let mut file = tempfile::NamedTempFile::new()?;
        let mut follow = Follow::new(Some(file.path()), Some(8));
        file.write_all(b"one\ntw")?;
        assert_eq!(follow.wait()?, Growth::Lines(b"one\n".to_vec()));
        file.write_all(b"o\nthree\nfo")?;
        assert_eq!(follow.wait()?, Growth::Lines(b"two\nthree\n".to_vec()));
        file.write_all(b"urteen letters and more")?;
        assert!(follow.wait().is_err_and(|error| error.to_string().contains("--max-record")));
        file.as_file().set_len(3)?;
        assert!(follow.wait().is_err_and(|error| error.to_string().contains("became shorter")));
        Ok(())
    }
}
