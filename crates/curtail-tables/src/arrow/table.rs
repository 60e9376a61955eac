//! An open Arrow IPC file or stream, and the column of it that is read.

use std::fs::File;
use std::sync::Arc;

use arrow_array::RecordBatchReader;
use arrow_ipc::reader::{FileReader, StreamReader};
use arrow_schema::{ArrowError, Schema};

use super::columns::{Column, candidates};
use super::outline::Outline;
use super::place::Place;
use super::rows::head_of;
use super::{broken, guarded};
use crate::columns::choose_column;
use curtail_core::error::{Error, ErrorKind};
use curtail_io::Source;

/// An open Arrow IPC file or stream with the column that holds its transcripts.
#[derive(Debug)]
pub struct Table {
    pub(super) name: String,
    pub(super) place: Place,
    /// Whether it has the form of a stream, without a footer.
    pub(super) stream: bool,
    pub(super) outline: Outline,
    pub(super) column: Column,
}

impl Table {
    /// Opens the Arrow file of `source`, or the `stream` in it, at the column `wanted`, or at the only column whose first
    /// text is a transcript. A batch of more than `most` bytes is neither read nor decompressed.
    ///
    /// # Errors
    /// The file cannot be read, has no such column, or no column or more than one that `is_transcript`.
    pub fn open(
        source: &Source,
        stream: bool,
        (wanted, most): (Option<&str>, Option<usize>),
        is_transcript: &dyn Fn(&str) -> bool,
    ) -> Result<Arc<Self>, Error> {
        guarded(&source.name, || Self::open_unguarded(source, stream, (wanted, most), is_transcript))
    }

    fn open_unguarded(
        source: &Source,
        stream: bool,
        (wanted, most): (Option<&str>, Option<usize>),
        is_transcript: &dyn Fn(&str) -> bool,
    ) -> Result<Arc<Self>, Error> {
        let pipe =
            || Error::new(ErrorKind::Usage, &source.name, "an Arrow file cannot be read from a pipe; name the file");
        let path = source.path.as_ref().ok_or_else(pipe)?;
        let file = File::open(path).map_err(|error| Error::system(&source.name, &error))?;
        if !file.metadata().map_err(|error| Error::system(&source.name, &error))?.is_file() {
            return Err(pipe());
        }
        let place = Place::new(file).map_err(|error| Error::system(&source.name, &error))?;
        let failed = |error| broken(&source.name, &error);
        let most = most.map_or(u64::MAX, |most| most as u64);
        let outline = if stream { Outline::of_stream(&place, most) } else { Outline::of_file(&place, most) };
        let outline = outline.map_err(failed)?;
        let mut table = Self { name: source.name.clone(), place, stream, outline, column: Column::default() };
        let schema = table.batches(None).map_err(failed)?.schema();
        table.column = table.choose(&schema, wanted, is_transcript)?;
        Ok(Arc::new(table))
    }

    /// Whether it has the form of a stream, without a footer.
    #[must_use]
    pub const fn is_stream(&self) -> bool {
        self.stream
    }

    /// Reads the batches from the first one on, with all fields at the top or with one.
    pub(super) fn batches(&self, field: Option<usize>) -> Result<Box<dyn RecordBatchReader + Send>, ArrowError> {
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
    ) -> Result<Column, Error> {
        let has_rows = self.outline.batches.iter().any(|batch| batch.rows > 0);
        let fits = |column: &Column| Ok(head_of(self, column)?.is_some_and(|head| is_transcript(&head)));
        let chosen = choose_column(&self.name, &candidates(schema), wanted, has_rows, fits)?;
        Ok(chosen.unwrap_or_default())
    }
}
