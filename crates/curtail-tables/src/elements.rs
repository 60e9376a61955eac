//! Columns of lists of structs, and of other values, with the elements that a cut kept and those that it made.

use std::sync::Arc;

use arrow_array::cast::AsArray as _;
use arrow_array::{Array, ArrayRef, GenericListArray, OffsetSizeTrait};
use arrow_buffer::OffsetBuffer;
use arrow_schema::{ArrowError, DataType};
use arrow_select::concat::concat;
use arrow_select::interleave::interleave;
use curtail_io::{Element, Fitted, RowResult};

use crate::build::New;
use crate::{NewRows, rows_of};

/// The column of lists without the elements that were dropped, and with those that are new.
pub(crate) fn replace_elements(array: &ArrayRef, new: &mut NewRows) -> Result<ArrayRef, ArrowError> {
    match array.data_type() {
        DataType::List(_) => replace_in_lists(array.as_list::<i32>(), new),
        DataType::LargeList(_) => replace_in_lists(array.as_list::<i64>(), new),
        _ => Err(ArrowError::InvalidArgumentError(String::from("the column contains no lists"))),
    }
}

fn replace_in_lists<O: OffsetSizeTrait>(
    lists: &GenericListArray<O>,
    new: &mut NewRows,
) -> Result<ArrayRef, ArrowError> {
    let (element, old, values, nulls) = lists.clone().into_parts();
    let mut made = Vec::new();
    let mut added = 0;
    // Each element as one of the old values, or of those that were made.
    let mut places: Vec<(usize, usize)> = Vec::with_capacity(values.len());
    let mut lengths = Vec::with_capacity(lists.len());
    for (row, result) in new.rows.iter().flat_map(rows_of).enumerate() {
        let olds = old[row].as_usize()..old[row + 1].as_usize();
        let before = places.len();
        match result {
            RowResult::Elements(kept) => {
                let kept = olds.zip(kept).filter(|(_, kept)| **kept);
                places.extend(kept.map(|(place, _)| (0, place)));
            }
            RowResult::Text(end) => {
                let elements = Element::read_all(&new.texts.next(*end)?).map_err(ArrowError::ParseError)?;
                let first = olds.start;
                let olds: Vec<usize> = olds.collect();
                let fresh: Vec<Option<&Fitted>> = elements.iter().filter_map(fitted).map(Some).collect();
                made.push(New { old: &values, olds: &olds, values: &fresh }.array()?);
                for element in &elements {
                    places.push(match element {
                        Element::Kept(number) => (0, first + number),
                        Element::New(_) => {
                            added += 1;
                            (1, added - 1)
                        }
                    });
                }
            }
            _ => places.extend(olds.map(|place| (0, place))),
        }
        lengths.push(places.len() - before);
    }
    let values = chosen(&values, &made, &places)?;
    if O::from_usize(places.len()).is_none() {
        return Err(ArrowError::InvalidArgumentError(String::from("a batch with too many elements")));
    }
    Ok(Arc::new(GenericListArray::<O>::try_new(element, OffsetBuffer::from_lengths(lengths), values, nulls)?))
}

/// The column with new values in place of some of its rows.
pub(crate) fn replace_values(array: &ArrayRef, new: &mut NewRows) -> Result<ArrayRef, ArrowError> {
    let mut made = Vec::new();
    let mut places = Vec::with_capacity(array.len());
    for (row, result) in new.rows.iter().flat_map(rows_of).enumerate() {
        let RowResult::Text(end) = result else {
            places.push((0, row));
            continue;
        };
        let values = Element::read_all(&new.texts.next(*end)?).map_err(ArrowError::ParseError)?;
        let values: Vec<Option<&Fitted>> = values.iter().filter_map(fitted).map(Some).collect();
        places.push((1, made.len()));
        made.push(New { old: array, olds: &[row], values: &values }.array()?);
    }
    chosen(array, &made, &places)
}

const fn fitted(element: &Element) -> Option<&Fitted> {
    match element {
        Element::New(fitted) => Some(fitted),
        Element::Kept(_) => None,
    }
}

/// The values at these places: in the first part, 0 is the old array and 1 the arrays that were made, as one.
fn chosen(old: &ArrayRef, made: &[ArrayRef], places: &[(usize, usize)]) -> Result<ArrayRef, ArrowError> {
    let is_same = places.len() == old.len() && places.iter().enumerate().all(|(at, place)| *place == (0, at));
    let made: Vec<&dyn Array> = made.iter().map(AsRef::as_ref).collect();
    match made.is_empty() {
        _ if is_same => Ok(Arc::clone(old)),
        true => interleave(&[&**old], places),
        false => interleave(&[&**old, &*concat(&made)?], places),
    }
}
