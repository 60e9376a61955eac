//! Writes the same file with new texts: unchanged columns are copied byte for byte, row group by row group.

use std::io;
use std::sync::Arc;

use parquet::bloom_filter::Sbbf;
use parquet::column::writer::{ColumnCloseResult, ColumnWriter};
use parquet::data_type::{ByteArray, ByteArrayType};
use parquet::errors::ParquetError;
use parquet::file::properties::{WriterProperties, WriterVersion};
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};

use super::columns::Column;
use super::levels::copy_leaf;
use super::spool::{Slot, Spool};
use super::{Table, broken, guarded};
use curtail_core::error::Error;
use curtail_io::{FileSink, RowResult};

/// Texts that are passed to the library at a time.
const STEP: usize = 64;

/// Writes a table with new texts.
pub struct TableSink {
    table: Arc<Table>,
    writer: SerializedFileWriter<FileSink>,
    /// The row group whose rows are collected, from 0.
    group: usize,
    spool: Spool,
}

impl TableSink {
    /// Begins to write the rows of `table` to `sink`.
    ///
    /// # Errors
    /// The system refused to create the file.
    pub fn new(table: &Arc<Table>, sink: FileSink) -> Result<Self, Error> {
        let root = table.metadata().file_metadata().schema_descr().root_schema_ptr();
        let writer = SerializedFileWriter::new(sink, root, Arc::new(properties(table)))
            .map_err(|error| broken(&table.name, &error))?;
        Ok(Self { table: Arc::clone(table), writer, group: 0, spool: Spool::new() })
    }

    /// Adds rows of the row group `group`, from 1, whose new texts are in `output`. `changed` is true if any of them
    /// changed.
    ///
    /// # Errors
    /// The system refused to write, or the old file can no longer be read.
    pub fn write(&mut self, group: usize, rows: &[RowResult], output: &[u8], changed: bool) -> Result<(), Error> {
        while self.group + 1 < group {
            self.end_group()?;
        }
        let mut start = 0;
        for row in rows {
            let slot = self.slot(row, output, &mut start);
            let slot = slot.map_err(|error| Error::system("the temporary file of a row group", &error))?;
            self.spool.slots.push(slot);
        }
        self.spool.changed |= changed || rows.contains(&RowResult::Dropped);
        Ok(())
    }

    /// The new content of a row, whose texts begin at `start` of `output`.
    fn slot(&mut self, row: &RowResult, output: &[u8], start: &mut usize) -> io::Result<Slot> {
        Ok(match row {
            RowResult::Null(level) => Slot::Null(*level),
            RowResult::Dropped => Slot::Dropped,
            RowResult::Unchanged => Slot::Elements(None),
            RowResult::Elements(kept) => Slot::Elements(Some(kept.clone())),
            RowResult::Text(end) => self.spool.add(&output[std::mem::replace(start, *end)..*end])?,
            RowResult::Rows(rows) => {
                Slot::Rows(rows.iter().map(|row| self.slot(row, output, start)).collect::<io::Result<_>>()?)
            }
        })
    }

    /// Ends the file.
    ///
    /// # Errors
    /// As [`TableSink::write`].
    pub fn finish(mut self) -> Result<FileSink, Error> {
        while self.group < self.table.metadata().num_row_groups() {
            self.end_group()?;
        }
        let Self { table, writer, .. } = self;
        guarded(&table.name, || writer.into_inner().map_err(|error| broken(&table.name, &error)))
    }

    fn end_group(&mut self) -> Result<(), Error> {
        let spool = std::mem::replace(&mut self.spool, Spool::new());
        let group = Group { table: &self.table, index: self.group };
        let name = &self.table.name;
        let written = guarded(name, || group.write(&mut self.writer, spool).map_err(|error| broken(name, &error)));
        self.group += 1;
        written
    }
}

/// The properties of the new file: those of the old one, as far as its metadata contains them.
fn properties(table: &Table) -> WriterProperties {
    let metadata = table.metadata();
    let file = metadata.file_metadata();
    let mut builder = WriterProperties::builder()
        .set_key_value_metadata(file.key_value_metadata().cloned())
        .set_writer_version(if file.version() > 1 { WriterVersion::PARQUET_2_0 } else { WriterVersion::PARQUET_1_0 });
    // The old writer's name is kept, because readers work around the errors of known writers, and most pages are still from
    // this writer.
    if let Some(writer) = file.created_by() {
        builder = builder.set_created_by(writer.to_owned());
    }
    if let Some(group) = metadata.row_groups().first() {
        builder = builder.set_sorting_columns(group.sorting_columns().cloned());
        for column in group.columns() {
            builder = builder.set_column_compression(column.column_path().clone(), column.compression());
        }
    }
    if let Column::Text(leaf) = table.column
        && leaf < file.schema_descr().num_columns()
    {
        // Texts of transcripts rarely repeat.
        builder = builder.set_column_dictionary_enabled(file.schema_descr().column(leaf).path().clone(), false);
    }
    builder.build()
}

/// A row group that is rewritten.
struct Group<'t> {
    table: &'t Table,
    index: usize,
}

impl Group<'_> {
    fn write(&self, writer: &mut SerializedFileWriter<FileSink>, mut spool: Spool) -> Result<(), ParquetError> {
        let reshaped = spool.slots.iter().any(|slot| matches!(slot, Slot::Dropped | Slot::Rows(_)));
        let mut to = writer.next_row_group()?;
        for leaf in 0..self.table.metadata().file_metadata().schema_descr().num_columns() {
            match &self.table.column {
                Column::Text(own) if *own == leaf && spool.changed => self.write_texts(&mut to, &mut spool, leaf)?,
                Column::Structs { leaves, element, .. } if leaves.contains(&leaf) && spool.changed => {
                    self.write_kept(&mut to, &spool.slots, Some(*element), leaf)?;
                }
                _ if reshaped => self.write_kept(&mut to, &spool.slots, None, leaf)?,
                _ => self.copy(&mut to, leaf)?,
            }
        }
        to.close().map(drop)
    }

    /// Copies a column as it is, page for page.
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

    /// Copies what the slots keep of a column, value by value.
    fn write_kept(
        &self,
        to: &mut SerializedRowGroupWriter<'_, FileSink>,
        slots: &[Slot],
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
            return Err(ParquetError::General(String::from("the column holds no texts")));
        };
        let rows: Vec<&Slot> = slots.iter().flat_map(Slot::rows).collect();
        for rows in rows.chunks(STEP) {
            let (mut levels, mut texts) = (Vec::with_capacity(STEP), Vec::<ByteArray>::with_capacity(STEP));
            for slot in rows {
                match slot {
                    Slot::Null(level) => levels.push(*level),
                    Slot::Text(length) => {
                        levels.push(full);
                        texts.push(spool.next(*length)?.into());
                    }
                    Slot::Dropped | Slot::Elements(_) | Slot::Rows(_) => {}
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
