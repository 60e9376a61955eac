//! Transcripts that are rows of a table: the place of a row, and its result.

use std::ops::Range;

/// The first four bytes of a Parquet file.
pub const PARQUET: &[u8] = b"PAR1";

/// The place of a row in its table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RowPlace {
    /// The number of its row group, from 1.
    pub group: usize,
    /// Its number in the row group, from 1.
    pub row: usize,
    /// Whether its text was made from a list of structs, of which a cut can only drop elements.
    pub structs: bool,
}

impl std::fmt::Display for RowPlace {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "row group {}, row {}", self.group, self.row)
    }
}

/// Rows that are processed together, all of one row group. Their texts are in a buffer, one after the other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RowBlock {
    /// The place of the first row.
    pub first: RowPlace,
    /// The number of the first row in the file, from 1.
    pub line: usize,
    /// Where each row's text is in the buffer; `Err` for a null, with its definition level.
    pub texts: Vec<Result<Range<usize>, i16>>,
}

/// The result of a row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RowResult {
    /// It is null, as before, at this definition level.
    Null(i16),
    /// It failed and is dropped from the table.
    Dropped,
    /// It has a new text, which ends at this place of the output.
    Text(usize),
    /// These elements of its list are kept.
    Elements(Vec<bool>),
    /// All elements of its list are kept.
    Unchanged,
    /// It became several rows, each with a result of its own.
    Rows(Vec<RowResult>),
}

impl RowResult {
    /// The number of rows that came of it.
    #[must_use]
    pub fn count(&self) -> usize {
        match self {
            Self::Dropped => 0,
            Self::Rows(rows) => rows.len(),
            _ => 1,
        }
    }
}
