//! Writes structs from the record reader as JSON. A field that is null is left out.

use std::fmt::Write as _;

use parquet::record::{Field, Row};

/// Writes `field` as JSON.
///
/// # Errors
/// Bytes that are not text.
pub(super) fn write_json(field: &Field, out: &mut String) -> Result<(), &'static str> {
    // Writing to a String cannot fail.
    let _ = match field {
        Field::Null => write!(out, "null"),
        Field::Bool(value) => write!(out, "{value}"),
        Field::Byte(value) => write!(out, "{value}"),
        Field::Short(value) => write!(out, "{value}"),
        Field::Int(value) => write!(out, "{value}"),
        Field::Long(value) => write!(out, "{value}"),
        Field::UByte(value) => write!(out, "{value}"),
        Field::UShort(value) => write!(out, "{value}"),
        Field::UInt(value) => write!(out, "{value}"),
        Field::ULong(value) => write!(out, "{value}"),
        Field::Float(value) => write!(out, "{}", serde_json::json!(value)),
        Field::Double(value) => write!(out, "{}", serde_json::json!(value)),
        Field::Str(text) => write!(out, "{}", serde_json::json!(text)),
        Field::Bytes(bytes) => {
            let text = std::str::from_utf8(bytes.data()).map_err(|_| "invalid UTF-8")?;
            write!(out, "{}", serde_json::json!(text))
        }
        Field::Group(row) => return write_struct(row, out),
        Field::ListInternal(list) => return write_list(list.elements(), out),
        Field::MapInternal(map) => return write_map(map.entries(), out),
        // Dates, times and decimals are texts in transcripts.
        other => write!(out, "{}", serde_json::json!(other.to_string())),
    };
    Ok(())
}

fn write_struct(row: &Row, out: &mut String) -> Result<(), &'static str> {
    let mut before = '{';
    for (name, field) in row.get_column_iter().filter(|(_, field)| !matches!(field, Field::Null)) {
        out.push(before);
        out.push_str(&serde_json::json!(name).to_string());
        out.push(':');
        write_json(field, out)?;
        before = ',';
    }
    out.push_str(if before == '{' { "{}" } else { "}" });
    Ok(())
}

fn write_list(elements: &[Field], out: &mut String) -> Result<(), &'static str> {
    out.push('[');
    for (index, element) in elements.iter().enumerate() {
        if index > 0 {
            out.push(',');
        }
        write_json(element, out)?;
    }
    out.push(']');
    Ok(())
}

fn write_map(entries: &[(Field, Field)], out: &mut String) -> Result<(), &'static str> {
    let mut before = '{';
    for (key, value) in entries.iter().filter(|(_, value)| !matches!(value, Field::Null)) {
        out.push(before);
        match key {
            Field::Str(text) => out.push_str(&serde_json::json!(text).to_string()),
            other => out.push_str(&serde_json::json!(other.to_string()).to_string()),
        }
        out.push(':');
        write_json(value, out)?;
        before = ',';
    }
    out.push_str(if before == '{' { "{}" } else { "}" });
    Ok(())
}
