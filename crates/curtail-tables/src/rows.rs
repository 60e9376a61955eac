//! Reads the rows of a column, in blocks.

use std::sync::Arc;

use curtail_io::{BLOCK, Buffer, ErrorKind, FileError, RowBlock, RowPlace, Rows};

use crate::block::{NewBlock, STEP};
use crate::column::ColumnTable;
use crate::{Extent, GroupReader, guarded};

pub(crate) struct ColumnRows {
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
    pub(crate) fn new(table: Arc<ColumnTable>) -> Self {
        let mut rows = Self { table, reader: None, group: 0, read: 0, total: 0 };
        rows.skip_empty();
        rows
    }

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
