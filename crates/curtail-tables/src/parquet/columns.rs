//! The columns that can contain transcripts: texts, and lists of structs.

use std::ops::Range;

use parquet::basic::{ConvertedType, LogicalType, Type as Physical};
use parquet::schema::types::{SchemaDescriptor, Type};

use super::nodes::{Kind, Node};
use crate::Column;

/// All columns that can contain transcripts. The path of a text is the index of its leaf, and that of a list is the index of
/// its top-level field.
pub(super) fn columns(schema: &SchemaDescriptor) -> Vec<Column> {
    let mut found = Vec::new();
    for (index, field) in schema.root_schema().get_fields().iter().enumerate() {
        let leaves = leaves_of(schema, index);
        if structs_in(field, leaves.start).is_some() {
            found.push(Column { name: field.name().to_owned(), path: vec![index], structs: true });
        } else {
            let texts = leaves.filter(|&leaf| is_text(schema, leaf));
            found.extend(texts.map(|leaf| {
                let name = schema.column(leaf).path().string();
                Column { name, path: vec![leaf], structs: false }
            }));
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

/// The elements of `field`, whose first leaf is `leaf`, if it is a list of structs.
pub(super) fn structs_in(field: &Type, leaf: usize) -> Option<Node> {
    Node::of_elements(field, leaf).filter(|element| matches!(element.kind, Kind::Struct(_)))
}
