//! Standard input, and whether it was closed when the program started.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};

/// Whether standard input was closed when the program started. What stands in its place since would be an empty input.
static CLOSED: AtomicBool = AtomicBool::new(false);

/// Notes whether standard input was closed before the program started: then reading it is an error.
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
