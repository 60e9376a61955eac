//! Where something is in a text: lines and characters.

use crate::steps;

/// What is wrong with bytes that are not UTF-8.
pub const INVALID_UTF8: &str = "invalid UTF-8";

/// A place in a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct TextPlace {
    /// Number of the line, from 1.
    pub line: usize,
    /// Number of the column in characters, from 1.
    pub column: usize,
}

impl TextPlace {
    /// The place of byte `offset` in `text`, whose first line has the number `first_line`.
    ///
    /// An offset inside a character is the place of that character; a byte order mark takes no column.
    #[must_use]
    pub fn locate(text: &[u8], offset: usize, first_line: usize) -> Self {
        Locator::new(text, first_line).place(offset)
    }
}

/// A part of a text that was made from another one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MadePart {
    /// The byte offset at which it begins.
    pub offset: usize,
    /// The place of what it was made from, in the other text.
    pub place: TextPlace,
}

impl MadePart {
    /// The place of what the byte at `offset` was made from: the beginning of the other text if it is in no part.
    #[must_use]
    pub fn place_of(parts: &[Self], offset: usize) -> TextPlace {
        let begun = &parts[..parts.partition_point(|part| part.offset <= offset)];
        begun.last().map_or(TextPlace { line: 1, column: 1 }, |part| part.place)
    }
}

/// The most bytes of a character.
const LONGEST_CHARACTER: usize = 4;

/// The places of ascending offsets in a text, in one pass.
#[derive(Debug, Clone)]
pub struct Locator<'t> {
    text: &'t [u8],
    first_line: usize,
    /// Whether the text is a row, which is one line whatever it contains.
    is_row: bool,
    /// Its parts, if it was made from another text.
    parts: &'t [MadePart],
    /// The offset of the last place.
    at: usize,
    place: TextPlace,
}

impl<'t> Locator<'t> {
    /// For `text`, whose first line has the number `first_line`.
    #[must_use]
    pub const fn new(text: &'t [u8], first_line: usize) -> Self {
        Self { text, first_line, is_row: false, parts: &[], at: 0, place: TextPlace { line: first_line, column: 1 } }
    }

    /// For `text`, the row with this number.
    #[must_use]
    pub const fn for_row(text: &'t [u8], number: usize) -> Self {
        Self { is_row: true, ..Self::new(text, number) }
    }

    /// For `text`, which was made from another one: places are those of its parts in the other.
    #[must_use]
    pub const fn for_made(text: &'t [u8], parts: &'t [MadePart]) -> Self {
        Self { parts, ..Self::new(text, 1) }
    }

    /// The place of the byte at `offset`, as [`TextPlace::locate`] gives it. An offset before the last one costs a pass from the
    /// beginning.
    pub fn place(&mut self, offset: usize) -> TextPlace {
        if !self.parts.is_empty() {
            return MadePart::place_of(self.parts, offset);
        }
        let offset = offset.min(self.text.len());
        if offset < self.at {
            (self.at, self.place) = (0, TextPlace { line: self.first_line, column: 1 });
        }
        let between = &self.text[self.at..offset];
        steps::count(between.len());
        let line_end = if self.is_row { None } else { memchr::memrchr(b'\n', between) };
        if let Some(end) = line_end {
            self.place.line += memchr::memchr_iter(b'\n', &between[..=end]).count();
            self.place.column = 1;
        }
        let line = &between[line_end.map_or(0, |end| end + 1)..];
        let begins = !self.is_row && self.place.column == 1;
        let line = line.strip_prefix("\u{feff}".as_bytes()).filter(|_| begins).unwrap_or(line);
        let (characters, begun) = characters_of(line);
        // Bytes before `offset` that begin a character are of that character, if it goes on behind `offset`.
        let character = offset - begun;
        let longest = &self.text[character..self.text.len().min(character + LONGEST_CHARACTER)];
        let goes_on = longest.utf8_chunks().next().is_some_and(|chunk| !chunk.valid().is_empty());
        self.place.column += characters + usize::from(begun > 0 && !goes_on);
        self.at = if goes_on { character } else { offset };
        self.place
    }
}

/// How many characters `line` has, and how many bytes of one that may go on behind it. A byte that belongs to none is one.
fn characters_of(line: &[u8]) -> (usize, usize) {
    let mut count = 0;
    let mut rest = line;
    loop {
        let error = match str::from_utf8(rest) {
            Ok(text) => return (count + text.chars().count(), 0),
            Err(error) => error,
        };
        let (valid, behind) = rest.split_at(error.valid_up_to());
        count += str::from_utf8(valid).map_or(0, |text| text.chars().count());
        let Some(wrong) = error.error_len() else { return (count, behind.len()) };
        count += 1;
        rest = &behind[wrong..];
    }
}

#[cfg(test)]
mod tests {
    use super::{Locator, TextPlace};

    #[test]
    fn places_count_lines_and_characters() {
        let cases: [(&str, usize, usize, usize); 10] = [
            ("", 0, 1, 1),
            ("abc", 2, 1, 3),
            ("é\"x", 3, 1, 3),
            ("é\"x", 1, 1, 1),
            ("aé", 2, 1, 2),
            ("🙂é", 3, 1, 1),
            ("🙂é", 5, 1, 2),
            ("\u{feff}x", 3, 1, 1),
            ("a\nbc\n", 3, 2, 2),
            ("a\nbc\n", 99, 3, 1),
        ];
        for (text, offset, line, column) in cases {
            assert_eq!(
                TextPlace::locate(text.as_bytes(), offset, 1),
                TextPlace { line, column },
                "{text:?} at {offset}"
            );
        }
    }

    #[test]
    fn a_byte_of_no_character_is_a_character() {
        let text = b"a\xc3\x28\x80\x80";
        let columns = [1, 2, 3, 4].map(|offset| TextPlace::locate(text, offset, 1).column);
        assert_eq!(columns, [2, 3, 4, 5]);
        let mut locator = Locator::new("é🙂x".as_bytes(), 1);
        assert_eq!([1, 3, 4, 6].map(|offset| locator.place(offset).column), [1, 2, 2, 3]);
    }

    #[test]
    fn a_locator_gives_the_places_that_single_searches_give() {
        let text = "\u{feff}é\nbc\r\n\u{feff}d\n\nüx";
        let offsets = text.char_indices().map(|(at, _)| at).chain([text.len(), 0, 5, 4]);
        let mut locator = Locator::new(text.as_bytes(), 7);
        let places: Vec<TextPlace> = offsets.clone().map(|offset| locator.place(offset)).collect();
        let single: Vec<TextPlace> = offsets.map(|offset| TextPlace::locate(text.as_bytes(), offset, 7)).collect();
        assert_eq!(places, single);
        let mut row = Locator::for_row("é\nbc".as_bytes(), 3);
        let columns = [row.place(2), row.place(4), row.place(5)].map(|place| (place.line, place.column));
        assert_eq!(columns, [(3, 2), (3, 4), (3, 5)]);
    }
}
