//! Arrow IPC files and streams as rows: one column is read as texts and rewritten, and all other columns are unchanged.
//!
//! A file is read one record batch at a time, once for its texts and once for its output, so that the largest batch
//! determines how much memory is used.

mod outline;
mod rows;
mod writer;

pub(crate) use rows::ArrowRows;
pub(crate) use writer::ArrowSink;

use std::fs::File;
use std::sync::Arc;

use arrow_array::cast::AsArray as _;
use arrow_array::{Array as _, ArrayRef, RecordBatch, RecordBatchReader};
use arrow_ipc::reader::{FileReader, StreamReader};
use arrow_schema::{ArrowError, DataType, Field, Fields, Schema};

use crate::{WantedColumn, choose_column};
use curtail_core::error::{ErrorKind, FileError};
use curtail_io::{Source, TableFormat};
use outline::Outline;
use rows::{Place, head_of};

/// An error of the library about the file `name`, without the library's prefix.
fn broken(name: &str, error: &ArrowError) -> FileError {
    let message = match error {
        ArrowError::IoError(message, cause) if cause.raw_os_error().is_none() => message.clone(),
        ArrowError::IoError(_, cause) => return FileError::system(name, cause),
        ArrowError::IpcError(message) | ArrowError::ParseError(message) | ArrowError::InvalidArgumentError(message) => {
            message.clone()
        }
        other => other.to_string(),
    };
    FileError::new(ErrorKind::Content, name, format!("this Arrow file cannot be read: {message}"))
}

/// Runs `read` on the file `name`. A panic of the library, which trusts the numbers in a file, becomes an error.
fn guarded<T>(name: &str, read: impl FnOnce() -> Result<T, FileError>) -> Result<T, FileError> {
    crate::guarded(TableFormat::ArrowFile, name, read)
}

/// An open Arrow IPC file or stream, and the column that contains its transcripts.
#[derive(Debug)]
pub struct ArrowTable {
    name: String,
    place: Place,
    /// Whether it is in the streaming format, which has no footer.
    stream: bool,
    outline: Outline,
    column: ArrowColumn,
}

impl ArrowTable {
    /// Opens the Arrow file of `source`, which is in the streaming format if `stream`, at the wanted column. A batch of
    /// more bytes than `wanted` allows is neither read nor decompressed.
    ///
    /// # Errors
    /// The file cannot be read, or has no such column. Without a name, there is not exactly one column that
    /// `is_transcript`.
    pub fn open(
        source: &Source,
        stream: bool,
        wanted: WantedColumn<'_>,
        is_transcript: &dyn Fn(&str) -> bool,
    ) -> Result<Arc<Self>, FileError> {
        guarded(&source.name, || Self::open_unguarded(source, stream, wanted, is_transcript))
    }

    fn open_unguarded(
        source: &Source,
        stream: bool,
        wanted: WantedColumn<'_>,
        is_transcript: &dyn Fn(&str) -> bool,
    ) -> Result<Arc<Self>, FileError> {
        let pipe = || {
            FileError::new(ErrorKind::Usage, &source.name, "an Arrow file cannot be read from a pipe; name the file")
        };
        let path = source.path.as_ref().ok_or_else(pipe)?;
        let file = File::open(path).map_err(|error| FileError::system(&source.name, &error))?;
        if !file.metadata().map_err(|error| FileError::system(&source.name, &error))?.is_file() {
            return Err(pipe());
        }
        let place = Place::new(file).map_err(|error| FileError::system(&source.name, &error))?;
        let failed = |error| broken(&source.name, &error);
        let most = wanted.most.map_or(u64::MAX, |most| most as u64);
        let outline = if stream { Outline::of_stream(&place, most) } else { Outline::of_file(&place, most) };
        let outline = outline.map_err(failed)?;
        let mut table = Self { name: source.name.clone(), place, stream, outline, column: ArrowColumn::default() };
        let schema = table.batches(None).map_err(failed)?.schema();
        table.column = table.choose(&schema, wanted.column, is_transcript)?;
        Ok(Arc::new(table))
    }

    /// Whether it is in the streaming format, which has no footer.
    #[must_use]
    pub const fn is_stream(&self) -> bool {
        self.stream
    }

