//! Values of arrays as JSON. Fields that are null are omitted.

use arrow_array::cast::AsArray as _;
use arrow_array::types::{Float16Type, Float32Type, Float64Type};
use arrow_array::{Array, ArrayRef, MapArray, StructArray, downcast_integer_array};
use arrow_schema::DataType;
use curtail_core::json::quote_into;

use crate::texts::text_at;
use crate::{values, write_bytes, write_items, write_scalar};

/// Writes the value of `row` as JSON.
///
/// # Errors
/// The value is of a type that JSON does not have.
pub(crate) fn write_json(array: &dyn Array, row: usize, out: &mut String) -> Result<(), String> {
    if array.is_null(row) {
        out.push_str("null");
        return Ok(());
    }
    if let Some(text) = text_at(array, row) {
        write_bytes(text, out);
        return Ok(());
    }
    downcast_integer_array! {
        array => write_scalar(array.value(row), out),
        DataType::Null => out.push_str("null"),
        DataType::Boolean => write_scalar(array.as_boolean().value(row), out),
        DataType::Float16 => write_scalar(f64::from(array.as_primitive::<Float16Type>().value(row)), out),
        DataType::Float32 => write_scalar(array.as_primitive::<Float32Type>().value(row), out),
        DataType::Float64 => write_scalar(array.as_primitive::<Float64Type>().value(row), out),
        DataType::Struct(_) => return write_struct(array.as_struct(), row, out),
        DataType::List(_) => return write_list(&array.as_list::<i32>().value(row), out),
        DataType::LargeList(_) => return write_list(&array.as_list::<i64>().value(row), out),
        DataType::FixedSizeList(..) => return write_list(&array.as_fixed_size_list().value(row), out),
        DataType::Map(..) => return write_map(array.as_map(), row, out),
        DataType::FixedSizeBinary(_) => write_bytes(array.as_fixed_size_binary().value(row), out),
        DataType::Dictionary(..) => {
            let dictionary = array.as_any_dictionary();
            let mut key = String::new();
            write_json(dictionary.keys(), row, &mut key)?;
            // The library has checked the keys.
            return write_json(dictionary.values(), key.parse().unwrap_or_default(), out);
        }
        other => match values::text_of(array, row) {
            Some(text) => write_scalar(text, out),
            None => return Err(format!("a value of type {other}, which has no JSON form")),
        },
    }
    Ok(())
}

fn write_struct(array: &StructArray, row: usize, out: &mut String) -> Result<(), String> {
    let members = array.fields().iter().zip(array.columns());
    let members = members.filter(|(_, column)| !column.is_null(row) && column.data_type() != &DataType::Null);
    write_items(['{', '}'], members, out, |(field, column), out| {
        quote_into(field.name(), out);
        out.push(':');
        write_json(column, row, out)
    })
}

fn write_list(elements: &ArrayRef, out: &mut String) -> Result<(), String> {
    write_items(['[', ']'], 0..elements.len(), out, |index, out| write_json(elements, index, out))
}

fn write_map(array: &MapArray, row: usize, out: &mut String) -> Result<(), String> {
    let entries = array.value(row);
    let keys = entries.column(0);
    let values = entries.column(1);
    let members = (0..entries.len()).filter(|&index| !values.is_null(index));
    write_items(['{', '}'], members, out, |index, out| {
        let mut key = String::new();
        write_json(keys, index, &mut key)?;
        match key.starts_with('"') {
            true => out.push_str(&key),
            false => write_scalar(key, out),
        }
        out.push(':');
        write_json(values, index, out)
    })
}
