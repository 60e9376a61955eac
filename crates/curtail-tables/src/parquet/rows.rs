//! Reads the rows of a table, in blocks of about half a megabyte.

use std::fmt::Write as _;
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::sync::Arc;

use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::{ByteArray, ByteArrayType};
use parquet::file::metadata::ColumnChunkMetaData;
use parquet::file::reader::RowGroupReader;
use parquet::record::reader::{ReaderIter, TreeBuilder};
use parquet::record::{Field, Row};
use parquet::schema::types::{SchemaDescriptor, Type};

use super::{ParquetColumn, ParquetTable, broken, guarded};
use curtail_core::error::{ErrorKind, FileError};
use curtail_io::{BLOCK, Buffer, RowBlock, RowGroup, RowPlace};

/// The number of rows that are read before the size of a block is checked.
const STEP: usize = 16;

/// Reads the rows of a table.
pub struct ParquetRows {
    table: Arc<ParquetTable>,
    /// The row group that is being read, from 0.
    group: usize,
    /// The number of its rows that were read.
    read: usize,
    /// The number of rows of the file that were read.
    total: usize,
    open: Option<Open>,
}

/// A row group that is being read.
enum Open {
    /// Texts, with the definition level of one that is not null.
    Text(Box<ColumnReaderImpl<ByteArrayType>>, i16),
    Structs(Box<ReaderIter>),
}

impl ParquetRows {
    /// All rows of `table`.
    #[must_use]
    pub fn new(table: &Arc<ParquetTable>) -> Self {
        let mut rows = Self { table: Arc::clone(table), group: 0, read: 0, total: 0, open: None };
        rows.skip_empty();
        rows
    }

    /// Whether all rows were read.
    #[must_use]
    pub fn is_done(&self) -> bool {
        self.group >= self.table.metadata().num_row_groups()
    }

    /// The number of bytes of the file that were read, counted in whole row groups.
    #[must_use]
    pub fn taken(&self) -> u64 {
        let groups = self.table.metadata().row_groups();
        groups[..self.group].iter().map(|group| u64::try_from(group.compressed_size()).unwrap_or_default()).sum()
    }

    /// Fills `buffer` with the texts of the next rows of a row group, or of one row `alone`.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn next_block(&mut self, buffer: &mut Buffer, alone: bool) -> Result<RowBlock, FileError> {
        let name = self.table.name.clone();
        guarded(&name, || self.next_unguarded(buffer, alone))
    }

    fn next_unguarded(&mut self, buffer: &mut Buffer, alone: bool) -> Result<RowBlock, FileError> {
        buffer.clear();
        let structs = matches!(self.table.column, ParquetColumn::Structs { .. });
        let first = RowPlace { group: RowGroup::Group(self.group + 1), row: self.read + 1, structs };
        let mut block = RowBlock { first, line: self.total + 1, texts: Vec::new() };
        if self.is_done() {
            return Ok(block);
        }
        let rows = self.rows_of_group();
        let table = Arc::clone(&self.table);
        let mut open = match self.open.take() {
            Some(open) => open,
            None => Open::begin(&table, self.group)?,
        };
        while self.read < rows && buffer.len() < BLOCK {
            let step = if alone { 1 } else { STEP.min(rows - self.read) };
            let got = open.read_rows(&table, step, buffer, &mut block)?;
            if got == 0 {
                let message = format!("row group {} ends after {} of {rows} rows", self.group + 1, self.read);
                return Err(FileError::new(ErrorKind::Content, &table.name, message));
            }
            self.read += got;
            self.total += got;
            if alone {
                break;
            }
        }
        self.open = Some(open);
        if self.read == rows {
            (self.group, self.read, self.open) = (self.group + 1, 0, None);
            self.skip_empty();
        }
        Ok(block)
    }

    fn rows_of_group(&self) -> usize {
        usize::try_from(self.table.metadata().row_group(self.group).num_rows()).unwrap_or_default()
    }

    fn skip_empty(&mut self) {
        while !self.is_done() && self.rows_of_group() == 0 {
            self.group += 1;
        }
    }
}

impl Open {
    fn begin(table: &ParquetTable, group: usize) -> Result<Self, FileError> {
        Self::of_column(table, &*table.group(group)?, &table.column)
    }

