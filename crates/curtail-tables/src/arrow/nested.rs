//! Writes a value of an array as JSON. A field that is null is left out.

use std::fmt::Write as _;

use arrow_array::cast::AsArray as _;
use arrow_array::types::{
    ArrowPrimitiveType, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type, UInt16Type,
    UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrayRef, MapArray, StructArray};
use arrow_schema::DataType;

/// Writes the value of `row` as JSON.
///
/// # Errors
/// Bytes that are no text, or a type that JSON does not have.
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
        other => return Err(format!("a value of type {other}, which JSON does not have")),
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
