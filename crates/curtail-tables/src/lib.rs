//! Tables, that is, Parquet and Arrow files: one column is read as texts and rewritten, and everything else is
//! unchanged.

#![forbid(unsafe_code)]

mod arrow;
mod parquet;

use std::sync::Arc;

use curtail_core::error::{ErrorKind, FileError, catch_panic};
use curtail_io::{Buffer, FileSink, RowBlock, RowResult, Source, TableFormat};

/// The library with which the tests of the program read tables.
#[doc(hidden)]
pub use ::parquet as parquet_library;

/// An open table, and the column that contains its transcripts.
#[derive(Debug)]
pub enum Table {
    /// A Parquet file.
    Parquet(Arc<parquet::ParquetTable>),
    /// An Arrow IPC file or stream.
    Arrow(Arc<arrow::ArrowTable>),
}

/// Reads the rows of a table.
pub enum Rows {
    /// The rows of a Parquet file.
    Parquet(parquet::ParquetRows),
    /// The rows of an Arrow file.
    Arrow(arrow::ArrowRows),
}

/// Writes a copy of a table with new texts, in the same format.
pub enum TableSink {
    /// A Parquet file.
    Parquet(Box<parquet::ParquetSink>),
    /// An Arrow file.
    Arrow(Box<arrow::ArrowSink>),
}

/// The column of a table to read.
#[derive(Debug, Clone, Copy)]
pub struct WantedColumn<'w> {
    /// The name of the column; by default the only one whose first text is a transcript.
    pub column: Option<&'w str>,
    /// The largest page (Parquet) or batch (Arrow), in bytes after decompression; `None` for no limit.
    pub most: Option<usize>,
}

impl Table {
    /// Opens `source` at the wanted column.
    ///
    /// # Errors
    /// The file cannot be read, or has no such column. Without a name, there is not exactly one column that
    /// `is_transcript`.
    pub fn open(
        source: &Source,
        format: TableFormat,
        wanted: WantedColumn<'_>,
        is_transcript: &dyn Fn(&str) -> bool,
    ) -> Result<Arc<Self>, FileError> {
        Ok(Arc::new(match format {
            TableFormat::Parquet => Self::Parquet(parquet::ParquetTable::open(source, wanted, is_transcript)?),
            TableFormat::ArrowFile => Self::Arrow(arrow::ArrowTable::open(source, false, wanted, is_transcript)?),
            TableFormat::ArrowStream => Self::Arrow(arrow::ArrowTable::open(source, true, wanted, is_transcript)?),
        }))
    }

    /// Its format.
    #[must_use]
    pub fn format(&self) -> TableFormat {
        match self {
            Self::Parquet(_) => TableFormat::Parquet,
            Self::Arrow(table) if table.is_stream() => TableFormat::ArrowStream,
            Self::Arrow(_) => TableFormat::ArrowFile,
        }
    }
}

impl Rows {
    /// All rows of `table`.
    #[must_use]
    pub fn new(table: &Table) -> Self {
        match table {
            Table::Parquet(table) => Self::Parquet(parquet::ParquetRows::new(table)),
            Table::Arrow(table) => Self::Arrow(arrow::ArrowRows::new(table)),
        }
    }

    /// Whether all rows were read.
    #[must_use]
    pub fn is_done(&self) -> bool {
        match self {
            Self::Parquet(rows) => rows.is_done(),
            Self::Arrow(rows) => rows.is_done(),
        }
    }

    /// The number of bytes of the file that were read, counted in whole row groups or batches.
    #[must_use]
    pub fn taken(&self) -> u64 {
        match self {
            Self::Parquet(rows) => rows.taken(),
            Self::Arrow(rows) => rows.taken(),
        }
    }

    /// Fills `buffer` with the texts of the next rows of a row group or batch, or of one row `alone`.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn next_block(&mut self, buffer: &mut Buffer, alone: bool) -> Result<RowBlock, FileError> {
        match self {
            Self::Parquet(rows) => rows.next_block(buffer, alone),
            Self::Arrow(rows) => rows.next_block(buffer, alone),
        }
    }
}

impl TableSink {
    /// Begins to write the rows of `table` to `sink`.
    ///
    /// # Errors
    /// The file cannot be written, or the old file can no longer be read.
    pub fn new(table: &Table, sink: FileSink) -> Result<Self, FileError> {
        Ok(match table {
            Table::Parquet(table) => Self::Parquet(Box::new(parquet::ParquetSink::new(table, sink)?)),
            Table::Arrow(table) => Self::Arrow(Box::new(arrow::ArrowSink::new(table, sink)?)),
        })
    }

    /// Adds the results of rows of row group or batch number `group` (from 1), whose new texts are in `output`.
    /// `changed` is whether any of them changed.
    ///
    /// # Errors
    /// The file cannot be written, or the old file can no longer be read.
    pub fn write(&mut self, group: usize, rows: &[RowResult], output: &[u8], changed: bool) -> Result<(), FileError> {
        match self {
            Self::Parquet(sink) => sink.write(group, rows, output, changed),
            Self::Arrow(sink) => sink.write(group, rows, output, changed),
        }
    }

    /// Ends the file.
    ///
    /// # Errors
    /// As [`TableSink::write`].
    pub fn finish(self) -> Result<FileSink, FileError> {
        match self {
            Self::Parquet(sink) => sink.finish(),
            Self::Arrow(sink) => sink.finish(),
        }
    }
}

/// Chooses the column that contains transcripts: of the columns `found` in the table `name`, the one called `wanted`
/// or, without a name, the only one that `fits`. `None` if no column fits because the table has no rows.
///
/// # Errors
/// There is no such column, not exactly one fits, or `fits` failed.
pub(crate) fn choose_column<C: Clone>(
    name: &str,
    found: &[(String, C)],
    wanted: Option<&str>,
    has_rows: bool,
    mut fits: impl FnMut(&C) -> Result<bool, FileError>,
) -> Result<Option<C>, FileError> {
    let refuse = |message: String| Err(FileError::new(ErrorKind::Content, name, message));
    if let Some(wanted) = wanted {
        return match found.iter().find(|(name, _)| name == wanted) {
            Some((_, column)) => Ok(Some(column.clone())),
            None if found.is_empty() => refuse(format!("no column `{wanted}` of texts or of lists of structs")),
            None => refuse(format!("no column `{wanted}`; columns of texts or lists: {}", names(found))),
        };
    }
    let mut fitting = Vec::new();
    for column in found {
        if fits(&column.1)? {
            fitting.push(column.clone());
        }
    }
    match fitting.as_slice() {
        [(_, column)] => Ok(Some(column.clone())),
        [] if !has_rows => Ok(None),
        [] => refuse(String::from("no column holds transcripts; name one with --column")),
        several => refuse(format!("columns {} hold transcripts; name one with --column", names(several))),
    }
}

fn names<C>(found: &[(String, C)]) -> String {
    found.iter().map(|(name, _)| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

/// Runs `read` on the file `name`. A panic of the library, which trusts the numbers in a file, becomes an error that
/// names the file, and nothing is printed about it.
///
/// # Errors
/// Those of `read`, and that the file is damaged.
pub(crate) fn guarded<T>(
    format: TableFormat,
    name: &str,
    read: impl FnOnce() -> Result<T, FileError>,
) -> Result<T, FileError> {
    let damaged = || format!("this {} file cannot be read: numbers in it are damaged", format.name());
    catch_panic(read).unwrap_or_else(|_| Err(FileError::new(ErrorKind::Content, name, damaged())))
}
