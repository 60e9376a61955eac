//! Tables, that is, Parquet and Arrow files: one column is read as texts and rewritten, and everything else is
//! unchanged.
//!
//! Both formats are walked here, one row group or record batch at a time. A format knows its columns, and how to read and
//! write one row group or batch.

#![forbid(unsafe_code)]
#![allow(clippy::must_use_candidate, reason = "only the program calls this crate")]

mod arrow;
mod build;
mod dictionary;
mod elements;
mod headers;
mod memory;
mod parquet;
mod place;
mod values;

use std::fs::File;
use std::io::{self, Read as _, Seek as _, Write as _};
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use curtail_io::{
    BLOCK, Buffer, FileSink, RowBlock, RowGroup, RowPlace, RowResult, Rows, Shape, Source, Stamp, Table, TableFormat,
    TableSink, WantedColumn,
};
use curtail_io::{ErrorKind, FileError};
use curtail_tokens::panics::catch_panic;
use tempfile::SpooledTempFile;

pub use curtail_core::json::quote_into;
pub use memory::{MemoryColumn, NewRow};

/// The library with which the tests of the program read tables.
pub use ::parquet as parquet_library;

/// The number of rows that are read before the size of a block is checked, and in which the first text of a column is
/// searched.
const STEP: usize = 16;

/// An open table, and the column that contains its transcripts.
#[derive(Debug)]
struct ColumnTable {
    name: String,
    format: TableFormat,
    file: Arc<dyn TableFile>,
    groups: Vec<Extent>,
    /// The column; the default if none was found because the table has no rows.
    column: Column,
    /// What its elements can be, if it is one of lists of structs.
    shape: Option<Shape>,
}

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
        let mut rows = ColumnRows { table: self, reader: None, group: 0, read: 0, total: 0 };
        rows.skip_empty();
        Box::new(rows)
    }

    fn sink(self: Arc<Self>, sink: FileSink) -> Result<Box<dyn TableSink>, FileError> {
        let writer = guarded(self.format, &self.name, || Arc::clone(&self.file).writer(&self.column, sink))?;
        Ok(Box::new(ColumnSink { table: self, writer, group: 0, new: NewRows::new() }))
    }
}

impl ColumnTable {
    /// Chooses the column that contains transcripts: of the columns `found`, the one called `wanted` or, without a name,
    /// the only one whose first text `is_transcript`. The default if no column fits because the table has no rows.
    fn choose_column(
        &self,
        found: Vec<Column>,
        wanted: Option<&str>,
        is_transcript: &dyn Fn(&str) -> bool,
    ) -> Result<Column, FileError> {
        let refuse = |message: String| Err(FileError::new(ErrorKind::Content, &self.name, message));
        if let Some(wanted) = wanted {
            return match found.iter().find(|column| column.name == wanted) {
                Some(column) => Ok(column.clone()),
                None if found.is_empty() => refuse(format!("no column `{wanted}` of texts or of lists of structs")),
                None => refuse(format!("no column `{wanted}`; columns of texts or lists: {}", names(&found))),
            };
        }
        let mut fitting = Vec::new();
        let mut others = Vec::new();
        let mut broken = Vec::new();
        for column in found {
            match self.first_text(&column) {
                Ok(text) if text.as_deref().is_some_and(is_transcript) => fitting.push(column),
                Ok(_) => others.push(column),
                // What cannot be read is not a candidate, unless there is no other.
                Err(error) => broken.push(UnreadableColumn { name: column.name, reason: error.what }),
            }
        }
        match fitting.as_slice() {
            [column] => Ok(column.clone()),
            [] if self.groups.iter().all(|group| group.rows == 0) => Ok(Column::default()),
            [] if !broken.is_empty() => {
                refuse(format!("no column that can be read holds transcripts; {}", described(&broken)))
            }
            [] if others.is_empty() => refuse(String::from("no column holds texts or lists of messages")),
            [] => refuse(format!("no column holds transcripts (looked in {}); name one with --column", names(&others))),
            several => refuse(format!("columns {} hold transcripts; name one with --column", names(several))),
        }
    }

