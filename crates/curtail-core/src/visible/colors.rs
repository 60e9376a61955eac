//! Codes with which a terminal selects colors and moves its cursor.

use std::borrow::Cow;

use super::escaping::{lines, shown};

/// `text` without the codes that select colors or move the cursor: `ESC [`, their parameters, and the character that ends them.
#[must_use]
pub fn without_escapes(text: &str) -> Cow<'_, str> {
    if !text.contains('\u{1b}') {
        return text.into();
    }
    let mut parts = text.split('\u{1b}');
    let mut plain = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let sequence = part.strip_prefix('[').map(|rest| rest.trim_start_matches(|c: char| !('@'..='~').contains(&c)));
        plain.push_str(sequence.map_or(part, |rest| rest.get(1..).unwrap_or_default()));
    }
    plain.into()
}

/// [`lines`] of `text`, in which the codes that select colors are kept.
pub(super) fn keeping_colors(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\u{1b}') {
        out.push_str(&lines(&rest[..at]));
        let length = rest[at..].strip_prefix("\u{1b}[").map_or(0, |code| {
            let end = code.bytes().take_while(|byte| byte.is_ascii_digit() || *byte == b';').count();
            if code.as_bytes().get(end) == Some(&b'm') { end + 3 } else { 0 }
        });
        match length {
            0 => shown('\u{1b}', &mut out),
            length => out.push_str(&rest[at..at + length]),
        }
        rest = &rest[at + length.max(1)..];
    }
    out.push_str(&lines(rest));
    out
}
