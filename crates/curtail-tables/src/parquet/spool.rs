//! The new texts of a row group, until it is written: in memory while they are small, then in a temporary file.

use std::io::{self, Read as _, Seek as _, Write as _};

use tempfile::SpooledTempFile;

/// Maximum number of bytes in memory.
const HELD: usize = 64 * 1024 * 1024;

/// The new content of a row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Slot {
    /// Null at this definition level.
    Null(i16),
    /// Dropped.
    Dropped,
    /// The next bytes of the spool, by their number.
    Text(usize),
    /// Elements of the old list; `None` for all of them.
    Elements(Option<Vec<bool>>),
    /// Several rows in place of one.
    Rows(Vec<Slot>),
}

impl Slot {
    /// The rows that came of it.
    pub(super) fn rows(&self) -> &[Self] {
        match self {
            Self::Rows(rows) => rows,
            one => std::slice::from_ref(one),
        }
    }
}

/// The rows of a row group, in order.
pub(super) struct Spool {
    texts: SpooledTempFile,
    pub(super) slots: Vec<Slot>,
    /// Whether any row changed.
    pub(super) changed: bool,
}

impl Spool {
    pub(super) fn new() -> Self {
        Self { texts: SpooledTempFile::new(HELD), slots: Vec::new(), changed: false }
    }

    /// Adds a text, and returns what a row with it contains.
    pub(super) fn add(&mut self, text: &[u8]) -> io::Result<Slot> {
        self.texts.write_all(text)?;
        Ok(Slot::Text(text.len()))
    }

    /// Goes back to the first text.
    pub(super) fn rewind(&mut self) -> io::Result<()> {
        self.texts.rewind()
    }

    /// The next text, of `length` bytes.
    pub(super) fn next(&mut self, length: usize) -> io::Result<Vec<u8>> {
        let mut text = vec![0; length];
        self.texts.read_exact(&mut text)?;
        Ok(text)
    }
}
