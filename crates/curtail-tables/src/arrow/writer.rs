//! Writes the same file with new texts, batch by batch.

use std::io::BufWriter;
use std::sync::Arc;

use arrow_array::{RecordBatch, RecordBatchReader};
use arrow_ipc::MetadataVersion;
use arrow_ipc::reader::FileReader;
use arrow_ipc::writer::{DictionaryHandling, FileWriter, IpcWriteOptions, StreamWriter};
use arrow_schema::ArrowError;

use super::replace::NewRows;
use super::{Table, broken, guarded};
use curtail_core::error::Error;
use curtail_io::{FileSink, RowResult};

/// The alignment of buffers, in bytes.
const ALIGNMENT: usize = 64;

/// Writes a table with new texts.
pub struct TableSink {
    table: Arc<Table>,
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

impl TableSink {
    /// Begins to write the rows of `table` to `sink`.
    ///
    /// # Errors
    /// The system refused to create the file, or the old file can no longer be read.
    pub fn new(table: &Arc<Table>, sink: FileSink) -> Result<Self, Error> {
        let (to, from) = guarded(&table.name, || {
            let opened = table.batches(None).and_then(|from| Ok((Writer::new(table, &*from, sink)?, from)));
            opened.map_err(|error| broken(&table.name, &error))
        })?;
        Ok(Self { table: Arc::clone(table), from, to, batch: 0, rows: NewRows::default() })
    }

    /// Adds rows of the batch `batch`, from 1, whose new texts are in `output`. `changed` is true if any of them changed.
    ///
    /// # Errors
    /// The system refused to write, or the old file can no longer be read.
    pub fn write(&mut self, batch: usize, rows: &[RowResult], output: &[u8], changed: bool) -> Result<(), Error> {
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
    /// As [`TableSink::write`].
    pub fn finish(mut self) -> Result<FileSink, Error> {
        while self.batch < self.table.outline.batches.len() {
            self.end_batch()?;
        }
        let sink = match self.to {
            Writer::File(writer) => writer.into_inner(),
            Writer::Stream(writer) => writer.into_inner(),
        };
        let sink = sink.map_err(|error| broken(&self.table.name, &error))?;
        sink.into_inner().map_err(|error| Error::system(&self.table.name, error.error()))
    }

    fn end_batch(&mut self) -> Result<(), Error> {
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
    fn new(table: &Table, from: &dyn RecordBatchReader, sink: FileSink) -> Result<Self, ArrowError> {
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
