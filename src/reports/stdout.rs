//! The transcripts of a run on standard output, one file after another.

use std::io::{self, Write};

use crate::console;
use curtail_io::FileError;

/// Standard output, and the last byte that was written to it.
pub(crate) struct Stdout {
    file: Box<dyn Write + Send>,
    last: Option<u8>,
    /// Whether the next block is the first of a file.
    fresh: bool,
    /// Whether its reader closed the pipe, which is not an error.
    pub(crate) pipe_closed: bool,
}

impl Stdout {
    /// Opens standard output.
    pub(crate) fn open() -> Self {
        Self { file: console::transcripts(), last: None, fresh: true, pipe_closed: false }
    }

    /// Makes the next block the first of another file.
    pub(crate) fn next_file(&mut self) {
        self.fresh = true;
    }

    /// Writes a block. Two files are separated by a line break; the second is written without its byte order mark.
    pub(crate) fn append(&mut self, mut output: &[u8]) -> io::Result<()> {
        let Some(&last) = output.last() else { return Ok(()) };
        if std::mem::take(&mut self.fresh)
            && let Some(before) = self.last
        {
            output = output.strip_prefix("\u{feff}".as_bytes()).unwrap_or(output);
            if before != b'\n' {
                self.file.write_all(b"\n")?;
            }
        }
        self.last = Some(last);
        self.file.write_all(output)
    }

    /// Flushes the output; returns the error, unless the reader closed the pipe.
    pub(crate) fn flush(&mut self) -> Option<FileError> {
        match self.file.flush() {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {
                self.pipe_closed = true;
                None
            }
            Err(error) if !self.pipe_closed => Some(FileError::system("standard output", &error)),
            _ => None,
        }
    }
}
