//! Arrays of texts, in all the types that Arrow has for them: what they contain, and the same with new texts.

use std::sync::Arc;

use arrow_array::builder::GenericByteViewBuilder;
use arrow_array::cast::AsArray as _;
use arrow_array::types::{
    BinaryType, BinaryViewType, ByteArrayType, ByteViewType, LargeBinaryType, LargeUtf8Type, StringViewType, Utf8Type,
};
use arrow_array::{Array, ArrayRef, GenericByteArray, GenericByteViewArray};
use arrow_buffer::{ArrowNativeType as _, OffsetBuffer};
use arrow_schema::{ArrowError, DataType};
use curtail_io::RowResult;

use crate::{NewRows, rows_of};

/// Whether values of a type are texts, or bytes that may be.
pub(crate) fn is_text(data_type: &DataType) -> bool {
    use DataType::{Binary, BinaryView, LargeBinary, LargeUtf8, Utf8, Utf8View};
    matches!(data_type, Utf8 | LargeUtf8 | Utf8View | Binary | LargeBinary | BinaryView)
}

/// The bytes of a text; `None` if the array is not one of texts.
pub(crate) fn text_at(array: &dyn Array, row: usize) -> Option<&[u8]> {
    Some(match array.data_type() {
        DataType::Utf8 => array.as_string::<i32>().value(row).as_bytes(),
        DataType::LargeUtf8 => array.as_string::<i64>().value(row).as_bytes(),
        DataType::Utf8View => array.as_string_view().value(row).as_bytes(),
        DataType::Binary => array.as_binary::<i32>().value(row),
        DataType::LargeBinary => array.as_binary::<i64>().value(row),
        DataType::BinaryView => array.as_binary_view().value(row),
        _ => return None,
    })
}

/// The column with new texts.
pub(crate) fn rewrite(array: &ArrayRef, new: &mut NewRows) -> Result<ArrayRef, ArrowError> {
    match array.data_type() {
        DataType::Utf8 => rewrite_bytes::<Utf8Type>(array.as_bytes(), new),
        DataType::LargeUtf8 => rewrite_bytes::<LargeUtf8Type>(array.as_bytes(), new),
        DataType::Binary => rewrite_bytes::<BinaryType>(array.as_bytes(), new),
        DataType::LargeBinary => rewrite_bytes::<LargeBinaryType>(array.as_bytes(), new),
        DataType::Utf8View => {
            rewrite_views::<StringViewType>(array.as_byte_view(), new, |bytes| Ok(std::str::from_utf8(bytes)?))
        }
        DataType::BinaryView => rewrite_views::<BinaryViewType>(array.as_byte_view(), new, |bytes| Ok(bytes)),
        _ => Err(ArrowError::IpcError(String::from("the column contains no strings"))),
    }
}

fn rewrite_bytes<T: ByteArrayType>(old: &GenericByteArray<T>, new: &mut NewRows) -> Result<ArrayRef, ArrowError> {
    let mut values = Vec::new();
    let mut offsets = Vec::with_capacity(old.len() + 1);
    offsets.push(T::Offset::default());
    for (row, result) in new.rows.iter().flat_map(rows_of).enumerate() {
        match result {
            RowResult::Text(end) => values.extend_from_slice(&new.texts.next(*end)?),
            _ => values.extend_from_slice(old.value(row).as_ref()),
        }
        let end = T::Offset::from_usize(values.len());
        offsets.push(end.ok_or_else(|| ArrowError::IpcError(String::from("a batch of more than 2 GB of texts")))?);
    }
    let offsets = OffsetBuffer::new(offsets.into());
    Ok(Arc::new(GenericByteArray::<T>::try_new(offsets, values.into(), old.nulls().cloned())?))
}

fn rewrite_views<T: ByteViewType + ?Sized>(
    old: &GenericByteViewArray<T>,
    new: &mut NewRows,
    native: impl Fn(&[u8]) -> Result<&T::Native, ArrowError>,
) -> Result<ArrayRef, ArrowError> {
    let mut views = GenericByteViewBuilder::<T>::with_capacity(old.len());
    for (row, result) in new.rows.iter().flat_map(rows_of).enumerate() {
        match result {
            _ if old.is_null(row) => views.append_null(),
            RowResult::Text(end) => views.try_append_value(native(&new.texts.next(*end)?)?)?,
            _ => views.try_append_value(old.value(row))?,
        }
    }
    Ok(Arc::new(views.finish()))
}
