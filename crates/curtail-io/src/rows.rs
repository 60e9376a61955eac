//! Transcripts that are rows of a table: the place of a row, and its result.

use std::fmt;
use std::ops::Range;

/// The format of a file that is a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TableFormat {
    /// Parquet.
    Parquet,
    /// An Arrow IPC file, which is also called Feather version 2.
    ArrowFile,
    /// An Arrow IPC stream.
    ArrowStream,
}

impl TableFormat {
    /// The format of a file that begins with the four bytes `head`. No transcript that is text begins with these bytes.
    pub fn of_head(head: &[u8]) -> Option<Self> {
        match head {
            b"PAR1" => Some(Self::Parquet),
            b"ARRO" => Some(Self::ArrowFile),
            [0xff, 0xff, 0xff, 0xff] => Some(Self::ArrowStream),
            _ => None,
        }
    }

    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Parquet => "Parquet",
            Self::ArrowFile | Self::ArrowStream => "Arrow",
        }
    }

    /// Whether a file of this format may have `extension`: it must not be that of another format.
    pub fn fits(self, extension: &str) -> bool {
        match extension {
            "jsonl" | "ndjson" | "json" => false,
            _ if Self::is_extension(extension) => (extension == "parquet") == (self == Self::Parquet),
            _ => true,
        }
    }

    /// Whether `extension` is that of a table.
    pub fn is_extension(extension: &str) -> bool {
        matches!(extension, "parquet" | "arrow" | "feather" | "ipc")
    }
}

/// The part of a table that contains a row, with its number, from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RowGroup {
    /// A row group of a Parquet file.
    Group(usize),
    /// A record batch of an Arrow file.
    Batch(usize),
}

impl RowGroup {
    /// Its number, from 1.
    pub const fn number(self) -> usize {
        match self {
            Self::Group(number) | Self::Batch(number) => number,
        }
    }
}

impl fmt::Display for RowGroup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Group(number) => write!(f, "row group {number}"),
            Self::Batch(number) => write!(f, "batch {number}"),
        }
    }
}

/// The place of a row in its table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RowPlace {
    /// The row group or batch that contains it.
    pub group: RowGroup,
    /// Its number in the row group or batch, from 1.
    pub row: usize,
    /// Whether its text was made from a list of structs.
    pub structs: bool,
}

impl fmt::Display for RowPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, row {}", self.group, self.row)
    }
}

/// Rows of one row group or batch that are processed together. Their texts are in a buffer, one after another.
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
    /// It is still null, at this definition level.
    Null(i16),
    /// It failed and is dropped from the table.
    Dropped,
    /// It has a new text, which ends at this offset of the output. Of a list of structs, the text has the
    /// [`Element`](crate::Element)s.
    Text(usize),
    /// These elements of its list are kept.
    Elements(Vec<bool>),
    /// All elements of its list are kept.
    Unchanged,
    /// It became several rows, each with its result.
    Rows(Vec<RowResult>),
}

impl RowResult {
    /// The number of rows that it became.
    pub fn count(&self) -> usize {
        match self {
            Self::Dropped => 0,
            Self::Rows(rows) => rows.len(),
            _ => 1,
        }
    }
}
