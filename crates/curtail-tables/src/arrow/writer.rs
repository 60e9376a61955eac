//! Writes a table with new texts, batch by batch.

use std::io::BufWriter;
use std::sync::Arc;

use arrow_array::builder::GenericByteViewBuilder;
use arrow_array::cast::AsArray as _;
use arrow_array::types::{
    BinaryType, BinaryViewType, ByteArrayType, ByteViewType, LargeBinaryType, LargeUtf8Type, StringViewType, Utf8Type,
};
use arrow_array::{
    Array as _, ArrayRef, BooleanArray, GenericByteArray, GenericByteViewArray, GenericListArray, OffsetSizeTrait,
    RecordBatch, RecordBatchReader, StructArray, UInt64Array,
};
use arrow_buffer::{ArrowNativeType as _, OffsetBuffer};
use arrow_ipc::MetadataVersion;
use arrow_ipc::reader::FileReader;
use arrow_ipc::writer::{DictionaryHandling, FileWriter, IpcWriteOptions, StreamWriter};
use arrow_schema::{ArrowError, DataType};
use arrow_select::filter::filter;
use arrow_select::take::take_record_batch;

use super::{ArrowColumn, ArrowTable, broken, guarded};
use curtail_core::error::FileError;
use curtail_io::{FileSink, RowResult};

/// The alignment of buffers, in bytes.
const ALIGNMENT: usize = 64;

/// Writes a copy of a table with new texts.
pub struct ArrowSink {
    table: Arc<ArrowTable>,
    from: Box<dyn RecordBatchReader + Send>,
    to: Writer,
    /// The batch whose rows are collected, from 0.
    batch: usize,
    rows: NewRows,
}

/// The output, in the form of the input.
enum Writer {
    File(Box<FileWriter<BufWriter<FileSink>>>),
    Stream(Box<StreamWriter<BufWriter<FileSink>>>),
}

impl ArrowSink {
    /// Begins to write the rows of `table` to `sink`.
    ///
    /// # Errors
    /// The file cannot be written, or the old file can no longer be read.
    pub fn new(table: &Arc<ArrowTable>, sink: FileSink) -> Result<Self, FileError> {
        let (to, from) = guarded(&table.name, || {
            let opened = table.batches(None).and_then(|from| Ok((Writer::new(table, &*from, sink)?, from)));
            opened.map_err(|error| broken(&table.name, &error))
        })?;
        Ok(Self { table: Arc::clone(table), from, to, batch: 0, rows: NewRows::default() })
    }

    /// Adds the results of rows of batch number `batch` (from 1), whose new texts are in `output`. `changed` is whether
    /// any of them changed.
    ///
    /// # Errors
    /// The file cannot be written, or the old file can no longer be read.
    pub fn write(&mut self, batch: usize, rows: &[RowResult], output: &[u8], changed: bool) -> Result<(), FileError> {
        while self.batch + 1 < batch {
            self.end_batch()?;
        }
        let mut start = 0;
        for row in rows {
            self.rows.add(row, output, &mut start);
        }
        self.rows.changed |= changed;
        Ok(())
    }

    /// Ends the file.
    ///
    /// # Errors
    /// As [`ArrowSink::write`].
    pub fn finish(mut self) -> Result<FileSink, FileError> {
        while self.batch < self.table.outline.batches.len() {
            self.end_batch()?;
        }
        let sink = match self.to {
            Writer::File(writer) => writer.into_inner(),
            Writer::Stream(writer) => writer.into_inner(),
        };
        let sink = sink.map_err(|error| broken(&self.table.name, &error))?;
        sink.into_inner().map_err(|error| FileError::system(&self.table.name, error.error()))
    }

    fn end_batch(&mut self) -> Result<(), FileError> {
        self.batch += 1;
        let rows = std::mem::take(&mut self.rows);
        let (table, from, to) = (&self.table, &mut self.from, &mut self.to);
        guarded(&table.name, || {
            let cut_off = || ArrowError::IpcError(String::from("it has fewer batches than before"));
            let batch = from.next().unwrap_or_else(|| Err(cut_off()));
            let written = batch.and_then(|batch| to.write(&rows.replace(batch, &table.column)?));
            written.map_err(|error| broken(&table.name, &error))
        })
    }
}

