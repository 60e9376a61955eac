//! Reads the rows of a table, in blocks of about half a megabyte.

use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::sync::Arc;

use arrow_array::cast::AsArray as _;
use arrow_array::types::{
    ArrowPrimitiveType, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type, UInt16Type,
    UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrayRef, MapArray, RecordBatchReader, StructArray};
use arrow_schema::DataType;

use super::{ArrowColumn, ArrowTable, Values, broken, guarded};
use curtail_core::error::{ErrorKind, FileError};
use curtail_io::{BLOCK, Buffer, RowBlock, RowGroup, RowPlace};

/// The number of rows of a batch in which the first text of a column is searched.
const HEAD: usize = 16;

/// Reads the rows of a table.
pub struct ArrowRows {
    table: Arc<ArrowTable>,
    batches: Option<Box<dyn RecordBatchReader + Send>>,
    /// The batch that is being read, from 0.
    batch: usize,
    /// The number of its rows that were read.
    read: usize,
    /// The number of rows of the file that were read.
    total: usize,
    /// The values of the batch, if only some of its rows were read.
    open: Option<Values>,
}

impl ArrowRows {
    /// All rows of `table`.
    #[must_use]
    pub fn new(table: &Arc<ArrowTable>) -> Self {
        let mut rows = Self { table: Arc::clone(table), batches: None, batch: 0, read: 0, total: 0, open: None };
        if rows.table.outline.batches.iter().all(|batch| batch.rows == 0) {
            rows.batch = rows.table.outline.batches.len();
        }
        rows
    }

    /// Whether all rows were read.
    #[must_use]
    pub fn is_done(&self) -> bool {
        self.table.outline.batches[self.batch.min(self.table.outline.batches.len())..].iter().all(|left| left.rows == 0)
    }

    /// The number of bytes of the file that were read, counted in whole batches.
    #[must_use]
    pub fn taken(&self) -> u64 {
        match self.is_done() {
            true => self.table.place.len,
            false => self.batch.checked_sub(1).map_or(0, |before| self.table.outline.batches[before].end),
        }
    }

    /// Fills `buffer` with the texts of the next rows of a batch, or of one row `alone`.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn next_block(&mut self, buffer: &mut Buffer, alone: bool) -> Result<RowBlock, FileError> {
        let table = Arc::clone(&self.table);
        guarded(&table.name, || self.next_unguarded(buffer, alone))
    }

    fn next_unguarded(&mut self, buffer: &mut Buffer, alone: bool) -> Result<RowBlock, FileError> {
        buffer.clear();
        let values = self.next_values()?;
        let group = RowGroup::Batch(self.batch + 1);
        let first = RowPlace { group, row: self.read + 1, structs: self.table.column.structs };
        let mut block = RowBlock { first, line: self.total + 1, texts: Vec::new() };
        let Some(values) = values else { return Ok(block) };
        while self.read < values.array.len() && buffer.len() < BLOCK && (block.texts.is_empty() || !alone) {
            push(&self.table, &values, self.read, buffer, &mut block)?;
            self.read += 1;
            self.total += 1;
        }
        match self.read == values.array.len() {
            true => (self.batch, self.read) = (self.batch + 1, 0),
            false => self.open = Some(values),
        }
        Ok(block)
    }

    /// The batch that is being read, or the next one that has rows.
    fn next_values(&mut self) -> Result<Option<Values>, FileError> {
        if let Some(open) = self.open.take() {
            return Ok(Some(open));
        }
        if self.is_done() {
            return Ok(None);
        }
        let table = &self.table;
        let batches = match &mut self.batches {
            Some(batches) => batches,
            none => {
                let field = table.column.path.first().copied();
                none.insert(table.batches(field).map_err(|error| broken(&table.name, &error))?)
            }
        };
        loop {
            let batch = batches.next().transpose().map_err(|error| broken(&table.name, &error))?;
            let message = || format!("the file ends before batch {}", self.batch + 1);
            let batch = batch.ok_or_else(|| FileError::new(ErrorKind::Content, &table.name, message()))?;
            if batch.num_rows() > 0 {
                return Ok(Some(table.column.of_projected(&batch)));
            }
            self.batch += 1;
        }
    }
}

