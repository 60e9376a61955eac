//! An open table, and which of its columns contains transcripts.

use std::sync::Arc;

use curtail_io::{Buffer, ErrorKind, FileError, RowGroup, RowPlace, Shape, TableFormat};

use crate::block::{NewBlock, STEP};
use crate::{Column, Extent, TableFile};

/// An open table, and the column that contains its transcripts.
#[derive(Debug)]
pub(crate) struct ColumnTable {
    pub(crate) name: String,
    pub(crate) format: TableFormat,
    pub(crate) file: Arc<dyn TableFile>,
    pub(crate) groups: Vec<Extent>,
    /// The column; the default if none was found because the table has no rows.
    pub(crate) column: Column,
    /// What its elements can be, if it is one of lists of structs.
    pub(crate) shape: Option<Shape>,
}

impl ColumnTable {
    /// Chooses the column that contains transcripts: of the columns `found`, the one called `wanted` or, without a name,
    /// the only one whose first text `is_transcript`. The default if no column fits because the table has no rows.
    pub(crate) fn choose_column(
        &self,
        found: Vec<Column>,
        wanted: Option<&str>,
        is_transcript: &dyn Fn(&str) -> bool,
    ) -> Result<Column, FileError> {
        if let Some(wanted) = wanted {
            return match found.iter().find(|column| column.name == wanted) {
                Some(column) => Ok(column.clone()),
                None if found.is_empty() => {
                    Err(self.refuse(format!("no column `{wanted}` of texts or of lists of structs")))
                }
                None => Err(self.refuse(format!("no column `{wanted}`; columns of texts or lists: {}", names(&found)))),
            };
        }
        let mut fitting = Vec::new();
        let mut others = Vec::new();
        let mut broken = Vec::new();
        for column in found {
            match self.first_text(&column) {
                Ok(text) if text.as_deref().is_some_and(is_transcript) => fitting.push(column),
                Ok(_) => others.push(column),
                // What cannot be read is not a candidate, unless there is no other.
                Err(error) => broken.push(format!("column `{}`: {}", column.name, error.what)),
            }
        }
        if let [column] = fitting.as_slice() {
            return Ok(column.clone());
        }
        if fitting.is_empty() && self.groups.iter().all(|group| group.rows == 0) {
            return Ok(Column::default());
        }
        let message = match fitting.as_slice() {
            [] if !broken.is_empty() => {
                format!("no column that can be read holds transcripts; {}", broken.join("; "))
            }
            [] if others.is_empty() => String::from("no column holds texts or lists of messages"),
            [] => format!("no column holds transcripts (looked in {}); name one with --column", names(&others)),
            several => format!("columns {} hold transcripts; name one with --column", names(several)),
        };
        Err(self.refuse(message))
    }

    fn refuse(&self, message: String) -> FileError {
        FileError::new(ErrorKind::Content, &self.name, message)
    }

    /// The first text of a column, among the first rows of the file; `None` if there is none.
    fn first_text(&self, column: &Column) -> Result<Option<String>, FileError> {
        let Some(group) = self.groups.iter().position(|group| group.rows > 0) else { return Ok(None) };
        let mut reader = Arc::clone(&self.file).reader(column)?;
        let mut buffer = Buffer::default();
        let rows = self.groups[group].rows.min(STEP);
        let first = RowPlace { group: self.group(group), row: 1, structs: column.structs };
        let mut block = NewBlock::new(&self.name, &mut buffer, first, 1);
        reader.begin(group)?;
        while block.rows.texts.len() < rows && block.rows.texts.iter().all(Result::is_err) {
            if reader.read(rows - block.rows.texts.len(), &mut block)? == 0 {
                break;
            }
        }
        let text = block.rows.texts.into_iter().flatten().next();
        Ok(text.and_then(|range| std::str::from_utf8(&buffer[range]).ok().map(str::to_owned)))
    }

    /// The row group or batch with this index, from 0.
    pub(crate) const fn group(&self, index: usize) -> RowGroup {
        match self.format {
            TableFormat::Parquet => RowGroup::Group(index + 1),
            TableFormat::ArrowFile | TableFormat::ArrowStream => RowGroup::Batch(index + 1),
        }
    }
}

fn names(columns: &[Column]) -> String {
    columns.iter().map(|column| format!("`{}`", column.name)).collect::<Vec<_>>().join(", ")
}
