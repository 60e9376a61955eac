//! Structs from the record reader as JSON. Fields that are null are omitted.

use parquet::record::{Field, Row};

use crate::{write_bytes, write_items, write_scalar};

/// Writes `field` as JSON.
///
/// # Errors
/// None.
pub(super) fn write_json(field: &Field, out: &mut String) -> Result<(), String> {
    match field {
        Field::Null => out.push_str("null"),
        Field::Bool(value) => write_scalar(*value, out),
        Field::Byte(value) => write_scalar(*value, out),
        Field::Short(value) => write_scalar(*value, out),
        Field::Int(value) => write_scalar(*value, out),
        Field::Long(value) => write_scalar(*value, out),
        Field::UByte(value) => write_scalar(*value, out),
        Field::UShort(value) => write_scalar(*value, out),
        Field::UInt(value) => write_scalar(*value, out),
        Field::ULong(value) => write_scalar(*value, out),
        Field::Float(value) => write_scalar(*value, out),
        Field::Double(value) => write_scalar(*value, out),
        Field::Str(text) => write_scalar(text.as_str(), out),
        Field::Bytes(bytes) => write_bytes(bytes.data(), out),
        Field::Group(row) => return write_struct(row, out),
        Field::ListInternal(list) => return write_items(['[', ']'], list.elements().iter(), out, write_json),
        Field::MapInternal(map) => return write_map(map.entries(), out),
        // Dates, times and decimals are texts in transcripts.
        other => write_scalar(other.to_string(), out),
    }
    Ok(())
}

fn write_struct(row: &Row, out: &mut String) -> Result<(), String> {
    let members = row.get_column_iter().filter(|(_, field)| !matches!(field, Field::Null));
    write_items(['{', '}'], members, out, |(name, field), out| {
        write_scalar(name.as_str(), out);
        out.push(':');
        write_json(field, out)
    })
}

fn write_map(entries: &[(Field, Field)], out: &mut String) -> Result<(), String> {
    let members = entries.iter().filter(|(_, value)| !matches!(value, Field::Null));
    write_items(['{', '}'], members, out, |(key, value), out| {
        match key {
            Field::Str(text) => write_scalar(text.as_str(), out),
            other => write_scalar(other.to_string(), out),
        }
        out.push(':');
        write_json(value, out)
    })
}
