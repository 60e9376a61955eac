//! Parquet files as rows: one column is read as texts and rewritten, and all other columns are copied.
//!
//! A file is read row group by row group, so that memory use does not grow with the file. Unchanged columns are copied byte
//! for byte.

mod columns;
mod copy;
mod entries;
mod made;
mod nodes;
mod pages;
mod read;
mod structs;
mod write;

use std::fs::File;
use std::ops::Range;
use std::sync::Arc;

use parquet::basic::Encoding;
use parquet::errors::ParquetError;
use parquet::file::metadata::{PageIndexPolicy, ParquetMetaData, ParquetMetaDataReader};
use parquet::file::properties::{WriterProperties, WriterVersion};
use parquet::file::reader::RowGroupReader;
use parquet::file::serialized_reader::SerializedFileReader;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::SchemaDescriptor;

use crate::{Column, Extent, GroupReader, GroupWriter, TableFile, TableParts, open_file};
use columns::{columns, leaves_of, structs_in};
use curtail_io::{ErrorKind, FileError, FileSink, Shape, Source, TableFormat};
use nodes::Node;
use pages::oversized;
use read::ParquetReader;
use write::ParquetWriter;

/// Turns errors of the library into errors about the file `name`, without the library's prefix.
fn broken(name: &str) -> impl Fn(ParquetError) -> FileError {
    move |error| {
        let message = match error {
            ParquetError::External(cause) => match cause.downcast_ref::<std::io::Error>() {
                Some(cause) => return FileError::system(name, cause),
                None => cause.to_string(),
            },
            ParquetError::General(message) | ParquetError::NYI(message) | ParquetError::EOF(message) => message,
            other => other.to_string(),
        };
        // What the library says of a compression that it was built without.
        let message = match message.strip_prefix("Disabled feature at compile time: ") {
            Some(compression) => format!(
                "it is compressed with {compression}, which is not supported; write it with zstd or snappy (pyarrow: \
                 `write_table(…, compression=\"zstd\")`)"
            ),
            None => message,
        };
        FileError::new(ErrorKind::Content, name, format!("this Parquet file cannot be read: {message}"))
    }
}

/// An open Parquet file.
struct ParquetFile {
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
}

impl std::fmt::Debug for ParquetFile {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ParquetFile").field("name", &self.name).finish_non_exhaustive()
    }
}

/// Opens the Parquet file of `source`. Pages of more than `most` bytes are not decompressed.
///
/// # Errors
/// The file cannot be read.
pub(crate) fn open(source: &Source, most: Option<usize>) -> Result<TableParts, FileError> {
    let (read, stamp) = open_file(source, TableFormat::Parquet)?;
    let (file, second_stamp) = open_file(source, TableFormat::Parquet)?;
    let (headers, third_stamp) = open_file(source, TableFormat::Parquet)?;
    if stamp != second_stamp || stamp != third_stamp {
        return Err(FileError::new(ErrorKind::System, &source.name, "changed while it was opened"));
    }
    let metadata = ParquetMetaDataReader::new().with_page_index_policy(PageIndexPolicy::Optional);
    let metadata = metadata.parse_and_finish(&read).map_err(broken(&source.name))?;
    let reader = SerializedFileReader::new(read).map_err(broken(&source.name))?;
    let shared = file.try_clone().map_err(|error| FileError::system(&source.name, &error))?;
    let copied = SerializedFileReader::new(shared).map_err(broken(&source.name))?;
    let mut end = 0;
    let groups = metadata.row_groups().iter().map(|group| {
        end += u64::try_from(group.compressed_size()).unwrap_or_default();
        Extent { rows: usize::try_from(group.num_rows()).unwrap_or_default(), end }
    });
    let groups = groups.collect();
    let columns = columns(metadata.file_metadata().schema_descr());
    let file = Arc::new(ParquetFile { name: source.name.clone(), reader, metadata, copied, file, headers, most });
    Ok(TableParts { file, groups, columns })
}

impl TableFile for ParquetFile {
    fn reader(self: Arc<Self>, column: &Column) -> Result<Box<dyn GroupReader>, FileError> {
        Ok(Box::new(ParquetReader::new(self, column.clone())))
    }

    fn writer(self: Arc<Self>, column: &Column, sink: FileSink) -> Result<Box<dyn GroupWriter>, FileError> {
        let root = self.schema().root_schema_ptr();
        let properties = Arc::new(self.properties(column));
        let writer = SerializedFileWriter::new(sink, root, properties).map_err(broken(&self.name))?;
        let leaves = self.leaves(column);
        let elements = self.elements(column);
        Ok(Box::new(ParquetWriter::new(self, writer, leaves, elements)))
    }

    fn shape(&self, column: &Column) -> Option<Shape> {
        self.elements(column).map(|element| element.shape())
    }
}

impl ParquetFile {
    fn schema(&self) -> &SchemaDescriptor {
        self.metadata.file_metadata().schema_descr()
    }

    /// The leaves of a column.
    fn leaves(&self, column: &Column) -> Range<usize> {
        match column.path.first() {
            Some(&field) if column.structs => leaves_of(self.schema(), field),
            Some(&leaf) => leaf..leaf.saturating_add(1),
            None => 0..0,
        }
    }

    /// The elements of `column`, if it is a list of structs.
    fn elements(&self, column: &Column) -> Option<Node> {
        let field = column.path.first().filter(|_| column.structs)?;
        structs_in(&self.schema().root_schema().get_fields()[*field], self.leaves(column).start)
    }

    /// Returns an error if a page of `column` would be larger than allowed after decompression.
    fn check_pages(&self, group: &dyn RowGroupReader, column: &Column) -> Result<(), FileError> {
        let Some(most) = self.most else { return Ok(()) };
        for chunk in self.leaves(column).filter_map(|leaf| group.metadata().columns().get(leaf)) {
            let found = oversized(&self.headers, chunk, most as u64);
            let found = found.map_err(|_| self.refuse("the headers of its pages are damaged"))?;
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

    fn refuse(&self, message: impl Into<String>) -> FileError {
        FileError::new(ErrorKind::Content, &self.name, message)
    }

    /// The properties of the new file: those of the old one, as far as its metadata contains them.
    fn properties(&self, column: &Column) -> WriterProperties {
        let file = self.metadata.file_metadata();
        let mut builder =
            WriterProperties::builder().set_key_value_metadata(file.key_value_metadata().cloned()).set_writer_version(
                if file.version() > 1 { WriterVersion::PARQUET_2_0 } else { WriterVersion::PARQUET_1_0 },
            );
        // The name of the old writer is kept: readers work around the errors of known writers, and most pages are still by
        // this one.
        if let Some(writer) = file.created_by() {
            builder = builder.set_created_by(writer.to_owned());
        }
        if let Some(group) = self.metadata.row_groups().first() {
            builder = builder.set_sorting_columns(group.sorting_columns().cloned());
            for column in group.columns() {
                builder = builder.set_column_compression(column.column_path().clone(), column.compression());
                // Arrow reads no dictionary from the encoding that the library would choose for texts.
                if column.encodings().any(|encoding| encoding == Encoding::PLAIN) {
                    builder = builder.set_column_encoding(column.column_path().clone(), Encoding::PLAIN);
                }
            }
        }
        if let Some(leaf) = self.leaves(column).next().filter(|_| !column.structs) {
            // Texts of transcripts rarely repeat.
            builder = builder.set_column_dictionary_enabled(self.schema().column(leaf).path().clone(), false);
        }
        builder.build()
    }
}
