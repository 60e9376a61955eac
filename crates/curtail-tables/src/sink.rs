//! Collects the new rows of a column, and writes the table with them.

use std::io::{self, Read as _, Seek as _, Write as _};
use std::sync::Arc;

use arrow_array::UInt64Array;
use curtail_io::{FileError, FileSink, RowResult, TableSink};
use tempfile::SpooledTempFile;

use crate::column::ColumnTable;
use crate::{GroupWriter, guarded};

pub(crate) struct ColumnSink {
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
    pub(crate) fn new(table: Arc<ColumnTable>, writer: Box<dyn GroupWriter>) -> Self {
        Self { table, writer, group: 0, new: NewRows::new(MAX_IN_MEMORY) }
    }

    fn end_group(&mut self) -> Result<(), FileError> {
        let mut new = std::mem::replace(&mut self.new, NewRows::new(MAX_IN_MEMORY));
        let group = self.group;
        self.group += 1;
        guarded(self.table.format, &self.table.name, || self.writer.write(group, &mut new))
    }
}

/// The rows of a row group or batch with what becomes of them, until it is written.
pub(crate) struct NewRows {
    /// The result of each old row. Its new text ends at this offset of `texts`.
    pub(crate) rows: Vec<RowResult>,
    pub(crate) texts: NewTexts,
    /// Whether any row changed.
    pub(crate) changed: bool,
}

impl NewRows {
    /// No rows yet. At most `most` bytes of their new texts are kept in memory.
    pub(crate) fn new(most: usize) -> Self {
        let spool = SpooledTempFile::new(most);
        Self { rows: Vec::new(), texts: NewTexts { spool, written: 0, read: 0 }, changed: false }
    }

    /// Whether rows were dropped, or became several.
    pub(crate) fn is_reshaped(&self) -> bool {
        self.rows.iter().any(|row| matches!(row, RowResult::Dropped | RowResult::Rows(_)))
    }

    /// The old row of which each new one is made, if rows were dropped or became several.
    pub(crate) fn origins(&self) -> Option<UInt64Array> {
        let origins = (0_u64..).zip(&self.rows).flat_map(|(old, row)| std::iter::repeat_n(old, row.count()));
        self.is_reshaped().then(|| UInt64Array::from_iter_values(origins))
    }
}

/// The rows that an old row became.
pub(crate) fn rows_of(row: &RowResult) -> &[RowResult] {
    match row {
        RowResult::Dropped => &[],
        RowResult::Rows(rows) => rows,
        one => std::slice::from_ref(one),
    }
}

/// The most bytes of new texts that are kept in memory.
const MAX_IN_MEMORY: usize = 64 * 1024 * 1024;

/// New texts, one after another: at first in memory, above a limit in a temporary file.
pub(crate) struct NewTexts {
    spool: SpooledTempFile,
    written: usize,
    read: usize,
}

impl NewTexts {
    /// Begins to read them again.
    pub(crate) const fn again(&mut self) {
        self.read = 0;
    }

    /// Keeps the new texts of a row, which begin at `start` of `output`; `start` is moved past them. Returns the row with
    /// their places here.
    pub(crate) fn keep(&mut self, row: &RowResult, output: &[u8], start: &mut usize) -> io::Result<RowResult> {
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
    pub(crate) fn next(&mut self, end: usize) -> io::Result<Vec<u8>> {
        if self.read == 0 {
            self.spool.rewind()?;
        }
        let mut text = vec![0; end - self.read];
        self.spool.read_exact(&mut text)?;
        self.read = end;
        Ok(text)
    }
}
