//! Tables, that is, Parquet and Arrow files: one column is read as texts and rewritten, and everything else is
//! unchanged.
//!
//! Both formats are walked here, one row group or record batch at a time. A format knows its columns, and how to read and
//! write one row group or batch.

#![forbid(unsafe_code)]
#![allow(clippy::must_use_candidate, reason = "only crates of this workspace call it")]

mod arrays;
mod arrow;
mod block;
mod build;
mod column;
mod dictionary;
mod elements;
mod json;
mod memory;
mod parquet;
mod place;
mod rows;
mod sink;
mod texts;
mod values;

use std::fs::File;
use std::sync::Arc;

use curtail_io::{
    ErrorKind, FileError, FileSink, Rows, Shape, Source, Stamp, Table, TableFormat, TableSink, WantedColumn,
};
use curtail_tokens::panics::catch_panic;

use block::{NewBlock, STEP};
use column::ColumnTable;
use json::{write_bytes, write_items, write_scalar};
use rows::ColumnRows;
use sink::{ColumnSink, NewRows, NewTexts, rows_of};

pub use curtail_core::json::quote_into;
pub use memory::{MemoryColumn, NewRow};

/// The library with which the tests of the program read tables.
pub use ::parquet as parquet_library;

/// Opens `source` at the wanted column, as an [`OpenTable`](curtail_io::OpenTable).
///
/// # Errors
/// The file cannot be read, or has no such column. Without a name, there is not exactly one column that
/// `is_transcript`.
pub fn open(
    source: &Source,
    format: TableFormat,
    wanted: WantedColumn<'_>,
    is_transcript: &dyn Fn(&str) -> bool,
) -> Result<Arc<dyn Table>, FileError> {
    guarded(format, &source.name, || {
        let TableParts { file, groups, columns } = match format {
            TableFormat::Parquet => parquet::open(source, wanted.most)?,
            TableFormat::ArrowFile | TableFormat::ArrowStream => arrow::open(source, format, wanted.most)?,
        };
        let name = source.name.clone();
        let mut table = ColumnTable { name, format, file, groups, column: Column::default(), shape: None };
        table.column = table.choose_column(columns, wanted.column, is_transcript)?;
        table.shape = table.file.shape(&table.column);
        let table: Arc<dyn Table> = Arc::new(table);
        Ok(table)
    })
}

impl Table for ColumnTable {
    fn format(&self) -> TableFormat {
        self.format
    }

    fn shape(&self) -> Option<&Shape> {
        self.shape.as_ref()
    }

    fn rows(self: Arc<Self>) -> Box<dyn Rows> {
        Box::new(ColumnRows::new(self))
    }

    fn sink(self: Arc<Self>, sink: FileSink) -> Result<Box<dyn TableSink>, FileError> {
        let writer = guarded(self.format, &self.name, || Arc::clone(&self.file).writer(&self.column, sink))?;
        Ok(Box::new(ColumnSink::new(self, writer)))
    }
}

/// A file that was opened.
struct TableParts {
    file: Arc<dyn TableFile>,
    /// Its row groups or batches, in order.
    groups: Vec<Extent>,
    /// The columns that can contain transcripts: texts, and lists of structs.
    columns: Vec<Column>,
}

/// A row group or batch.
#[derive(Debug, Clone, Copy)]
struct Extent {
    rows: usize,
    /// The number of bytes of the file up to its end.
    end: u64,
}

/// A column whose rows are transcripts.
#[derive(Debug, Clone, Default)]
struct Column {
    name: String,
    /// Where the format finds it: indexes of fields, from the outermost on.
    path: Vec<usize>,
    /// Whether it is a list of structs instead of a text.
    structs: bool,
}

/// A table of one format.
trait TableFile: std::fmt::Debug + Send + Sync {
    /// What the elements of `column` can be, if it is one of lists of structs.
    fn shape(&self, column: &Column) -> Option<Shape>;

    /// Reads `column`.
    fn reader(self: Arc<Self>, column: &Column) -> Result<Box<dyn GroupReader>, FileError>;

    /// Writes a copy of the table with new values in `column`.
    fn writer(self: Arc<Self>, column: &Column, sink: FileSink) -> Result<Box<dyn GroupWriter>, FileError>;
}

/// Reads a column of a table, one row group or batch after another.
trait GroupReader: Send {
    /// Begins the row group or batch with this index, from 0, which is after the last one.
    fn begin(&mut self, group: usize) -> Result<(), FileError>;

    /// Reads some of its next rows into `block`, at most `most` of them, and returns their number.
    fn read(&mut self, most: usize, block: &mut NewBlock<'_>) -> Result<usize, FileError>;
}

/// Writes a table, one row group or batch after another.
trait GroupWriter: Send {
    /// Writes the row group or batch with this index, from 0, with new rows.
    fn write(&mut self, group: usize, new: &mut NewRows) -> Result<(), FileError>;

    /// Ends the file.
    fn finish(self: Box<Self>) -> Result<FileSink, FileError>;
}

/// Opens a table, which must be a regular file: it is read more than once.
fn open_file(source: &Source, format: TableFormat) -> Result<(File, Stamp), FileError> {
    let path = source.path.as_ref().ok_or_else(|| no_pipe(source, format))?;
    let file = File::open(path).map_err(|error| FileError::system(&source.name, &error))?;
    let metadata = file.metadata().map_err(|error| FileError::system(&source.name, &error))?;
    let stamp = Stamp::from_metadata(&metadata).ok_or_else(|| no_pipe(source, format))?;
    Ok((file, stamp))
}

fn no_pipe(source: &Source, format: TableFormat) -> FileError {
    let format = if format == TableFormat::Parquet { "a Parquet" } else { "an Arrow" };
    FileError::new(ErrorKind::Usage, &source.name, format!("{format} file cannot be read from a pipe; name the file"))
}

/// Runs `read` on the file `name`. A panic of the library, which trusts the numbers in a file, becomes an error that
/// names the file, and nothing is printed about it.
///
/// # Errors
/// Those of `read`, and that the file is damaged.
fn guarded<T>(format: TableFormat, name: &str, read: impl FnOnce() -> Result<T, FileError>) -> Result<T, FileError> {
    catch_panic(read).unwrap_or_else(|_| {
        let message = format!("this {} file cannot be read: numbers in it are damaged", format.name());
        Err(FileError::new(ErrorKind::Content, name, message))
    })
}
