//! Standard input, and whether it was closed when the program started.

use std::fs::File;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};

/// Whether standard input was closed when the program started. Something else is open in its place then, which would be
/// read as an empty input. As standard input itself, this belongs to the process: only its beginning can tell, and all who read
/// must know.
static CLOSED: AtomicBool = AtomicBool::new(false);

/// Records whether standard input was closed when the program started, so that reading it is an error.
pub fn note_closed_input(closed: bool) {
    CLOSED.store(closed, Ordering::Relaxed);
}

/// Standard input.
///
/// # Errors
/// It was closed before the program started.
pub fn input() -> io::Result<io::Stdin> {
    match CLOSED.load(Ordering::Relaxed) {
        true => Err(io::Error::other("closed before the program started")),
        false => Ok(io::stdin()),
    }
}

/// Standard input without a buffer, because a buffer would only copy the blocks again.
#[cfg(unix)]
pub(super) fn unbuffered_input() -> io::Result<File> {
    use std::os::fd::AsFd as _;
    input()?.as_fd().try_clone_to_owned().map(File::from)
}

#[cfg(windows)]
pub(super) fn unbuffered_input() -> io::Result<File> {
    use std::os::windows::io::AsHandle as _;
    input()?.as_handle().try_clone_to_owned().map(File::from)
}
