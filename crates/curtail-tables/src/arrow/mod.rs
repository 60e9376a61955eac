//! Arrow IPC files and streams as rows: one column is read as texts and rewritten, and all other columns stay.
//!
//! A file is read one record batch at a time, once for its texts and once for its output. The memory in use is that of its
//! largest batch.

mod columns;
mod nested;
mod outline;
mod place;
mod replace;
mod rows;
mod table;
mod writer;

pub(crate) use rows::Rows;
pub(crate) use table::Table;
pub(crate) use writer::TableSink;

use arrow_schema::ArrowError;

use curtail_core::error::{Error, ErrorKind};
use curtail_io::TableFormat;

/// The error of the library about a file, without its prefix.
fn broken(name: &str, error: &ArrowError) -> Error {
    let said = match error {
        ArrowError::IoError(said, cause) if cause.raw_os_error().is_none() => said.clone(),
        ArrowError::IoError(_, cause) => return Error::system(name, cause),
        ArrowError::IpcError(said) | ArrowError::ParseError(said) | ArrowError::InvalidArgumentError(said) => {
            said.clone()
        }
        other => other.to_string(),
    };
    Error::new(ErrorKind::Content, name, format!("this Arrow file cannot be read: {said}"))
}

/// Runs `read` on the file `name`. A panic of the library, which trusts the numbers in a file, becomes an error.
fn guarded<T>(name: &str, read: impl FnOnce() -> Result<T, Error>) -> Result<T, Error> {
    crate::guard::guarded(TableFormat::ArrowFile, name, read)
}
