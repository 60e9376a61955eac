//! Parquet files as rows: one column is read as texts and rewritten, and all other columns are copied.
//!
//! A file is read row group by row group, so that memory use does not grow with the file. Unchanged columns are copied byte
//! for byte.

use std::fs::File;
use std::ops::Range;
use std::sync::Arc;

use parquet::basic::{ConvertedType, LogicalType, Repetition, Type as Physical};
use parquet::bloom_filter::Sbbf;
use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::column::writer::{ColumnCloseResult, ColumnWriter, ColumnWriterImpl};
use parquet::data_type::{ByteArray, ByteArrayType, DataType};
use parquet::errors::{ParquetError, Result};
use parquet::file::metadata::{PageIndexPolicy, ParquetMetaData, ParquetMetaDataReader};
use parquet::file::properties::{WriterProperties, WriterVersion};
use parquet::file::reader::{FileReader as _, RowGroupReader};
use parquet::file::serialized_reader::SerializedFileReader;
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter, SerializedRowGroupWriter};
use parquet::record::reader::{ReaderIter, TreeBuilder};
use parquet::record::{Field, Row};
use parquet::schema::types::{ColumnDescriptor, SchemaDescriptor, Type};

use crate::headers::oversized;
use crate::{
    Column, Extent, GroupReader, GroupWriter, NewBlock, NewRows, STEP, TableFile, TableParts, names_speaker, open_file,
    rows_of, write_bytes, write_items, write_scalar,
};
use curtail_io::{ErrorKind, FileError};
use curtail_io::{FileSink, RowResult, Source, TableFormat};

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
    let failed = |error| broken(&source.name, &error);
    let open = || open_file(source, TableFormat::Parquet);
    let ((read, stamp), (file, again), (headers, once_more)) = (open()?, open()?, open()?);
    if stamp != again || again != once_more {
        return Err(FileError::new(ErrorKind::System, &source.name, "changed while it was opened"));
    }
    let metadata = ParquetMetaDataReader::new().with_page_index_policy(PageIndexPolicy::Optional);
    let metadata = metadata.parse_and_finish(&read).map_err(failed)?;
    let reader = SerializedFileReader::new(read).map_err(failed)?;
    let shared = file.try_clone().map_err(|error| FileError::system(&source.name, &error))?;
    let copied = SerializedFileReader::new(shared).map_err(failed)?;
    let mut end = 0;
    let groups = metadata.row_groups().iter().map(|group| {
        end += u64::try_from(group.compressed_size()).unwrap_or_default();
        Extent { rows: usize::try_from(group.num_rows()).unwrap_or_default(), end }
    });
    let groups = groups.collect();
    let columns = columns(metadata.file_metadata().schema_descr());
    let file = Arc::new(ParquetFile { name: source.name.clone(), reader, metadata, copied, file, headers, most });
    Ok(TableParts { file, groups, columns, unreadable: Vec::new() })
}

impl TableFile for ParquetFile {
    fn reader(self: Arc<Self>, column: &Column) -> Result<Box<dyn GroupReader>, FileError> {
        Ok(Box::new(ParquetReader { column: column.clone(), open: None, file: self }))
    }

    fn writer(self: Arc<Self>, column: &Column, sink: FileSink) -> Result<Box<dyn GroupWriter>, FileError> {
        let root = self.schema().root_schema_ptr();
        let properties = Arc::new(self.properties(column));
        let writer = SerializedFileWriter::new(sink, root, properties).map_err(|error| broken(&self.name, &error))?;
        let leaves = self.leaves(column);
        let element = self.element(column);
        Ok(Box::new(ParquetWriter { leaves, element, writer, file: self }))
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

    /// The definition level at which an element exists, if `column` is a list of structs.
    fn element(&self, column: &Column) -> Option<i16> {
        let field = column.path.first().filter(|_| column.structs)?;
        list_of_structs(&self.schema().root_schema().get_fields()[*field])
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
            }
        }
        if let Some(leaf) = self.leaves(column).next().filter(|_| !column.structs) {
            // Texts of transcripts rarely repeat.
            builder = builder.set_column_dictionary_enabled(self.schema().column(leaf).path().clone(), false);
        }
        builder.build()
    }
}

// The columns that can contain transcripts: texts, and lists of structs.

