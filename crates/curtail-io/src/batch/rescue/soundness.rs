//! What is sound, and what looks damaged.

use curtail_core::json::Document;

/// A byte order mark.
pub(super) const MARK: &[u8] = "\u{feff}".as_bytes();

/// Whether `body` is one JSON value.
pub(super) fn is_value(body: &[u8]) -> bool {
    std::str::from_utf8(body).is_ok_and(|text| Document::parse(text).is_ok())
}

/// Whether `body` is one JSON value, and has a byte order mark only where the file begins.
pub(in crate::batch) fn is_sound(number: usize, body: &[u8]) -> bool {
    (number == 1 || !body.starts_with(MARK)) && is_value(body)
}

/// Whether `line` begins as a record does, an object or a list.
pub(in crate::batch) fn is_record(line: &[u8]) -> bool {
    let line = line.strip_prefix(MARK).unwrap_or(line).trim_ascii_start();
    line.starts_with(b"{") || line.starts_with(b"[")
}

/// Whether a value of `text` is printed over several lines: what is on one of them is no record.
pub(super) fn spans_lines(text: &[u8]) -> bool {
    let document = std::str::from_utf8(text).ok().and_then(|text| Document::parse_all(text).ok());
    document.is_some_and(|document| document.roots().any(|root| document.slice(root.span()).contains('\n')))
}

/// Whether something in `text` may be read as if nothing were wrong, although its program reads lines: one that is a text or a
/// number, several records on one, or the torn one at the end. Only the lines that look so are read.
pub(in crate::batch) fn hides_damage(text: &[u8]) -> bool {
    let last = text.trim_ascii_end().rsplit(|byte| *byte == b'\n').next().unwrap_or_default();
    !last.is_empty() && !is_value(last) || !text.split(|byte| *byte == b'\n').all(is_whole)
}

/// Whether `line` is blank or one record.
fn is_whole(line: &[u8]) -> bool {
    line.trim_ascii().is_empty() || !looks_damaged(line) && !joins(line) || is_record(line) && is_value(line)
}

/// Whether `line` begins or ends as no record does.
pub(in crate::batch) fn looks_damaged(line: &[u8]) -> bool {
    let end = line.trim_ascii_end().last();
    !is_record(line) || line.starts_with(MARK) || !matches!(end, Some(b'}' | b']'))
}

/// Whether a record seems to follow another one in `line`. A quote behind the joint is one of JSON: in a text it would have an
/// escape before it.
fn joins(line: &[u8]) -> bool {
    memchr::memchr2_iter(b'}', b']', line).any(|end| {
        let rest = &line[end + 1..];
        let next = rest.strip_prefix(b" ").unwrap_or(rest);
        let open = if line[end] == b'}' { b'{' } else { b'[' };
        let inside = next.strip_prefix(&[open]).map(<[u8]>::trim_ascii_start);
        inside.and_then(<[u8]>::first).is_some_and(|first| match open {
            b'{' => b"\"}".contains(first),
            _ => b"{[\"]".contains(first),
        })
    })
}
