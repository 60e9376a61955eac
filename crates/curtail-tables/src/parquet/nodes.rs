//! A list of structs as the tree of its schema: for each value the leaves below it, its levels, and what it can be. It knows no
//! rows.

use std::ops::Range;

use curtail_io::{Field, Shape};
use parquet::basic::{ConvertedType, LogicalType, Repetition, Type as Physical};
use parquet::schema::types::Type;

/// A value of the schema.
#[derive(Debug)]
pub(super) struct Node {
    pub(super) kind: Kind,
    /// The leaves below it.
    pub(super) leaves: Range<usize>,
    pub(super) optional: bool,
    /// Its definition level if it is not null.
    pub(super) definition: i16,
    /// The repetition level of the lists that contain it.
    pub(super) repetition: i16,
}

/// What a value is.
#[derive(Debug)]
pub(super) enum Kind {
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

    /// The definition level at which it exists, as an element of its list: it may be null there.
    pub(super) fn existence(&self) -> i16 {
        self.definition - i16::from(self.optional)
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
        match repetition_of(kind) {
            // A list without a group around it.
            Some(Repetition::REPEATED) => {
                let start = self.leaf;
                let item = self.required(kind, definition + 1, repetition + 1);
                let leaves = start..self.leaf;
                Node { kind: Kind::List(Box::new(item)), leaves, optional: false, definition, repetition }
            }
            Some(Repetition::OPTIONAL) => Node { optional: true, ..self.required(kind, definition + 1, repetition) },
            Some(Repetition::REQUIRED) | None => self.required(kind, definition, repetition),
        }
    }

    /// The node of a type that is there, whatever its repetition.
    fn required(&mut self, kind: &Type, definition: i16, repetition: i16) -> Node {
        let start = self.leaf;
        let made = if kind.is_primitive() {
            self.leaf += 1;
            Kind::Leaf(shape_of(kind))
        } else {
            match (converted_type(kind), kind.get_fields()) {
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
                    let named =
                        fields.iter().map(|field| (field.name().to_owned(), self.node(field, definition, repetition)));
                    Kind::Struct(named.collect())
                }
            }
        };
        Node { kind: made, leaves: start..self.leaf, optional: false, definition, repetition }
    }
}

/// The annotation of a group; newer writers may leave out the older of the two.
fn converted_type(group: &Type) -> ConvertedType {
    let info = group.get_basic_info();
    match info.logical_type_ref() {
        Some(LogicalType::List) => ConvertedType::LIST,
        Some(LogicalType::Map) => ConvertedType::MAP,
        _ => info.converted_type(),
    }
}

fn repetition_of(kind: &Type) -> Option<Repetition> {
    let info = kind.get_basic_info();
    info.has_repetition().then(|| info.repetition())
}

fn leaves_below(kind: &Type) -> usize {
    if kind.is_primitive() { 1 } else { kind.get_fields().iter().map(|field| leaves_below(field)).sum() }
}

/// The element in the repeated group of a list; `None` if the group itself is the element, as older writers have it.
fn element_of(repeated: &Type) -> Option<&Type> {
    let [only] = (if repeated.is_group() { repeated.get_fields() } else { &[] }) else { return None };
    let is_list = converted_type(repeated) == ConvertedType::LIST;
    let holds_list = only.get_basic_info().repetition() == Repetition::REPEATED;
    let is_element = !is_list && !holds_list && (repeated.name() == "array" || repeated.name().ends_with("_tuple"));
    (!is_element).then_some(only)
}

/// What a value of a leaf can be.
fn shape_of(kind: &Type) -> Shape {
    let converted = kind.get_basic_info().converted_type();
    match (kind.get_physical_type(), converted) {
        (Physical::BOOLEAN, _) => Shape::Truth,
        (Physical::FLOAT | Physical::DOUBLE, _) => Shape::Float,
        (Physical::INT32, ConvertedType::INT_8) => integers(i8::MIN, i8::MAX),
        (Physical::INT32, ConvertedType::INT_16) => integers(i16::MIN, i16::MAX),
        (Physical::INT32, ConvertedType::UINT_8) => integers(u8::MIN, u8::MAX),
        (Physical::INT32, ConvertedType::UINT_16) => integers(u16::MIN, u16::MAX),
        (Physical::INT32, ConvertedType::UINT_32) => integers(u32::MIN, u32::MAX),
        (Physical::INT32, ConvertedType::NONE | ConvertedType::INT_32) => integers(i32::MIN, i32::MAX),
        (Physical::INT64, ConvertedType::UINT_64) => integers(u64::MIN, u64::MAX),
        (Physical::INT64, ConvertedType::NONE | ConvertedType::INT_64) => integers(i64::MIN, i64::MAX),
        (Physical::BYTE_ARRAY, ConvertedType::UTF8 | ConvertedType::ENUM | ConvertedType::JSON) => Shape::Text,
        (Physical::BYTE_ARRAY, ConvertedType::NONE | ConvertedType::BSON) => Shape::Bytes,
        _ if kind.get_basic_info().logical_type_ref() == Some(&LogicalType::Float16) => {
            Shape::Other(String::from("float16"))
        }
        _ => Shape::Other(converted.to_string().to_lowercase()),
    }
}

fn integers(least: impl Into<i128>, most: impl Into<i128>) -> Shape {
    Shape::Integer(least.into()..=most.into())
}