/// All columns that can contain transcripts. The path of a text is the index of its leaf, and that of a list is the index of
/// its top-level field.
fn columns(schema: &SchemaDescriptor) -> Vec<Column> {
    let mut found = Vec::new();
    for (index, field) in schema.root_schema().get_fields().iter().enumerate() {
        if list_of_structs(field).is_some() {
            found.push(Column { name: field.name().to_owned(), path: vec![index], structs: true });
        } else {
            let texts = leaves_of(schema, index).filter(|&leaf| is_text(schema, leaf));
            let column = |leaf| Column { name: schema.column(leaf).path().string(), path: vec![leaf], structs: false };
            found.extend(texts.map(column));
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
    let has_speaker =
        |group: &Type| group.is_group() && group.get_fields().iter().any(|field| names_speaker(field.name()));
    let inner = at.is_group().then(|| at.get_fields()).filter(|fields| fields.len() == 1).map(|fields| &*fields[0]);
    (has_speaker(at) || inner.is_some_and(has_speaker)).then_some(level)
}

// Reading.

/// Reads a column.
struct ParquetReader {
    file: Arc<ParquetFile>,
    column: Column,
    open: Option<Open>,
}

/// A row group that is being read.
enum Open {
    /// Texts, with the definition level of one that is not null.
    Text(Box<ColumnReaderImpl<ByteArrayType>>, i16),
    Structs(Box<ReaderIter>),
}

impl GroupReader for ParquetReader {
    fn begin(&mut self, group: usize) -> Result<(), FileError> {
        let Self { file, column, open } = self;
        let failed = |error| broken(&file.name, &error);
        *open = None;
        let group = file.reader.get_row_group(group).map_err(failed)?;
        file.check_pages(&*group, column)?;
        let Some(&at) = column.path.first() else { return Ok(()) };
        *open = Some(if column.structs {
            let root = file.metadata.file_metadata().schema();
            let fields = vec![Arc::clone(&root.get_fields()[at])];
            let alone = Type::group_type_builder(root.name()).with_fields(fields).build().map_err(failed)?;
            let descriptor = Arc::new(SchemaDescriptor::new(Arc::new(alone)));
            let rows = TreeBuilder::new().with_batch_size(STEP).as_iter(descriptor, &*group).map_err(failed)?;
            Open::Structs(Box::new(rows))
        } else {
            match group.get_column_reader(at).map_err(failed)? {
                ColumnReader::ByteArrayColumnReader(reader) => {
                    Open::Text(Box::new(reader), file.schema().column(at).max_def_level())
                }
                _ => return Err(file.refuse("the column contains no strings")),
            }
        });
        Ok(())
    }

    fn read(&mut self, most: usize, block: &mut NewBlock<'_>) -> Result<usize, FileError> {
        let failed = |error| broken(&self.file.name, &error);
        match &mut self.open {
            Some(Open::Text(reader, full)) => {
                let mut levels = Vec::new();
                let mut values = Vec::<ByteArray>::new();
                let (rows, _, _) = reader.read_records(most, Some(&mut levels), None, &mut values).map_err(failed)?;
                let mut values = values.iter();
                for row in 0..rows {
                    match levels.get(row).filter(|&level| level < full) {
                        Some(&level) => block.push_null(level),
                        None => block.push(values.next().map_or(&[][..], ByteArray::data))?,
                    }
                }
                Ok(rows)
            }
            Some(Open::Structs(rows)) => {
                let mut read = 0;
                for row in rows.take(most) {
                    let row = row.map_err(failed)?;
                    // The only field is the column.
                    match row.get_column_iter().next() {
                        Some((_, field)) if !matches!(field, Field::Null) => {
                            block.push_json(|out| write_json(field, out))?;
                        }
                        _ => block.push_null(0),
                    }
                    read += 1;
                }
                Ok(read)
            }
            None => Ok(0),
        }
    }
}

// Structs from the record reader as JSON. Fields that are null are omitted.

/// Writes `field` as JSON.
///
/// # Errors
/// It contains invalid UTF-8.
fn write_json(field: &Field, out: &mut String) -> Result<(), String> {
    match field {
        Field::Null => out.push_str("null"),
        Field::Bool(value) => write_scalar(*value, out),
        Field::Byte(value) => write_scalar(*value, out),
        Field::Short(value) => write_scalar(*value, out),
        Field::Int(value) => write_scalar(*value, out),
        Field::Long(value) => write_scalar(*value, out),
        Field::UByte(value) => write_scalar(*value, out),
        Field::UShort(value) => write_scalar(*value, out),
        Field::UInt(value) => write_scalar(*value, out),
        Field::ULong(value) => write_scalar(*value, out),
        Field::Float(value) => write_scalar(*value, out),
        Field::Double(value) => write_scalar(*value, out),
        Field::Str(text) => write_scalar(text.as_str(), out),
        Field::Bytes(bytes) => return write_bytes(bytes.data(), out),
        Field::Group(row) => return write_struct(row, out),
        Field::ListInternal(list) => return write_items(['[', ']'], list.elements().iter(), out, write_json),
        Field::MapInternal(map) => return write_map(map.entries(), out),
        // Dates, times and decimals are texts in transcripts.
        other => write_scalar(other.to_string(), out),
    }
    Ok(())
}

fn write_struct(row: &Row, out: &mut String) -> Result<(), String> {
    let members = row.get_column_iter().filter(|(_, field)| !matches!(field, Field::Null));
    write_items(['{', '}'], members, out, |(name, field), out| {
        write_scalar(name.as_str(), out);
        out.push(':');
        write_json(field, out)
    })
}

fn write_map(entries: &[(Field, Field)], out: &mut String) -> Result<(), String> {
    let members = entries.iter().filter(|(_, value)| !matches!(value, Field::Null));
    write_items(['{', '}'], members, out, |(key, value), out| {
        match key {
            Field::Str(text) => write_scalar(text.as_str(), out),
            other => write_scalar(other.to_string(), out),
        }
        out.push(':');
        write_json(value, out)
    })
}

// Writing.

/// The number of texts that are passed to the library at a time.
const TEXTS: usize = 64;

/// Writes a copy of a file with new values in one column.
struct ParquetWriter {
    file: Arc<ParquetFile>,
    writer: SerializedFileWriter<FileSink>,
    /// The leaves of the column.
    leaves: Range<usize>,
    /// The definition level at which an element exists, if the column is a list of structs.
    element: Option<i16>,
}

impl GroupWriter for ParquetWriter {
    fn write(&mut self, group: usize, new: &mut NewRows) -> Result<(), FileError> {
        self.write_group(group, new).map_err(|error| broken(&self.file.name, &error))
    }

    fn finish(self: Box<Self>) -> Result<FileSink, FileError> {
        let Self { file, writer, .. } = *self;
        writer.into_inner().map_err(|error| broken(&file.name, &error))
    }
}

impl ParquetWriter {
    fn write_group(&mut self, index: usize, new: &mut NewRows) -> Result<()> {
        let group = RewrittenGroup { file: &self.file, index };
        let mut to = self.writer.next_row_group()?;
        for leaf in 0..self.file.schema().num_columns() {
            match self.element {
                _ if !new.changed || !self.leaves.contains(&leaf) => match new.is_reshaped() {
                    true => group.write_kept(&mut to, &new.rows, None, leaf)?,
                    false => group.copy(&mut to, leaf)?,
                },
                None => group.write_texts(&mut to, new, leaf)?,
                element => group.write_kept(&mut to, &new.rows, element, leaf)?,
            }
        }
        to.close().map(drop)
    }
}

/// A row group that is rewritten.
struct RewrittenGroup<'t> {
    file: &'t ParquetFile,
    index: usize,
}

impl RewrittenGroup<'_> {
    /// Copies a column unchanged, page by page.
    fn copy(&self, to: &mut SerializedRowGroupWriter<'_, FileSink>, leaf: usize) -> Result<()> {
        let metadata = &self.file.metadata;
        let group = metadata.row_group(self.index);
        let column = group.column(leaf);
        let index = metadata.page_index();
        let close = ColumnCloseResult {
            bytes_written: u64::try_from(column.compressed_size()).unwrap_or_default(),
            rows_written: u64::try_from(group.num_rows()).unwrap_or_default(),
            metadata: column.clone(),
            bloom_filter: Sbbf::read_from_column_chunk(column, &self.file.file)?,
            column_index: index.and_then(|index| index.column_index(self.index, leaf)).cloned(),
            offset_index: index.and_then(|index| index.offset_index(self.index, leaf)).cloned(),
        };
        to.append_column(&self.file.file, close)
    }

    /// Copies the parts of a column that `rows` keep, value by value.
    fn write_kept(
        &self,
        to: &mut SerializedRowGroupWriter<'_, FileSink>,
        rows: &[RowResult],
        element: Option<i16>,
        leaf: usize,
    ) -> Result<()> {
        let from = self.file.copied.get_row_group(self.index)?.get_column_reader(leaf)?;
        let mut column = next_column(to)?;
        copy_leaf(from, column.untyped(), rows, element, &self.file.schema().column(leaf))?;
        column.close()
    }

    fn write_texts(
        &self,
        to: &mut SerializedRowGroupWriter<'_, FileSink>,
        new: &mut NewRows,
        leaf: usize,
    ) -> Result<()> {
        let full = self.file.schema().column(leaf).max_def_level();
        let mut column = next_column(to)?;
        let ColumnWriter::ByteArrayColumnWriter(_) = column.untyped() else {
            return Err(ParquetError::General(String::from("the column contains no strings")));
        };
        let rows: Vec<&RowResult> = new.rows.iter().flat_map(rows_of).collect();
        for rows in rows.chunks(TEXTS) {
            let mut levels = Vec::with_capacity(TEXTS);
            let mut texts = Vec::<ByteArray>::with_capacity(TEXTS);
            for row in rows {
                match row {
                    RowResult::Null(level) => levels.push(*level),
                    RowResult::Text(end) => {
                        levels.push(full);
                        texts.push(new.texts.next(*end)?.into());
                    }
                    _ => {}
                }
            }
            column.typed::<ByteArrayType>().write_batch(&texts, (full > 0).then_some(&levels), None)?;
        }
        column.close()
    }
}

