//! Files that are UTF-16.

/// The text of UTF-16, as UTF-8.
pub(in crate::batch) fn utf16(text: &[u8]) -> Option<Vec<u8>> {
    let text = [[0xFF, 0xFE], [0xFE, 0xFF]].iter().find_map(|mark| text.strip_prefix(mark)).unwrap_or(text);
    let unit = if is_little_utf16(text)? { u16::from_le_bytes } else { u16::from_be_bytes };
    let units = text.chunks_exact(2).map(|pair| unit([pair[0], pair[1]]));
    let decoded = char::decode_utf16(units).collect::<Result<String, _>>().ok()?;
    // Where it is none, its first bytes are one character of another script.
    let is_begun = decoded.trim_start_matches('\0').starts_with(|first: char| first.is_ascii());
    is_begun.then(|| decoded.into_bytes())
}

/// Whether text is UTF-16 with the low byte first, or with the high byte first; `None` if it is neither, whatever its mark says.
/// One half of an ASCII character is NUL, and so it is of line breaks, unless only some lines of the file are UTF-16.
fn is_little_utf16(text: &[u8]) -> Option<bool> {
    memchr::memchr(0, text)?;
    let units = || text.chunks_exact(2);
    let ascii = |null: usize| units().filter(|unit| unit[null] == 0 && unit[1 - null] != 0).count();
    let [big, little] = [ascii(0), ascii(1)];
    let is_little = little > big;
    let is_whole = |unit: &[u8]| unit[usize::from(is_little)] == 0;
    let (whole, halved): (Vec<_>, Vec<_>) =
        units().filter(|unit| unit.contains(&b'\n')).partition(|unit| is_whole(unit));
    let written = units().filter(|unit| *unit != [0, 0]).count();
    let is_mostly = 4 * little.max(big) > written && 8 * little.min(big) < little.max(big);
    (is_mostly && halved.len() <= whole.len()).then_some(is_little)
}
