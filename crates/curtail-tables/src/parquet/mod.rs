//! Parquet files as rows: one column is read as texts and rewritten, and all other columns are copied.
//!
//! A file is read row group by row group. The new texts of a row group are kept in a temporary file until it is
//! complete, so that memory use does not grow with the file.

mod rows;
mod writer;

pub(crate) use rows::ParquetRows;
pub(crate) use writer::ParquetSink;

use std::fs::File;
use std::sync::Arc;

use parquet::basic::{ConvertedType, LogicalType, Repetition, Type as Physical};
use parquet::column::reader::ColumnReader;
use parquet::errors::ParquetError;
use parquet::file::metadata::{PageIndexPolicy, ParquetMetaData, ParquetMetaDataReader};
use parquet::file::reader::{FileReader as _, RowGroupReader};
use parquet::file::serialized_reader::SerializedFileReader;
use parquet::schema::types::{SchemaDescriptor, Type};

use crate::{WantedColumn, choose_column};
use curtail_core::error::{ErrorKind, FileError};
use curtail_io::{Source, Stamp, TableFormat};
use rows::{head_of, oversized};

/// An error of the library about the file `name`, without the library's prefix.
fn broken(name: &str, error: &ParquetError) -> FileError {
    let message = match error {
        ParquetError::External(cause) => match cause.downcast_ref::<std::io::Error>() {
            Some(cause) => return FileError::system(name, cause),
            None => cause.to_string(),
        },
        ParquetError::General(message) | ParquetError::NYI(message) | ParquetError::EOF(message) => message.clone(),
        other => other.to_string(),
    };
    FileError::new(ErrorKind::Content, name, format!("this Parquet file cannot be read: {message}"))
}

/// Runs `read` on the file `name`. A panic of the library, which trusts the numbers in a file, becomes an error.
fn guarded<T>(name: &str, read: impl FnOnce() -> Result<T, FileError>) -> Result<T, FileError> {
    crate::guarded(TableFormat::Parquet, name, read)
}

/// An open Parquet file, and the column that contains its transcripts.
pub struct ParquetTable {
    name: String,
    reader: SerializedFileReader<File>,
    /// The metadata of the file, with the indexes of its pages.
    metadata: ParquetMetaData,
    /// The same file, opened again for copying, because two threads cannot share a read position.
    copied: SerializedFileReader<File>,
    /// The file of `copied`.
    file: File,
    /// The same file, opened once more for the headers of its pages.
    headers: File,
    /// The largest page, in bytes after decompression.
    most: Option<usize>,
    column: ParquetColumn,
}

impl std::fmt::Debug for ParquetTable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ParquetTable").field("name", &self.name).field("column", &self.column).finish_non_exhaustive()
    }
}

impl ParquetTable {
    /// Opens the Parquet file of `source` at the wanted column. Pages of more bytes than `wanted` allows are not
    /// decompressed.
    ///
    /// # Errors
    /// The file cannot be read, or has no such column. Without a name, there is not exactly one column that
    /// `is_transcript`.
    pub fn open(
        source: &Source,
        wanted: WantedColumn<'_>,
        is_transcript: &dyn Fn(&str) -> bool,
    ) -> Result<Arc<Self>, FileError> {
        guarded(&source.name, || Self::open_unguarded(source, wanted, is_transcript))
    }

    fn open_unguarded(
        source: &Source,
        wanted: WantedColumn<'_>,
        is_transcript: &dyn Fn(&str) -> bool,
    ) -> Result<Arc<Self>, FileError> {
        let path = source.path.as_ref().ok_or_else(|| no_pipe(source))?;
        let failed = |error| broken(&source.name, &error);
        let open = || File::open(path).map_err(|error| FileError::system(&source.name, &error));
        let (file, again, headers) = (open()?, open()?, open()?);
        let stamp = |file: &File| {
            let metadata = file.metadata().map_err(|error| FileError::system(&source.name, &error))?;
            Stamp::from_metadata(&metadata).ok_or_else(|| no_pipe(source))
        };
        if stamp(&file)? != stamp(&again)? || stamp(&again)? != stamp(&headers)? {
            return Err(FileError::new(ErrorKind::System, &source.name, "changed while it was opened"));
        }
        let metadata = ParquetMetaDataReader::new().with_page_index_policy(PageIndexPolicy::Optional);
        let metadata = metadata.parse_and_finish(&file).map_err(failed)?;
        let reader = SerializedFileReader::new(file).map_err(failed)?;
        let shared = again.try_clone().map_err(|error| FileError::system(&source.name, &error))?;
        let copied = SerializedFileReader::new(shared).map_err(failed)?;
        let (name, column) = (source.name.clone(), ParquetColumn::Text(0));
        let mut table = Self { name, reader, metadata, copied, file: again, headers, most: wanted.most, column };
        table.column = table.choose(wanted.column, is_transcript)?;
        Ok(Arc::new(table))
    }

    /// The number of rows.
    #[must_use]
    pub fn len(&self) -> usize {
        usize::try_from(self.metadata().file_metadata().num_rows()).unwrap_or_default()
    }