    fn of_column(table: &ParquetTable, group: &dyn RowGroupReader, column: &ParquetColumn) -> Result<Self, FileError> {
        let failed = |error| broken(&table.name, &error);
        table.check_pages(group, column)?;
        match column {
            ParquetColumn::Text(leaf) => match group.get_column_reader(*leaf).map_err(failed)? {
                ColumnReader::ByteArrayColumnReader(reader) => {
                    let schema = table.metadata().file_metadata().schema_descr();
                    Ok(Self::Text(Box::new(reader), schema.column(*leaf).max_def_level()))
                }
                _ => Err(FileError::new(ErrorKind::Content, &table.name, "the column contains no strings")),
            },
            ParquetColumn::Structs { field, .. } => {
                let root = table.metadata().file_metadata().schema();
                let fields = vec![Arc::clone(&root.get_fields()[*field])];
                let alone = Type::group_type_builder(root.name()).with_fields(fields).build().map_err(failed)?;
                let descriptor = Arc::new(SchemaDescriptor::new(Arc::new(alone)));
                let rows = TreeBuilder::new().with_batch_size(STEP).as_iter(descriptor, group).map_err(failed)?;
                Ok(Self::Structs(Box::new(rows)))
            }
        }
    }

    /// Reads up to `most` rows and returns their number.
    fn read_rows(
        &mut self,
        table: &ParquetTable,
        most: usize,
        buffer: &mut Buffer,
        block: &mut RowBlock,
    ) -> Result<usize, FileError> {
        match self {
            Self::Text(reader, full) => read_texts(reader, *full, table, most, buffer, block),
            Self::Structs(rows) => read_structs(rows, table, most, buffer, block),
        }
    }
}

fn read_texts(
    reader: &mut ColumnReaderImpl<ByteArrayType>,
    full: i16,
    table: &ParquetTable,
    most: usize,
    buffer: &mut Buffer,
    block: &mut RowBlock,
) -> Result<usize, FileError> {
    let (mut levels, mut values) = (Vec::new(), Vec::<ByteArray>::new());
    let (rows, _, _) =
        reader.read_records(most, Some(&mut levels), None, &mut values).map_err(|error| broken(&table.name, &error))?;
    let mut values = values.iter();
    for row in 0..rows {
        match levels.get(row).filter(|&&level| level < full) {
            Some(&level) => block.texts.push(Err(level)),
            None => push(values.next().map_or(&[][..], ByteArray::data), table, buffer, block)?,
        }
    }
    Ok(rows)
}

fn read_structs(
    rows: &mut ReaderIter,
    table: &ParquetTable,
    most: usize,
    buffer: &mut Buffer,
    block: &mut RowBlock,
) -> Result<usize, FileError> {
    let mut read = 0;
    for row in rows.take(most) {
        let row = row.map_err(|error| broken(&table.name, &error))?;
        let mut text = String::new();
        for (_, field) in row.get_column_iter() {
            let place = block.first.row + block.texts.len();
            write_json(field, &mut text).map_err(|message| {
                let message = format!("{message} in {}, row {place}", block.first.group);
                FileError::new(ErrorKind::Content, &table.name, message)
            })?;
        }
        match text.as_str() {
            "null" => block.texts.push(Err(0)),
            text => push(text.as_bytes(), table, buffer, block)?,
        }
        read += 1;
    }
    Ok(read)
}

fn push(text: &[u8], table: &ParquetTable, buffer: &mut Buffer, block: &mut RowBlock) -> Result<(), FileError> {
    let start = buffer.len();
    buffer.append(text).map_err(|error| FileError::system(&table.name, &error))?;
    block.texts.push(Ok(start..buffer.len()));
    Ok(())
}

/// The first text of a column, among the first rows of the file; `None` if there is none.
pub(super) fn head_of(table: &ParquetTable, column: &ParquetColumn) -> Result<Option<String>, FileError> {
    let groups = 0..table.metadata().num_row_groups();
    let Some(group) = groups.into_iter().find(|&group| table.metadata().row_group(group).num_rows() > 0) else {
        return Ok(None);
    };
    let reader = table.group(group)?;
    // A column that this build cannot decompress is not a candidate.
    let Ok(mut open) = Open::of_column(table, &*reader, column) else { return Ok(None) };
    let first = RowPlace { group: RowGroup::Group(group + 1), row: 1, structs: false };
    let mut block = RowBlock { first, line: 1, texts: Vec::new() };
    let mut buffer = Buffer::default();
    if open.read_rows(table, STEP, &mut buffer, &mut block).is_err() {
        return Ok(None);
    }
    let first = block.texts.into_iter().flatten().next();
    Ok(first.and_then(|range| std::str::from_utf8(&buffer[range]).ok().map(str::to_owned)))
}

// Structs from the record reader as JSON. Fields that are null are omitted.