    /// The first text of a column, among the first rows of the file; `None` if there is none.
    fn first_text(&self, column: &Column) -> Result<Option<String>, FileError> {
        let Some(group) = self.groups.iter().position(|group| group.rows > 0) else { return Ok(None) };
        let mut reader = Arc::clone(&self.file).reader(column)?;
        let mut buffer = Buffer::default();
        let rows = self.groups[group].rows.min(STEP);
        let first = RowPlace { group: self.group(group), row: 1, structs: column.structs };
        let mut block = NewBlock::new(&self.name, &mut buffer, first, 1);
        let mut read = reader.begin(group);
        while read.is_ok() && block.rows.texts.len() < rows && block.rows.texts.iter().all(Result::is_err) {
            read = match reader.read(rows - block.rows.texts.len(), &mut block) {
                Ok(0) => break,
                read => read.map(drop),
            };
        }
        read?;
        let text = block.rows.texts.into_iter().flatten().next();
        Ok(text.and_then(|range| std::str::from_utf8(&buffer[range]).ok().map(str::to_owned)))
    }

    /// The row group or batch with this index, from 0.
    const fn group(&self, index: usize) -> RowGroup {
        match self.format {
            TableFormat::Parquet => RowGroup::Group(index + 1),
            TableFormat::ArrowFile | TableFormat::ArrowStream => RowGroup::Batch(index + 1),
        }
    }
}

/// Why columns cannot be read.
fn described(columns: &[UnreadableColumn]) -> String {
    let each = columns.iter().map(|column| format!("column `{}`: {}", column.name, column.reason));
    each.collect::<Vec<_>>().join("; ")
}

fn names(columns: &[Column]) -> String {
    columns.iter().map(|column| format!("`{}`", column.name)).collect::<Vec<_>>().join(", ")
}

// What a format does.

/// A file that was opened.
struct TableParts {
    file: Arc<dyn TableFile>,
    /// Its row groups or batches, in order.
    groups: Vec<Extent>,
    /// The columns that can contain transcripts: texts, and lists of structs.
    columns: Vec<Column>,
}

/// A column that may contain transcripts and cannot be read.
#[derive(Debug, Clone)]
struct UnreadableColumn {
    name: String,
    reason: String,
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
    let no_pipe = || {
        let format = if format == TableFormat::Parquet { "a Parquet" } else { "an Arrow" };
        FileError::new(
            ErrorKind::Usage,
            &source.name,
            format!("{format} file cannot be read from a pipe; name the file"),
        )
    };
    let path = source.path.as_ref().ok_or_else(no_pipe)?;
    let file = File::open(path).map_err(|error| FileError::system(&source.name, &error))?;
    let metadata = file.metadata().map_err(|error| FileError::system(&source.name, &error))?;
    let stamp = Stamp::from_metadata(&metadata).ok_or_else(no_pipe)?;
    Ok((file, stamp))
}

/// Runs `read` on the file `name`. A panic of the library, which trusts the numbers in a file, becomes an error that
/// names the file, and nothing is printed about it.
///
/// # Errors
/// Those of `read`, and that the file is damaged.
fn guarded<T>(format: TableFormat, name: &str, read: impl FnOnce() -> Result<T, FileError>) -> Result<T, FileError> {
    let damaged = || format!("this {} file cannot be read: numbers in it are damaged", format.name());
    catch_panic(read).unwrap_or_else(|_| Err(FileError::new(ErrorKind::Content, name, damaged())))
}

// Reading.

struct ColumnRows {
    table: Arc<ColumnTable>,
    reader: Option<Box<dyn GroupReader>>,
    /// The row group or batch that is being read, from 0.
    group: usize,
    /// The number of its rows that were read.
    read: usize,
    /// The number of rows of the file that were read.
    total: usize,
}

impl Rows for ColumnRows {
    fn is_done(&self) -> bool {
        self.group >= self.table.groups.len()
    }

    fn taken(&self) -> u64 {
        self.group.checked_sub(1).map_or(0, |last| self.table.groups[last].end)
    }

    fn next_block(&mut self, buffer: &mut Buffer, alone: bool) -> Result<RowBlock, FileError> {
        let table = Arc::clone(&self.table);
        guarded(table.format, &table.name, || self.next_unguarded(&table, buffer, alone))
    }
}

