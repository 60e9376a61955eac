//! Temporary files, named and locked like all those of this program, so that a later run removes them if this one is killed.

use std::io;
use std::path::Path;

use curtail_core::temporary::{PREFIX, RANDOM, SUFFIX};
use tempfile::NamedTempFile;

/// A new file in `folder`, which only its user can read.
pub(crate) fn temporary_in(folder: &Path) -> io::Result<NamedTempFile> {
    let file = tempfile::Builder::new().prefix(PREFIX).rand_bytes(RANDOM).suffix(SUFFIX).tempfile_in(folder)?;
    // Without locks, no run removes what is not locked.
    let _ = file.as_file().lock();
    Ok(file)
}
