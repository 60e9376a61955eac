//! A list of structs as the tree of its schema, in which a new element is stored leaf by leaf: as entries with the levels that
//! [`super::copy`] describes.

use std::cell::RefCell;
use std::collections::HashMap;
use std::ops::Range;

use curtail_io::{Field, Fitted, Shape};
use parquet::basic::{ConvertedType, LogicalType, Repetition, Type as Physical};
use parquet::data_type::{ByteArray, FixedLenByteArray, Int96};
use parquet::schema::types::Type;

/// A value of the schema.
#[derive(Debug)]
pub(super) struct Node {
    kind: Kind,
    /// The leaves below it.
    leaves: Range<usize>,
    optional: bool,
    /// Its definition level if it is not null.
    definition: i16,
    /// The repetition level of the lists that contain it.
    repetition: i16,
}

#[derive(Debug)]
enum Kind {
    Leaf(Shape),
    Struct(Vec<(String, Node)>),
    List(Box<Node>),
    /// A map, whose values can only stay.
    Map,
}

impl Node {
    /// The elements of the list that `field` is, whose first leaf is `leaf`.
    pub(super) fn of_elements(field: &Type, leaf: usize) -> Option<Self> {
        let mut tree = Tree { leaf };
        match tree.node(field, 0, 0).kind {
            Kind::List(element) => Some(*element),
            _ => None,
        }
    }

    pub(super) fn shape(&self) -> Shape {
        match &self.kind {
            Kind::Leaf(shape) => shape.clone(),
            Kind::Struct(fields) => Shape::Struct(fields.iter().map(|(name, node)| node.field(name)).collect()),
            Kind::List(item) => Shape::List(Box::new(item.shape())),
            Kind::Map => Shape::Other(String::from("map")),
        }
    }

    fn field(&self, name: &str) -> Field {
        // A list that is repeated without a group around it may have no items.
        let optional = self.optional || matches!(self.kind, Kind::List(_));
        Field { name: name.to_owned(), shape: self.shape(), optional }
    }
}

/// The tree that is built, with the number of the next leaf.
struct Tree {
    leaf: usize,
}

impl Tree {
    /// The node of a type below these levels.
    fn node(&mut self, kind: &Type, definition: i16, repetition: i16) -> Node {
        if kind.get_basic_info().has_repetition() && kind.get_basic_info().repetition() == Repetition::REPEATED {
            let start = self.leaf;
            let item = self.required(kind, definition + 1, repetition + 1);
            let leaves = start..self.leaf;
            return Node { kind: Kind::List(Box::new(item)), leaves, optional: false, definition, repetition };
        }
        let optional =
            kind.get_basic_info().has_repetition() && kind.get_basic_info().repetition() == Repetition::OPTIONAL;
        let node = self.required(kind, definition + i16::from(optional), repetition);
        Node { optional, ..node }
    }

    /// The node of a type that is there, whatever its repetition.
    fn required(&mut self, kind: &Type, definition: i16, repetition: i16) -> Node {
        let start = self.leaf;
        let made = if kind.is_primitive() {
            self.leaf += 1;
            Kind::Leaf(shape_of(kind))
        } else {
            match (kind.get_basic_info().converted_type(), kind.get_fields()) {
                (ConvertedType::LIST, [repeated]) => {
                    let item = match element_of(repeated) {
                        Some(element) => self.node(element, definition + 1, repetition + 1),
                        None => self.required(repeated, definition + 1, repetition + 1),
                    };
                    Kind::List(Box::new(item))
                }
                (ConvertedType::MAP | ConvertedType::MAP_KEY_VALUE, _) => {
                    self.leaf += leaves_below(kind);
                    Kind::Map
                }
                (_, fields) => {
                    let fields = fields.iter();
                    let fields =
                        fields.map(|field| (field.name().to_owned(), self.node(field, definition, repetition)));
                    Kind::Struct(fields.collect())
                }
            }
        };
        Node { kind: made, leaves: start..self.leaf, optional: false, definition, repetition }
    }
}

fn leaves_below(kind: &Type) -> usize {
    if kind.is_primitive() { 1 } else { kind.get_fields().iter().map(|field| leaves_below(field)).sum() }
}

/// The element in the repeated group of a list; `None` if the group itself is the element, as older writers have it.
fn element_of(repeated: &Type) -> Option<&Type> {
    let [only] = (if repeated.is_group() { repeated.get_fields() } else { &[] }) else { return None };
    let is_list = repeated.get_basic_info().converted_type() == ConvertedType::LIST;
    let holds_list = only.get_basic_info().repetition() == Repetition::REPEATED;
    let is_element = !is_list && !holds_list && (repeated.name() == "array" || repeated.name().ends_with("_tuple"));
    (!is_element).then_some(only)
}

