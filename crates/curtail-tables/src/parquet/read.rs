//! Reads a column, as texts or as structs.

use std::sync::Arc;

use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::{ByteArray, ByteArrayType};
use parquet::file::reader::FileReader as _;
use parquet::record::Field;
use parquet::record::reader::{ReaderIter, TreeBuilder};
use parquet::schema::types::{SchemaDescriptor, Type};

use super::structs::write_json;
use super::{ParquetFile, broken};
use crate::{Column, GroupReader, NewBlock, STEP};
use curtail_io::FileError;

/// Reads a column.
pub(super) struct ParquetReader {
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

impl ParquetReader {
    pub(super) const fn new(file: Arc<ParquetFile>, column: Column) -> Self {
        Self { file, column, open: None }
    }
}

impl GroupReader for ParquetReader {
    fn begin(&mut self, group: usize) -> Result<(), FileError> {
        let Self { file, column, open } = self;
        *open = None;
        let group = file.reader.get_row_group(group).map_err(broken(&file.name))?;
        file.check_pages(&*group, column)?;
        let Some(&at) = column.path.first() else { return Ok(()) };
        *open = Some(if column.structs {
            let root = file.metadata.file_metadata().schema();
            let fields = vec![Arc::clone(&root.get_fields()[at])];
            let alone =
                Type::group_type_builder(root.name()).with_fields(fields).build().map_err(broken(&file.name))?;
            let descriptor = Arc::new(SchemaDescriptor::new(Arc::new(alone)));
            let rows =
                TreeBuilder::new().with_batch_size(STEP).as_iter(descriptor, &*group).map_err(broken(&file.name))?;
            Open::Structs(Box::new(rows))
        } else {
            match group.get_column_reader(at).map_err(broken(&file.name))? {
                ColumnReader::ByteArrayColumnReader(reader) => {
                    Open::Text(Box::new(reader), file.schema().column(at).max_def_level())
                }
                _ => return Err(file.refuse("the column contains no strings")),
            }
        });
        Ok(())
    }

    fn read(&mut self, most: usize, block: &mut NewBlock<'_>) -> Result<usize, FileError> {
        match &mut self.open {
            Some(Open::Text(reader, full)) => {
                let mut levels = Vec::new();
                let mut values = Vec::<ByteArray>::new();
                let (rows, _, _) =
                    reader.read_records(most, Some(&mut levels), None, &mut values).map_err(broken(&self.file.name))?;
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
                    let row = row.map_err(broken(&self.file.name))?;
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