impl Writer {
    fn new(table: &ArrowTable, from: &dyn RecordBatchReader, sink: FileSink) -> Result<Self, ArrowError> {
        let options = IpcWriteOptions::try_new(ALIGNMENT, false, MetadataVersion::V5)?
            .try_with_compression(table.outline.compression)?
            .with_dictionary_handling(DictionaryHandling::Delta);
        let (schema, sink) = (from.schema(), BufWriter::new(sink));
        if table.stream {
            return Ok(Self::Stream(Box::new(StreamWriter::try_new_with_options(sink, &schema, options)?)));
        }
        let mut writer = FileWriter::try_new_with_options(sink, &schema, options)?;
        for (key, value) in FileReader::try_new_buffered(table.place.at(0), None)?.custom_metadata() {
            writer.write_metadata(key, value);
        }
        Ok(Self::File(Box::new(writer)))
    }

    fn write(&mut self, batch: &RecordBatch) -> Result<(), ArrowError> {
        match self {
            Self::File(writer) => writer.write(batch),
            Self::Stream(writer) => writer.write(batch),
        }
    }
}

// A batch with new texts, or with fewer elements in its lists.

/// The new content of a row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ArrowSlot {
    /// The old value.
    Unchanged,
    /// So many of the next bytes of the new texts.
    Text(usize),
    /// The elements of the old list for which this is true.
    Elements(Vec<bool>),
}

/// The new rows of a batch, and the new texts, one after another.
#[derive(Debug, Default)]
struct NewRows {
    /// The number of old rows.
    old: usize,
    /// For each new row, the index of its old row.
    origins: Vec<u64>,
    slots: Vec<ArrowSlot>,
    texts: Vec<u8>,
    /// Whether any row changed.
    pub(super) changed: bool,
}

impl NewRows {
    /// Adds the result of the next old row. Its new texts begin at `start` of `output`; `start` is moved past them.
    pub(super) fn add(&mut self, row: &RowResult, output: &[u8], start: &mut usize) {
        match row {
            RowResult::Rows(rows) => rows.iter().for_each(|row| self.add_one(row, output, start)),
            RowResult::Dropped => self.changed = true,
            one => self.add_one(one, output, start),
        }
        self.old += 1;
    }

    fn add_one(&mut self, row: &RowResult, output: &[u8], start: &mut usize) {
        self.origins.push(self.old as u64);
        self.slots.push(match row {
            RowResult::Text(end) => {
                let text = &output[std::mem::replace(start, *end)..*end];
                self.texts.extend_from_slice(text);
                ArrowSlot::Text(text.len())
            }
            RowResult::Elements(kept) => ArrowSlot::Elements(kept.clone()),
            _ => ArrowSlot::Unchanged,
        });
    }

    /// `batch` with these rows.
    pub(super) fn replace(&self, batch: RecordBatch, column: &ArrowColumn) -> Result<RecordBatch, ArrowError> {
        if !self.changed {
            return Ok(batch);
        }
        if self.old != batch.num_rows() {
            return Err(ArrowError::IpcError(String::from("the file changed while it was read")));
        }
        let keeps_rows = self.origins.iter().copied().eq(0..self.old as u64);
        let batch =
            if keeps_rows { batch } else { take_record_batch(&batch, &UInt64Array::from(self.origins.clone()))? };
        let Some((&top, below)) = column.path.split_first() else { return Ok(batch) };
        let mut columns = batch.columns().to_vec();
        columns[top] = self.replace_below(&columns[top], below, column.structs)?;
        RecordBatch::try_new(batch.schema(), columns)
    }

    fn replace_below(&self, array: &ArrayRef, below: &[usize], structs: bool) -> Result<ArrayRef, ArrowError> {
        let Some((&field, below)) = below.split_first() else {
            return if structs { self.shorten(array) } else { self.rewrite(array) };
        };
        let parent = array.as_struct();
        let mut columns = parent.columns().to_vec();
        columns[field] = self.replace_below(&columns[field], below, structs)?;
        Ok(Arc::new(StructArray::try_new(parent.fields().clone(), columns, parent.nulls().cloned())?))
    }

