//! Writes a copy of a file with new values in one column.

use std::ops::Range;
use std::sync::Arc;

use parquet::bloom_filter::Sbbf;
use parquet::column::writer::{ColumnCloseResult, ColumnWriter};
use parquet::data_type::{ByteArray, ByteArrayType};
use parquet::errors::{ParquetError, Result};
use parquet::file::reader::FileReader as _;
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter, SerializedRowGroupWriter};

use super::copy::{ListLeaf, copy_leaf};
use super::nodes::Node;
use super::{ParquetFile, broken};
use crate::{GroupWriter, NewRows, rows_of};
use curtail_io::{FileError, FileSink, RowResult};

/// The number of texts that are passed to the library at a time.
const TEXTS: usize = 64;

/// Writes a copy of a file with new values in one column.
pub(super) struct ParquetWriter {
    file: Arc<ParquetFile>,
    writer: SerializedFileWriter<FileSink>,
    /// The leaves of the column.
    leaves: Range<usize>,
    /// The elements of the column, if it is a list of structs.
    elements: Option<Node>,
}

impl ParquetWriter {
    pub(super) const fn new(
        file: Arc<ParquetFile>,
        writer: SerializedFileWriter<FileSink>,
        leaves: Range<usize>,
        elements: Option<Node>,
    ) -> Self {
        Self { file, writer, leaves, elements }
    }
}

impl GroupWriter for ParquetWriter {
    fn write(&mut self, group: usize, new: &mut NewRows) -> Result<(), FileError> {
        self.write_group(group, new).map_err(broken(&self.file.name))
    }

    fn finish(self: Box<Self>) -> Result<FileSink, FileError> {
        let Self { file, writer, .. } = *self;
        writer.into_inner().map_err(broken(&file.name))
    }
}

impl ParquetWriter {
    fn write_group(&mut self, index: usize, new: &mut NewRows) -> Result<()> {
        let group = RewrittenGroup { file: &self.file, index };
        let mut to = self.writer.next_row_group()?;
        for leaf in 0..self.file.schema().num_columns() {
            let is_rewritten = new.changed && self.leaves.contains(&leaf);
            let list = self.elements.as_ref().filter(|_| is_rewritten).map(|node| ListLeaf { node, leaf });
            if is_rewritten && list.is_none() {
                group.write_texts(&mut to, new, leaf)?;
            } else if is_rewritten || new.is_reshaped() {
                group.write_kept(&mut to, new, list, leaf)?;
            } else {
                group.copy_pages(&mut to, leaf)?;
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
    fn copy_pages(&self, to: &mut SerializedRowGroupWriter<'_, FileSink>, leaf: usize) -> Result<()> {
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

    /// Copies the parts of a column that stay, value by value, with new elements of its lists.
    fn write_kept(
        &self,
        to: &mut SerializedRowGroupWriter<'_, FileSink>,
        new: &mut NewRows,
        list: Option<ListLeaf<'_>>,
        leaf: usize,
    ) -> Result<()> {
        // Every leaf of the column has a part of them.
        new.texts.again();
        let from = self.file.copied.get_row_group(self.index)?.get_column_reader(leaf)?;
        let mut column = next_column(to)?;
        copy_leaf(from, column.untyped(), &new.rows, &mut new.texts, list, &self.file.schema().column(leaf))?;
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
                    other => {
                        return Err(ParquetError::General(format!("a row of texts cannot become {other:?}")));
                    }
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
