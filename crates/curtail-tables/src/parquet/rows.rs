//! The rows of a table, in blocks of about half a megabyte.

use std::sync::Arc;

use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::{ByteArray, ByteArrayType};
use parquet::file::reader::RowGroupReader;
use parquet::record::reader::{ReaderIter, TreeBuilder};
use parquet::schema::types::{SchemaDescriptor, Type};

use super::columns::Column;
use super::nested::write_json;
use super::{Table, broken, guarded};
use curtail_core::error::{Error, ErrorKind};
use curtail_io::{BLOCK, Buffer, RowBlock, RowGroup, RowPlace};

/// Rows that are read before their length is checked.
const STEP: usize = 16;

/// Reads the rows of a table.
pub struct Rows {
    table: Arc<Table>,
    /// The row group that is being read, from 0.
    group: usize,
    /// Rows of it that were read.
    read: usize,
    /// Rows of the file that were read.
    total: usize,
    open: Option<Open>,
}

/// A row group that is being read.
enum Open {
    /// The definition level of a text that is not null.
    Text(Box<ColumnReaderImpl<ByteArrayType>>, i16),
    Structs(Box<ReaderIter>),
}

impl Rows {
    /// All rows of `table`.
    #[must_use]
    pub fn new(table: &Arc<Table>) -> Self {
        let mut rows = Self { table: Arc::clone(table), group: 0, read: 0, total: 0, open: None };
        rows.skip_empty();
        rows
    }

    /// Whether all rows were read.
    #[must_use]
    pub fn is_done(&self) -> bool {
        self.group >= self.table.metadata().num_row_groups()
    }

    /// Bytes of the file that were read, counted in whole row groups.
    #[must_use]
    pub fn taken(&self) -> u64 {
        let groups = self.table.metadata().row_groups();
        groups[..self.group].iter().map(|group| u64::try_from(group.compressed_size()).unwrap_or_default()).sum()
    }

    /// Fills `buffer` with the texts of the next rows of a row group, or of one row `alone`.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn next_block(&mut self, buffer: &mut Buffer, alone: bool) -> Result<RowBlock, Error> {
        let name = self.table.name.clone();
        guarded(&name, || self.next_unguarded(buffer, alone))
    }

    fn next_unguarded(&mut self, buffer: &mut Buffer, alone: bool) -> Result<RowBlock, Error> {
        buffer.clear();
        let structs = matches!(self.table.column, Column::Structs { .. });
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
                let what = format!("row group {} ends after {} of {rows} rows", self.group + 1, self.read);
                return Err(Error::new(ErrorKind::Content, &table.name, what));
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
    fn begin(table: &Table, group: usize) -> Result<Self, Error> {
        Self::of_column(table, &*table.group(group)?, &table.column)
    }

    fn of_column(table: &Table, group: &dyn RowGroupReader, column: &Column) -> Result<Self, Error> {
        let failed = |error| broken(&table.name, &error);
        table.check_pages(group, column)?;
        match column {
            Column::Text(leaf) => match group.get_column_reader(*leaf).map_err(failed)? {
                ColumnReader::ByteArrayColumnReader(reader) => {
                    let schema = table.metadata().file_metadata().schema_descr();
                    Ok(Self::Text(Box::new(reader), schema.column(*leaf).max_def_level()))
                }
                _ => Err(Error::new(ErrorKind::Content, &table.name, "the column holds no texts")),
            },
            Column::Structs { field, .. } => {
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
        table: &Table,
        most: usize,
        buffer: &mut Buffer,
        block: &mut RowBlock,
    ) -> Result<usize, Error> {
        match self {
            Self::Text(reader, full) => read_texts((reader, *full), table, most, buffer, block),
            Self::Structs(rows) => read_structs(rows, table, most, buffer, block),
        }
    }
}

fn read_texts(
    (reader, full): (&mut ColumnReaderImpl<ByteArrayType>, i16),
    table: &Table,
    most: usize,
    buffer: &mut Buffer,
    block: &mut RowBlock,
) -> Result<usize, Error> {
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
    table: &Table,
    most: usize,
    buffer: &mut Buffer,
    block: &mut RowBlock,
) -> Result<usize, Error> {
    let mut read = 0;
    for row in rows.take(most) {
        let row = row.map_err(|error| broken(&table.name, &error))?;
        let mut text = String::new();
        for (_, field) in row.get_column_iter() {
            let place = block.first.row + block.texts.len();
            write_json(field, &mut text).map_err(|what| {
                let what = format!("{what} in {}, row {place}", block.first.group);
                Error::new(ErrorKind::Content, &table.name, what)
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

fn push(text: &[u8], table: &Table, buffer: &mut Buffer, block: &mut RowBlock) -> Result<(), Error> {
    let start = buffer.len();
    buffer.append(text).map_err(|error| Error::system(&table.name, &error))?;
    block.texts.push(Ok(start..buffer.len()));
    Ok(())
}

/// The first text of a column, among the first rows of the file; `None` if there is none.
pub(super) fn head_of(table: &Table, column: &Column) -> Result<Option<String>, Error> {
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
