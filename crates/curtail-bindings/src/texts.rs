//! Texts as hosts pass them.

use curtail::embedded::Failure;
use curtail_core::dialects::Framing;
use curtail_core::error::INVALID_UTF8;

/// How a compressed text begins: gzip and Zstandard.
const PACKED: [&[u8]; 2] = [b"\x1f\x8b", b"\x28\xb5\x2f\xfd"];

/// The text in `bytes`.
///
/// # Errors
/// They are compressed, or no UTF-8.
pub fn text_of(bytes: &[u8]) -> Result<&str, Failure> {
    if PACKED.iter().any(|begin| bytes.starts_with(begin)) {
        return Err(Failure::at(1, "compressed bytes; decompress them first"));
    }
    std::str::from_utf8(bytes).map_err(|error| {
        let column = String::from_utf8_lossy(&bytes[..error.valid_up_to()]).chars().count() + 1;
        Failure::at(column, INVALID_UTF8)
    })
}

/// The framing with this name, for a text that is cut as a whole.
///
/// # Errors
/// There is none.
pub fn framing_of(name: &str) -> Result<Framing, Failure> {
    match name {
        "lines" => Ok(Framing::Lines),
        "document" => Ok(Framing::Document),
        "records" => Ok(Framing::Records),
        _ => Err(Failure::new("framing is 'lines', 'document' or 'records'")),
    }
}