impl ColumnRows {
    fn next_unguarded(&mut self, table: &ColumnTable, buffer: &mut Buffer, alone: bool) -> Result<RowBlock, FileError> {
        buffer.clear();
        let first = RowPlace { group: table.group(self.group), row: self.read + 1, structs: table.column.structs };
        let mut block = NewBlock::new(&table.name, buffer, first, self.total + 1);
        let Some(&Extent { rows, .. }) = table.groups.get(self.group) else { return Ok(block.rows) };
        let reader = match &mut self.reader {
            Some(reader) => reader,
            none => none.insert(Arc::clone(&table.file).reader(&table.column)?),
        };
        if self.read == 0 {
            reader.begin(self.group)?;
        }
        while self.read < rows && block.buffer.len() < BLOCK && (block.rows.texts.is_empty() || !alone) {
            let got = reader.read(if alone { 1 } else { STEP.min(rows - self.read) }, &mut block)?;
            if got == 0 {
                let message = format!("{} ends after {} of {rows} rows", first.group, self.read);
                return Err(FileError::new(ErrorKind::Content, &table.name, message));
            }
            self.read += got;
            self.total += got;
        }
        let block = block.rows;
        if self.read == rows {
            (self.group, self.read) = (self.group + 1, 0);
            self.skip_empty();
        }
        Ok(block)
    }

    fn skip_empty(&mut self) {
        while self.table.groups.get(self.group).is_some_and(|group| group.rows == 0) {
            self.group += 1;
        }
    }
}

/// A block of rows that is being read.
struct NewBlock<'b> {
    /// The name of the table.
    name: &'b str,
    buffer: &'b mut Buffer,
    rows: RowBlock,
}

impl<'b> NewBlock<'b> {
    fn new(name: &'b str, buffer: &'b mut Buffer, first: RowPlace, line: usize) -> Self {
        Self { name, buffer, rows: RowBlock { first, line, texts: Vec::new() } }
    }

    /// Adds a row that is null, at this definition level.
    fn push_null(&mut self, level: i16) {
        self.rows.texts.push(Err(level));
    }

    /// Adds the text of a row.
    fn push(&mut self, text: &[u8]) -> Result<(), FileError> {
        let start = self.buffer.len();
        self.buffer.append(text).map_err(|error| FileError::system(self.name, &error))?;
        self.rows.texts.push(Ok(start..self.buffer.len()));
        Ok(())
    }

    /// Adds a list of structs, which `write` writes as JSON.
    fn push_json(&mut self, write: impl FnOnce(&mut String) -> Result<(), String>) -> Result<(), FileError> {
        let mut text = String::new();
        write(&mut text).map_err(|message| {
            let place = RowPlace { row: self.rows.first.row + self.rows.texts.len(), ..self.rows.first };
            FileError::new(ErrorKind::Content, self.name, format!("{message} in {place}"))
        })?;
        self.push(text.as_bytes())
    }
}

/// Writes `items` as JSON between two brackets: the elements of a list, or the members of an object, with their keys.
fn write_items<T>(
    [open, close]: [char; 2],
    items: impl Iterator<Item = T>,
    out: &mut String,
    mut write: impl FnMut(T, &mut String) -> Result<(), String>,
) -> Result<(), String> {
    out.push(open);
    for (nth, item) in items.enumerate() {
        if nth > 0 {
            out.push(',');
        }
        write(item, out)?;
    }
    out.push(close);
    Ok(())
}

/// Writes a text, a number or a truth value as JSON.
fn write_scalar(value: impl Into<serde_json::Value>, out: &mut String) {
    out.push_str(&value.into().to_string());
}

/// Writes bytes as JSON: as a text, or in Base64 if they are none.
fn write_bytes(bytes: &[u8], out: &mut String) {
    match std::str::from_utf8(bytes) {
        Ok(text) => quote_into(text, out),
        Err(_) => quote_into(&STANDARD.encode(bytes), out),
    }
}

/// Whether messages may have a field called `name`, which names who speaks.
fn names_speaker(name: &str) -> bool {
    ["role", "from", "type"].contains(&name)
}

