//! Codes with which a terminal selects colors and moves its cursor.

use std::borrow::Cow;

use super::escaping::{lines, shown};

/// `text` without the codes that select colors, fonts or links, move the cursor, or set the title.
#[must_use]
pub fn without_escapes(text: &str) -> Cow<'_, str> {
    if !text.contains('\u{1b}') {
        return text.into();
    }
    let mut parts = text.split('\u{1b}');
    let mut plain = parts.next().unwrap_or_default().to_owned();
    plain.extend(parts.map(|part| behind_code(part).unwrap_or(part)));
    plain.into()
}

/// What follows the code at the beginning of `text`, which is behind an escape: `[`, parameters and the character that ends them;
/// `(` and a set of characters; `]` and a text up to a bell or the next escape, which is the `\` of its end.
fn behind_code(text: &str) -> Option<&str> {
    let (first, rest) = text.split_at_checked(1)?;
    match first {
        "[" => {
            let end = rest.trim_start_matches(|c| (' '..='?').contains(&c));
            // One that was cut off ends where other text begins.
            Some(end.strip_prefix(|c| ('@'..='~').contains(&c)).unwrap_or(end))
        }
        "(" => rest.get(1..),
        "]" => match rest.split_once('\u{7}') {
            Some((_, behind)) => Some(behind),
            None => (!rest.contains('\n')).then_some(""),
        },
        "\\" => Some(rest),
        _ => None,
    }
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

#[cfg(test)]
mod tests {
    use super::without_escapes;

    #[test]
    fn codes_of_every_kind_are_left_out() {
        for (text, plain) in [
            ("\u{1b}[1;31merror\u{1b}(B\u{1b}[m: no", "error: no"),
            ("\u{1b}]0;title\u{7}$ ls", "$ ls"),
            ("see \u{1b}]8;;https://a.example\u{1b}\\here\u{1b}]8;;\u{1b}\\.", "see here."),
            ("\u{1b}é\u{1b}", "é"),
            ("\u{1b}]0;a\nb", "]0;a\nb"),
            ("a\u{1b}[3\n… 9 lines …\n日本 b", "a\n… 9 lines …\n日本 b"),
        ] {
            assert_eq!(without_escapes(text), plain, "{text:?}");
        }
    }
}