fn shape_of(kind: &Type) -> Shape {
    let converted = kind.get_basic_info().converted_type();
    let is_float16 = kind.get_basic_info().logical_type_ref() == Some(&LogicalType::Float16);
    let other =
        || Shape::Other(if is_float16 { String::from("float16") } else { converted.to_string().to_lowercase() });
    let range = |least: i64, most: u64| Shape::Integer(i128::from(least)..=i128::from(most));
    match (kind.get_physical_type(), converted) {
        (Physical::BOOLEAN, _) => Shape::Truth,
        (Physical::FLOAT | Physical::DOUBLE, _) => Shape::Float,
        (Physical::INT32, ConvertedType::INT_8) => range(i8::MIN.into(), 0x7f),
        (Physical::INT32, ConvertedType::INT_16) => range(i16::MIN.into(), 0x7fff),
        (Physical::INT32, ConvertedType::UINT_8) => range(0, u8::MAX.into()),
        (Physical::INT32, ConvertedType::UINT_16) => range(0, u16::MAX.into()),
        (Physical::INT32, ConvertedType::UINT_32) => range(0, u32::MAX.into()),
        (Physical::INT32, ConvertedType::NONE | ConvertedType::INT_32) => range(i32::MIN.into(), 0x7fff_ffff),
        (Physical::INT64, ConvertedType::UINT_64) => range(0, u64::MAX),
        (Physical::INT64, ConvertedType::NONE | ConvertedType::INT_64) => range(i64::MIN, u64::MAX >> 1),
        (Physical::BYTE_ARRAY, ConvertedType::UTF8 | ConvertedType::ENUM | ConvertedType::JSON) => Shape::Text,
        (Physical::BYTE_ARRAY, ConvertedType::NONE | ConvertedType::BSON) => Shape::Bytes,
        _ => other(),
    }
}

/// A value of a leaf that a cut made.
pub(super) trait Made: Clone {
    /// The value; `None` if it is of another type.
    fn made(fitted: &Fitted) -> Option<Self>;
}

fn digits(fitted: &Fitted) -> Option<&str> {
    if let Fitted::Number(digits) = fitted { Some(digits) } else { None }
}

impl Made for bool {
    fn made(fitted: &Fitted) -> Option<Self> {
        if let Fitted::Truth(truth) = fitted { Some(*truth) } else { None }
    }
}

impl Made for i32 {
    fn made(fitted: &Fitted) -> Option<Self> {
        let digits = digits(fitted)?;
        // An integer without a sign is stored as the one with a sign that has its bits.
        digits.parse().ok().or_else(|| digits.parse::<u32>().ok().map(u32::cast_signed))
    }
}

impl Made for i64 {
    fn made(fitted: &Fitted) -> Option<Self> {
        let digits = digits(fitted)?;
        digits.parse().ok().or_else(|| digits.parse::<u64>().ok().map(u64::cast_signed))
    }
}

impl Made for f32 {
    fn made(fitted: &Fitted) -> Option<Self> {
        digits(fitted)?.parse().ok()
    }
}

impl Made for f64 {
    fn made(fitted: &Fitted) -> Option<Self> {
        digits(fitted)?.parse().ok()
    }
}

impl Made for ByteArray {
    fn made(fitted: &Fitted) -> Option<Self> {
        if let Fitted::Text(text) = fitted { Some(text.as_str().into()) } else { None }
    }
}

impl Made for FixedLenByteArray {
    fn made(_: &Fitted) -> Option<Self> {
        None
    }
}

impl Made for Int96 {
    fn made(_: &Fitted) -> Option<Self> {
        None
    }
}

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
        let before = definitions
            .iter()
            .scan(0, |before, level| Some(std::mem::replace(before, *before + usize::from(*level == full))));
        let values_before = before.collect();
        Self { definitions, repetitions, values, values_before, full, places: RefCell::default() }
    }

    /// Where the value of `node` with this number is, among those that are not null.
    fn place(&self, node: &Node, number: usize) -> Option<Range<usize>> {
        let levels = Levels { definition: node.definition, repetition: node.repetition };
        let mut places = self.places.borrow_mut();
        places.entry(levels).or_insert_with(|| self.places_of(node)).get(number).cloned()
    }

    fn places_of(&self, node: &Node) -> Vec<Range<usize>> {
        let begins = |entry: &usize| self.repetitions[*entry] <= node.repetition;
        let starts: Vec<usize> = (0..self.repetitions.len()).filter(begins).collect();
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
            if let Kind::List(_) = node.kind
                && !node.optional
            {
                self.push(repetition, node.definition);
            } else {
                self.push(repetition, node.definition.checked_sub(1).filter(|_| node.optional)?);
            }
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
