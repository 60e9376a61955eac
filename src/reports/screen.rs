//! What fits on a screen: texts that are shortened or continued to the width of the terminal, and the styles of names, paths and
//! counts. A stream that is not a terminal has no width, so nothing is shortened in a pipe or a file.

use std::borrow::Cow;

use anstyle::{AnsiColor, Style};
use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

use crate::console;
use curtail_core::numbers::figure;

/// The style of the names of sessions, policies, tools and rules.
pub(crate) const NAME: Style = AnsiColor::Cyan.on_default();

/// The style of paths.
pub(crate) const PATH: Style = AnsiColor::Magenta.on_default();

/// The style of counts.
pub(crate) const COUNT: Style = AnsiColor::Green.on_default();

/// The style of titles and of what explains the rest.
pub(crate) const DIM: Style = Style::new().dimmed();

/// What a shortened text ends with, or has in its middle.
const ELLIPSIS: char = '…';

/// The fewest columns of a text that is continued or cut, however narrow the terminal is.
const NARROWEST: usize = 20;

/// The width of what a report is written to.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Screen {
    /// Its columns; `None` for a file or a pipe.
    pub(crate) width: Option<usize>,
}

impl Screen {
    /// That of standard output.
    pub(crate) fn of_stdout() -> Self {
        Self { width: console::out_width() }
    }

    /// That of standard error.
    pub(crate) fn of_stderr() -> Self {
        Self { width: console::err_width() }
    }

    /// A number with commas where a person reads it: the cells of a pipe are digits, which other programs read.
    pub(crate) fn number(self, number: impl TryInto<u64> + ToString) -> String {
        if self.width.is_some() { figure(number) } else { number.to_string() }
    }

    /// A cell whose numbers have commas, as [`number`](Self::number) shows them.
    pub(crate) fn cell(self, cell: String) -> String {
        if self.width.is_some() { cell } else { cell.replace(',', "") }
    }

    /// The lines of `text`, broken between words so that they fit. A line is continued `indent` columns to the right of its
    /// first word. A command to paste, on a line of its own, is not broken.
    pub(crate) fn wrapped(self, text: &str, indent: usize) -> String {
        let Some(width) = self.width else { return text.to_owned() };
        let lines = text.split('\n').map(|line| match line.trim_start().starts_with("curtail ") {
            true => line.to_owned(),
            false => continued(line, width, indent),
        });
        lines.collect::<Vec<_>>().join("\n")
    }

    /// As [`wrapped`](Self::wrapped), in a style of its own for what explains the rest.
    pub(crate) fn note(self, text: &str) -> String {
        let lines = self.wrapped(text, 2);
        lines.split('\n').map(|line| painted(DIM, line)).collect::<Vec<_>>().join("\n")
    }

    /// `text`, which stands after `used` columns, without its end if it does not fit.
    pub(crate) fn cut(self, text: &str, used: usize) -> Cow<'_, str> {
        let room = self.width.map(|width| width.saturating_sub(used).max(NARROWEST));
        room.map_or(Cow::Borrowed(text), |room| without_end(text, room))
    }
}

/// A line that is continued `indent` columns to the right of its first word.
fn continued(line: &str, width: usize, indent: usize) -> String {
    let text = line.trim_start_matches(' ');
    let blanks = line.len() - text.len();
    let room = width.max(blanks + indent + NARROWEST) - blanks;
    " ".repeat(blanks) + &broken(text, room, room - indent).join(&format!("\n{}", " ".repeat(blanks + indent)))
}

/// The lines of a text, broken between words: the first has at most `first` columns, and each other one `rest`.
pub(crate) fn broken(text: &str, first: usize, rest: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let mut used = 0;
    for word in text.split(' ') {
        let columns = columns(word);
        let room = if lines.len() == 1 { first } else { rest };
        match lines.last_mut() {
            Some(line) if used + 1 + columns <= room => {
                line.push(' ');
                line.push_str(word);
                used += 1 + columns;
            }
            _ => {
                lines.push(word.to_owned());
                used = columns;
            }
        }
    }
    lines
}

