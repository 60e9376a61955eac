//! Writes values as JSON.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use curtail_core::json::quote_into;

/// Writes `items` as JSON between two brackets: the elements of a list, or the members of an object, with their keys.
pub(crate) fn write_items<T>(
    [open, close]: [char; 2],
    items: impl Iterator<Item = T>,
    out: &mut String,
    mut write: impl FnMut(T, &mut String) -> Result<(), String>,
) -> Result<(), String> {
    out.push(open);
    for (nth, item) in items.enumerate() {
        if nth > 0 {
            out.push(',');
        }
        write(item, out)?;
    }
    out.push(close);
    Ok(())
}

/// Writes a text, a number or a truth value as JSON.
pub(crate) fn write_scalar(value: impl Into<serde_json::Value>, out: &mut String) {
    out.push_str(&value.into().to_string());
}

/// Writes bytes as JSON: as a text, or in Base64 if they are none.
pub(crate) fn write_bytes(bytes: &[u8], out: &mut String) {
    match std::str::from_utf8(bytes) {
        Ok(text) => quote_into(text, out),
        Err(_) => quote_into(&STANDARD.encode(bytes), out),
    }
}
