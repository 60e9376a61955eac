//! Writes a table with new texts, row group by row group. Unchanged columns are copied byte for byte.

use std::io::{self, Read as _, Seek as _, Write as _};
use std::ops::Range;
use std::sync::Arc;

use parquet::bloom_filter::Sbbf;
use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::column::writer::{ColumnCloseResult, ColumnWriter, ColumnWriterImpl};
use parquet::data_type::{ByteArray, ByteArrayType, DataType};
use parquet::errors::{ParquetError, Result};
use parquet::file::properties::{WriterProperties, WriterVersion};
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::types::ColumnDescriptor;
use tempfile::SpooledTempFile;

use super::{ParquetColumn, ParquetTable, broken, guarded};
use curtail_core::error::FileError;
use curtail_io::{FileSink, RowResult};

/// The number of texts that are passed to the library at a time.
const STEP: usize = 64;

/// Writes a copy of a table with new texts.
pub struct ParquetSink {
    table: Arc<ParquetTable>,
    writer: SerializedFileWriter<FileSink>,
    /// The row group whose rows are collected, from 0.
    group: usize,
    spool: Spool,
}

impl ParquetSink {
    /// Begins to write the rows of `table` to `sink`.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn new(table: &Arc<ParquetTable>, sink: FileSink) -> Result<Self, FileError> {
        let root = table.metadata().file_metadata().schema_descr().root_schema_ptr();
        let writer = SerializedFileWriter::new(sink, root, Arc::new(properties(table)))
            .map_err(|error| broken(&table.name, &error))?;
        Ok(Self { table: Arc::clone(table), writer, group: 0, spool: Spool::new() })
    }

    /// Adds the results of rows of row group number `group` (from 1), whose new texts are in `output`. `changed` is
    /// whether any of them changed.
    ///
    /// # Errors
    /// The file cannot be written, or the old file can no longer be read.
    pub fn write(&mut self, group: usize, rows: &[RowResult], output: &[u8], changed: bool) -> Result<(), FileError> {
        while self.group + 1 < group {
            self.end_group()?;
        }
        let mut start = 0;
        for row in rows {
            let slot = self.slot(row, output, &mut start);
            let slot = slot.map_err(|error| FileError::system("the temporary file of a row group", &error))?;
            self.spool.slots.push(slot);
        }
        self.spool.changed |= changed || rows.contains(&RowResult::Dropped);
        Ok(())
    }

    /// The new content of a row. Its texts begin at `start` of `output`; `start` is moved past them.
    fn slot(&mut self, row: &RowResult, output: &[u8], start: &mut usize) -> io::Result<ParquetSlot> {
        Ok(match row {
            RowResult::Null(level) => ParquetSlot::Null(*level),
            RowResult::Dropped => ParquetSlot::Dropped,
            RowResult::Unchanged => ParquetSlot::Elements(None),
            RowResult::Elements(kept) => ParquetSlot::Elements(Some(kept.clone())),
            RowResult::Text(end) => self.spool.add(&output[std::mem::replace(start, *end)..*end])?,
            RowResult::Rows(rows) => {
                ParquetSlot::Rows(rows.iter().map(|row| self.slot(row, output, start)).collect::<io::Result<_>>()?)
            }
        })
    }

    /// Ends the file.
    ///
    /// # Errors
    /// As [`ParquetSink::write`].
    pub fn finish(mut self) -> Result<FileSink, FileError> {
        while self.group < self.table.metadata().num_row_groups() {
            self.end_group()?;
        }
        let Self { table, writer, .. } = self;
        guarded(&table.name, || writer.into_inner().map_err(|error| broken(&table.name, &error)))
    }

    fn end_group(&mut self) -> Result<(), FileError> {
        let spool = std::mem::replace(&mut self.spool, Spool::new());
        let group = Group { table: &self.table, index: self.group };
        let name = &self.table.name;
        let written = guarded(name, || group.write(&mut self.writer, spool).map_err(|error| broken(name, &error)));
        self.group += 1;
        written
    }
}

