//! Where a JSON string ends, found sixty-four bytes at a time.
//!
//! Real transcripts have an escape about every thirty bytes, and a scan that stops at each one causes a branch
//! misprediction there. This scan does not stop: masks of a whole block show which characters are escaped, as in simdjson
//! (Langdale and Lemire, "Parsing gigabytes of JSON per second", 2019, section 3.1.1).

#![expect(
    clippy::inline_always,
    reason = "functions that are not inlined lose the SIMD features that `dispatch!` enables"
)]

use fearless_simd::prelude::*;
use fearless_simd::{Simd, u8x32, u8x64};

use super::parse_error::{ParseError, ParseErrorKind};

/// Where a string ends.
pub(super) struct End {
    /// Offset just past the closing quote.
    pub(super) at: usize,
    /// Whether anything in the string is escaped.
    pub(super) escaped: bool,
}

/// The end of the string whose opening quote is at `open`.
///
/// # Errors
/// A control character, an unknown escape, or a string that never ends (RFC 8259, section 7).
#[inline(always)]
pub(super) fn end_of_string<S: Simd>(simd: S, bytes: &[u8], open: usize) -> Result<End, ParseError> {
    if let Some(at) = end_of_short(simd, bytes, open + 1) {
        return Ok(End { at, escaped: false });
    }
    let mut at = open + 1;
    let mut carry = 0;
    let mut seen = 0;
    while let Some(chunk) = bytes.get(at..).and_then(|rest| rest.first_chunk()) {
        let block = Block::classify(simd, chunk);
        let escaped = block.escaped(&mut carry);
        let quotes = block.quotes & !escaped;
        // The bytes before the closing quote, or all of them.
        let inside = (quotes & quotes.wrapping_neg()).wrapping_sub(1);
        seen |= escaped & inside;
        if block.controls & inside != 0 || !are_right(bytes, at, escaped & inside & !block.usual) {
            return byte_by_byte(bytes, open + 1, false);
        }
        if quotes != 0 {
            return Ok(End { at: at + quotes.trailing_zeros() as usize + 1, escaped: seen != 0 });
        }
        at += SIZE;
    }
    byte_by_byte(bytes, at - usize::from(carry != 0), seen != 0)
}

/// The end of a string that ends within thirty-two bytes, as most keys do, and in which nothing is escaped.
#[inline(always)]
fn end_of_short<S: Simd>(simd: S, bytes: &[u8], at: usize) -> Option<usize> {
    let chunk: &[u8; 32] = bytes.get(at..)?.first_chunk()?;
    let block = u8x32::from_slice(simd, chunk);
    let quotes = block.simd_eq(b'"').to_bitmask();
    let others = (block.simd_eq(b'\\') | block.simd_le(0x1f)).to_bitmask();
    // The bytes before the first quote, or all of them.
    let inside = (quotes & quotes.wrapping_neg()).wrapping_sub(1);
    (quotes != 0 && others & inside == 0).then(|| at + quotes.trailing_zeros() as usize + 1)
}

const SIZE: usize = 64;

/// One bit for each byte of a block, the lowest for the first.
struct Block {
    quotes: u64,
    backslashes: u64,
    controls: u64,
    /// The usual characters after a backslash: `n`, `t`, quotes and backslashes.
    usual: u64,
}

impl Block {
    #[inline(always)]
    fn classify<S: Simd>(simd: S, bytes: &[u8; SIZE]) -> Self {
        let block = u8x64::from_slice(simd, bytes);
        let quotes = block.simd_eq(b'"');
        let backslashes = block.simd_eq(b'\\');
        let usual = quotes | backslashes | block.simd_eq(b'n') | block.simd_eq(b't');
        Self {
            quotes: quotes.to_bitmask(),
            backslashes: backslashes.to_bitmask(),
            controls: block.simd_le(0x1f).to_bitmask(),
            usual: usual.to_bitmask(),
        }
    }

    /// The bytes after a backslash that is not itself escaped. `carry` is 1 if the previous block ended in such a
    /// backslash, and is set for the next block.
    #[inline(always)]
    fn escaped(&self, carry: &mut u64) -> u64 {
        const EVEN: u64 = 0x5555_5555_5555_5555;
        let backslashes = self.backslashes & !*carry;
        let behind = backslashes << 1 | *carry;
        // The addition carries a run of backslashes to the byte after its end, which distinguishes runs of odd and even
        // length.
        let starts = backslashes & !EVEN & !behind;
        let (ends, overflow) = starts.overflowing_add(backslashes);
        *carry = u64::from(overflow);
        (EVEN ^ (ends << 1)) & behind
    }
}

/// Whether the less usual escapes of a block are valid. Their second characters are given as bits from `at`.
#[inline(always)]
fn are_right(bytes: &[u8], at: usize, mut escaped: u64) -> bool {
    while escaped != 0 {
        if end_of_escape(bytes, at + escaped.trailing_zeros() as usize - 1).is_err() {
            return false;
        }
        escaped &= escaped - 1;
    }
    true
}

/// As [`end_of_string`], byte by byte from inside the string: for a rest shorter than a block, and for the place of an
/// error.
fn byte_by_byte(bytes: &[u8], mut at: usize, mut escaped: bool) -> Result<End, ParseError> {
    loop {
        match bytes.get(at) {
            None => return Err(fault(at, ParseErrorKind::UnfinishedString)),
            Some(b'"') => return Ok(End { at: at + 1, escaped }),
            Some(b'\\') => {
                at = end_of_escape(bytes, at)?;
                escaped = true;
            }
            Some(b'\n' | b'\r') => return Err(fault(at, ParseErrorKind::BrokenLine)),
            Some(0..=0x1f) => return Err(fault(at, ParseErrorKind::ControlCharacter)),
            Some(_) => at += 1,
        }
    }
}

const fn fault(offset: usize, kind: ParseErrorKind) -> ParseError {
    ParseError { offset, kind }
}

fn end_of_escape(bytes: &[u8], backslash: usize) -> Result<usize, ParseError> {
    match bytes.get(backslash + 1) {
        Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => Ok(backslash + 2),
        Some(b'u') => match bytes.get(backslash + 2..backslash + 6) {
            Some(digits) if digits.iter().all(u8::is_ascii_hexdigit) => Ok(backslash + 6),
            Some(_) => Err(fault(backslash, ParseErrorKind::BadUnicodeEscape)),
            None => Err(fault(bytes.len(), ParseErrorKind::UnfinishedString)),
        },
        Some(_) => Err(fault(backslash, ParseErrorKind::UnknownEscape)),
        None => Err(fault(bytes.len(), ParseErrorKind::UnfinishedString)),
    }
}

#[cfg(test)]
mod tests {
    use super::{End, ParseError, byte_by_byte, end_of_string};
    use fearless_simd::{Level, dispatch};
    use proptest::prelude::*;

    fn outcome(end: Result<End, ParseError>) -> Result<(usize, bool), ParseError> {
        end.map(|end| (end.at, end.escaped))
    }

    proptest! {
        #[test]
        fn a_string_ends_where_it_does_byte_by_byte_on_every_processor(
            inside in r#"([a-z é\x00-\x20]{0,40}|\\[nt"\\u/xé]|\\{1,9}|\\u[0-9a-gD]{4}|"?){0,12}"#,
        ) {
            let bytes = format!("\"{inside}\" and more");
            let bytes = bytes.as_bytes();
            for level in [Level::baseline(), Level::new()] {
                let end = dispatch!(level, simd => end_of_string(simd, bytes, 0));
                prop_assert_eq!(outcome(end), outcome(byte_by_byte(bytes, 1, false)));
            }
        }
    }
}
