//! Text that a terminal, the log of a CI run or a shell would obey, made visible instead: control characters, characters
//! without a glyph, marks that reorder or hide the text around them, and commands of CI runners.

mod characters;
mod colors;
mod commands;
mod escaping;
mod shell;

use std::borrow::Cow;
use std::fmt::Write as _;
use std::io::{self, Write};

pub use characters::{is_suspect, obeyed_at, reads_as};
pub use colors::without_escapes;
pub use escaping::{lines, shown};
pub(crate) use shell::quoted;
pub use shell::word;

use colors::keeping_colors;
use commands::{MARKED, without_command, without_marker};
use escaping::escaped;

/// `text` on one line: every character that would be obeyed is shown by its code, line breaks and tabs included.
#[must_use]
pub fn one_line(text: &str) -> Cow<'_, str> {
    without_marker(escaped(text, true, shown), MARKED)
}

/// Text of this program as it is printed: as [`lines`], with colors, and without commands of CI runners.
#[must_use]
pub fn printed(text: &str) -> Cow<'_, str> {
    let text = match text.contains('\u{1b}') {
        true => Cow::Owned(keeping_colors(text)),
        false => lines(text),
    };
    let forges = text.contains("::") || text.contains("##");
    if forges { Cow::Owned(text.split_inclusive('\n').map(without_command).collect()) } else { text }
}

/// The first `letters` characters of `text`, with `…` behind them if there are more.
#[must_use]
pub fn cut_after(text: &str, letters: usize) -> Cow<'_, str> {
    match text.char_indices().nth(letters) {
        Some((end, _)) => Cow::Owned(format!("{}…", &text[..end])),
        None => Cow::Borrowed(text),
    }
}

/// The beginning of `text` on one line of at most `letters` characters: a run of characters that are gaps is one blank.
#[must_use]
pub fn first_words(text: &str, letters: usize, is_gap: fn(char) -> bool) -> String {
    let words = text.split(is_gap).filter(|word| !word.is_empty()).flat_map(|word| [" ", word]).skip(1);
    let line: String = words.flat_map(str::chars).take(letters + 1).collect();
    if line.chars().count() <= letters { line } else { cut_after(&line, letters.saturating_sub(1)).into_owned() }
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

/// Writes JSON through [`json`]. What ends within a character is written with the rest of it.
pub struct JsonWriter<W> {
    out: W,
    /// The beginning of a character whose rest is not written yet.
    begun: Vec<u8>,
}

impl<W: Write> JsonWriter<W> {
    /// A writer to `out`.
    pub const fn new(out: W) -> Self {
        Self { out, begun: Vec::new() }
    }
}

impl<W: Write> Write for JsonWriter<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.begun.extend_from_slice(bytes);
        let text = std::mem::take(&mut self.begun);
        for chunk in text.utf8_chunks() {
            self.out.write_all(json(chunk.valid()).as_bytes())?;
            let is_begun = std::str::from_utf8(chunk.invalid()).is_err_and(|error| error.error_len().is_none());
            match is_begun && text.ends_with(chunk.invalid()) {
                true => self.begun = chunk.invalid().to_vec(),
                false => self.out.write_all(chunk.invalid())?,
            }
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::{JsonWriter, json, lines, one_line, printed};

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
        assert_eq!(one_line("葛\u{e0100}\u{e0101}"), "葛\u{e0100}⟨U+E0101⟩");
        assert_eq!(one_line("ខ\u{200b}\u{200b}a"), "ខ⟨U+200B⟩⟨U+200B⟩a");
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
            "ភាសា\u{200b}ខ្មែរ",
            "葛\u{e0100}飾",
        ] {
            assert_eq!((one_line(text), lines(text), json(text)), (text.into(), text.into(), text.into()));
        }
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

    #[test]
    fn a_character_that_is_written_in_two_pieces_is_escaped() {
        let text = "\"é\u{202e}\u{e0041}\"";
        for end in 0..=text.len() {
            let mut out = Vec::new();
            let mut writer = JsonWriter::new(&mut out);
            for bytes in [&text.as_bytes()[..end], &text.as_bytes()[end..]] {
                writer.write_all(bytes).unwrap();
            }
            assert_eq!(String::from_utf8(out).unwrap(), json(text), "{end}");
        }
        let mut out = Vec::new();
        JsonWriter::new(&mut out).write_all(b"a\xff\xc3b").unwrap();
        assert_eq!(out, b"a\xff\xc3b");
    }
}
