//! Arrow IPC files and streams as rows: one column is read as texts and rewritten, and all other columns are unchanged.
//!
//! A file is read one record batch at a time, once for its texts and once for its output, so that the largest batch
//! determines how much memory is used.

mod batches;

use std::io::BufWriter;
use std::sync::Arc;

use arrow_array::cast::AsArray as _;
use arrow_array::{Array, ArrayRef, RecordBatch, RecordBatchReader, StructArray};
use arrow_ipc::reader::{FileReader, StreamReader};
use arrow_ipc::writer::{DictionaryHandling, FileWriter, IpcWriteOptions, StreamWriter};
use arrow_ipc::{CompressionType, MetadataVersion};
use arrow_schema::{ArrowError, DataType, Field, Fields, Schema};
use arrow_select::take::take_record_batch;

use crate::arrays::write_json;
use crate::build::shape_of;
use crate::dictionary::{encoded, is_dictionary, plain};
use crate::elements::replace_elements;
use crate::place::Place;
use crate::texts::{is_text, rewrite, text_at};
use crate::{Column, GroupReader, GroupWriter, NewBlock, NewRows, TableFile, TableParts, open_file};
use batches::Batches;
use curtail_io::{ErrorKind, FileError};
use curtail_io::{FileSink, Shape, Source, TableFormat};

/// Turns errors of the library into errors about the file `name`, without the library's prefix.
fn broken(name: &str) -> impl Fn(ArrowError) -> FileError {
    move |error| {
        let message = match error {
            ArrowError::IoError(message, cause) if cause.raw_os_error().is_none() => message,
            ArrowError::IoError(_, cause) => return FileError::system(name, &cause),
            ArrowError::IpcError(message)
            | ArrowError::ParseError(message)
            | ArrowError::InvalidArgumentError(message) => message,
            other => other.to_string(),
        };
        FileError::new(ErrorKind::Content, name, format!("this Arrow file cannot be read: {message}"))
    }
}

/// An open Arrow IPC file or stream.
#[derive(Debug)]
struct ArrowFile {
    name: String,
    place: Place,
    /// Whether it is in the streaming format, which has no footer.
    stream: bool,
    compression: Option<CompressionType>,
    schema: Arc<Schema>,
}

/// Opens the Arrow file of `source`. A batch of more than `most` bytes is neither read nor decompressed.
///
/// # Errors
/// The file cannot be read.
pub(crate) fn open(source: &Source, format: TableFormat, most: Option<usize>) -> Result<TableParts, FileError> {
    let (file, _) = open_file(source, format)?;
    let place = Place::new(file).map_err(|error| FileError::system(&source.name, &error))?;
    let stream = format == TableFormat::ArrowStream;
    let most = most.map_or(u64::MAX, |most| most as u64);
    let batches = if stream { Batches::of_stream(&place, most) } else { Batches::of_file(&place, most) };
    let Batches { all: mut batches, compression, .. } = batches.map_err(broken(&source.name))?;
    // A footer follows the last batch.
    if let Some(last) = batches.last_mut() {
        last.end = place.len;
    }
    let schema = Arc::new(Schema::empty());
    let mut file = ArrowFile { name: source.name.clone(), place, stream, compression, schema };
    let mut columns = Vec::new();
    file.schema = file.batches(None).map_err(broken(&source.name))?.schema();
    let schema = Arc::clone(&file.schema);
    add_columns(schema.fields(), "", &[], &mut columns);
    Ok(TableParts { file: Arc::new(file), groups: batches, columns })
}

impl TableFile for ArrowFile {
    fn shape(&self, column: &Column) -> Option<Shape> {
        let field = column.path.first().filter(|_| column.structs)?;
        match self.schema.field(*field).data_type() {
            DataType::List(element) | DataType::LargeList(element) => Some(shape_of(element.data_type())),
            _ => None,
        }
    }

    fn reader(self: Arc<Self>, column: &Column) -> Result<Box<dyn GroupReader>, FileError> {
        let field = column.path.first().copied();
        let batches = self.batches(field).map_err(broken(&self.name))?;
        let column = column.clone();
        let name = self.name.clone();
        Ok(Box::new(ArrowReader { name, column, batches, next: 0, open: None, row: 0 }))
    }

