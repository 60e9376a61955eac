//! Parquet files as rows: one column is read as texts and rewritten, and all other columns are copied.
//!
//! A file is read row group by row group. The new texts of a row group wait in a temporary file until it is complete, so the
//! memory in use does not grow with the file.

mod columns;
mod levels;
mod nested;
mod pages;
mod rows;
mod spool;
mod table;
mod writer;

pub(crate) use rows::Rows;
pub(crate) use table::Table;
pub(crate) use writer::TableSink;

use ::parquet::errors::ParquetError;

use curtail_core::error::{Error, ErrorKind};
use curtail_io::TableFormat;

/// The error of the library about a file, without its prefix.
fn broken(name: &str, error: &ParquetError) -> Error {
    let said = match error {
        ParquetError::External(cause) => match cause.downcast_ref::<std::io::Error>() {
            Some(cause) => return Error::system(name, cause),
            None => cause.to_string(),
        },
        ParquetError::General(said) | ParquetError::NYI(said) | ParquetError::EOF(said) => said.clone(),
        other => other.to_string(),
    };
    Error::new(ErrorKind::Content, name, format!("this Parquet file cannot be read: {said}"))
}

/// Runs `read` on the file `name`. A panic of the library, which trusts the numbers in a file, becomes an error.
fn guarded<T>(name: &str, read: impl FnOnce() -> Result<T, Error>) -> Result<T, Error> {
    crate::guard::guarded(TableFormat::Parquet, name, read)
}