    /// Reads the batches from the first one on, with all top-level fields or with only one.
    fn batches(&self, field: Option<usize>) -> Result<Box<dyn RecordBatchReader + Send>, ArrowError> {
        let field = field.map(|field| vec![field]);
        Ok(match self.stream {
            true => Box::new(StreamReader::try_new_buffered(self.place.at(0), field)?),
            false => Box::new(FileReader::try_new_buffered(self.place.at(0), field)?),
        })
    }

    fn choose(
        &self,
        schema: &Schema,
        wanted: Option<&str>,
        is_transcript: &dyn Fn(&str) -> bool,
    ) -> Result<ArrowColumn, FileError> {
        let has_rows = self.outline.batches.iter().any(|batch| batch.rows > 0);
        let fits = |column: &ArrowColumn| Ok(head_of(self, column)?.is_some_and(|head| is_transcript(&head)));
        let chosen = choose_column(&self.name, &candidates(schema), wanted, has_rows, fits)?;
        Ok(chosen.unwrap_or_default())
    }
}

// The columns that can contain transcripts: texts, and lists of structs.

/// A column whose rows are transcripts.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
struct ArrowColumn {
    /// The index of a top-level field, then those of the fields below it.
    path: Vec<usize>,
    /// Whether it is a list of structs instead of a text.
    structs: bool,
}

impl ArrowColumn {
    /// The values of this column in `batch`, which has only the column's top-level field.
    fn of_projected(&self, batch: &RecordBatch) -> Values {
        let mut values = Values { array: batch.column(0).clone(), parents: Vec::new() };
        for &field in self.path.iter().skip(1) {
            let child = values.array.as_struct().column(field).clone();
            values.parents.push(std::mem::replace(&mut values.array, child));
        }
        values
    }
}

/// The values of a column in a batch.
struct Values {
    array: ArrayRef,
    /// The structs that contain it.
    parents: Vec<ArrayRef>,
}

impl Values {
    fn is_null(&self, row: usize) -> bool {
        self.array.is_null(row) || self.parents.iter().any(|parent| parent.is_null(row))
    }

    /// The bytes of a text; empty if the column is not one of texts.
    fn text(&self, row: usize) -> &[u8] {
        match self.array.data_type() {
            DataType::Utf8 => self.array.as_string::<i32>().value(row).as_bytes(),
            DataType::LargeUtf8 => self.array.as_string::<i64>().value(row).as_bytes(),
            DataType::Utf8View => self.array.as_string_view().value(row).as_bytes(),
            DataType::Binary => self.array.as_binary::<i32>().value(row),
            DataType::LargeBinary => self.array.as_binary::<i64>().value(row),
            DataType::BinaryView => self.array.as_binary_view().value(row),
            _ => &[],
        }
    }
}

/// All columns that can contain transcripts, with their names.
fn candidates(schema: &Schema) -> Vec<(String, ArrowColumn)> {
    let mut found = Vec::new();
    add_candidates(schema.fields(), "", &[], &mut found);
    found
}

fn add_candidates(fields: &Fields, prefix: &str, above: &[usize], found: &mut Vec<(String, ArrowColumn)>) {
    for (index, field) in fields.iter().enumerate() {
        let name = format!("{prefix}{}", field.name());
        let path = [above, &[index]].concat();
        match field.data_type() {
            data_type if is_text(data_type) => found.push((name, ArrowColumn { path, structs: false })),
            DataType::Struct(fields) => add_candidates(fields, &format!("{name}."), &path, found),
            DataType::List(element) | DataType::LargeList(element) if above.is_empty() && names_speaker(element) => {
                found.push((name, ArrowColumn { path, structs: true }));
            }
            _ => {}
        }
    }
}

fn is_text(data_type: &DataType) -> bool {
    use DataType::{Binary, BinaryView, LargeBinary, LargeUtf8, Utf8, Utf8View};
    matches!(data_type, Utf8 | LargeUtf8 | Utf8View | Binary | LargeBinary | BinaryView)
}

/// Whether `element` is a struct with a field that names who speaks, as messages have.
fn names_speaker(element: &Field) -> bool {
    match element.data_type() {
        DataType::Struct(fields) => {
            fields.iter().any(|field| ["role", "from", "type"].contains(&field.name().as_str()))
        }
        _ => false,
    }
}
