//! A block of rows that is being read.

use curtail_io::{Buffer, ErrorKind, FileError, RowBlock, RowPlace};

/// The number of rows that are read before the size of a block is checked, and in which the first text of a column is
/// searched.
pub(crate) const STEP: usize = 16;

/// A block of rows that is being read.
pub(crate) struct NewBlock<'b> {
    /// The name of the table.
    name: &'b str,
    pub(crate) buffer: &'b mut Buffer,
    pub(crate) rows: RowBlock,
}

impl<'b> NewBlock<'b> {
    pub(crate) fn new(name: &'b str, buffer: &'b mut Buffer, first: RowPlace, line: usize) -> Self {
        Self { name, buffer, rows: RowBlock { first, line, texts: Vec::new() } }
    }

    /// Adds a row that is null, at this definition level.
    pub(crate) fn push_null(&mut self, level: i16) {
        self.rows.texts.push(Err(level));
    }

    /// Adds the text of a row.
    pub(crate) fn push(&mut self, text: &[u8]) -> Result<(), FileError> {
        let start = self.buffer.len();
        self.buffer.append(text).map_err(|error| FileError::system(self.name, &error))?;
        self.rows.texts.push(Ok(start..self.buffer.len()));
        Ok(())
    }

    /// Adds a list of structs, which `write` writes as JSON.
    pub(crate) fn push_json(&mut self, write: impl FnOnce(&mut String) -> Result<(), String>) -> Result<(), FileError> {
        let mut text = String::new();
        write(&mut text).map_err(|message| {
            let place = RowPlace { row: self.rows.first.row + self.rows.texts.len(), ..self.rows.first };
            FileError::new(ErrorKind::Content, self.name, format!("{message} in {place}"))
        })?;
        self.push(text.as_bytes())
    }
}
