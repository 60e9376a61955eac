//! Columns of texts in a dictionary.

use std::collections::HashMap;
use std::sync::Arc;

use arrow_array::cast::AsArray as _;
use arrow_array::types::ArrowDictionaryKeyType;
use arrow_array::{Array as _, ArrayRef, DictionaryArray, UInt64Array, downcast_integer};
use arrow_buffer::ArrowNativeType as _;
use arrow_schema::{ArrowError, DataType};
use arrow_select::concat::concat;
use arrow_select::take::take;

use crate::texts::{is_text, text_at};

/// Whether a column has texts in a dictionary.
pub(crate) fn is_dictionary(kind: &DataType) -> bool {
    matches!(kind, DataType::Dictionary(_, values) if is_text(values))
}

/// The column without a dictionary, if it has one.
pub(crate) fn plain(array: ArrayRef) -> Result<ArrayRef, ArrowError> {
    if !is_dictionary(array.data_type()) {
        return Ok(array);
    }
    let dictionary = array.as_any_dictionary();
    take(dictionary.values(), dictionary.keys(), None)
}

/// A column of texts with a dictionary of the type `kind`, which has the texts of `before` first.
pub(crate) fn encoded(texts: &ArrayRef, kind: &DataType, before: Option<&ArrayRef>) -> Result<ArrayRef, ArrowError> {
    macro_rules! encode {
        ($kind:ty) => {
            encode::<$kind>(texts, before)
        };
    }
    match kind {
        DataType::Dictionary(key, _) => downcast_integer! {
            **key => (encode),
            _ => Err(ArrowError::DictionaryKeyOverflowError)
        },
        _ => Ok(Arc::clone(texts)),
    }
}

fn encode<K: ArrowDictionaryKeyType>(texts: &ArrayRef, before: Option<&ArrayRef>) -> Result<ArrayRef, ArrowError> {
    let mut known = before.map_or_else(HashMap::new, places_of);
    let mut places = Vec::with_capacity(texts.len());
    let mut added = Vec::new();
    for row in 0..texts.len() {
        if texts.is_null(row) {
            places.push(None);
            continue;
        }
        let next = before.map_or(0, arrow_array::Array::len) + added.len();
        let place = *known.entry(text_at(texts, row).unwrap_or_default()).or_insert_with(|| {
            added.push(row as u64);
            next
        });
        places.push(Some(K::Native::from_usize(place).ok_or(ArrowError::DictionaryKeyOverflowError)?));
    }
    let added = take(texts, &UInt64Array::from(added), None)?;
    let values = match before {
        Some(old) => concat(&[old, &added])?,
        None => added,
    };
    Ok(Arc::new(DictionaryArray::<K>::try_new(places.into_iter().collect(), values)?))
}

/// The place of each text of a dictionary.
fn places_of(values: &ArrayRef) -> HashMap<&[u8], usize> {
    let filled = (0..values.len()).filter(|at| !values.is_null(*at));
    filled.filter_map(|at| Some((text_at(values, at)?, at))).collect()
}