/// Adds the text of a row to the block.
fn push(
    table: &ArrowTable,
    values: &Values,
    row: usize,
    buffer: &mut Buffer,
    block: &mut RowBlock,
) -> Result<(), FileError> {
    if values.is_null(row) {
        block.texts.push(Err(0));
        return Ok(());
    }
    let start = buffer.len();
    let appended = if table.column.structs {
        let mut text = String::new();
        write_json(&values.array, row, &mut text).map_err(|message| {
            let place = RowPlace { row: row + 1, ..block.first };
            FileError::new(ErrorKind::Content, &table.name, format!("{message} in {place}"))
        })?;
        buffer.append(text.as_bytes())
    } else {
        buffer.append(values.text(row))
    };
    appended.map_err(|error| FileError::system(&table.name, &error))?;
    block.texts.push(Ok(start..buffer.len()));
    Ok(())
}

/// The first text of a column, among the first rows of the file; `None` if there is none.
pub(super) fn head_of(table: &ArrowTable, column: &ArrowColumn) -> Result<Option<String>, FileError> {
    let batches = table.batches(column.path.first().copied()).map_err(|error| broken(&table.name, &error))?;
    for batch in batches {
        // A column that this build cannot read is not a candidate.
        let Ok(batch) = batch else { return Ok(None) };
        let values = column.of_projected(&batch);
        let Some(row) = (0..values.array.len().min(HEAD)).find(|&row| !values.is_null(row)) else {
            if batch.num_rows() == 0 {
                continue;
            }
            return Ok(None);
        };
        if !column.structs {
            return Ok(std::str::from_utf8(values.text(row)).ok().map(str::to_owned));
        }
        let mut text = String::new();
        return Ok(write_json(&values.array, row, &mut text).is_ok().then_some(text));
    }
    Ok(None)
}

// Values of arrays as JSON. Fields that are null are omitted.

/// Writes the value of `row` as JSON.
///
/// # Errors
/// The value contains invalid UTF-8, or is of a type that JSON does not have.
pub(super) fn write_json(array: &dyn Array, row: usize, out: &mut String) -> Result<(), String> {
    if array.is_null(row) {
        out.push_str("null");
        return Ok(());
    }
    match array.data_type() {
        DataType::Null => out.push_str("null"),
        DataType::Boolean => out.push_str(if array.as_boolean().value(row) { "true" } else { "false" }),
        DataType::Int8 => number::<Int8Type>(array, row, out),
        DataType::Int16 => number::<Int16Type>(array, row, out),
        DataType::Int32 => number::<Int32Type>(array, row, out),
        DataType::Int64 => number::<Int64Type>(array, row, out),
        DataType::UInt8 => number::<UInt8Type>(array, row, out),
        DataType::UInt16 => number::<UInt16Type>(array, row, out),
        DataType::UInt32 => number::<UInt32Type>(array, row, out),
        DataType::UInt64 => number::<UInt64Type>(array, row, out),
        DataType::Float32 => float(&serde_json::json!(array.as_primitive::<Float32Type>().value(row)), out),
        DataType::Float64 => float(&serde_json::json!(array.as_primitive::<Float64Type>().value(row)), out),
        DataType::Utf8 => text(array.as_string::<i32>().value(row), out),
        DataType::LargeUtf8 => text(array.as_string::<i64>().value(row), out),
        DataType::Utf8View => text(array.as_string_view().value(row), out),
        DataType::Binary => return bytes(array.as_binary::<i32>().value(row), out),
        DataType::LargeBinary => return bytes(array.as_binary::<i64>().value(row), out),
        DataType::BinaryView => return bytes(array.as_binary_view().value(row), out),
        DataType::Struct(_) => return write_struct(array.as_struct(), row, out),
        DataType::List(_) => return write_list(&array.as_list::<i32>().value(row), out),
        DataType::LargeList(_) => return write_list(&array.as_list::<i64>().value(row), out),
        DataType::FixedSizeList(..) => return write_list(&array.as_fixed_size_list().value(row), out),
        DataType::Map(..) => return write_map(array.as_map(), row, out),
        DataType::Dictionary(..) => {
            let (dictionary, mut key) = (array.as_any_dictionary(), String::new());
            write_json(dictionary.keys(), row, &mut key)?;
            // The library has checked the keys.
            return write_json(dictionary.values(), key.parse().unwrap_or_default(), out);
        }
        other => return Err(format!("a value of type {other}, which has no JSON form")),
    }
    Ok(())
}