/// The properties of the new file: those of the old one, as far as its metadata contains them.
fn properties(table: &ParquetTable) -> WriterProperties {
    let metadata = table.metadata();
    let file = metadata.file_metadata();
    let mut builder = WriterProperties::builder()
        .set_key_value_metadata(file.key_value_metadata().cloned())
        .set_writer_version(if file.version() > 1 { WriterVersion::PARQUET_2_0 } else { WriterVersion::PARQUET_1_0 });
    // The name of the old writer is kept: readers work around the errors of known writers, and most pages are still by
    // this one.
    if let Some(writer) = file.created_by() {
        builder = builder.set_created_by(writer.to_owned());
    }
    if let Some(group) = metadata.row_groups().first() {
        builder = builder.set_sorting_columns(group.sorting_columns().cloned());
        for column in group.columns() {
            builder = builder.set_column_compression(column.column_path().clone(), column.compression());
        }
    }
    if let ParquetColumn::Text(leaf) = table.column
        && leaf < file.schema_descr().num_columns()
    {
        // Texts of transcripts rarely repeat.
        builder = builder.set_column_dictionary_enabled(file.schema_descr().column(leaf).path().clone(), false);
    }
    builder.build()
}

/// A row group that is rewritten.
struct Group<'t> {
    table: &'t ParquetTable,
    index: usize,
}

impl Group<'_> {
    fn write(&self, writer: &mut SerializedFileWriter<FileSink>, mut spool: Spool) -> Result<(), ParquetError> {
        let reshaped = spool.slots.iter().any(|slot| matches!(slot, ParquetSlot::Dropped | ParquetSlot::Rows(_)));
        let mut to = writer.next_row_group()?;
        for leaf in 0..self.table.metadata().file_metadata().schema_descr().num_columns() {
            match &self.table.column {
                ParquetColumn::Text(text) if *text == leaf && spool.changed => {
                    self.write_texts(&mut to, &mut spool, leaf)?;
                }
                ParquetColumn::Structs { leaves, element, .. } if leaves.contains(&leaf) && spool.changed => {
                    self.write_kept(&mut to, &spool.slots, Some(*element), leaf)?;
                }
                _ if reshaped => self.write_kept(&mut to, &spool.slots, None, leaf)?,
                _ => self.copy(&mut to, leaf)?,
            }
        }
        to.close().map(drop)
    }

    /// Copies a column unchanged, page by page.
    fn copy(&self, to: &mut SerializedRowGroupWriter<'_, FileSink>, leaf: usize) -> Result<(), ParquetError> {
        let metadata = self.table.metadata();
        let group = metadata.row_group(self.index);
        let column = group.column(leaf);
        let index = metadata.page_index();
        let close = ColumnCloseResult {
            bytes_written: u64::try_from(column.compressed_size()).unwrap_or_default(),
            rows_written: u64::try_from(group.num_rows()).unwrap_or_default(),
            metadata: column.clone(),
            bloom_filter: Sbbf::read_from_column_chunk(column, &self.table.file)?,
            column_index: index.and_then(|index| index.column_index(self.index, leaf)).cloned(),
            offset_index: index.and_then(|index| index.offset_index(self.index, leaf)).cloned(),
        };
        to.append_column(&self.table.file, close)
    }

    /// Copies the parts of a column that the slots keep, value by value.
    fn write_kept(
        &self,
        to: &mut SerializedRowGroupWriter<'_, FileSink>,
        slots: &[ParquetSlot],
        element: Option<i16>,
        leaf: usize,
    ) -> Result<(), ParquetError> {
        let from = self.table.reader_of(self.index, leaf)?;
        let mut column = next_column(to)?;
        let descriptor = self.table.metadata().file_metadata().schema_descr().column(leaf);
        copy_leaf(from, column.untyped(), slots, element, &descriptor)?;
        column.close()
    }

    fn write_texts(
        &self,
        to: &mut SerializedRowGroupWriter<'_, FileSink>,
        spool: &mut Spool,
        leaf: usize,
    ) -> Result<(), ParquetError> {
        let full = self.table.metadata().file_metadata().schema_descr().column(leaf).max_def_level();
        let slots = std::mem::take(&mut spool.slots);
        spool.rewind()?;
        let mut column = next_column(to)?;
        let ColumnWriter::ByteArrayColumnWriter(_) = column.untyped() else {
            return Err(ParquetError::General(String::from("the column contains no strings")));
        };
        let rows: Vec<&ParquetSlot> = slots.iter().flat_map(ParquetSlot::rows).collect();
        for rows in rows.chunks(STEP) {
            let (mut levels, mut texts) = (Vec::with_capacity(STEP), Vec::<ByteArray>::with_capacity(STEP));
            for slot in rows {
                match slot {
                    ParquetSlot::Null(level) => levels.push(*level),
                    ParquetSlot::Text(length) => {
                        levels.push(full);
                        texts.push(spool.next(*length)?.into());
                    }
                    ParquetSlot::Dropped | ParquetSlot::Elements(_) | ParquetSlot::Rows(_) => {}
                }
            }
            column.typed::<ByteArrayType>().write_batch(&texts, (full > 0).then_some(&levels), None)?;
        }
        spool.slots = slots;
        column.close()
    }
}

