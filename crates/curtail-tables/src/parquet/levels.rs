//! Copies a column without some of its rows, with some of them repeated, or without some elements of their lists.
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
//! repetition 0, and the definition level of an empty list, one below that of an element.

use std::ops::Range;

use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::column::writer::{ColumnWriter, ColumnWriterImpl};
use parquet::data_type::DataType;
use parquet::errors::{ParquetError, Result};
use parquet::schema::types::ColumnDescriptor;

use super::spool::Slot;

/// Rows that are copied at a time.
const STEP: usize = 1024;

/// Copies what `slots` keep of a leaf. `element` is the definition level at which an element of the list exists; `None` for
/// a leaf of another column, of which whole rows are kept.
pub(super) fn copy_leaf(
    from: ColumnReader,
    to: &mut ColumnWriter<'_>,
    slots: &[Slot],
    element: Option<i16>,
    leaf: &ColumnDescriptor,
) -> Result<()> {
    use ColumnReader as R;
    use ColumnWriter as W;
    match (from, to) {
        (R::BoolColumnReader(from), W::BoolColumnWriter(to)) => copy(from, to, slots, element, leaf),
        (R::Int32ColumnReader(from), W::Int32ColumnWriter(to)) => copy(from, to, slots, element, leaf),
        (R::Int64ColumnReader(from), W::Int64ColumnWriter(to)) => copy(from, to, slots, element, leaf),
        (R::Int96ColumnReader(from), W::Int96ColumnWriter(to)) => copy(from, to, slots, element, leaf),
        (R::FloatColumnReader(from), W::FloatColumnWriter(to)) => copy(from, to, slots, element, leaf),
        (R::DoubleColumnReader(from), W::DoubleColumnWriter(to)) => copy(from, to, slots, element, leaf),
        (R::ByteArrayColumnReader(from), W::ByteArrayColumnWriter(to)) => copy(from, to, slots, element, leaf),
        (R::FixedLenByteArrayColumnReader(from), W::FixedLenByteArrayColumnWriter(to)) => {
            copy(from, to, slots, element, leaf)
        }
        _ => Err(ParquetError::General(String::from("a column changed its type"))),
    }
}

fn copy<T: DataType>(
    mut from: ColumnReaderImpl<T>,
    to: &mut ColumnWriterImpl<'_, T>,
    slots: &[Slot],
    element: Option<i16>,
    leaf: &ColumnDescriptor,
) -> Result<()> {
    let mut slots = slots.iter();
    while slots.len() > 0 {
        let mut old = Entries::default();
        let most = STEP.min(slots.len());
        let (rows, _, entries) =
            from.read_records(most, Some(&mut old.definitions), Some(&mut old.repetitions), &mut old.values)?;
        if rows == 0 {
            return Err(ParquetError::General(String::from("a column has fewer rows than its row group")));
        }
        old.fill(entries, leaf);
        let mut new = Entries::default();
        old.keep(slots.by_ref().take(rows), element, leaf.max_def_level(), &mut new);
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

impl<T: Clone> Entries<T> {
    /// Writes out the levels that a leaf without nulls or without lists does not store.
    fn fill(&mut self, entries: usize, leaf: &ColumnDescriptor) {
        if leaf.max_def_level() == 0 {
            self.definitions = vec![0; entries];
        }
        if leaf.max_rep_level() == 0 {
            self.repetitions = vec![0; entries];
        }
    }

    /// Copies what `slots` keep, a slot for every row, to `new`.
    fn keep<'s>(&self, slots: impl Iterator<Item = &'s Slot>, element: Option<i16>, full: i16, new: &mut Self) {
        let (mut at, mut value) = (0, 0);
        for slot in slots {
            let end = (at + 1..self.repetitions.len()).find(|&next| self.repetitions[next] == 0);
            let end = end.unwrap_or(self.repetitions.len());
            for slot in slot.rows() {
                self.keep_row((at..end, value), slot, element, full, new);
            }
            value += self.definitions[at..end].iter().filter(|&&level| level == full).count();
            at = end;
        }
    }

    /// Copies what `slot` keeps of the row with these entries and this first value to `new`.
    fn keep_row(
        &self,
        (entries, mut value): (Range<usize>, usize),
        slot: &Slot,
        element: Option<i16>,
        full: i16,
        new: &mut Self,
    ) {
        let begun = new.repetitions.len();
        let elements = match slot {
            Slot::Elements(Some(kept)) => element.map(|element| (element, kept)),
            _ => None,
        };
        let mut number = 0;
        for entry in entries.clone() {
            number += usize::from(entry > entries.start && self.repetitions[entry] == 1);
            let kept = match elements {
                Some((element, kept)) => self.definitions[entry] < element || kept.get(number).copied().unwrap_or(true),
                None => *slot != Slot::Dropped,
            };
            let valued = self.definitions[entry] == full;
            if kept {
                // The first entry that is kept begins the row.
                let first = new.repetitions.len() == begun;
                new.repetitions.push(if first { 0 } else { self.repetitions[entry] });
                new.definitions.push(self.definitions[entry]);
                new.values.extend(valued.then(|| self.values[value].clone()));
            }
            value += usize::from(valued);
        }
        if let Some((element, _)) = elements
            && new.repetitions.len() == begun
        {
            new.repetitions.push(0);
            new.definitions.push(element - 1);
        }
    }
}
