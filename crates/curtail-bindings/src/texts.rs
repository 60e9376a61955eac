//! Texts as hosts pass them.

use curtail::embedded::Failure;
use curtail_core::dialects::{Framing, ReadError};
use curtail_core::places::INVALID_UTF8;
use curtail_io::Packing;

/// The text in `bytes`.
///
/// # Errors
/// They are compressed, or no UTF-8.
pub fn text_of(bytes: &[u8]) -> Result<&str, Failure> {
    if Packing::is_packed(bytes) {
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
        _ => Err(Failure::new("framing is 'lines' or 'document'")),
    }
}

#[cfg(test)]
mod tests {
    use super::{framing_of, text_of};

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

    #[test]
    fn bytes_of_every_compression_are_named() {
        for bytes in [&b"\x1f\x8b\x08"[..], b"\x28\xb5\x2f\xfd", b"BZh91", b"\xfd7zXZ\0", b"PK\x03\x04"] {
            assert_eq!(text_of(bytes).unwrap_err().reason, "compressed bytes; decompress them first");
        }
    }

    #[test]
    fn records_are_not_cut_as_a_whole() {
        assert!(framing_of("lines").is_ok() && framing_of("document").is_ok() && framing_of("records").is_err());
    }
}
