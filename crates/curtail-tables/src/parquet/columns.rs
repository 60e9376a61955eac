//! The columns that can contain transcripts: texts, and lists of structs.

use parquet::basic::{ConvertedType, LogicalType, Repetition, Type as Physical};
use parquet::schema::types::{SchemaDescriptor, Type};

/// A column whose rows are transcripts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Column {
    /// JSON text in the leaf of this index.
    Text(usize),
    /// A list of structs: the field of the schema, and the leaves below it.
    Structs {
        /// The index of the field at the top of the schema.
        field: usize,
        /// The indices of its leaves.
        leaves: std::ops::Range<usize>,
        /// The definition level at which an element of the list exists.
        element: i16,
    },
}

/// All columns that can contain transcripts, with their names.
pub(super) fn candidates(schema: &SchemaDescriptor) -> Vec<(String, Column)> {
    let mut found = Vec::new();
    for (index, field) in schema.root_schema().get_fields().iter().enumerate() {
        let leaves = leaves_of(schema, index);
        if let Some(element) = list_of_structs(field) {
            found.push((field.name().to_owned(), Column::Structs { field: index, leaves, element }));
        } else {
            let texts = leaves.filter(|&leaf| is_text(schema, leaf));
            found.extend(texts.map(|leaf| (schema.column(leaf).path().string(), Column::Text(leaf))));
        }
    }
    found
}

/// The leaves below a field at the top of the schema.
fn leaves_of(schema: &SchemaDescriptor, field: usize) -> std::ops::Range<usize> {
    let mut own = (0..schema.num_columns()).filter(|&leaf| schema.get_column_root_idx(leaf) == field);
    let first = own.next().unwrap_or_default();
    first..own.next_back().unwrap_or(first) + 1
}

fn is_text(schema: &SchemaDescriptor, leaf: usize) -> bool {
    let column = schema.column(leaf);
    let texts = [None, Some(LogicalType::String), Some(LogicalType::Json)];
    column.physical_type() == Physical::BYTE_ARRAY
        && column.max_rep_level() == 0
        && texts.contains(&column.logical_type_ref().cloned())
        && [ConvertedType::NONE, ConvertedType::UTF8, ConvertedType::JSON].contains(&column.converted_type())
}

/// The definition level at which an element exists, if `field` is a list of structs that name a speaker.
fn list_of_structs(field: &Type) -> Option<i16> {
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
    let names_speaker = |group: &Type| {
        group.is_group() && group.get_fields().iter().any(|field| ["role", "from", "type"].contains(&field.name()))
    };
    let inner = at.is_group().then(|| at.get_fields()).filter(|fields| fields.len() == 1).map(|fields| &*fields[0]);
    (names_speaker(at) || inner.is_some_and(names_speaker)).then_some(level)
}
