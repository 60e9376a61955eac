//! Decodes JSON strings, and writes text as a JSON string.

#![expect(clippy::inline_always, reason = "as on the tape: what is not inlined loses the SIMD features")]

use std::borrow::Cow;

use fearless_simd::prelude::*;
use fearless_simd::{Level, Simd, dispatch, u8x32};

/// The characters of a string: escapes are resolved, and a lone surrogate becomes U+FFFD.
///
/// `raw` was checked when its end was found, so decoding cannot fail.
pub(super) fn unescape(raw: &str) -> Cow<'_, str> {
    if memchr::memchr(b'\\', raw.as_bytes()).is_none() {
        return Cow::Borrowed(raw);
    }
    Cow::Owned(dispatch!(Level::new(), simd => unescape_with(simd, raw)))
}

#[expect(clippy::expect_used, reason = "an escape stands for characters, and is cut where characters begin")]
#[inline(always)]
fn unescape_with<S: Simd>(simd: S, raw: &str) -> String {
    let mut text = Vec::with_capacity(raw.len());
    let mut at = 0;
    while let Some(escape) = append_plain(simd, raw.as_bytes(), at, &mut text) {
        let (c, used) = unescape_one(&raw[escape..]);
        match u8::try_from(c) {
            Ok(byte) if byte.is_ascii() => text.push(byte),
            _ => text.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes()),
        }
        at = escape + used;
    }
    String::from_utf8(text).expect("characters of a text, and others")
}

/// Appends what `bytes` has from `at` up to the next backslash, and returns where that is.
#[inline(always)]
fn append_plain<S: Simd>(simd: S, bytes: &[u8], mut at: usize, text: &mut Vec<u8>) -> Option<usize> {
    // Real transcripts have an escape about every thirty bytes.
    const BLOCK: usize = 32;
    while let Some(block) = bytes[at..].first_chunk::<BLOCK>() {
        let backslashes = u8x32::from_slice(simd, block).simd_eq(b'\\').to_bitmask();
        // Copying a known number of bytes and forgetting some is faster than copying some.
        text.extend_from_slice(block);
        if backslashes != 0 {
            let plain = backslashes.trailing_zeros() as usize;
            text.truncate(text.len() - BLOCK + plain);
            return Some(at + plain);
        }
        at += BLOCK;
    }
    let rest = &bytes[at..];
    let plain = rest.iter().position(|byte| *byte == b'\\');
    text.extend_from_slice(&rest[..plain.unwrap_or(rest.len())]);
    plain.map(|plain| at + plain)
}

/// Where the characters are written in `raw` that begin at these offsets of the decoded text, which are in order.
pub(crate) fn written_offsets(raw: &str, decoded: &[usize]) -> Vec<usize> {
    let mut characters = characters_with_lengths(raw);
    let [mut at, mut read] = [0; 2];
    let mut places = Vec::with_capacity(decoded.len());
    for &offset in decoded {
        while read < offset
            && let Some((c, used)) = characters.next()
        {
            at += used;
            read += c.len_utf8();
        }
        places.push(at);
    }
    places
}

/// The characters of a string as [`unescape`] reads them, each with the number of bytes in which it is written: for code that needs
/// only the first few.
pub(super) fn characters_with_lengths(raw: &str) -> impl Iterator<Item = (char, usize)> {
    let mut rest = raw;
    std::iter::from_fn(move || {
        let first = rest.chars().next()?;
        let (c, used) = if first == '\\' { unescape_one(rest) } else { (first, first.len_utf8()) };
        rest = &rest[used..];
        Some((c, used))
    })
}

fn unescape_one(escape: &str) -> (char, usize) {
    match escape.as_bytes().get(1) {
        Some(b'n') => ('\n', 2),
        Some(b't') => ('\t', 2),
        Some(b'r') => ('\r', 2),
        Some(b'b') => ('\u{8}', 2),
        Some(b'f') => ('\u{c}', 2),
        Some(b'u') => unescape_unicode(escape),
        Some(&other) => (char::from(other), 2),
        None => ('\\', 1),
    }
}

fn unescape_unicode(escape: &str) -> (char, usize) {
    let Some(first) = unit(escape, 2) else { return (char::REPLACEMENT_CHARACTER, escape.len()) };
    if let Some(c) = char::from_u32(u32::from(first)) {
        return (c, 6);
    }
    let low = if escape.get(6..8) == Some("\\u") { unit(escape, 8) } else { None };
    match low.map(|low| char::decode_utf16([first, low]).next()) {
        Some(Some(Ok(c))) => (c, 12),
        _ => (char::REPLACEMENT_CHARACTER, 6),
    }
}

/// The code unit whose four digits begin at `from`.
fn unit(escape: &str, from: usize) -> Option<u16> {
    u16::from_str_radix(escape.get(from..from + 4)?, 16).ok()
}

/// Writes `text` as a JSON string, quotes included.
#[must_use]
pub fn quote(text: &str) -> String {
    let mut json = String::with_capacity(text.len() + 2);
    quote_into(text, &mut json);
    json
}

/// Appends `text` as a JSON string to `json`.
pub fn quote_into(text: &str, json: &mut String) {
    /// The bytes that are quoted at once: quoting them takes six times as much memory.
    const PIECE: usize = 16 << 10;
    json.reserve(text.len() + 2);
    json.push('"');
    let mut rest = text;
    while !rest.is_empty() {
        let (piece, after) = rest.split_at(rest.floor_char_boundary(PIECE));
        let quoted = json_escape_simd::escape(piece);
        json.push_str(&quoted[1..quoted.len() - 1]);
        rest = after;
    }
    json.push('"');
}

#[cfg(test)]
mod tests {
    use super::{quote, unescape, written_offsets};

    /// Escapes of every kind at every place of a block, and blocks without one.
    #[test]
    fn a_decoded_string_is_what_serde_reads() {
        let escapes =
            ["\\n", "\\\"", "\\\\", "\\/", "\\u00e9", "\\u0041", "\\ud83d\\ude00", "\\b\\f\\r\\t", "é", "語", "😀", ""];
        for (nth, escape) in escapes.iter().enumerate() {
            for before in 0..70 {
                let other = escapes[(nth + before) % escapes.len()];
                let raw = ["a".repeat(before).as_str(), escape, other, &"b".repeat(before * nth % 67), escape].concat();
                let decoded: String = serde_json::from_str(&format!("\"{raw}\"")).unwrap();
                assert_eq!(unescape(&raw), decoded, "{raw}");
            }
        }
        assert_eq!(unescape("\\ud83d, \\ude00\\ud83d\\n"), "\u{fffd}, \u{fffd}\u{fffd}\n");
    }

    #[test]
    fn a_character_is_found_where_it_is_written() {
        let raw = r"a\u003c\n\ud83d\ude00é\/";
        assert_eq!(unescape(raw), "a<\n😀é/");
        assert_eq!(written_offsets(raw, &[0, 1, 2, 3, 7, 9, 10]), [0, 1, 7, 9, 21, 23, 25]);
    }

    #[test]
    fn a_quoted_text_is_what_serde_writes() {
        let every: String = ('\0'..'\u{300}').chain(['\u{2028}', '\u{ffff}', '\u{1f600}']).collect();
        // The ends of pieces fall on characters of every length.
        let long = (0..5).map(|shift| ["x".repeat(shift), "é\n\u{1f600}".repeat(5_000)].concat());
        for text in long.chain([every, String::new()]) {
            assert_eq!(quote(&text), serde_json::to_string(&text).unwrap());
        }
    }
}