/// Writes `field` as JSON.
///
/// # Errors
/// It contains invalid UTF-8.
pub(super) fn write_json(field: &Field, out: &mut String) -> Result<(), &'static str> {
    // Writing to a String cannot fail.
    let _ = match field {
        Field::Null => write!(out, "null"),
        Field::Bool(value) => write!(out, "{value}"),
        Field::Byte(value) => write!(out, "{value}"),
        Field::Short(value) => write!(out, "{value}"),
        Field::Int(value) => write!(out, "{value}"),
        Field::Long(value) => write!(out, "{value}"),
        Field::UByte(value) => write!(out, "{value}"),
        Field::UShort(value) => write!(out, "{value}"),
        Field::UInt(value) => write!(out, "{value}"),
        Field::ULong(value) => write!(out, "{value}"),
        Field::Float(value) => write!(out, "{}", serde_json::json!(value)),
        Field::Double(value) => write!(out, "{}", serde_json::json!(value)),
        Field::Str(text) => write!(out, "{}", serde_json::json!(text)),
        Field::Bytes(bytes) => {
            let text = std::str::from_utf8(bytes.data()).map_err(|_| "invalid UTF-8")?;
            write!(out, "{}", serde_json::json!(text))
        }
        Field::Group(row) => return write_struct(row, out),
        Field::ListInternal(list) => return write_list(list.elements(), out),
        Field::MapInternal(map) => return write_map(map.entries(), out),
        // Dates, times and decimals are texts in transcripts.
        other => write!(out, "{}", serde_json::json!(other.to_string())),
    };
    Ok(())
}

fn write_struct(row: &Row, out: &mut String) -> Result<(), &'static str> {
    let mut before = '{';
    for (name, field) in row.get_column_iter().filter(|(_, field)| !matches!(field, Field::Null)) {
        out.push(before);
        out.push_str(&serde_json::json!(name).to_string());
        out.push(':');
        write_json(field, out)?;
        before = ',';
    }
    out.push_str(if before == '{' { "{}" } else { "}" });
    Ok(())
}

fn write_list(elements: &[Field], out: &mut String) -> Result<(), &'static str> {
    out.push('[');
    for (index, element) in elements.iter().enumerate() {
        if index > 0 {
            out.push(',');
        }
        write_json(element, out)?;
    }
    out.push(']');
    Ok(())
}

fn write_map(entries: &[(Field, Field)], out: &mut String) -> Result<(), &'static str> {
    let mut before = '{';
    for (key, value) in entries.iter().filter(|(_, value)| !matches!(value, Field::Null)) {
        out.push(before);
        match key {
            Field::Str(text) => out.push_str(&serde_json::json!(text).to_string()),
            other => out.push_str(&serde_json::json!(other.to_string()).to_string()),
        }
        out.push(':');
        write_json(value, out)?;
        before = ',';
    }
    out.push_str(if before == '{' { "{}" } else { "}" });
    Ok(())
}

// The sizes that the pages of a column claim, which are read before the library allocates memory for them.
//
// A page begins with a header in Thrift's compact protocol: fields, each with its type and the difference of its id
// from that of the previous field. Only the two sizes of the page are read; all other fields are skipped.

/// The largest depth of nested values in a header.
const MAX_DEPTH: usize = 16;

/// The number of bytes of a header that are buffered: statistics in it may be long.
const HEADER: usize = 4096;

/// The uncompressed size in bytes of the first page of `chunk` in `file` that claims more than `most` bytes; `None` if
/// there is none.
///
/// # Errors
/// A header cannot be read.
pub(super) fn oversized(file: impl Read + Seek, chunk: &ColumnChunkMetaData, most: u64) -> io::Result<Option<u64>> {
    let first = chunk.dictionary_page_offset().filter(|offset| *offset > 0).unwrap_or(chunk.data_page_offset());
    let first = first.min(chunk.data_page_offset());
    let number = |claimed: i64| u64::try_from(claimed).map_err(|_| io::Error::from(io::ErrorKind::InvalidData));
    let start = number(first)?;
    let end = start.saturating_add(number(chunk.compressed_size())?);
    let mut header = Header { bytes: BufReader::with_capacity(HEADER, file), at: start };
    header.bytes.seek(SeekFrom::Start(start))?;
    while header.at < end {
        let (uncompressed, compressed) = header.sizes()?;
        if uncompressed > most {
            return Ok(Some(uncompressed));
        }
        header.skip(compressed)?;
    }
    Ok(None)
}

/// A reader of headers.
struct Header<R> {
    bytes: BufReader<R>,
    /// The offset in the file.
    at: u64,
}

