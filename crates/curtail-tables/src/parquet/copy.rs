//! Copies a column without some of its rows, with some rows repeated, or with other elements in their lists.
//!
//! A leaf is stored as values with two levels each. A repetition level of 0 begins a row. In a list of structs
//! `[{a}, {b, c}]`, the leaf of the structs has these entries:
//!
//! ```text
//! repetition  definition
//!     0           3        the first element, which begins the row
//!     1           3        the second element
//! ```
//!
//! Without its first element, the second one begins the row and gets the repetition level 0. Without both, one entry remains:
//! repetition 0, and the definition level of an empty list, one below that of an element. Elements that are new are stored by
//! [`super::entries`].

use std::ops::Range;

use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::column::writer::{ColumnWriter, ColumnWriterImpl};
use parquet::data_type::DataType;
use parquet::errors::{ParquetError, Result};
use parquet::schema::types::ColumnDescriptor;

use super::entries::{NewEntries, OldRow};
use super::made::Made;
use super::nodes::Node;
use crate::{NewTexts, rows_of};
use curtail_io::{Element, RowResult};

/// The number of rows that are copied at a time.
const ROWS: usize = 1024;

/// A leaf of a list of structs.
#[derive(Clone, Copy)]
pub(super) struct ListLeaf<'n> {
    /// The elements of the list.
    pub(super) node: &'n Node,
    /// The number of the leaf.
    pub(super) leaf: usize,
}

/// Copies the parts of a leaf that `rows` keep, with the elements in `texts` that are new. `list` is `None` for a leaf of another
/// column, of which whole rows are kept.
pub(super) fn copy_leaf(
    from: ColumnReader,
    to: &mut ColumnWriter<'_>,
    rows: &[RowResult],
    texts: &mut NewTexts,
    list: Option<ListLeaf<'_>>,
    leaf: &ColumnDescriptor,
) -> Result<()> {
    use ColumnReader as R;
    use ColumnWriter as W;
    match (from, to) {
        (R::BoolColumnReader(from), W::BoolColumnWriter(to)) => copy(from, to, (rows, texts), list, leaf),
        (R::Int32ColumnReader(from), W::Int32ColumnWriter(to)) => copy(from, to, (rows, texts), list, leaf),
        (R::Int64ColumnReader(from), W::Int64ColumnWriter(to)) => copy(from, to, (rows, texts), list, leaf),
        (R::Int96ColumnReader(from), W::Int96ColumnWriter(to)) => copy(from, to, (rows, texts), list, leaf),
        (R::FloatColumnReader(from), W::FloatColumnWriter(to)) => copy(from, to, (rows, texts), list, leaf),
        (R::DoubleColumnReader(from), W::DoubleColumnWriter(to)) => copy(from, to, (rows, texts), list, leaf),
        (R::ByteArrayColumnReader(from), W::ByteArrayColumnWriter(to)) => copy(from, to, (rows, texts), list, leaf),
        (R::FixedLenByteArrayColumnReader(from), W::FixedLenByteArrayColumnWriter(to)) => {
            copy(from, to, (rows, texts), list, leaf)
        }
        _ => Err(ParquetError::General(String::from("a column changed its type"))),
    }
}

fn copy<T: DataType>(
    mut from: ColumnReaderImpl<T>,
    to: &mut ColumnWriterImpl<'_, T>,
    (rows, texts): (&[RowResult], &mut NewTexts),
    list: Option<ListLeaf<'_>>,
    leaf: &ColumnDescriptor,
) -> Result<()>
where
    T::T: Made,
{
    let mut left = rows.iter();
    while left.len() > 0 {
        let mut old = Entries::default();
        let most = ROWS.min(left.len());
        let (read, _, entries) =
            from.read_records(most, Some(&mut old.definitions), Some(&mut old.repetitions), &mut old.values)?;
        if read == 0 {
            return Err(ParquetError::General(String::from("a column has fewer rows than its row group")));
        }
        old.fill(entries, leaf);
        let mut new = Entries::default();
        old.keep(left.by_ref().take(read), texts, list, leaf.max_def_level(), &mut new)?;
        let definitions = (leaf.max_def_level() > 0).then_some(new.definitions.as_slice());
        let repetitions = (leaf.max_rep_level() > 0).then_some(new.repetitions.as_slice());
        to.write_batch(&new.values, definitions, repetitions)?;
    }
    Ok(())
}

/// Entries of a leaf.
struct Entries<T> {
    definitions: Vec<i16>,
    repetitions: Vec<i16>,
    /// The values of the entries whose definition level is the leaf's highest.
    values: Vec<T>,
}

