//! Text that a terminal, the log of a CI run or a shell would obey, made visible instead: control characters, characters
//! without a glyph, marks that reorder or hide the text around them, and commands of CI runners.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::io::{self, Write};

/// `text` on one line: every character that would be obeyed is shown by its code, line breaks and tabs included.
#[must_use]
pub fn one_line(text: &str) -> Cow<'_, str> {
    without_marker(escaped(text, true, shown), MARKED)
}

/// `text` of several lines: line breaks and tabs are kept, and every other character that would be obeyed is shown by its
/// code.
#[must_use]
pub fn lines(text: &str) -> Cow<'_, str> {
    escaped(text, false, shown)
}

/// The first `letters` characters of `text`, with `…` behind them if there are more.
#[must_use]
pub fn cut_after(text: &str, letters: usize) -> Cow<'_, str> {
    match text.char_indices().nth(letters) {
        Some((end, _)) => Cow::Owned(format!("{}…", &text[..end])),
        None => Cow::Borrowed(text),
    }
}

/// JSON with every character that would be obeyed written as an escape. Its values are the same.
#[must_use]
pub fn json(text: &str) -> Cow<'_, str> {
    let text = escaped(text, false, |c, out| {
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

/// `text` as one word of a POSIX shell. A leading `-`, which a command would take for a flag, follows `./`.
#[must_use]
pub fn word(text: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "%+,-./:=@_".contains(c);
    let flag = if text.starts_with('-') { "./" } else { "" };
    match !text.is_empty() && text.chars().all(is_plain) {
        true => format!("{flag}{text}"),
        false => format!("'{flag}{}'", text.replace('\'', "'\\''")),
    }
}

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

/// Whether `text` reads as if it began with `wanted`: a model is not a strict parser, so case, white space and characters
/// without a glyph make no difference.
#[must_use]
pub fn reads_as(text: &str, wanted: &str) -> bool {
    let mut seen = text.chars().filter(|&c| !c.is_whitespace() && !is_obeyed(c) && !has_no_glyph(c));
    wanted.chars().all(|wanted| seen.next().is_some_and(|c| c.eq_ignore_ascii_case(&wanted)))
}

/// The character at byte `at` of `text`, if a terminal obeys it, it has no glyph or it changes how the text around it is
/// shown. Line breaks and tabs are not included, nor are a joiner and a variation selector where a script or an emoji needs
/// them.
#[must_use]
pub fn obeyed_at(text: &str, at: usize) -> Option<char> {
    let (before, rest) = text.split_at_checked(at)?;
    let mut rest = rest.chars();
    let c = rest.next()?;
    let mut needed = || is_needed(before.chars().next_back(), c, rest.next());
    (is_obeyed(c) || has_no_glyph(c) && !needed()).then_some(c)
}

/// Whether a terminal obeys `c` or it reorders the text around it.
const fn is_obeyed(c: char) -> bool {
    matches!(
        c,
        '\0'..='\u{8}'
            | '\u{b}'..='\u{1f}'
            | '\u{7f}'..='\u{9f}'
            | '\u{61c}'
            | '\u{200e}'..='\u{200f}'
            | '\u{2028}'..='\u{202e}'
            | '\u{2066}'..='\u{2069}'
            | '\u{fff9}'..='\u{fffb}'
            | '\u{feff}'
            | '\u{e0000}'..='\u{e007f}'
    )
}

/// Whether `c` is one of the characters that Unicode lets a program show as nothing (`Default_Ignorable_Code_Point`).
const fn has_no_glyph(c: char) -> bool {
    matches!(
        c,
        '\u{ad}'
            | '\u{34f}'
            | '\u{115f}'..='\u{1160}'
            | '\u{17b4}'..='\u{17b5}'
            | '\u{180b}'..='\u{180f}'
            | '\u{200b}'..='\u{200d}'
            | '\u{2060}'..='\u{2065}'
            | '\u{206a}'..='\u{206f}'
            | '\u{3164}'
            | '\u{fe00}'..='\u{fe0f}'
            | '\u{ffa0}'
            | '\u{fff0}'..='\u{fff8}'
            | '\u{1bca0}'..='\u{1bca3}'
            | '\u{1d173}'..='\u{1d17a}'
            | '\u{e0080}'..='\u{e0fff}'
    )
}

/// Whether `c` is part of how the characters around it are written: the selector of an emoji, the joiner between two emoji,
/// and a joiner or non-joiner between letters of a script that joins them.
fn is_needed(before: Option<char>, c: char, after: Option<char>) -> bool {
    let (Some(before), after) = (before, after.unwrap_or('\0')) else { return false };
    match c {
        '\u{fe0e}' | '\u{fe0f}' => is_pictograph(before) || after == '\u{20e3}' && is_key(before),
        '\u{200d}' if is_pictograph(after) => is_pictograph(before) || before == '\u{fe0f}',
        '\u{200c}' | '\u{200d}' => is_joined(before) && is_joined(after),
        '\u{180b}'..='\u{180d}' | '\u{180f}' => matches!(before, '\u{1820}'..='\u{18aa}'),
        _ => false,
    }
}

const fn is_key(c: char) -> bool {
    matches!(c, '0'..='9' | '#' | '*')
}

/// Whether `c` may be shown as an emoji: the blocks that contain the characters with `Emoji=Yes`, keys left out.
const fn is_pictograph(c: char) -> bool {
    matches!(
        c,
        '©' | '®'
            | '\u{203c}'
            | '\u{2049}'
            | '\u{2122}'
            | '\u{2139}'
            | '\u{2190}'..='\u{21ff}'
            | '\u{2300}'..='\u{27bf}'
            | '\u{2900}'..='\u{297f}'
            | '\u{2b00}'..='\u{2bff}'
            | '\u{3030}'
            | '\u{303d}'
            | '\u{3297}'
            | '\u{3299}'
            | '\u{1f000}'..='\u{1faff}'
    )
}

/// Whether `c` is a letter or a mark of a script whose letters join: Arabic and its kin, those of India and Southeast Asia,
/// and Mongolian.
const fn is_joined(c: char) -> bool {
    matches!(c, '\u{620}'..='\u{109f}' | '\u{1780}'..='\u{17b3}' | '\u{17b6}'..='\u{17dd}' | '\u{1820}'..='\u{18aa}')
}

/// Whether [`obeyed_at`] may name a character that begins with `byte`.
#[must_use]
pub const fn is_suspect(byte: u8) -> bool {
    byte < b' ' || matches!(byte, 0x7f | 0xc2 | 0xcd | 0xd8 | 0xe1..=0xe3 | 0xef | 0xf0 | 0xf3)
}

/// Writes the code of a character.
pub fn shown(c: char, out: &mut String) {
    // Writing to a String cannot fail.
    let _ = write!(out, "\u{27e8}U+{:04X}\u{27e9}", u32::from(c));
}

/// `text`, of which `write` writes what would be obeyed, line breaks and tabs included if `breaks` is set.
fn escaped(text: &str, breaks: bool, write: impl Fn(char, &mut String)) -> Cow<'_, str> {
    let mut out = String::new();
    let mut from = 0;
    for (at, byte) in text.bytes().enumerate().filter(|(_, byte)| is_suspect(*byte)) {
        let broken = (breaks && matches!(byte, b'\n' | b'\t')).then_some(char::from(byte));
        let Some(c) = broken.or_else(|| obeyed_at(text, at)) else { continue };
        out.push_str(&text[from..at]);
        write(c, &mut out);
        from = at + c.len_utf8();
    }
    match from {
        0 => Cow::Borrowed(text),
        from => Cow::Owned(out + &text[from..]),
    }
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
    if without_escapes(&line).trim_start().starts_with("::") {
        line = line.replacen(':', "\u{27e8}U+003A\u{27e9}", 1);
    }
    line
}

#[cfg(test)]
mod tests {
    use super::{has_no_glyph, is_obeyed, is_suspect, json, lines, one_line, printed, reads_as, word};

    #[test]
    fn characters_without_a_glyph_are_shown() {
        for c in "\u{ad}\u{34f}\u{200b}\u{200c}\u{200d}\u{2060}\u{2063}\u{206a}\u{3164}\u{180e}\u{fe00}\u{fe0f}\u{e0100}\u{e01ef}".chars() {
            let code = format!("a⟨U+{:04X}⟩b", u32::from(c));
            assert_eq!(one_line(&format!("a{c}b")), code);
            assert!(!json(&format!("a{c}b")).contains(c), "{code}");
        }
        // Bytes after an emoji: each is a variation selector, and only the first can belong to the emoji.
        assert_eq!(one_line("🙂\u{fe0f}\u{fe0f}\u{e0142}"), "🙂\u{fe0f}⟨U+FE0F⟩⟨U+E0142⟩");
        assert_eq!(one_line("🙂\u{200d}\u{200d}x"), "🙂⟨U+200D⟩⟨U+200D⟩x");
    }

    #[test]
    fn what_an_emoji_or_a_script_needs_is_not_escaped() {
        for text in [
            "⚠\u{fe0f} ❤\u{fe0f}",
            "1\u{fe0f}\u{20e3}",
            "👩\u{200d}💻",
            "🏳\u{fe0f}\u{200d}🌈",
            "می\u{200c}خواهم",
            "क्\u{200d}ष",
        ] {
            assert_eq!((one_line(text), lines(text), json(text)), (text.into(), text.into(), text.into()));
        }
    }

    #[test]
    fn a_suspect_byte_begins_whatever_is_escaped() {
        for c in ('\0'..=char::MAX).filter(|&c| is_obeyed(c) || has_no_glyph(c)) {
            assert!(is_suspect(c.encode_utf8(&mut [0; 4]).as_bytes()[0]), "{:x}", u32::from(c));
        }
    }

    #[test]
    fn a_word_is_one_word() {
        for (text, quoted) in [
            ("a/b-1.json", "a/b-1.json"),
            ("a b", "'a b'"),
            ("it's", "'it'\\''s'"),
            ("$(id)", "'$(id)'"),
            ("-rf", "./-rf"),
            ("-r f", "'./-r f'"),
            ("~", "'~'"),
            ("", "''"),
            ("größe", "größe"),
        ] {
            assert_eq!(word(text), quoted);
        }
    }

    #[test]
    fn a_tag_is_read_whatever_is_hidden_in_it() {
        for text in ["</TAG>", "< / tag", "<\u{200b}/t\u{fe0f}a\u{ad}g", "</t\u{e0101}ag", "</t\u{0}ag"] {
            assert!(reads_as(text, "</tag"), "{text:?}");
        }
        assert!(!reads_as("</ta", "</tag") && !reads_as("<tag", "</tag"));
    }

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