impl<R: Read + Seek> Header<R> {
    /// The sizes of the next page: uncompressed, and as it is stored.
    fn sizes(&mut self) -> io::Result<(u64, u64)> {
        let (mut uncompressed, mut compressed, mut field) = (None, None, 0);
        loop {
            let byte = self.byte()?;
            if byte == 0 {
                let sizes = uncompressed.zip(compressed);
                return sizes.ok_or_else(|| io::ErrorKind::InvalidData.into());
            }
            field = match byte >> 4 {
                0 => self.zigzag()?,
                distance => field + i64::from(distance),
            };
            match (field, byte & 15) {
                (2, 5) => uncompressed = Some(self.size()?),
                (3, 5) => compressed = Some(self.size()?),
                (_, kind) => self.skip_value(kind, MAX_DEPTH)?,
            }
        }
    }

    /// Skips a value of the type `kind`, in which at most `depth` values are nested.
    fn skip_value(&mut self, kind: u8, depth: usize) -> io::Result<()> {
        let depth = depth.checked_sub(1).ok_or(io::ErrorKind::InvalidData)?;
        match kind {
            1 | 2 => Ok(()),
            3 => self.skip(1),
            4..=6 => self.varint().map(drop),
            7 => self.skip(8),
            8 => {
                let len = self.varint()?;
                self.skip(len)
            }
            9 | 10 => {
                let byte = self.byte()?;
                let count = if byte >> 4 == 15 { self.varint()? } else { u64::from(byte >> 4) };
                match byte & 15 {
                    // In a list, a boolean is a byte.
                    1..=3 => self.skip(count),
                    7 => self.skip(count.saturating_mul(8)),
                    // All other values have at least one byte, so a wrong count ends at the end of the file.
                    kind => (0..count).try_for_each(|_| self.skip_value(kind, depth)),
                }
            }
            12 => loop {
                let byte = self.byte()?;
                if byte == 0 {
                    return Ok(());
                }
                if byte >> 4 == 0 {
                    self.varint()?;
                }
                self.skip_value(byte & 15, depth)?;
            },
            _ => Err(io::ErrorKind::InvalidData.into()),
        }
    }

    fn byte(&mut self) -> io::Result<u8> {
        let mut byte = [0];
        self.bytes.read_exact(&mut byte)?;
        self.at += 1;
        Ok(byte[0])
    }

    fn varint(&mut self) -> io::Result<u64> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            value |= u64::from(byte & 127) << shift;
            if byte < 128 {
                return Ok(value);
            }
        }
        Err(io::ErrorKind::InvalidData.into())
    }

    fn zigzag(&mut self) -> io::Result<i64> {
        let value = self.varint()?;
        Ok((value >> 1).cast_signed() ^ -(value & 1).cast_signed())
    }

    /// A number that must not be negative.
    fn size(&mut self) -> io::Result<u64> {
        u64::try_from(self.zigzag()?).map_err(|_| io::ErrorKind::InvalidData.into())
    }

    fn skip(&mut self, count: u64) -> io::Result<()> {
        let distance = i64::try_from(count).map_err(|_| io::Error::from(io::ErrorKind::InvalidData))?;
        self.at = self.at.checked_add(count).ok_or(io::ErrorKind::InvalidData)?;
        self.bytes.seek_relative(distance)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use super::Header;

    #[test]
    fn sizes_are_read_and_everything_else_is_passed_over() {
        // A type, both sizes, a struct with a text, a list of truth values and a number, and the next header.
        let first =
            [0x15, 0, 0x15, 0x80, 2, 0x15, 20, 0x2c, 0x18, 2, b'a', b'b', 0x19, 0x21, 1, 2, 0x16, 0x81, 1, 0, 0];
        let next = [0x15, 4, 5, 4, 0xfe, 0xff, 0xff, 0xff, 0x0f, 0x15, 2, 0];
        let bytes = [&first[..], &next].concat();
        let mut header = Header { bytes: std::io::BufReader::new(Cursor::new(bytes)), at: 0 };
        assert_eq!(header.sizes().ok(), Some((128, 10)));
        assert_eq!(header.at, first.len() as u64);
        assert_eq!(header.sizes().ok(), Some((0x7fff_ffff, 1)));
        assert!(header.sizes().is_err(), "the end");
    }

    #[test]
    fn nonsense_is_an_error() {
        for bytes in [
            &[0][..],
            &[0x15, 1, 0],
            &[0x1c; 64],
            &[0x2b, 0],
            &[0x19, 0xf5, 0xff, 0xff, 0xff, 0xff, 0x7f],
            &[0x19, 0xf1, 0xff, 0xff, 0xff, 0xff, 0x7f],
        ] {
            let mut header = Header { bytes: std::io::BufReader::new(Cursor::new(bytes)), at: 0 };
            assert!(header.sizes().is_err(), "{bytes:?}");
        }
    }
}
