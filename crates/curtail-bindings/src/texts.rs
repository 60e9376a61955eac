//! Texts as hosts pass them.

use curtail::embedded::Failure;
use curtail_core::dialects::{Framing, ReadError};
use curtail_core::error::INVALID_UTF8;

/// How a compressed text begins: gzip and Zstandard.
const PACKED: [&[u8]; 2] = [b"\x1f\x8b", b"\x28\xb5\x2f\xfd"];

/// The text in `bytes`.
///
/// # Errors
/// They are compressed, or no UTF-8.
pub fn text_of(bytes: &[u8]) -> Result<&str, Failure> {
    if PACKED.iter().any(|begin| bytes.starts_with(begin)) {
        return Err(failure_behind(b"", "compressed bytes; decompress them first"));
    }
    std::str::from_utf8(bytes).map_err(|error| failure_behind(&bytes[..error.valid_up_to()], INVALID_UTF8))
}

/// The failure of a text for this `reason`, behind its `beginning`.
#[must_use]
pub fn failure_behind(beginning: &[u8], reason: &str) -> Failure {
    Failure::in_text(beginning, ReadError { offset: beginning.len(), what: reason.to_owned() })
}

/// The framing with this name, for a text that is cut as a whole.
///
/// # Errors
/// No framing has this name.
pub fn framing_of(name: &str) -> Result<Framing, Failure> {
    match name {
        "lines" => Ok(Framing::Lines),
        "document" => Ok(Framing::Document),
        "records" => Ok(Framing::Records),
        _ => Err(Failure::new("framing is 'lines', 'document' or 'records'")),
    }
}

#[cfg(test)]
mod tests {
    use super::text_of;

    #[test]
    fn bytes_that_are_not_utf8_are_named_by_line_and_column() {
        for (bytes, place) in [
            (&b"{\"a\":1}\n\xff"[..], (2, 1)),
            (b"\xff", (1, 1)),
            ("{}\n{\"\u{e9}\u{1f375}".as_bytes(), (2, 5)),
            ("\u{feff}{}".as_bytes(), (1, 3)),
        ] {
            let failure = text_of(&[bytes, b"\xff"].concat()).map(str::to_owned).unwrap_err();
            assert_eq!(failure.place.map(|place| (place.line, place.column)), Some(place));
            assert_eq!(failure.reason, "invalid UTF-8");
        }
    }
}