fn number<T: ArrowPrimitiveType>(array: &dyn Array, row: usize, out: &mut String)
where
    T::Native: std::fmt::Display,
{
    // Writing to a String cannot fail.
    let _ = write!(out, "{}", array.as_primitive::<T>().value(row));
}

fn float(value: &serde_json::Value, out: &mut String) {
    out.push_str(&value.to_string());
}

fn text(text: &str, out: &mut String) {
    out.push_str(&serde_json::json!(text).to_string());
}

fn bytes(bytes: &[u8], out: &mut String) -> Result<(), String> {
    text(std::str::from_utf8(bytes).map_err(|_| String::from("invalid UTF-8"))?, out);
    Ok(())
}

fn write_struct(array: &StructArray, row: usize, out: &mut String) -> Result<(), String> {
    let mut before = '{';
    for (field, column) in array.fields().iter().zip(array.columns()) {
        if column.is_null(row) || column.data_type() == &DataType::Null {
            continue;
        }
        out.push(before);
        text(field.name(), out);
        out.push(':');
        write_json(column, row, out)?;
        before = ',';
    }
    out.push_str(if before == '{' { "{}" } else { "}" });
    Ok(())
}

fn write_list(elements: &ArrayRef, out: &mut String) -> Result<(), String> {
    out.push('[');
    for index in 0..elements.len() {
        if index > 0 {
            out.push(',');
        }
        write_json(elements, index, out)?;
    }
    out.push(']');
    Ok(())
}

fn write_map(array: &MapArray, row: usize, out: &mut String) -> Result<(), String> {
    let entries = array.value(row);
    let (keys, values) = (entries.column(0), entries.column(1));
    let mut before = '{';
    for index in (0..entries.len()).filter(|&index| !values.is_null(index)) {
        let mut key = String::new();
        write_json(keys, index, &mut key)?;
        out.push(before);
        match key.starts_with('"') {
            true => out.push_str(&key),
            false => text(&key, out),
        }
        out.push(':');
        write_json(values, index, out)?;
        before = ',';
    }
    out.push_str(if before == '{' { "{}" } else { "}" });
    Ok(())
}

// A file that several readers share.

/// A reader of a shared file, with its own position.
#[derive(Debug, Clone)]
pub(super) struct Place {
    file: Arc<File>,
    at: u64,
    /// The length of the file when it was opened.
    pub(super) len: u64,
}

impl Place {
    /// A reader at the beginning of `file`.
    pub(super) fn new(file: File) -> io::Result<Self> {
        let len = file.metadata()?.len();
        Ok(Self { file: Arc::new(file), at: 0, len })
    }

    /// A reader of the same file at the offset `at`.
    pub(super) fn at(&self, at: u64) -> Self {
        Self { at, ..self.clone() }
    }
}

impl Read for Place {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        #[cfg(unix)]
        let read = std::os::unix::fs::FileExt::read_at(&*self.file, buffer, self.at)?;
        #[cfg(windows)]
        let read = std::os::windows::fs::FileExt::seek_read(&*self.file, buffer, self.at)?;
        self.at += read as u64;
        Ok(read)
    }
}

impl Seek for Place {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let target = match to {
            SeekFrom::Start(at) => Some(at),
            SeekFrom::End(by) => self.len.checked_add_signed(by),
            SeekFrom::Current(by) => self.at.checked_add_signed(by),
        };
        self.at = target.ok_or_else(|| io::Error::from(io::ErrorKind::InvalidInput))?;
        Ok(self.at)
    }
}
