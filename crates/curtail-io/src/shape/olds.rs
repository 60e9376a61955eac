//! The values of the old list, each with its number at its place.

use std::borrow::Cow;
use std::collections::HashMap;

use super::Shape;
use curtail_core::json::{Value, ValueKind};

/// The values at a place of the old elements, such as a field of all of them.
pub(super) struct Olds<'a> {
    /// The number of each, by where it begins. The null of an item has none.
    numbers: HashMap<u32, usize>,
    /// The first number of each value.
    first: HashMap<Key<'a>, usize>,
    /// The values in each field, or in the items.
    pub(super) below: Vec<Self>,
}

/// What makes values the same: a text however it is escaped, or else the JSON.
#[derive(PartialEq, Eq, Hash)]
enum Key<'a> {
    Text(Cow<'a, str>),
    Json(&'a str),
}

impl<'a> Key<'a> {
    fn of(value: Value<'a>) -> Self {
        value.text().map_or_else(|| Self::Json(value.raw()), |text| Self::Text(text.into_decoded()))
    }
}

impl<'a> Olds<'a> {
    /// The values at a place that has this shape.
    pub(super) fn new(values: &[Value<'a>], shape: &Shape) -> Self {
        let mut olds = Self { numbers: HashMap::new(), first: HashMap::new(), below: Vec::new() };
        // Values of the other shapes are written anew.
        if matches!(shape, Shape::Text | Shape::Truth | Shape::Integer(_)) {
            return olds;
        }
        for (number, value) in values.iter().enumerate() {
            olds.numbers.insert(value.span().start, number);
            olds.first.entry(Key::of(*value)).or_insert(number);
        }
        olds.below = match shape {
            Shape::List(item) => {
                let items = values.iter().flat_map(|value| value.items());
                let items: Vec<Value<'a>> = items.filter(|item| item.kind() != ValueKind::Null).collect();
                vec![Self::new(&items, item)]
            }
            Shape::Struct(fields) => {
                let of_field = fields.iter().map(|field| {
                    let values: Vec<_> = values.iter().filter_map(|value| value.get(&field.name)).collect();
                    Self::new(&values, &field.shape)
                });
                of_field.collect()
            }
            _ => Vec::new(),
        };
        olds
    }

    /// The number of an old value that is the same as `value`: of `source`, if that is, or else of the first one.
    pub(super) fn number(&self, value: Value<'a>, source: Option<Value<'a>>) -> Option<usize> {
        let key = Key::of(value);
        let same = source.filter(|source| Key::of(*source) == key);
        same.and_then(|source| self.numbers.get(&source.span().start)).or_else(|| self.first.get(&key)).copied()
    }
}