fn next_column<'w>(
    to: &'w mut SerializedRowGroupWriter<'_, FileSink>,
) -> Result<parquet::file::writer::SerializedColumnWriter<'w>, ParquetError> {
    to.next_column()?.ok_or_else(|| ParquetError::General(String::from("the schema has fewer columns than the file")))
}

// Copies a column without some of its rows, with some rows repeated, or without some elements of their lists.
//
// A leaf is stored as values with two levels each. A repetition level of 0 begins a row. In a list of structs
// `[{a}, {b, c}]`, the leaf of the structs has these entries:
//
// ```text
// repetition  definition
//     0           3        the first element, which begins the row
//     1           3        the second element
// ```
//
// Without its first element, the second one begins the row and gets the repetition level 0. Without both, one entry remains:
// repetition 0, and the definition level of an empty list, one below that of an element.

/// The number of rows that are copied at a time.
const LEVELS: usize = 1024;

/// Copies the parts of a leaf that `slots` keep. `element` is the definition level at which an element of the list
/// exists; `None` for a leaf of another column, of which whole rows are kept.
fn copy_leaf(
    from: ColumnReader,
    to: &mut ColumnWriter<'_>,
    slots: &[ParquetSlot],
    element: Option<i16>,
    leaf: &ColumnDescriptor,
) -> Result<()> {
    use ColumnReader as R;
    use ColumnWriter as W;
    match (from, to) {
        (R::BoolColumnReader(from), W::BoolColumnWriter(to)) => copy(from, to, slots, element, leaf),
        (R::Int32ColumnReader(from), W::Int32ColumnWriter(to)) => copy(from, to, slots, element, leaf),
        (R::Int64ColumnReader(from), W::Int64ColumnWriter(to)) => copy(from, to, slots, element, leaf),
        (R::Int96ColumnReader(from), W::Int96ColumnWriter(to)) => copy(from, to, slots, element, leaf),
        (R::FloatColumnReader(from), W::FloatColumnWriter(to)) => copy(from, to, slots, element, leaf),
        (R::DoubleColumnReader(from), W::DoubleColumnWriter(to)) => copy(from, to, slots, element, leaf),
        (R::ByteArrayColumnReader(from), W::ByteArrayColumnWriter(to)) => copy(from, to, slots, element, leaf),
        (R::FixedLenByteArrayColumnReader(from), W::FixedLenByteArrayColumnWriter(to)) => {
            copy(from, to, slots, element, leaf)
        }
        _ => Err(ParquetError::General(String::from("a column changed its type"))),
    }
}

fn copy<T: DataType>(
    mut from: ColumnReaderImpl<T>,
    to: &mut ColumnWriterImpl<'_, T>,
    slots: &[ParquetSlot],
    element: Option<i16>,
    leaf: &ColumnDescriptor,
) -> Result<()> {
    let mut slots = slots.iter();
    while slots.len() > 0 {
        let mut old = Entries::default();
        let most = LEVELS.min(slots.len());
        let (rows, _, entries) =
            from.read_records(most, Some(&mut old.definitions), Some(&mut old.repetitions), &mut old.values)?;
        if rows == 0 {
            return Err(ParquetError::General(String::from("a column has fewer rows than its row group")));
        }
        old.fill(entries, leaf);
        let mut new = Entries::default();
        old.keep(slots.by_ref().take(rows), element, leaf.max_def_level(), &mut new);
        let definitions = (leaf.max_def_level() > 0).then_some(new.definitions.as_slice());
        let repetitions = (leaf.max_rep_level() > 0).then_some(new.repetitions.as_slice());
        to.write_batch(&new.values, definitions, repetitions)?;
    }
    Ok(())
}

/// Entries of a leaf.
struct Entries<T> {
    definitions: Vec<i16>,
    repetitions: Vec<i16>,
    /// The values of the entries whose definition level is the leaf's highest.
    values: Vec<T>,
}

impl<T> Default for Entries<T> {
    fn default() -> Self {
        Self { definitions: Vec::new(), repetitions: Vec::new(), values: Vec::new() }
    }
}

