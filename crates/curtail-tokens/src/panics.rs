//! Panics of libraries that become errors: that of a tokenizer or a table that cannot be what its file says.

use std::any::Any;
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};

thread_local! {
    /// Whether this thread runs code whose panic is not printed, because it becomes an error.
    static QUIET: Cell<bool> = const { Cell::new(false) };
}

/// Runs code of a library that may panic on a damaged file, and returns the panic. A program whose panic hook asks
/// [`catches_panics`] prints nothing about it.
///
/// # Errors
/// What the code panicked with.
pub fn catch_panic<T>(run: impl FnOnce() -> T) -> Result<T, Box<dyn Any + Send>> {
    let before = QUIET.replace(true);
    let done = catch_unwind(AssertUnwindSafe(run));
    QUIET.set(before);
    done
}

/// Whether a panic of this thread is caught and becomes an error, so that a panic hook has nothing to print.
#[must_use]
pub fn catches_panics() -> bool {
    QUIET.get()
}
