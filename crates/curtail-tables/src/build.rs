//! Arrays of the elements that a cut made: new values, and old ones where a value has no form in JSON.

use std::sync::Arc;

use arrow_array::cast::AsArray as _;
use arrow_array::types::{ArrowPrimitiveType, Float16Type, Float32Type, Float64Type};
use arrow_array::{
    Array as _, ArrayRef, BinaryArray, BinaryViewArray, BooleanArray, GenericListArray, LargeBinaryArray,
    LargeStringArray, OffsetSizeTrait, PrimitiveArray, StringArray, StringViewArray, StructArray, downcast_integer,
    new_null_array,
};
use arrow_buffer::{NullBuffer, OffsetBuffer};
use arrow_schema::{ArrowError, DataType, Field as ArrowField, FieldRef};
use arrow_select::interleave::interleave;
use curtail_io::{Field, Fitted, Shape};

use crate::dictionary::encoded;
use crate::texts::is_text;

/// What a value of this type can be.
pub(crate) fn shape_of(kind: &DataType) -> Shape {
    use DataType as D;
    macro_rules! range {
        ($kind:ty) => {
            Shape::Integer(i128::from(<$kind>::MIN)..=i128::from(<$kind>::MAX))
        };
    }
    match kind {
        D::Utf8 | D::LargeUtf8 | D::Utf8View => Shape::Text,
        D::Binary | D::LargeBinary | D::BinaryView => Shape::Bytes,
        D::Boolean => Shape::Truth,
        D::Int8 => range!(i8),
        D::Int16 => range!(i16),
        D::Int32 => range!(i32),
        D::Int64 => range!(i64),
        D::UInt8 => range!(u8),
        D::UInt16 => range!(u16),
        D::UInt32 => range!(u32),
        D::UInt64 => range!(u64),
        D::Float16 | D::Float32 | D::Float64 => Shape::Float,
        D::Dictionary(_, values) if shape_of(values) == Shape::Text => Shape::Text,
        D::List(item) | D::LargeList(item) => Shape::List(Box::new(shape_of(item.data_type()))),
        D::Struct(fields) => Shape::Struct(fields.iter().map(|field| field_of(field)).collect()),
        D::Map(..) => Shape::Other(String::from("map")),
        D::FixedSizeList(..) => Shape::Other(String::from("list of a fixed size")),
        other => Shape::Other(other.to_string()),
    }
}

fn field_of(field: &ArrowField) -> Field {
    Field { name: field.name().clone(), shape: shape_of(field.data_type()), optional: field.is_nullable() }
}

/// Values to build, in place of values of a row.
#[derive(Clone, Copy)]
pub(crate) struct New<'n> {
    /// The array that has the old values.
    pub(crate) old: &'n ArrayRef,
    /// Which of them belong to the row.
    pub(crate) olds: &'n [usize],
    /// The new values; `None` for null.
    pub(crate) values: &'n [Option<&'n Fitted>],
}