// Writing.

struct ColumnSink {
    table: Arc<ColumnTable>,
    writer: Box<dyn GroupWriter>,
    /// The row group or batch whose rows are collected, from 0.
    group: usize,
    new: NewRows,
}

impl TableSink for ColumnSink {
    fn write(&mut self, rows: &[RowResult], output: &[u8], changed: bool) -> Result<(), FileError> {
        let mut start = 0;
        for row in rows {
            while self.table.groups.get(self.group).is_some_and(|group| self.new.rows.len() >= group.rows) {
                self.end_group()?;
            }
            self.new.changed |= changed || *row == RowResult::Dropped;
            let row = self.new.texts.keep(row, output, &mut start);
            let row = row.map_err(|error| FileError::system("the temporary file of a row group", &error))?;
            self.new.rows.push(row);
        }
        Ok(())
    }

    fn finish(mut self: Box<Self>) -> Result<FileSink, FileError> {
        while self.group < self.table.groups.len() {
            self.end_group()?;
        }
        let Self { table, writer, .. } = *self;
        guarded(table.format, &table.name, || writer.finish())
    }
}

impl ColumnSink {
    fn end_group(&mut self) -> Result<(), FileError> {
        let mut new = std::mem::replace(&mut self.new, NewRows::new());
        let group = self.group;
        self.group += 1;
        guarded(self.table.format, &self.table.name, || self.writer.write(group, &mut new))
    }
}

/// The rows of a row group or batch with what becomes of them, until it is written.
struct NewRows {
    /// The result of each old row. Its new text ends at this offset of `texts`.
    rows: Vec<RowResult>,
    texts: NewTexts,
    /// Whether any row changed.
    changed: bool,
}

impl NewRows {
    fn new() -> Self {
        Self::with_at_most(MAX_IN_MEMORY)
    }

    /// No rows yet, whose new texts will all be in memory.
    fn in_memory() -> Self {
        Self::with_at_most(usize::MAX)
    }

    fn with_at_most(most: usize) -> Self {
        let spool = SpooledTempFile::new(most);
        Self { rows: Vec::new(), texts: NewTexts { spool, written: 0, read: 0 }, changed: false }
    }

    /// Whether rows were dropped, or became several.
    fn is_reshaped(&self) -> bool {
        self.rows.iter().any(|row| matches!(row, RowResult::Dropped | RowResult::Rows(_)))
    }
}

/// The rows that an old row became.
fn rows_of(row: &RowResult) -> &[RowResult] {
    match row {
        RowResult::Dropped => &[],
        RowResult::Rows(rows) => rows,
        one => std::slice::from_ref(one),
    }
}

/// The most bytes of new texts that are kept in memory.
const MAX_IN_MEMORY: usize = 64 * 1024 * 1024;

/// New texts, one after another: at first in memory, above a limit in a temporary file.
struct NewTexts {
    spool: SpooledTempFile,
    written: usize,
    read: usize,
}

impl NewTexts {
    /// Begins to read them again.
    const fn again(&mut self) {
        self.read = 0;
    }

    /// Keeps the new texts of a row, which begin at `start` of `output`; `start` is moved past them. Returns the row with
    /// their places here.
    fn keep(&mut self, row: &RowResult, output: &[u8], start: &mut usize) -> io::Result<RowResult> {
        Ok(match row {
            RowResult::Text(end) => {
                let text = &output[std::mem::replace(start, *end)..*end];
                self.spool.write_all(text)?;
                self.written += text.len();
                RowResult::Text(self.written)
            }
            RowResult::Rows(rows) => {
                RowResult::Rows(rows.iter().map(|row| self.keep(row, output, start)).collect::<io::Result<_>>()?)
            }
            other => other.clone(),
        })
    }

    /// Reads the next text, which ends at `end`.
    fn next(&mut self, end: usize) -> io::Result<Vec<u8>> {
        if self.read == 0 {
            self.spool.rewind()?;
        }
        let mut text = vec![0; end - self.read];
        self.spool.read_exact(&mut text)?;
        self.read = end;
        Ok(text)
    }
}