impl<T: Clone> Entries<T> {
    /// Fills in the levels that a leaf without nulls or without lists does not store.
    fn fill(&mut self, entries: usize, leaf: &ColumnDescriptor) {
        if leaf.max_def_level() == 0 {
            self.definitions = vec![0; entries];
        }
        if leaf.max_rep_level() == 0 {
            self.repetitions = vec![0; entries];
        }
    }

    /// Copies the entries that `slots` keep, one slot per row, to `new`. `full` is the leaf's highest definition level.
    fn keep<'s>(&self, slots: impl Iterator<Item = &'s ParquetSlot>, element: Option<i16>, full: i16, new: &mut Self) {
        let (mut at, mut value) = (0, 0);
        for slot in slots {
            let end = (at + 1..self.repetitions.len()).find(|&next| self.repetitions[next] == 0);
            let end = end.unwrap_or(self.repetitions.len());
            for slot in slot.rows() {
                self.keep_row(at..end, value, slot, element, full, new);
            }
            value += self.definitions[at..end].iter().filter(|&&level| level == full).count();
            at = end;
        }
    }

    /// Copies the entries that `slot` keeps of a row to `new`. `entries` are those of the row, and `value` is the index
    /// of its first value.
    fn keep_row(
        &self,
        entries: Range<usize>,
        mut value: usize,
        slot: &ParquetSlot,
        element: Option<i16>,
        full: i16,
        new: &mut Self,
    ) {
        let row_start = new.repetitions.len();
        let elements = match slot {
            ParquetSlot::Elements(Some(kept)) => element.map(|element| (element, kept)),
            _ => None,
        };
        let mut number = 0;
        for entry in entries.clone() {
            number += usize::from(entry > entries.start && self.repetitions[entry] == 1);
            let kept = match elements {
                Some((element, kept)) => self.definitions[entry] < element || kept.get(number).copied().unwrap_or(true),
                None => *slot != ParquetSlot::Dropped,
            };
            let has_value = self.definitions[entry] == full;
            if kept {
                // The first entry that is kept begins the row.
                let first = new.repetitions.len() == row_start;
                new.repetitions.push(if first { 0 } else { self.repetitions[entry] });
                new.definitions.push(self.definitions[entry]);
                new.values.extend(has_value.then(|| self.values[value].clone()));
            }
            value += usize::from(has_value);
        }
        if let Some((element, _)) = elements
            && new.repetitions.len() == row_start
        {
            new.repetitions.push(0);
            new.definitions.push(element - 1);
        }
    }
}

// The new texts of a row group, until it is written: at first in memory, above a limit in a temporary file.

/// The most bytes of new texts that are kept in memory.
const MAX_IN_MEMORY: usize = 64 * 1024 * 1024;

/// The new content of a row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ParquetSlot {
    /// Null at this definition level.
    Null(i16),
    /// Dropped.
    Dropped,
    /// So many of the next bytes of the spool.
    Text(usize),
    /// The elements of the old list for which this is true; `None` for all of them.
    Elements(Option<Vec<bool>>),
    /// Several rows in place of one.
    Rows(Vec<ParquetSlot>),
}

impl ParquetSlot {
    /// The new rows.
    pub(super) fn rows(&self) -> &[Self] {
        match self {
            Self::Rows(rows) => rows,
            one => std::slice::from_ref(one),
        }
    }
}

/// The rows of a row group, in order.
struct Spool {
    texts: SpooledTempFile,
    pub(super) slots: Vec<ParquetSlot>,
    /// Whether any row changed.
    pub(super) changed: bool,
}

impl Spool {
    pub(super) fn new() -> Self {
        Self { texts: SpooledTempFile::new(MAX_IN_MEMORY), slots: Vec::new(), changed: false }
    }

    /// Adds a text, and returns the content of its row.
    pub(super) fn add(&mut self, text: &[u8]) -> io::Result<ParquetSlot> {
        self.texts.write_all(text)?;
        Ok(ParquetSlot::Text(text.len()))
    }

    /// Goes back to the first text.
    fn rewind(&mut self) -> io::Result<()> {
        self.texts.rewind()
    }

    /// The next text, of `length` bytes.
    pub(super) fn next(&mut self, length: usize) -> io::Result<Vec<u8>> {
        let mut text = vec![0; length];
        self.texts.read_exact(&mut text)?;
        Ok(text)
    }
}