    fn writer(self: Arc<Self>, column: &Column, sink: FileSink) -> Result<Box<dyn GroupWriter>, FileError> {
        let opened = self.batches(None).and_then(|from| Ok((Output::new(&self, &from.schema(), sink)?, from)));
        let (to, from) = opened.map_err(broken(&self.name))?;
        Ok(Box::new(ArrowWriter { name: self.name.clone(), column: column.clone(), from, to, dictionary: None }))
    }
}

impl ArrowFile {
    /// Reads the batches from the first one on, with all top-level fields or with only one.
    fn batches(&self, field: Option<usize>) -> Result<Box<dyn RecordBatchReader + Send>, ArrowError> {
        let field = field.map(|field| vec![field]);
        Ok(match self.stream {
            true => Box::new(StreamReader::try_new_buffered(self.place.at(0), field)?),
            false => Box::new(FileReader::try_new_buffered(self.place.at(0), field)?),
        })
    }
}

// The columns that can contain transcripts: texts, and lists of structs.

/// Adds all columns that can contain transcripts. Their path is the index of a top-level field, then those of the fields
/// below it.
fn add_columns(fields: &Fields, prefix: &str, above: &[usize], found: &mut Vec<Column>) {
    for (index, field) in fields.iter().enumerate() {
        let name = format!("{prefix}{}", field.name());
        let path = [above, &[index]].concat();
        match field.data_type() {
            data_type if is_text(data_type) || is_dictionary(data_type) => {
                found.push(Column { name, path, structs: false });
            }
            DataType::Struct(fields) => add_columns(fields, &format!("{name}."), &path, found),
            DataType::List(element) | DataType::LargeList(element) if above.is_empty() && is_struct(element) => {
                found.push(Column { name, path, structs: true });
            }
            _ => {}
        }
    }
}

/// Whether the elements of a list are structs, as messages are.
pub(crate) fn is_struct(element: &Field) -> bool {
    matches!(element.data_type(), DataType::Struct(_))
}

/// The values of a column in a batch.
struct Values {
    array: ArrayRef,
    /// The structs that contain it.
    parents: Vec<ArrayRef>,
}

impl Values {
    /// The values of `column` in `batch`, which has only the column's top-level field.
    fn of_projected(batch: &RecordBatch, column: &Column) -> Result<Self, ArrowError> {
        let mut values = Self { array: batch.column(0).clone(), parents: Vec::new() };
        for &field in column.path.iter().skip(1) {
            let child = values.array.as_struct().column(field).clone();
            values.parents.push(std::mem::replace(&mut values.array, child));
        }
        values.array = plain(values.array)?;
        Ok(values)
    }

    fn is_null(&self, row: usize) -> bool {
        self.array.is_null(row) || self.parents.iter().any(|parent| parent.is_null(row))
    }
}

// Reading.

/// Reads a column.
struct ArrowReader {
    name: String,
    column: Column,
    batches: Box<dyn RecordBatchReader + Send>,
    /// The batch that is read next, from 0.
    next: usize,
    /// The values of the batch that is being read.
    open: Option<Values>,
    /// The number of its rows that were read.
    row: usize,
}

impl GroupReader for ArrowReader {
    fn begin(&mut self, group: usize) -> Result<(), FileError> {
        (self.open, self.row) = (None, 0);
        while self.next <= group {
            let batch = self.batches.next().transpose().map_err(broken(&self.name))?;
            self.next += 1;
            let batch = batch.ok_or_else(|| {
                FileError::new(ErrorKind::Content, &self.name, format!("the file ends before batch {}", self.next))
            })?;
            let values = (self.next > group).then(|| Values::of_projected(&batch, &self.column));
            self.open = values.transpose().map_err(broken(&self.name))?;
        }
        Ok(())
    }

    fn read(&mut self, _most: usize, block: &mut NewBlock<'_>) -> Result<usize, FileError> {
        let row = self.row;
        let Some(values) = self.open.as_ref().filter(|values| row < values.array.len()) else { return Ok(0) };
        match self.column.structs {
            _ if values.is_null(row) => block.push_null(0),
            true => block.push_json(|out| write_json(&values.array, row, out))?,
            false => block.push(text_at(&values.array, row).unwrap_or_default())?,
        }
        self.row += 1;
        if self.row == values.array.len() {
            self.open = None;
        }
        Ok(1)
    }
}

// Writing: each batch is read again, and gets new texts, or fewer elements in its lists.

/// The alignment of buffers, in bytes.
const ALIGNMENT: usize = 64;

