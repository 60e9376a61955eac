//! Inputs that may stall: pipes and devices. A reader can process the bytes that have arrived instead of waiting for more.

use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

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
    pub(super) file: File,
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