    /// The column with new texts.
    fn rewrite(&self, array: &ArrayRef) -> Result<ArrayRef, ArrowError> {
        match array.data_type() {
            DataType::Utf8 => self.write_bytes::<Utf8Type>(array.as_bytes()),
            DataType::LargeUtf8 => self.write_bytes::<LargeUtf8Type>(array.as_bytes()),
            DataType::Binary => self.write_bytes::<BinaryType>(array.as_bytes()),
            DataType::LargeBinary => self.write_bytes::<LargeBinaryType>(array.as_bytes()),
            DataType::Utf8View => {
                self.write_views::<StringViewType>(array.as_byte_view(), |bytes| Ok(std::str::from_utf8(bytes)?))
            }
            DataType::BinaryView => self.write_views::<BinaryViewType>(array.as_byte_view(), |bytes| Ok(bytes)),
            _ => Err(ArrowError::IpcError(String::from("the column contains no strings"))),
        }
    }

    /// The bytes of every row: its new text or its old value.
    fn bytes<'a>(&'a self, old: impl Fn(usize) -> &'a [u8]) -> impl Iterator<Item = &'a [u8]> {
        let mut at = 0;
        self.slots.iter().enumerate().map(move |(row, slot)| match slot {
            ArrowSlot::Text(length) => {
                at += length;
                &self.texts[at - length..at]
            }
            _ => old(row),
        })
    }

    fn write_bytes<T: ByteArrayType>(&self, old: &GenericByteArray<T>) -> Result<ArrayRef, ArrowError> {
        let mut values = Vec::with_capacity(self.texts.len());
        let mut offsets = Vec::with_capacity(self.slots.len() + 1);
        offsets.push(T::Offset::default());
        for bytes in self.bytes(|row| old.value(row).as_ref()) {
            values.extend_from_slice(bytes);
            let end = T::Offset::from_usize(values.len());
            offsets.push(end.ok_or_else(|| ArrowError::IpcError(String::from("a batch of more than 2 GB of texts")))?);
        }
        let offsets = OffsetBuffer::new(offsets.into());
        Ok(Arc::new(GenericByteArray::<T>::try_new(offsets, values.into(), old.nulls().cloned())?))
    }

    fn write_views<T: ByteViewType + ?Sized>(
        &self,
        old: &GenericByteViewArray<T>,
        native: impl Fn(&[u8]) -> Result<&T::Native, ArrowError>,
    ) -> Result<ArrayRef, ArrowError> {
        let mut views = GenericByteViewBuilder::<T>::with_capacity(self.slots.len());
        for (row, bytes) in self.bytes(|row| old.value(row).as_ref()).enumerate() {
            match old.is_null(row) {
                true => views.append_null(),
                false => views.try_append_value(native(bytes)?)?,
            }
        }
        Ok(Arc::new(views.finish()))
    }

    /// The column of lists without the elements that were dropped.
    fn shorten(&self, array: &ArrayRef) -> Result<ArrayRef, ArrowError> {
        match array.data_type() {
            DataType::List(_) => self.shorten_lists(array.as_list::<i32>()),
            DataType::LargeList(_) => self.shorten_lists(array.as_list::<i64>()),
            _ => Err(ArrowError::IpcError(String::from("the column contains no lists"))),
        }
    }

    fn shorten_lists<O: OffsetSizeTrait>(&self, lists: &GenericListArray<O>) -> Result<ArrayRef, ArrowError> {
        let (element, old, values, nulls) = lists.clone().into_parts();
        let mut kept = vec![false; values.len()];
        let mut offsets = vec![O::default()];
        let mut end = O::default();
        for (row, slot) in self.slots.iter().enumerate() {
            let elements = old[row].as_usize()..old[row + 1].as_usize();
            for (number, place) in elements.enumerate() {
                kept[place] = match slot {
                    ArrowSlot::Elements(kept) => kept.get(number).copied().unwrap_or(true),
                    _ => true,
                };
                end += if kept[place] { O::one() } else { O::default() };
            }
            offsets.push(end);
        }
        let values = filter(&values, &BooleanArray::from(kept))?;
        let offsets = OffsetBuffer::new(offsets.into());
        Ok(Arc::new(GenericListArray::<O>::try_new(element, offsets, values, nulls)?))
    }
}
