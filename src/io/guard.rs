//! Panics of libraries that trust the numbers in a file, as errors about that file.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};
use std::sync::Once;

use super::TableFormat;
use crate::error::{Error, ErrorKind};

thread_local! {
    /// Whether this thread runs code that may panic and whose panic becomes an error.
    static GUARDED: Cell<bool> = const { Cell::new(false) };
}

/// Runs `read` on the file `name`. A panic becomes an error that names the file, and nothing is printed about it.
///
/// # Errors
/// Those of `read`, and that the file is damaged.
pub fn guarded<T>(format: TableFormat, name: &str, read: impl FnOnce() -> Result<T, Error>) -> Result<T, Error> {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let other = take_hook();
        set_hook(Box::new(move |panic| {
            if !GUARDED.get() {
                other(panic);
            }
        }));
    });
    let before = GUARDED.replace(true);
    let done = catch_unwind(AssertUnwindSafe(read));
    GUARDED.set(before);
    let damaged = || format!("this {} file cannot be read: numbers in it are damaged", format.name());
    done.unwrap_or_else(|_| Err(Error::new(ErrorKind::Content, name, damaged())))
}