/// Writes a copy of a file with new values in one column.
struct ArrowWriter {
    name: String,
    column: Column,
    from: Box<dyn RecordBatchReader + Send>,
    to: Output,
    /// The dictionary of the column so far, if it has one.
    dictionary: Option<ArrayRef>,
}

/// The output, in the form of the input.
enum Output {
    File(Box<FileWriter<BufWriter<FileSink>>>),
    Stream(Box<StreamWriter<BufWriter<FileSink>>>),
}

impl GroupWriter for ArrowWriter {
    fn write(&mut self, _group: usize, new: &mut NewRows) -> Result<(), FileError> {
        let batch = self
            .from
            .next()
            .unwrap_or_else(|| Err(ArrowError::IpcError(String::from("it has fewer batches than before"))));
        let written = batch.and_then(|batch| {
            let batch = self.encode(replace(batch, &self.column, new)?)?;
            self.to.write(&batch)
        });
        written.map_err(broken(&self.name))
    }

    fn finish(self: Box<Self>) -> Result<FileSink, FileError> {
        let sink = match self.to {
            Output::File(writer) => writer.into_inner(),
            Output::Stream(writer) => writer.into_inner(),
        };
        let sink = sink.map_err(broken(&self.name))?;
        sink.into_inner().map_err(|error| FileError::system(&self.name, error.error()))
    }
}

impl Output {
    fn new(file: &ArrowFile, schema: &Schema, sink: FileSink) -> Result<Self, ArrowError> {
        let options = IpcWriteOptions::try_new(ALIGNMENT, false, MetadataVersion::V5)?
            .try_with_compression(file.compression)?
            .with_dictionary_handling(DictionaryHandling::Delta);
        let sink = BufWriter::new(sink);
        if file.stream {
            return Ok(Self::Stream(Box::new(StreamWriter::try_new_with_options(sink, schema, options)?)));
        }
        let mut writer = FileWriter::try_new_with_options(sink, schema, options)?;
        for (key, value) in FileReader::try_new_buffered(file.place.at(0), None)?.custom_metadata() {
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

impl ArrowWriter {
    /// The batch with a dictionary of its texts, if the column has one: the old one has texts that were cut. In a file, it begins
    /// with that of the last batch, because a file has one dictionary, which only grows.
    fn encode(&mut self, batch: RecordBatch) -> Result<RecordBatch, ArrowError> {
        let Some((&top, below)) = self.column.path.split_first() else { return Ok(batch) };
        let mut columns = batch.columns().to_vec();
        columns[top] = replace_below(&columns[top], below, &mut |array| {
            if !is_dictionary(array.data_type()) {
                return Ok(Arc::clone(array));
            }
            let before = self.dictionary.as_ref().filter(|_| matches!(self.to, Output::File(_)));
            let new = encoded(&plain(Arc::clone(array))?, array.data_type(), before)?;
            self.dictionary = Some(Arc::clone(new.as_any_dictionary().values()));
            Ok(new)
        })?;
        RecordBatch::try_new(batch.schema(), columns)
    }
}

/// `batch` with new rows.
fn replace(batch: RecordBatch, column: &Column, new: &mut NewRows) -> Result<RecordBatch, ArrowError> {
    if !new.changed {
        return Ok(batch);
    }
    if new.rows.len() != batch.num_rows() {
        return Err(ArrowError::IpcError(String::from("the file changed while it was read")));
    }
    let batch = match new.origins() {
        Some(origins) => take_record_batch(&batch, &origins)?,
        None => batch,
    };
    let Some((&top, below)) = column.path.split_first() else { return Ok(batch) };
    let mut columns = batch.columns().to_vec();
    columns[top] = replace_below(&columns[top], below, &mut |array| match column.structs {
        true => replace_elements(array, new),
        false => encoded(&rewrite(&plain(Arc::clone(array))?, new)?, array.data_type(), None),
    })?;
    RecordBatch::try_new(batch.schema(), columns)
}

/// The array with `new` in place of the one at these fields.
fn replace_below(
    array: &ArrayRef,
    below: &[usize],
    new: &mut dyn FnMut(&ArrayRef) -> Result<ArrayRef, ArrowError>,
) -> Result<ArrayRef, ArrowError> {
    let Some((&field, below)) = below.split_first() else { return new(array) };
    let parent = array.as_struct();
    let mut columns = parent.columns().to_vec();
    columns[field] = replace_below(&columns[field], below, new)?;
    Ok(Arc::new(StructArray::try_new(parent.fields().clone(), columns, parent.nulls().cloned())?))
}
