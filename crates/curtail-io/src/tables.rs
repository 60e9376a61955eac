//! What a batch needs of a table: its rows, which are read as units, and a copy with new texts. The crate for tables has these; a
//! build without it opens no table.

use std::fmt;
use std::sync::Arc;

use crate::{Buffer, FileError, FileSink, RowBlock, RowResult, Shape, Source, TableFormat};

/// Opens `Source`, a table of this format, at the wanted column. Without a name, that is the only column whose first text is a
/// transcript, as the function tells.
pub type OpenTable =
    fn(&Source, TableFormat, WantedColumn<'_>, &dyn Fn(&str) -> bool) -> Result<Arc<dyn Table>, FileError>;

/// The column of a table to read.
#[derive(Debug, Clone, Copy)]
pub struct WantedColumn<'w> {
    /// The name of the column; by default the only one whose first text is a transcript.
    pub column: Option<&'w str>,
    /// The largest page (Parquet) or batch (Arrow), in bytes after decompression; `None` for no limit.
    pub most: Option<usize>,
}

/// An open table, and the column that contains its transcripts.
pub trait Table: fmt::Debug + Send + Sync {
    /// Its format.
    fn format(&self) -> TableFormat;

    /// What an element of its column can be, if it is one of lists of structs.
    fn shape(&self) -> Option<&Shape>;

    /// All its rows.
    fn rows(self: Arc<Self>) -> Box<dyn Rows>;

    /// Begins to write its rows to `sink`, with new texts.
    ///
    /// # Errors
    /// The file cannot be written, or the old file can no longer be read.
    fn sink(self: Arc<Self>, sink: FileSink) -> Result<Box<dyn TableSink>, FileError>;
}

/// Reads the rows of a table, in blocks of about half a megabyte.
pub trait Rows: Send {
    /// Whether all rows were read.
    fn is_done(&self) -> bool;

    /// The number of bytes of the file that were read, counted in whole row groups or batches.
    fn taken(&self) -> u64;

    /// Fills `buffer` with the texts of the next rows of a row group or batch, or of one row `alone`.
    ///
    /// # Errors
    /// The file cannot be read.
    fn next_block(&mut self, buffer: &mut Buffer, alone: bool) -> Result<RowBlock, FileError>;
}

/// Writes a copy of a table with new texts, in the same format.
pub trait TableSink: Send {
    /// Adds the results of the next rows, of one row group or batch or of several, whose new texts are in `output`.
    /// `changed` is whether any of them changed.
    ///
    /// # Errors
    /// The file cannot be written, or the old file can no longer be read.
    fn write(&mut self, rows: &[RowResult], output: &[u8], changed: bool) -> Result<(), FileError>;

    /// Ends the file.
    ///
    /// # Errors
    /// As [`TableSink::write`].
    fn finish(self: Box<Self>) -> Result<FileSink, FileError>;
}
