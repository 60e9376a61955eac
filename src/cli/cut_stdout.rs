//! The transcripts of a run on standard output, one file after another.

use std::io::{self, Write};

use crate::console;
use curtail_core::error::Error;

/// Standard output, and the last byte that was written to it.
pub(super) struct Stdout {
    file: Box<dyn Write + Send>,
    last: Option<u8>,
    /// Whether the next block is the first of a file.
    fresh: bool,
    /// Whether its reader went away.
    pub(super) gone: bool,
}

impl Stdout {
    /// Standard output, to which nothing was written.
    pub(super) fn open() -> Self {
        Self { file: console::transcripts(), last: None, fresh: true, gone: false }
    }

    /// What is written next begins another file.
    pub(super) fn next_file(&mut self) {
        self.fresh = true;
    }

    /// Writes a block. Two files are separated by a line break; the second is written without its byte order mark.
    pub(super) fn append(&mut self, mut output: &[u8]) -> io::Result<()> {
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

    /// Ends the output; returns the error, unless it is that the reader went away.
    pub(super) fn flush(&mut self) -> Option<Error> {
        match self.file.flush() {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {
                self.gone = true;
                None
            }
            Err(error) if !self.gone => Some(Error::system("standard output", &error)),
            _ => None,
        }
    }
}
