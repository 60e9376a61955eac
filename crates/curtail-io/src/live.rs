//! Inputs that may stall: pipes and devices. A reader can take the bytes that have arrived instead of waiting for more.

use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Whether the next read may wait for bytes, and whether the program should end.
#[derive(Debug, Default)]
pub(super) struct Patience {
    waits: AtomicBool,
    stop: Arc<AtomicBool>,
}

impl Patience {
    /// Patience that ends when `stop` is set.
    pub(super) fn until(stop: &Arc<AtomicBool>) -> Arc<Self> {
        Arc::new(Self { waits: AtomicBool::new(false), stop: Arc::clone(stop) })
    }

    /// Lets the next read wait until bytes arrive.
    pub(super) fn wait(&self) {
        self.waits.store(true, Ordering::Relaxed);
    }
}

/// A stream whose reads fail with [`ErrorKind::WouldBlock`] if nothing has arrived, unless [`Patience`] allows one to wait.
pub(super) struct Live {
    file: File,
    patience: Arc<Patience>,
}

impl Live {
    pub(super) const fn new(file: File, patience: Arc<Patience>) -> Self {
        Self { file, patience }
    }
}

impl Read for Live {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let waits = self.patience.waits.load(Ordering::Relaxed);
        while !has_arrived(&self.file, waits)? {
            if self.patience.stop.load(Ordering::Relaxed) {
                return Err(io::Error::other("interrupted"));
            }
            if !waits {
                return Err(ErrorKind::WouldBlock.into());
            }
        }
        let got = self.file.read(into)?;
        self.patience.waits.store(false, Ordering::Relaxed);
        Ok(got)
    }
}

/// Whether a read returns at once, because of bytes or the end; waits up to 100 milliseconds if it may.
#[cfg(unix)]
fn has_arrived(file: &File, waits: bool) -> io::Result<bool> {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    let timeout = Timespec { tv_sec: 0, tv_nsec: if waits { 100_000_000 } else { 0 } };
    match poll(&mut [PollFd::new(file, PollFlags::IN)], Some(&timeout)) {
        Err(rustix::io::Errno::INTR) => Ok(false),
        polled => Ok(polled? > 0),
    }
}

/// This system does not report arrived bytes: a read that must not wait finds nothing, and any other read waits.
#[cfg(not(unix))]
fn has_arrived(_file: &File, waits: bool) -> io::Result<bool> {
    Ok(waits)
}
