//! Replaces the crate for tables in a build without the feature `parquet`: opening a table is an error that says what to install.

#![allow(missing_docs, clippy::missing_errors_doc, clippy::must_use_candidate)]

use std::sync::Arc;

use curtail_io::{Buffer, FileSink, RowBlock, RowResult, Source, TableFormat};
use curtail_io::{ErrorKind, FileError};

/// A table, which this build cannot open.
#[derive(Debug)]
pub enum Table {}

/// The column that is read, and how much of it at once.
pub struct WantedColumn<'w> {
    pub column: Option<&'w str>,
    pub most: Option<usize>,
}

/// The rows of a table, which this build cannot read.
pub(crate) enum Rows {}

/// The output of a table, which this build cannot write.
pub(crate) enum TableSink {}

impl Table {
    pub const fn format(&self) -> TableFormat {
        match *self {}
    }

    pub fn open(
        source: &Source,
        format: TableFormat,
        _: WantedColumn<'_>,
        _: &dyn Fn(&str) -> bool,
    ) -> Result<Arc<Self>, FileError> {
        let name = format.name();
        let reason = format!(
            "this build cannot read {name} files; in a clone of the repository, build one that can: `cargo install --path . \
             --features parquet`"
        );
        Err(FileError::new(ErrorKind::Usage, &source.name, reason))
    }
}

impl Rows {
    pub(crate) fn new(table: &Table) -> Self {
        match *table {}
    }

    pub(crate) const fn is_done(&self) -> bool {
        match *self {}
    }

    pub(crate) const fn taken(&self) -> u64 {
        match *self {}
    }

    pub(crate) fn next_block(&mut self, _: &mut Buffer, _: bool) -> Result<RowBlock, FileError> {
        match *self {}
    }
}

impl TableSink {
    pub(crate) fn new(table: &Table, _: FileSink) -> Result<Self, FileError> {
        match *table {}
    }

    pub(crate) fn write(&mut self, _: usize, _: &[RowResult], _: &[u8], _: bool) -> Result<(), FileError> {
        match *self {}
    }

    pub(crate) fn finish(self) -> Result<FileSink, FileError> {
        match self {}
    }
}