impl New<'_> {
    /// An array of the new values, of the type of the old array.
    ///
    /// # Errors
    /// The array would be larger than its type allows.
    pub(crate) fn array(&self) -> Result<ArrayRef, ArrowError> {
        if !self.values.iter().any(|value| matches!(value, Some(Fitted::Old(_)))) {
            return self.made();
        }
        let places = self.places();
        let mut made = Vec::new();
        // Each value as an old one, or as one of those that are made.
        let at = self.values.iter().map(|value| match value {
            Some(Fitted::Old(number)) => places.get(*number).map(|place| (0, *place)),
            made_value => {
                made.push(*made_value);
                Some((1, made.len() - 1))
            }
        });
        let at: Option<Vec<(usize, usize)>> = at.collect();
        let at = at.ok_or_else(|| ArrowError::IpcError(String::from("an old value that is not there")))?;
        let made = New { values: &made, ..*self }.made()?;
        interleave(&[&**self.old, &*made], &at)
    }

    /// An array of new values, none of which is an old one.
    fn made(&self) -> Result<ArrayRef, ArrowError> {
        macro_rules! numbers {
            ($kind:ty) => {
                Ok(self.numbers::<$kind>(|digits| digits.parse().ok()))
            };
        }
        let kind = self.old.data_type();
        match kind {
            DataType::Utf8 => Ok(Arc::new(self.texts().collect::<StringArray>())),
            DataType::LargeUtf8 => Ok(Arc::new(self.texts().collect::<LargeStringArray>())),
            DataType::Utf8View => Ok(Arc::new(self.texts().collect::<StringViewArray>())),
            DataType::Binary => Ok(Arc::new(self.bytes().collect::<BinaryArray>())),
            DataType::LargeBinary => Ok(Arc::new(self.bytes().collect::<LargeBinaryArray>())),
            DataType::BinaryView => Ok(Arc::new(self.bytes().collect::<BinaryViewArray>())),
            DataType::Boolean => {
                let truths = self.values.iter().map(|value| match value {
                    Some(Fitted::Truth(truth)) => Some(*truth),
                    _ => None,
                });
                Ok(Arc::new(truths.collect::<BooleanArray>()))
            }
            DataType::Float16 => {
                type Half = <Float16Type as ArrowPrimitiveType>::Native;
                Ok(self.numbers::<Float16Type>(|digits| digits.parse().ok().map(Half::from_f64)))
            }
            DataType::Float32 => numbers!(Float32Type),
            DataType::Float64 => numbers!(Float64Type),
            DataType::List(item) => self.lists::<i32>(item),
            DataType::LargeList(item) => self.lists::<i64>(item),
            DataType::Struct(_) => self.structs(),
            DataType::Dictionary(_, texts) if is_text(texts) => {
                let old = self.old.as_any_dictionary().values();
                let texts = New { old, olds: &[], values: self.values }.made()?;
                encoded(&texts, kind, Some(old))
            }
            _ => downcast_integer! {
                kind => (numbers),
                _ => Ok(self.nothing())
            },
        }
    }

    fn texts(&self) -> impl Iterator<Item = Option<&str>> {
        self.values.iter().map(|value| match value {
            Some(Fitted::Text(text)) => Some(text.as_str()),
            _ => None,
        })
    }

    fn bytes(&self) -> impl Iterator<Item = Option<&[u8]>> {
        self.texts().map(|text| text.map(str::as_bytes))
    }

    fn numbers<T: ArrowPrimitiveType>(&self, parse: impl Fn(&str) -> Option<T::Native>) -> ArrayRef {
        let numbers = self.values.iter().map(|value| match value {
            Some(Fitted::Number(digits)) => parse(digits),
            _ => None,
        });
        Arc::new(numbers.collect::<PrimitiveArray<T>>())
    }

    fn lists<O: OffsetSizeTrait>(&self, item: &FieldRef) -> Result<ArrayRef, ArrowError> {
        let old = self.old.as_list::<O>();
        let starts = old.value_offsets();
        let olds: Vec<usize> =
            self.places().iter().flat_map(|&row| starts[row].as_usize()..starts[row + 1].as_usize()).collect();
        let lists = self.values.iter().map(|value| value.map_or(&[][..], Fitted::items));
        let values: Vec<Option<&Fitted>> =
            lists.clone().flatten().map(|item| Some(item).filter(|item| **item != Fitted::Null)).collect();
        let items = New { old: old.values(), olds: &olds, values: &values }.array()?;
        let offsets = OffsetBuffer::from_lengths(lists.map(<[Fitted]>::len));
        Ok(Arc::new(GenericListArray::<O>::try_new(Arc::clone(item), offsets, items, self.nulls())?))
    }

    fn structs(&self) -> Result<ArrayRef, ArrowError> {
        let old = self.old.as_struct();
        let olds = self.places();
        let columns = old.columns().iter().enumerate().map(|(number, old)| {
            let values: Vec<Option<&Fitted>> =
                self.values.iter().map(|value| value.and_then(|value| value.field(number))).collect();
            New { old, olds: &olds, values: &values }.array()
        });
        let columns: Vec<ArrayRef> = columns.collect::<Result<_, _>>()?;
        Ok(Arc::new(StructArray::try_new_with_length(old.fields().clone(), columns, self.nulls(), self.values.len())?))
    }

    /// Nulls: of these types, only old values can be there.
    fn nothing(&self) -> ArrayRef {
        new_null_array(self.old.data_type(), self.values.len())
    }

    /// The old values of the row that are not null.
    fn places(&self) -> Vec<usize> {
        self.olds.iter().copied().filter(|&place| !self.old.is_null(place)).collect()
    }

    fn nulls(&self) -> Option<NullBuffer> {
        let valid: Vec<bool> = self.values.iter().map(Option::is_some).collect();
        valid.contains(&false).then(|| NullBuffer::from(valid))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow_array::cast::AsArray as _;
    use arrow_array::types::{Float32Type, Int8Type};
    use arrow_array::{ArrayRef, DictionaryArray, ListArray};
    use curtail_io::Fitted;

    use super::New;

    #[test]
    fn old_values_stay_among_new_ones_bit_by_bit() {
        let lists = [Some(vec![Some(f32::NAN), None, Some(1.0)]), None, Some(vec![Some(f32::INFINITY)])];
        let old: ArrayRef = Arc::new(ListArray::from_iter_primitive::<Float32Type, _, _>(lists));
        let list = Fitted::List(vec![Fitted::Number(String::from("2")), Fitted::Null]);
        let [first, second] = [0, 1].map(Fitted::Old);
        let values = [Some(&list), Some(&second), None, Some(&first)];
        let built = New { old: &old, olds: &[0, 1, 2], values: &values }.array().unwrap();
        let expected = [
            Some(vec![Some(2.0), None]),
            Some(vec![Some(f32::INFINITY)]),
            None,
            Some(vec![Some(f32::NAN), None, Some(1.0)]),
        ];
        let expected: ArrayRef = Arc::new(ListArray::from_iter_primitive::<Float32Type, _, _>(expected));
        assert_eq!(format!("{built:?}"), format!("{expected:?}"));
    }

    #[test]
    fn new_texts_are_added_to_the_old_dictionary() {
        let old: ArrayRef = Arc::new(DictionaryArray::<Int8Type>::from_iter([Some("a"), Some("b"), Some("a")]));
        let [known, new] = ["b", "c"].map(|text| Fitted::Text(String::from(text)));
        let values = [Some(&new), Some(&known), None, Some(&new)];
        let built = New { old: &old, olds: &[], values: &values }.array().unwrap();
        let built = built.as_dictionary::<Int8Type>();
        assert_eq!(built.keys().iter().collect::<Vec<_>>(), [Some(2), Some(1), None, Some(2)]);
        assert_eq!(built.values().len(), 3);
    }
}
