//! Text that a terminal or the log of a CI run would obey, made visible instead: control characters, marks that reorder or
//! hide the text around them, and commands of CI runners.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::io::{self, Write};

/// `text` on one line: every character that would be obeyed is shown by its code, line breaks and tabs included.
#[must_use]
pub fn one_line(text: &str) -> Cow<'_, str> {
    without_marker(escaped(text, |c| is_obeyed(c) || c == '\n' || c == '\t', shown), MARKED)
}

/// `text` of several lines: line breaks and tabs are kept, and every other character that would be obeyed is shown by its
/// code.
#[must_use]
pub fn lines(text: &str) -> Cow<'_, str> {
    escaped(text, is_obeyed, shown)
}

/// JSON with every character that would be obeyed spelt as an escape. It says the same.
#[must_use]
pub fn json(text: &str) -> Cow<'_, str> {
    let text = escaped(text, is_obeyed, |c, out| {
        for unit in c.encode_utf16(&mut [0; 2]) {
            // Writing to a String cannot fail.
            let _ = write!(out, "\\u{unit:04x}");
        }
    });
    without_marker(text, "#\\u0023")
}

/// Text of this program as it is printed: as [`lines`], with colors, and without commands of CI runners. GitHub's runner
/// obeys a line that begins with `::`, and, as others do, `##[…]` anywhere in a line.
#[must_use]
pub fn printed(text: &str) -> Cow<'_, str> {
    let text = match text.contains('\u{1b}') {
        true => Cow::Owned(keeping_colors(text)),
        false => lines(text),
    };
    let forges = text.contains("::") || text.contains("##");
    if forges { Cow::Owned(text.split_inclusive('\n').map(without_command).collect()) } else { text }
}

/// Writes JSON through [`json`]. What is written at once must not end within a character, as no writer of JSON does.
pub struct JsonWriter<W>(pub W);

impl<W: Write> Write for JsonWriter<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match std::str::from_utf8(bytes) {
            Ok(text) => self.0.write_all(json(text).as_bytes())?,
            Err(_) => self.0.write_all(bytes)?,
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

/// Whether a terminal obeys `c` or it changes how the text around it is shown; line breaks and tabs are not included.
#[must_use]
pub fn is_obeyed(c: char) -> bool {
    c.is_control() && c != '\n' && c != '\t'
        || matches!(
            c,
            '\u{61c}'
                | '\u{200e}'..='\u{200f}'
                | '\u{2028}'..='\u{202e}'
                | '\u{2066}'..='\u{2069}'
                | '\u{fff9}'..='\u{fffb}'
                | '\u{feff}'
                | '\u{e0000}'..='\u{e007f}'
        )
}

/// Whether a character that begins with `byte` may be obeyed.
#[must_use]
pub const fn is_suspect(byte: u8) -> bool {
    byte < b' ' || matches!(byte, 0x7f | 0xc2 | 0xd8 | 0xe2 | 0xef | 0xf3)
}

/// Writes the code of a character.
pub fn shown(c: char, out: &mut String) {
    // Writing to a String cannot fail.
    let _ = write!(out, "\u{27e8}U+{:04X}\u{27e9}", u32::from(c));
}

fn escaped(text: &str, obeyed: impl Fn(char) -> bool, write: impl Fn(char, &mut String)) -> Cow<'_, str> {
    let breaks = [b'\n', b'\t'].map(|byte| obeyed(char::from(byte)));
    let suspect = |byte| match byte {
        b'\n' => breaks[0],
        b'\t' => breaks[1],
        byte => is_suspect(byte),
    };
    if !text.bytes().any(suspect) || !text.chars().any(&obeyed) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        if obeyed(c) { write(c, &mut out) } else { out.push(c) }
    }
    Cow::Owned(out)
}

/// [`lines`] of `text`, in which the codes that select colors are kept.
fn keeping_colors(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\u{1b}') {
        out.push_str(&lines(&rest[..at]));
        let code = rest[at..].strip_prefix("\u{1b}[").map_or(0, |code| {
            let end = code.bytes().take_while(|byte| byte.is_ascii_digit() || *byte == b';').count();
            if code.as_bytes().get(end) == Some(&b'm') { end + 3 } else { 0 }
        });
        match code {
            0 => shown('\u{1b}', &mut out),
            code => out.push_str(&rest[at..at + code]),
        }
        rest = &rest[at + code.max(1)..];
    }
    out.push_str(&lines(rest));
    out
}

/// `##`, the second character shown by its code.
const MARKED: &str = "#\u{27e8}U+0023\u{27e9}";

/// `text` without the marks that CI runners obey anywhere in a line, in which `marked` stands for `##`.
fn without_marker<'t>(text: Cow<'t, str>, marked: &str) -> Cow<'t, str> {
    let openings = ["##[", "##vso[", "##teamcity["];
    if !text.contains("##") {
        return text;
    }
    let replace = |text: String, opening: &str| text.replace(opening, &opening.replacen("##", marked, 1));
    Cow::Owned(openings.iter().fold(text.into_owned(), |text, opening| replace(text, opening)))
}

/// A line without anything that a CI runner takes for a command.
fn without_command(line: &str) -> String {
    let mut line = without_marker(Cow::Borrowed(line), MARKED).into_owned();
    let plain = anstream::adapter::strip_str(&line).to_string();
    if plain.trim_start().starts_with("::") {
        line = line.replacen(':', "\u{27e8}U+003A\u{27e9}", 1);
    }
    line
}

#[cfg(test)]
mod tests {
    use super::{json, lines, one_line, printed};

    #[test]
    fn what_is_obeyed_is_shown() {
        let hostile = "a\u{1b}[31m\n\t\r\u{202e}\u{9b}\u{7f}\u{e0041}é–\u{feff}";
        assert_eq!(
            one_line(hostile),
            "a⟨U+001B⟩[31m⟨U+000A⟩⟨U+0009⟩⟨U+000D⟩⟨U+202E⟩⟨U+009B⟩⟨U+007F⟩⟨U+E0041⟩é–⟨U+FEFF⟩"
        );
        assert_eq!(lines("a\n\tb\u{8}"), "a\n\tb⟨U+0008⟩");
        assert_eq!(json("\"a\u{202e}\u{e0041}\"\n"), "\"a\\u202e\\udb40\\udc41\"\n");
        assert_eq!((one_line("Größe 🙂"), one_line("##[a]")), ("Größe 🙂".into(), "#⟨U+0023⟩[a]".into()));
        assert_eq!(json("\"##[a] ## b\""), "\"#\\u0023[a] ## b\"");
    }

    #[test]
    fn colors_are_kept_and_commands_are_not() {
        for (text, out) in [
            ("\u{1b}[1;31mred\u{1b}[0m", "\u{1b}[1;31mred\u{1b}[0m"),
            ("\u{1b}[2Jgone\u{1b}", "⟨U+001B⟩[2Jgone⟨U+001B⟩"),
            ("\u{1b}]0;title\u{7}", "⟨U+001B⟩]0;title⟨U+0007⟩"),
            ("a\n::error::b\n", "a\n⟨U+003A⟩:error::b\n"),
            ("  ::error::b", "  ⟨U+003A⟩:error::b"),
            ("\u{1b}[1m::error::b", "\u{1b}[1m⟨U+003A⟩:error::b"),
            ("x ##[error]b ##vso[task]", "x #⟨U+0023⟩[error]b #⟨U+0023⟩vso[task]"),
            ("a::b ## c", "a::b ## c"),
        ] {
            assert_eq!(printed(text), out, "{text:?}");
        }
    }
}