    /// Whether it has no rows.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn metadata(&self) -> &ParquetMetaData {
        &self.metadata
    }

    fn group(&self, index: usize) -> Result<Box<dyn RowGroupReader + '_>, FileError> {
        self.reader.get_row_group(index).map_err(|error| broken(&self.name, &error))
    }

    /// Returns an error if a page of `column` would be larger than allowed after decompression.
    fn check_pages(&self, group: &dyn RowGroupReader, column: &ParquetColumn) -> Result<(), FileError> {
        let Some(most) = self.most else { return Ok(()) };
        let leaves = match column {
            ParquetColumn::Text(leaf) => *leaf..leaf.saturating_add(1),
            ParquetColumn::Structs { leaves, .. } => leaves.clone(),
        };
        for chunk in leaves.filter_map(|leaf| group.metadata().columns().get(leaf)) {
            let found = oversized(&self.headers, chunk, most as u64);
            let found = found.map_err(|_| self.refuse(String::from("the headers of its pages are damaged")))?;
            if let Some(claimed) = found {
                let column = chunk.column_path();
                return Err(self.refuse(format!(
                    "a page of column `{column}` holds {claimed} bytes, more than {most}, the limit of --max-record; pass a larger \
                     one, or 0 for none"
                )));
            }
        }
        Ok(())
    }

    /// A reader of one leaf of a row group, for copying.
    fn reader_of(&self, group: usize, leaf: usize) -> Result<ColumnReader, ParquetError> {
        self.copied.get_row_group(group)?.get_column_reader(leaf)
    }

    fn choose(&self, wanted: Option<&str>, is_transcript: &dyn Fn(&str) -> bool) -> Result<ParquetColumn, FileError> {
        let found = candidates(self.metadata().file_metadata().schema_descr());
        let fits = |column: &ParquetColumn| Ok(head_of(self, column)?.is_some_and(|head| is_transcript(&head)));
        let chosen = choose_column(&self.name, &found, wanted, !self.is_empty(), fits)?;
        Ok(chosen.unwrap_or(ParquetColumn::Text(usize::MAX)))
    }

    fn refuse(&self, message: String) -> FileError {
        FileError::new(ErrorKind::Content, &self.name, message)
    }
}

fn no_pipe(source: &Source) -> FileError {
    FileError::new(ErrorKind::Usage, &source.name, "a Parquet file cannot be read from a pipe; name the file")
}

// The columns that can contain transcripts: texts, and lists of structs.

/// A column whose rows are transcripts.
#[derive(Debug, Clone, PartialEq, Eq)]
enum ParquetColumn {
    /// Texts in the leaf with this index.
    Text(usize),
    /// A list of structs.
    Structs {
        /// The index of its top-level field in the schema.
        field: usize,
        /// The indices of its leaves.
        leaves: std::ops::Range<usize>,
        /// The definition level at which an element of the list exists.
        element: i16,
    },
}

/// All columns that can contain transcripts, with their names.
fn candidates(schema: &SchemaDescriptor) -> Vec<(String, ParquetColumn)> {
    let mut found = Vec::new();
    for (index, field) in schema.root_schema().get_fields().iter().enumerate() {
        let leaves = leaves_of(schema, index);
        if let Some(element) = list_of_structs(field) {
            found.push((field.name().to_owned(), ParquetColumn::Structs { field: index, leaves, element }));
        } else {
            let texts = leaves.filter(|&leaf| is_text(schema, leaf));
            found.extend(texts.map(|leaf| (schema.column(leaf).path().string(), ParquetColumn::Text(leaf))));
        }
    }
    found
}

/// The leaves below a top-level field of the schema.
fn leaves_of(schema: &SchemaDescriptor, field: usize) -> std::ops::Range<usize> {
    let mut leaves = (0..schema.num_columns()).filter(|&leaf| schema.get_column_root_idx(leaf) == field);
    let first = leaves.next().unwrap_or_default();
    first..leaves.next_back().unwrap_or(first) + 1
}

fn is_text(schema: &SchemaDescriptor, leaf: usize) -> bool {
    let column = schema.column(leaf);
    let texts = [None, Some(LogicalType::String), Some(LogicalType::Json)];
    column.physical_type() == Physical::BYTE_ARRAY
        && column.max_rep_level() == 0
        && texts.contains(&column.logical_type_ref().cloned())
        && [ConvertedType::NONE, ConvertedType::UTF8, ConvertedType::JSON].contains(&column.converted_type())
}

/// The definition level at which an element exists, if `field` is a list of structs with a field that names who speaks,
/// as messages have.
fn list_of_structs(field: &Type) -> Option<i16> {
    let mut level = 0;
    let mut at = field;
    loop {
        let repetition = at.get_basic_info().repetition();
        level += i16::from(repetition != Repetition::REQUIRED);
        if repetition == Repetition::REPEATED {
            break;
        }
        at = if at.is_group() && at.get_fields().len() == 1 { &at.get_fields()[0] } else { return None };
    }
    let names_speaker = |group: &Type| {
        group.is_group() && group.get_fields().iter().any(|field| ["role", "from", "type"].contains(&field.name()))
    };
    let inner = at.is_group().then(|| at.get_fields()).filter(|fields| fields.len() == 1).map(|fields| &*fields[0]);
    (names_speaker(at) || inner.is_some_and(names_speaker)).then_some(level)
}
