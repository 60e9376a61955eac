//! Why an output is not written, and an input not replaced: the errors for the user.

use std::io;

use crate::error::{ErrorKind, FileError};

/// The error for an output that exists.
pub(super) fn exists(name: &str) -> FileError {
    FileError::new(ErrorKind::Exists, name, "the output exists already; --force overwrites it")
}

/// The error for a backup that exists.
pub(super) fn backup_exists(name: &str) -> FileError {
    let message =
        "the backup exists already and is never overwritten; choose another suffix, or pass --force to make none";
    FileError::new(ErrorKind::Exists, name, message)
}

/// The error for an output of `--resume` that exists with other content.
pub(super) fn differs(name: &str) -> FileError {
    let message = "the output exists already, and neither the record of --resume nor its content shows that it belongs to this \
                batch; --force overwrites it";
    FileError::new(ErrorKind::Exists, name, message)
}

/// The error for an input that changed while it was read.
pub(super) fn changed(name: &str) -> FileError {
    FileError::new(ErrorKind::System, name, "changed while it was read; left as it was")
}

/// The error for an input that another program has open for writing.
pub(super) fn held(name: &str) -> FileError {
    let message = "another program has the file open for writing; left as it was; stop that program first";
    FileError::new(ErrorKind::System, name, message)
}

/// The error for an output that cannot be written; the earlier file is unchanged.
pub(super) fn write_error(name: &str, error: &io::Error) -> FileError {
    let failed = FileError::system(name, error);
    match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::FileTooLarge | io::ErrorKind::QuotaExceeded => {
            FileError { what: format!("{}; the file is as it was before", failed.what), ..failed }
        }
        _ => failed,
    }
}