fn next_column<'w>(to: &'w mut SerializedRowGroupWriter<'_, FileSink>) -> Result<SerializedColumnWriter<'w>> {
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

/// Copies the parts of a leaf that `rows` keep. `element` is the definition level at which an element of the list
/// exists; `None` for a leaf of another column, of which whole rows are kept.
fn copy_leaf(
    from: ColumnReader,
    to: &mut ColumnWriter<'_>,
    rows: &[RowResult],
    element: Option<i16>,
    leaf: &ColumnDescriptor,
) -> Result<()> {
    use ColumnReader as R;
    use ColumnWriter as W;
    match (from, to) {
        (R::BoolColumnReader(from), W::BoolColumnWriter(to)) => copy(from, to, rows, element, leaf),
        (R::Int32ColumnReader(from), W::Int32ColumnWriter(to)) => copy(from, to, rows, element, leaf),
        (R::Int64ColumnReader(from), W::Int64ColumnWriter(to)) => copy(from, to, rows, element, leaf),
        (R::Int96ColumnReader(from), W::Int96ColumnWriter(to)) => copy(from, to, rows, element, leaf),
        (R::FloatColumnReader(from), W::FloatColumnWriter(to)) => copy(from, to, rows, element, leaf),
        (R::DoubleColumnReader(from), W::DoubleColumnWriter(to)) => copy(from, to, rows, element, leaf),
        (R::ByteArrayColumnReader(from), W::ByteArrayColumnWriter(to)) => copy(from, to, rows, element, leaf),
        (R::FixedLenByteArrayColumnReader(from), W::FixedLenByteArrayColumnWriter(to)) => {
            copy(from, to, rows, element, leaf)
        }
        _ => Err(ParquetError::General(String::from("a column changed its type"))),
    }
}

fn copy<T: DataType>(
    mut from: ColumnReaderImpl<T>,
    to: &mut ColumnWriterImpl<'_, T>,
    rows: &[RowResult],
    element: Option<i16>,
    leaf: &ColumnDescriptor,
) -> Result<()> {
    let mut left = rows.iter();
    while left.len() > 0 {
        let mut old = Entries::default();
        let most = LEVELS.min(left.len());
        let (read, _, entries) =
            from.read_records(most, Some(&mut old.definitions), Some(&mut old.repetitions), &mut old.values)?;
        if read == 0 {
            return Err(ParquetError::General(String::from("a column has fewer rows than its row group")));
        }
        old.fill(entries, leaf);
        let mut new = Entries::default();
        old.keep(left.by_ref().take(read), element, leaf.max_def_level(), &mut new);
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

    /// Copies the entries that `rows` keep to `new`. `full` is the leaf's highest definition level.
    fn keep<'r>(&self, rows: impl Iterator<Item = &'r RowResult>, element: Option<i16>, full: i16, new: &mut Self) {
        let mut at = 0;
        let mut value = 0;
        for row in rows {
            let end = (at + 1..self.repetitions.len()).find(|&next| self.repetitions[next] == 0);
            let end = end.unwrap_or(self.repetitions.len());
            for row in rows_of(row) {
                self.keep_row(at..end, value, row, element, full, new);
            }
            value += self.definitions[at..end].iter().filter(|&&level| level == full).count();
            at = end;
        }
    }

    /// Copies the entries that `row` keeps of an old row to `new`. `entries` are those of the old row, and `value` is the
    /// index of its first value.
    fn keep_row(
        &self,
        entries: Range<usize>,
        mut value: usize,
        row: &RowResult,
        element: Option<i16>,
        full: i16,
        new: &mut Self,
    ) {
        let row_start = new.repetitions.len();
        let elements = match row {
            RowResult::Elements(kept) => element.map(|element| (element, kept)),
            _ => None,
        };
        let mut number = 0;
        for entry in entries.clone() {
            number += usize::from(entry > entries.start && self.repetitions[entry] == 1);
            let kept = match elements {
                Some((element, kept)) => self.definitions[entry] < element || kept.get(number).copied().unwrap_or(true),
                None => true,
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
