//! Panics of libraries that trust the numbers in a file, as errors about that file.

use super::TableFormat;
use curtail_core::error::{Error, ErrorKind, catch_panic};

/// Runs `read` on the file `name`. A panic becomes an error that names the file, and nothing is printed about it.
///
/// # Errors
/// Those of `read`, and that the file is damaged.
pub(crate) fn guarded<T>(format: TableFormat, name: &str, read: impl FnOnce() -> Result<T, Error>) -> Result<T, Error> {
    let damaged = || format!("this {} file cannot be read: numbers in it are damaged", format.name());
    catch_panic(read).unwrap_or_else(|_| Err(Error::new(ErrorKind::Content, name, damaged())))
}
