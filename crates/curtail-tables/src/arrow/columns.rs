//! The columns that can contain transcripts: texts, and lists of structs.

use arrow_array::cast::AsArray as _;
use arrow_array::{Array as _, ArrayRef, RecordBatch};
use arrow_schema::{DataType, Field, Fields, Schema};

/// A column whose rows are transcripts.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Column {
    /// The index of a field at the top, and the indices of the fields below it.
    pub(super) path: Vec<usize>,
    /// Whether it is a list of structs instead of a text.
    pub(super) structs: bool,
}

impl Column {
    /// The values of this column in `batch`, which has only the field at the top.
    pub(super) fn of_projected(&self, batch: &RecordBatch) -> Values {
        let mut values = Values { array: batch.column(0).clone(), parents: Vec::new() };
        for &field in self.path.iter().skip(1) {
            let child = values.array.as_struct().column(field).clone();
            values.parents.push(std::mem::replace(&mut values.array, child));
        }
        values
    }
}

/// The values of a column in a batch.
pub(super) struct Values {
    pub(super) array: ArrayRef,
    /// The structs around it.
    parents: Vec<ArrayRef>,
}

impl Values {
    pub(super) fn is_null(&self, row: usize) -> bool {
        self.array.is_null(row) || self.parents.iter().any(|parent| parent.is_null(row))
    }

    /// The bytes of a text.
    pub(super) fn text(&self, row: usize) -> &[u8] {
        match self.array.data_type() {
            DataType::Utf8 => self.array.as_string::<i32>().value(row).as_bytes(),
            DataType::LargeUtf8 => self.array.as_string::<i64>().value(row).as_bytes(),
            DataType::Utf8View => self.array.as_string_view().value(row).as_bytes(),
            DataType::Binary => self.array.as_binary::<i32>().value(row),
            DataType::LargeBinary => self.array.as_binary::<i64>().value(row),
            DataType::BinaryView => self.array.as_binary_view().value(row),
            _ => &[],
        }
    }
}

/// All columns that can contain transcripts, with their names.
pub(super) fn candidates(schema: &Schema) -> Vec<(String, Column)> {
    let mut found = Vec::new();
    add_candidates(schema.fields(), "", &[], &mut found);
    found
}

fn add_candidates(fields: &Fields, prefix: &str, above: &[usize], found: &mut Vec<(String, Column)>) {
    for (index, field) in fields.iter().enumerate() {
        let name = format!("{prefix}{}", field.name());
        let path = [above, &[index]].concat();
        match field.data_type() {
            data_type if is_text(data_type) => found.push((name, Column { path, structs: false })),
            DataType::Struct(fields) => add_candidates(fields, &format!("{name}."), &path, found),
            DataType::List(element) | DataType::LargeList(element) if above.is_empty() && names_speaker(element) => {
                found.push((name, Column { path, structs: true }));
            }
            _ => {}
        }
    }
}

fn is_text(data_type: &DataType) -> bool {
    use DataType::{Binary, BinaryView, LargeBinary, LargeUtf8, Utf8, Utf8View};
    matches!(data_type, Utf8 | LargeUtf8 | Utf8View | Binary | LargeBinary | BinaryView)
}

fn names_speaker(element: &Field) -> bool {
    match element.data_type() {
        DataType::Struct(fields) => {
            fields.iter().any(|field| ["role", "from", "type"].contains(&field.name().as_str()))
        }
        _ => false,
    }
}
