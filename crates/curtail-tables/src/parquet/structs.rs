//! Structs from the record reader as JSON. Fields that are null are omitted.

use arrow_schema::TimeUnit;
use parquet::record::{Field, Row};

use crate::values::timestamp;
use crate::{write_bytes, write_items, write_scalar};

/// Writes `field` as JSON. It never fails, and returns a result for [`write_items`].
///
/// The record reader gives neither the zone nor every type of a leaf, so three values differ from those in a column of Arrow: a time
/// without a zone is taken for one in UTC, a time in nanoseconds is an integer, and a number of 16 bits with a fraction is a text.
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
        Field::TimestampMillis(at) => write_time(TimeUnit::Millisecond, *at, out),
        Field::TimestampMicros(at) => write_time(TimeUnit::Microsecond, *at, out),
        // Dates and decimals are texts in transcripts.
        other => write_scalar(other.to_string(), out),
    }
    Ok(())
}

/// Writes a time as a column of Arrow with a zone has it; the library would write it in a form that no format has.
fn write_time(unit: TimeUnit, at: i64, out: &mut String) {
    write_scalar(timestamp(unit, at, true).unwrap_or_else(|| at.to_string()), out);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_written_as_in_columns_of_arrow() {
        for (field, expected) in [
            (Field::TimestampMillis(1_772_442_006_500), "\"2026-03-02T09:00:06.500000+00:00\""),
            (Field::TimestampMicros(1_772_442_006_000_000), "\"2026-03-02T09:00:06+00:00\""),
            (Field::Date(20_514), "\"2026-03-02\""),
        ] {
            let mut out = String::new();
            write_json(&field, &mut out).unwrap();
            assert_eq!(out, expected);
        }
    }
}
