//! The entries of a leaf, with the levels that [`super::copy`] describes: those of an old row, and those that store a new
//! element.

use std::cell::RefCell;
use std::collections::HashMap;
use std::ops::Range;

use curtail_io::Fitted;

use super::made::Made;
use super::nodes::{Kind, Node};

/// The entries of an old row in one leaf.
pub(super) struct OldRow<'o, T> {
    pub(super) definitions: &'o [i16],
    pub(super) repetitions: &'o [i16],
    /// The values of the entries whose definition level is the leaf's highest.
    values: &'o [T],
    /// For each entry, the number of values before it.
    values_before: Vec<usize>,
    /// The highest definition level.
    full: i16,
    /// Where the values of a node are that are not null, by its levels.
    places: RefCell<HashMap<Levels, Vec<Range<usize>>>>,
}

/// The levels of a node, which tell it from the others around a leaf.
#[derive(PartialEq, Eq, Hash)]
struct Levels {
    definition: i16,
    repetition: i16,
}

impl<'o, T> OldRow<'o, T> {
    pub(super) fn new(definitions: &'o [i16], repetitions: &'o [i16], values: &'o [T], full: i16) -> Self {
        let mut values_before = Vec::with_capacity(definitions.len());
        let mut before = 0;
        for level in definitions {
            values_before.push(before);
            before += usize::from(*level == full);
        }
        Self { definitions, repetitions, values, values_before, full, places: RefCell::default() }
    }

    /// Where the value of `node` with this number is, among those that are not null.
    fn place(&self, node: &Node, number: usize) -> Option<Range<usize>> {
        let levels = Levels { definition: node.definition, repetition: node.repetition };
        let mut places = self.places.borrow_mut();
        places.entry(levels).or_insert_with(|| self.places_of(node)).get(number).cloned()
    }

    fn places_of(&self, node: &Node) -> Vec<Range<usize>> {
        let starts: Vec<usize> =
            (0..self.repetitions.len()).filter(|entry| self.repetitions[*entry] <= node.repetition).collect();
        let ends = starts.iter().skip(1).copied().chain([self.repetitions.len()]);
        let all = starts.iter().copied().zip(ends);
        let there = all.filter(|(start, _)| self.definitions[*start] >= node.definition);
        there.map(|(start, end)| start..end).collect()
    }
}

/// What is stored in a leaf.
pub(super) struct NewEntries<'n, T> {
    pub(super) definitions: &'n mut Vec<i16>,
    pub(super) repetitions: &'n mut Vec<i16>,
    pub(super) values: &'n mut Vec<T>,
}

impl<T: Made> NewEntries<'_, T> {
    fn push(&mut self, repetition: i16, definition: i16) {
        self.repetitions.push(repetition);
        self.definitions.push(definition);
    }

    /// Copies entries of an old row, of which the first one gets this repetition level.
    pub(super) fn copy(&mut self, old: &OldRow<'_, T>, entries: Range<usize>, repetition: i16) {
        for entry in entries.clone() {
            self.push(if entry == entries.start { repetition } else { old.repetitions[entry] }, old.definitions[entry]);
            if old.definitions[entry] == old.full {
                self.values.push(old.values[old.values_before[entry]].clone());
            }
        }
    }

    /// Adds a new value of `node` to the entries of `leaf`; `None` if it is null. Returns `None` if it does not fit.
    pub(super) fn add(
        &mut self,
        node: &Node,
        leaf: usize,
        fitted: Option<&Fitted>,
        repetition: i16,
        old: &OldRow<'_, T>,
    ) -> Option<()> {
        let Some(fitted) = fitted.filter(|fitted| **fitted != Fitted::Null) else {
            self.push(repetition, null_level(node)?);
            return Some(());
        };
        match (&node.kind, fitted) {
            (_, Fitted::Old(number)) => self.copy(old, old.place(node, *number)?, repetition),
            (Kind::Leaf(_), fitted) => {
                self.push(repetition, node.definition);
                self.values.push(T::made(fitted)?);
            }
            (Kind::Struct(fields), fitted) => {
                let place = fields.iter().position(|(_, node)| node.leaves.contains(&leaf))?;
                self.add(&fields[place].1, leaf, fitted.field(place), repetition, old)?;
            }
            (Kind::List(_), fitted) if fitted.items().is_empty() => self.push(repetition, node.definition),
            (Kind::List(item), fitted) => {
                for (number, value) in fitted.items().iter().enumerate() {
                    let repetition = if number == 0 { repetition } else { item.repetition };
                    self.add(item, leaf, Some(value), repetition, old)?;
                }
            }
            (Kind::Map, _) => return None,
        }
        Some(())
    }
}

/// The definition level of a null; `None` if the node cannot be null. A list that cannot is empty instead.
fn null_level(node: &Node) -> Option<i16> {
    match node.kind {
        _ if node.optional => Some(node.definition - 1),
        Kind::List(_) => Some(node.definition),
        _ => None,
    }
}