impl<T> Default for Entries<T> {
    fn default() -> Self {
        Self { definitions: Vec::new(), repetitions: Vec::new(), values: Vec::new() }
    }
}

impl<T: Made> Entries<T> {
    /// Fills in the levels that a leaf without nulls or without lists does not store.
    fn fill(&mut self, entries: usize, leaf: &ColumnDescriptor) {
        if leaf.max_def_level() == 0 {
            self.definitions = vec![0; entries];
        }
        if leaf.max_rep_level() == 0 {
            self.repetitions = vec![0; entries];
        }
    }

    /// Copies the entries that `rows` keep to `new`. `full` is the leaf's highest definition level.
    fn keep<'r>(
        &self,
        rows: impl Iterator<Item = &'r RowResult>,
        texts: &mut NewTexts,
        list: Option<ListLeaf<'_>>,
        full: i16,
        new: &mut Self,
    ) -> Result<()> {
        let mut at = 0;
        let mut value = 0;
        for row in rows {
            let end = (at + 1..self.repetitions.len()).find(|&next| self.repetitions[next] == 0);
            let end = end.unwrap_or(self.repetitions.len());
            let values = self.definitions[at..end].iter().filter(|&&level| level == full).count();
            for row in rows_of(row) {
                match (row, list) {
                    (RowResult::Text(end_of_text), Some(list)) => {
                        let old = OldRow::new(
                            &self.definitions[at..end],
                            &self.repetitions[at..end],
                            &self.values[value..value + values],
                            full,
                        );
                        let elements = Element::read_all(&texts.next(*end_of_text)?).map_err(ParquetError::General)?;
                        new.remake_row(&old, &elements, list)?;
                    }
                    _ => self.keep_row(at..end, value, row, list.map(|list| list.node.existence()), full, new),
                }
            }
            value += values;
            at = end;
        }
        Ok(())
    }

    /// Adds a row with these elements.
    fn remake_row(&mut self, old: &OldRow<'_, T>, elements: &[Element], list: ListLeaf<'_>) -> Result<()> {
        let starts: Vec<usize> =
            (0..old.repetitions.len()).filter(|&entry| entry == 0 || old.repetitions[entry] == 1).collect();
        let mut new = NewEntries {
            definitions: &mut self.definitions,
            repetitions: &mut self.repetitions,
            values: &mut self.values,
        };
        if elements.is_empty() {
            new.repetitions.push(0);
            new.definitions.push(list.node.existence() - 1);
        }
        for (number, element) in elements.iter().enumerate() {
            let repetition = i16::from(number > 0);
            let added = match element {
                Element::Kept(kept) => starts.get(*kept).map(|&start| {
                    let end = starts.get(kept + 1).copied().unwrap_or(old.repetitions.len());
                    new.copy(old, start..end, repetition);
                }),
                Element::New(fitted) => new.add(list.node, list.leaf, Some(fitted), repetition, old),
            };
            added.ok_or_else(|| ParquetError::General(String::from("a new element does not fit the column")))?;
        }
        Ok(())
    }

    /// Copies the entries that `row` keeps of an old row to `new`. `entries` are those of the old row, and `value` is the
    /// index of its first value.
    fn keep_row(
        &self,
        entries: Range<usize>,
        mut value: usize,
        row: &RowResult,
        element: Option<i16>,
        full: i16,
        new: &mut Self,
    ) {
        let row_start = new.repetitions.len();
        let elements = match row {
            RowResult::Elements(kept) => element.map(|element| (element, kept)),
            _ => None,
        };
        let mut number = 0;
        for entry in entries.clone() {
            number += usize::from(entry > entries.start && self.repetitions[entry] == 1);
            let kept = match elements {
                Some((element, kept)) => self.definitions[entry] < element || kept.get(number).copied().unwrap_or(true),
                None => true,
            };
            let has_value = self.definitions[entry] == full;
            if kept {
                // The first entry that is kept begins the row.
                let first = new.repetitions.len() == row_start;
                new.repetitions.push(if first { 0 } else { self.repetitions[entry] });
                new.definitions.push(self.definitions[entry]);
                new.values.extend(has_value.then(|| self.values[value].clone()));
            }
            value += usize::from(has_value);
        }
        if let Some((element, _)) = elements
            && new.repetitions.len() == row_start
        {
            new.repetitions.push(0);
            new.definitions.push(element - 1);
        }
    }
}
