//! The rows of a table, in blocks of about half a megabyte.

use std::sync::Arc;

use arrow_array::{Array as _, RecordBatchReader};

use super::columns::{Column, Values};
use super::nested::write_json;
use super::{Table, broken, guarded};
use curtail_core::error::{Error, ErrorKind};
use curtail_io::{BLOCK, Buffer, RowBlock, RowGroup, RowPlace};

/// Rows that are searched for the first text of a column.
const HEAD: usize = 16;

/// Reads the rows of a table.
pub struct Rows {
    table: Arc<Table>,
    batches: Option<Box<dyn RecordBatchReader + Send>>,
    /// The batch that is being read, from 0.
    batch: usize,
    /// Rows of it that were read.
    read: usize,
    /// Rows of the file that were read.
    total: usize,
    open: Option<Values>,
}

impl Rows {
    /// All rows of `table`.
    #[must_use]
    pub fn new(table: &Arc<Table>) -> Self {
        let mut rows = Self { table: Arc::clone(table), batches: None, batch: 0, read: 0, total: 0, open: None };
        if rows.table.outline.batches.iter().all(|batch| batch.rows == 0) {
            rows.batch = rows.table.outline.batches.len();
        }
        rows
    }

    /// Whether all rows were read.
    #[must_use]
    pub fn is_done(&self) -> bool {
        self.table.outline.batches[self.batch.min(self.table.outline.batches.len())..].iter().all(|left| left.rows == 0)
    }

    /// Bytes of the file that were read, counted in whole batches.
    #[must_use]
    pub fn taken(&self) -> u64 {
        match self.is_done() {
            true => self.table.place.len,
            false => self.batch.checked_sub(1).map_or(0, |before| self.table.outline.batches[before].end),
        }
    }

    /// Fills `buffer` with the texts of the next rows of a batch, or of one row `alone`.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn next_block(&mut self, buffer: &mut Buffer, alone: bool) -> Result<RowBlock, Error> {
        let table = Arc::clone(&self.table);
        guarded(&table.name, || self.next_unguarded(buffer, alone))
    }

    fn next_unguarded(&mut self, buffer: &mut Buffer, alone: bool) -> Result<RowBlock, Error> {
        buffer.clear();
        let values = self.next_values()?;
        let group = RowGroup::Batch(self.batch + 1);
        let first = RowPlace { group, row: self.read + 1, structs: self.table.column.structs };
        let mut block = RowBlock { first, line: self.total + 1, texts: Vec::new() };
        let Some(values) = values else { return Ok(block) };
        while self.read < values.array.len() && buffer.len() < BLOCK && (block.texts.is_empty() || !alone) {
            push(&self.table, &values, self.read, buffer, &mut block)?;
            self.read += 1;
            self.total += 1;
        }
        match self.read == values.array.len() {
            true => (self.batch, self.read) = (self.batch + 1, 0),
            false => self.open = Some(values),
        }
        Ok(block)
    }

    /// The batch that is being read, or the next one that has rows.
    fn next_values(&mut self) -> Result<Option<Values>, Error> {
        if let Some(open) = self.open.take() {
            return Ok(Some(open));
        }
        if self.is_done() {
            return Ok(None);
        }
        let table = &self.table;
        let batches = match &mut self.batches {
            Some(batches) => batches,
            none => {
                let field = table.column.path.first().copied();
                none.insert(table.batches(field).map_err(|error| broken(&table.name, &error))?)
            }
        };
        loop {
            let batch = batches.next().transpose().map_err(|error| broken(&table.name, &error))?;
            let what = || format!("the file ends before batch {}", self.batch + 1);
            let batch = batch.ok_or_else(|| Error::new(ErrorKind::Content, &table.name, what()))?;
            if batch.num_rows() > 0 {
                return Ok(Some(table.column.of_projected(&batch)));
            }
            self.batch += 1;
        }
    }
}

/// Adds the text of a row to the block.
fn push(table: &Table, values: &Values, row: usize, buffer: &mut Buffer, block: &mut RowBlock) -> Result<(), Error> {
    if values.is_null(row) {
        block.texts.push(Err(0));
        return Ok(());
    }
    let start = buffer.len();
    let appended = if table.column.structs {
        let mut text = String::new();
        write_json(&values.array, row, &mut text).map_err(|what| {
            let place = RowPlace { row: row + 1, ..block.first };
            Error::new(ErrorKind::Content, &table.name, format!("{what} in {place}"))
        })?;
        buffer.append(text.as_bytes())
    } else {
        buffer.append(values.text(row))
    };
    appended.map_err(|error| Error::system(&table.name, &error))?;
    block.texts.push(Ok(start..buffer.len()));
    Ok(())
}

/// The first text of a column, among the first rows of the file; `None` if there is none.
pub(super) fn head_of(table: &Table, column: &Column) -> Result<Option<String>, Error> {
    let batches = table.batches(column.path.first().copied()).map_err(|error| broken(&table.name, &error))?;
    for batch in batches {
        // A column that this build cannot read is not a candidate.
        let Ok(batch) = batch else { return Ok(None) };
        let values = column.of_projected(&batch);
        let Some(row) = (0..values.array.len().min(HEAD)).find(|&row| !values.is_null(row)) else {
            if batch.num_rows() == 0 {
                continue;
            }
            return Ok(None);
        };
        if !column.structs {
            return Ok(std::str::from_utf8(values.text(row)).ok().map(str::to_owned));
        }
        let mut text = String::new();
        return Ok(write_json(&values.array, row, &mut text).is_ok().then_some(text));
    }
    Ok(None)
}