/// How many columns a text takes, whose styles take none.
pub(crate) fn columns(text: &str) -> usize {
    match text.contains('\u{1b}') {
        true => anstream::adapter::strip_str(text).to_string().width(),
        false => text.width(),
    }
}

/// `text` in `style`; nothing around an empty text.
pub(crate) fn painted(style: Style, text: &str) -> String {
    if text.is_empty() { String::new() } else { format!("{style}{text}{style:#}") }
}

/// `text` without its end if it has more than `room` columns.
pub(crate) fn without_end(text: &str, room: usize) -> Cow<'_, str> {
    if text.width() <= room {
        return Cow::Borrowed(text);
    }
    let head = head_of(text, room.saturating_sub(1));
    Cow::Owned(format!("{}{ELLIPSIS}", head.trim_end()))
}

/// A path without its middle if it has more than `room` columns: its end says which file it is.
pub(crate) fn without_middle(path: &str, room: usize) -> Cow<'_, str> {
    if path.width() <= room {
        return Cow::Borrowed(path);
    }
    let tail_room = room.saturating_sub(1) * 2 / 3;
    let head = head_of(path, room.saturating_sub(1) - tail_room);
    Cow::Owned(format!("{head}{ELLIPSIS}{}", tail_of(path, tail_room)))
}

/// The beginning of `text` that fits into `room` columns.
fn head_of(text: &str, room: usize) -> &str {
    let mut taken = 0;
    let end = text.char_indices().find(|(_, c)| {
        taken += c.width().unwrap_or(0);
        taken > room
    });
    let mut end = end.map_or(text.len(), |(at, _)| at);
    // Several characters can be one emoji, which is wider than they are.
    while end > 0 && (is_inside_cluster(text, end) || text[..end].width() > room) {
        end = text.floor_char_boundary(end - 1);
    }
    &text[..end]
}

/// The end of `text` that fits into `room` columns.
fn tail_of(text: &str, room: usize) -> &str {
    let mut taken = 0;
    let fits = text.char_indices().rev().take_while(|(_, c)| {
        taken += c.width().unwrap_or(0);
        taken <= room
    });
    let mut start = fits.last().map_or(text.len(), |(at, _)| at);
    while start < text.len() && (is_inside_cluster(text, start) || text[start..].width() > room) {
        start = text.ceil_char_boundary(start + 1);
    }
    &text[start..]
}

/// Whether what is before `at` is shown together with what follows, such as a letter and its accent, or parts of an emoji.
fn is_inside_cluster(text: &str, at: usize) -> bool {
    text[..at].ends_with('\u{200d}') || text[at..].chars().next().is_some_and(|c| c.width() == Some(0))
}

#[cfg(test)]
mod tests {
    use super::{Screen, columns, without_end, without_middle};

    #[test]
    fn long_texts_are_shortened_to_their_room() {
        assert_eq!(without_end("short", 5), "short");
        assert_eq!(without_end("longer text", 8), "longer…");
        assert_eq!(without_middle("home/ada/project/chat.jsonl", 19), "home/a…t/chat.jsonl");
        for room in 3..30 {
            let hearts = "❤\u{fe0f}1\u{fe0f}\u{20e3}👩\u{200d}💻".repeat(20);
            for text in [
                "home/ada/project/chat.jsonl",
                "桜の写真/東京/会話.jsonl",
                "e\u{301}tude e\u{301}tude e\u{301}tude",
                &hearts,
            ] {
                assert!(columns(&without_middle(text, room)) <= room, "{text} {room}");
                assert!(columns(&without_end(text, room)) <= room, "{text} {room}");
                assert!(!without_end(text, room).contains("\u{200d}…"), "{text} {room}");
            }
        }
    }

    #[test]
    fn lines_are_continued_to_the_right_of_their_beginning() {
        let screen = Screen { width: Some(24) };
        assert_eq!(screen.wrapped("note: one two three four five", 6), "note: one two three four\n      five");
        assert_eq!(screen.wrapped("    curtail limit -t 8000 chat.jsonl", 2), "    curtail limit -t 8000 chat.jsonl");
        assert_eq!(Screen::default().wrapped(&"word ".repeat(50), 2), "word ".repeat(50));
    }
}
