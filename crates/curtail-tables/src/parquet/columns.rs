//! The columns that can contain transcripts: texts, and lists of structs.

use std::ops::Range;

use parquet::basic::{ConvertedType, LogicalType, Repetition, Type as Physical};
use parquet::schema::types::{SchemaDescriptor, Type};

use crate::{Column, names_speaker};

/// All columns that can contain transcripts. The path of a text is the index of its leaf, and that of a list is the index of
/// its top-level field.
pub(super) fn columns(schema: &SchemaDescriptor) -> Vec<Column> {
    let mut found = Vec::new();
    for (index, field) in schema.root_schema().get_fields().iter().enumerate() {
        if list_of_structs(field).is_some() {
            found.push(Column { name: field.name().to_owned(), path: vec![index], structs: true });
        } else {
            let texts = leaves_of(schema, index).filter(|&leaf| is_text(schema, leaf));
            let column = |leaf| Column { name: schema.column(leaf).path().string(), path: vec![leaf], structs: false };
            found.extend(texts.map(column));
        }
    }
    found
}

/// The leaves below a top-level field of the schema.
pub(super) fn leaves_of(schema: &SchemaDescriptor, field: usize) -> Range<usize> {
    let mut leaves = (0..schema.num_columns()).filter(|&leaf| schema.get_column_root_idx(leaf) == field);
    let first = leaves.next().unwrap_or_default();
    first..leaves.next_back().unwrap_or(first) + 1
}

fn is_text(schema: &SchemaDescriptor, leaf: usize) -> bool {
    let column = schema.column(leaf);
    let texts = [None, Some(LogicalType::String), Some(LogicalType::Json)];
    column.physical_type() == Physical::BYTE_ARRAY
        && column.max_rep_level() == 0
        && texts.contains(&column.logical_type_ref().cloned())
        && [ConvertedType::NONE, ConvertedType::UTF8, ConvertedType::JSON].contains(&column.converted_type())
}

/// The definition level at which an element exists, if `field` is a list of structs with a field that names who speaks,
/// as messages have.
pub(super) fn list_of_structs(field: &Type) -> Option<i16> {
    let mut level = 0;
    let mut at = field;
    loop {
        let repetition = at.get_basic_info().repetition();
        level += i16::from(repetition != Repetition::REQUIRED);
        if repetition == Repetition::REPEATED {
            break;
        }
        at = if at.is_group() && at.get_fields().len() == 1 { &at.get_fields()[0] } else { return None };
    }
    let has_speaker =
        |group: &Type| group.is_group() && group.get_fields().iter().any(|field| names_speaker(field.name()));
    let inner = at.is_group().then(|| at.get_fields()).filter(|fields| fields.len() == 1).map(|fields| &*fields[0]);
    (has_speaker(at) || inner.is_some_and(has_speaker)).then_some(level)
}
