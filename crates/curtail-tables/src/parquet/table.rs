//! An open Parquet file, and the column of it that is read.

use std::fs::File;
use std::sync::Arc;

use parquet::column::reader::ColumnReader;
use parquet::errors::ParquetError;
use parquet::file::metadata::{PageIndexPolicy, ParquetMetaData, ParquetMetaDataReader};
use parquet::file::reader::{FileReader as _, RowGroupReader};
use parquet::file::serialized_reader::SerializedFileReader;

use super::columns::{Column, candidates};
use super::pages::oversized;
use super::rows::head_of;
use super::{broken, guarded};
use crate::columns::choose_column;
use curtail_core::error::{Error, ErrorKind};
use curtail_io::{Source, Stamp};

/// An open Parquet file with the column that holds its transcripts.
pub struct Table {
    pub(super) name: String,
    pub(super) reader: SerializedFileReader<File>,
    /// The metadata of the file, with the indices of its pages.
    metadata: ParquetMetaData,
    /// The same file, opened again for copying, because two threads cannot share a read position.
    copied: SerializedFileReader<File>,
    pub(super) file: File,
    /// The same file, opened once more for the headers of its pages.
    headers: File,
    /// Bytes of a page at most, decompressed.
    most: Option<usize>,
    pub(super) column: Column,
}

impl std::fmt::Debug for Table {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Table").field("name", &self.name).field("column", &self.column).finish_non_exhaustive()
    }
}

impl Table {
    /// Opens the Parquet file of `source` at the column `wanted`, or at the only column whose first text is a transcript. Pages
    /// of more than `most` bytes are not decompressed.
    ///
    /// # Errors
    /// The file cannot be read, has no such column, or no column or more than one that `is_transcript`.
    pub fn open(
        source: &Source,
        wanted: Option<&str>,
        most: Option<usize>,
        is_transcript: &dyn Fn(&str) -> bool,
    ) -> Result<Arc<Self>, Error> {
        guarded(&source.name, || Self::open_unguarded(source, wanted, most, is_transcript))
    }

    fn open_unguarded(
        source: &Source,
        wanted: Option<&str>,
        most: Option<usize>,
        is_transcript: &dyn Fn(&str) -> bool,
    ) -> Result<Arc<Self>, Error> {
        let path = source.path.as_ref().ok_or_else(|| no_pipe(source))?;
        let failed = |error| broken(&source.name, &error);
        let open = || File::open(path).map_err(|error| Error::system(&source.name, &error));
        let (file, again, headers) = (open()?, open()?, open()?);
        let stamp = |file: &File| {
            let metadata = file.metadata().map_err(|error| Error::system(&source.name, &error))?;
            Stamp::from_metadata(&metadata).ok_or_else(|| no_pipe(source))
        };
        if stamp(&file)? != stamp(&again)? || stamp(&again)? != stamp(&headers)? {
            return Err(Error::new(ErrorKind::System, &source.name, "changed while it was opened"));
        }
        let metadata = ParquetMetaDataReader::new().with_page_index_policy(PageIndexPolicy::Optional);
        let metadata = metadata.parse_and_finish(&file).map_err(failed)?;
        let reader = SerializedFileReader::new(file).map_err(failed)?;
        let shared = again.try_clone().map_err(|error| Error::system(&source.name, &error))?;
        let copied = SerializedFileReader::new(shared).map_err(failed)?;
        let (name, column) = (source.name.clone(), Column::Text(0));
        let mut table = Self { name, reader, metadata, copied, file: again, headers, most, column };
        table.column = table.choose(wanted, is_transcript)?;
        Ok(Arc::new(table))
    }

    /// Number of rows.
    #[must_use]
    pub fn len(&self) -> usize {
        usize::try_from(self.metadata().file_metadata().num_rows()).unwrap_or_default()
    }

    /// Whether it has no rows.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub(super) fn metadata(&self) -> &ParquetMetaData {
        &self.metadata
    }

    pub(super) fn group(&self, index: usize) -> Result<Box<dyn RowGroupReader + '_>, Error> {
        self.reader.get_row_group(index).map_err(|error| broken(&self.name, &error))
    }

    /// Refuses a column with a page that is larger than allowed when it is decompressed.
    pub(super) fn check_pages(&self, group: &dyn RowGroupReader, column: &Column) -> Result<(), Error> {
        let Some(most) = self.most else { return Ok(()) };
        let leaves = match column {
            Column::Text(leaf) => *leaf..leaf.saturating_add(1),
            Column::Structs { leaves, .. } => leaves.clone(),
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
    pub(super) fn reader_of(&self, group: usize, leaf: usize) -> Result<ColumnReader, ParquetError> {
        self.copied.get_row_group(group)?.get_column_reader(leaf)
    }

    fn choose(&self, wanted: Option<&str>, is_transcript: &dyn Fn(&str) -> bool) -> Result<Column, Error> {
        let found = candidates(self.metadata().file_metadata().schema_descr());
        let fits = |column: &Column| Ok(head_of(self, column)?.is_some_and(|head| is_transcript(&head)));
        let chosen = choose_column(&self.name, &found, wanted, !self.is_empty(), fits)?;
        Ok(chosen.unwrap_or(Column::Text(usize::MAX)))
    }

    fn refuse(&self, what: String) -> Error {
        Error::new(ErrorKind::Content, &self.name, what)
    }
}

fn no_pipe(source: &Source) -> Error {
    Error::new(ErrorKind::Usage, &source.name, "a Parquet file cannot be read from a pipe; name the file")
}
