//! Draws texts of a transcript: folded if they are long, and cut with a note if they are very long.

use maud::{Markup, html};

use super::capped::{capped, note};
use super::diffs;
use super::visible::{Body, Shown, more};

/// A text of the transcript.
#[derive(Debug, Clone, Copy)]
pub(super) struct Passage<'p> {
    pub(super) text: &'p str,
    /// Its byte offset in the file.
    pub(super) byte: usize,
    /// Maximum number of its characters that are shown.
    pub(super) max_chars: usize,
    /// Whether it is output of a program or data, not prose.
    pub(super) mono: bool,
}

/// A passage with its end folded away.
pub(super) fn passage(passage: Passage<'_>) -> Markup {
    let Passage { text, byte, max_chars, mono } = passage;
    folded(text, byte, max_chars, |text, _| block(text, mono))
}

/// A command line with its end folded away, after the folder that it runs in.
pub(super) fn command(text: &str, folder: Option<&str>, byte: usize, max_chars: usize) -> Markup {
    folded(text, byte, max_chars, |text, is_beginning| {
        html! {
            pre class="command" {
                @if is_beginning {
                    @if let Some(folder) = folder { span class="of" { (Shown(folder)) " " } }
                    span class="sign" aria-hidden="true" { "$ " }
                }
                (Body(text))
            }
        }
    })
}

/// A text on one line.
pub(super) fn code(text: &str) -> Markup {
    html! { code { (Shown(text)) } }
}

/// A text as `draw` draws it: its beginning and, if it is long, the rest, which is folded. `draw` is told whether a part is the
/// beginning.
fn folded(text: &str, byte: usize, max_chars: usize, draw: impl Fn(&str, bool) -> Markup) -> Markup {
    let (shown, hidden) = capped(text, max_chars);
    let (head, rest) = shown.split_at(collapse_point(shown));
    let note = note(hidden, byte);
    html! {
        (draw(head, true))
        @if rest.is_empty() { (note) }
        @else { (more(rest.chars().count(), "character", html! { (draw(rest, false)) (note) })) }
    }
}

/// Bytes and lines of a text that are shown before the rest is folded.
const FOLD_BYTES: usize = 1_600;
const FOLD_LINES: usize = 24;

/// Where a text is folded: the number of bytes to show. All of them if little would be hidden.
fn collapse_point(text: &str) -> usize {
    let by_lines = memchr::memchr_iter(b'\n', text.as_bytes()).nth(FOLD_LINES - 1).map_or(text.len(), |at| at + 1);
    let has_few_lines = by_lines == text.len();
    if text.len() <= FOLD_BYTES + FOLD_BYTES / 2 && has_few_lines {
        return text.len();
    }
    let end = text.floor_char_boundary(by_lines.min(FOLD_BYTES));
    let end = end_of_words(text, end);
    if text.len() - end < FOLD_BYTES / 4 && has_few_lines { text.len() } else { end }
}

/// The end of a line or of a word that is near before `end`; `end` if there is none.
fn end_of_words(text: &str, end: usize) -> usize {
    let start = text.floor_char_boundary(end.saturating_sub(FOLD_BYTES / 4));
    let near = &text[start..end];
    near.rfind('\n').or_else(|| near.rfind(' ')).map_or(end, |at| start + at + 1)
}

/// Diffs longer than this many bytes are shown as plain text.
const MAX_DIFF: usize = 200_000;

fn block(text: &str, mono: bool) -> Markup {
    if mono && text.len() <= MAX_DIFF && diffs::is_diff(text) {
        return diffs::written(text);
    }
    html! {
        @if mono { pre { (Body(text)) } } @else { div class="text" dir="auto" { (Body(text)) } }
    }
}

#[cfg(test)]
mod tests {
    use super::{Passage, collapse_point, command, passage};

    #[test]
    fn long_texts_fold_without_losing_a_character() {
        for text in
            ["short".to_owned(), "word ".repeat(2_000), "é".repeat(5_000), "line\n".repeat(40), "x".repeat(1_700)]
        {
            let at = collapse_point(&text);
            assert!(text.is_char_boundary(at) && at > 0, "{at} of {}", text.len());
            let html = passage(Passage { text: &text, byte: 0, max_chars: usize::MAX, mono: true }).0;
            assert_eq!(html.contains("<details"), at < text.len());
            let (before, folded) = html.split_once("<summary>").unwrap_or((&html, ""));
            let folded = folded.split_once("</summary>").map_or("", |(_, folded)| folded);
            let shown = [before, folded].concat();
            let bare: String = shown.split('<').filter_map(|tag| tag.split_once('>')).map(|(_, text)| text).collect();
            assert_eq!(bare.len(), text.len());
        }
    }

    #[test]
    fn very_long_texts_are_cut_with_a_note() {
        let html = passage(Passage { text: &"é".repeat(30), byte: 1_234, max_chars: 10, mono: false }).0;
        assert!(html.contains("20 more characters are not on this page") && html.contains("byte 1,234"), "{html}");
        let html = passage(Passage { text: "ab", byte: 0, max_chars: 1, mono: false }).0;
        assert!(html.contains("1 more character is not on this page"), "{html}");
    }

    #[test]
    fn long_commands_fold_and_are_cut() {
        let html = command("ls", Some("/w"), 0, 100).0;
        let sign = "<span class=\"sign\" aria-hidden=\"true\">$ </span>";
        assert_eq!(html, format!("<pre class=\"command\"><span class=\"of\">/w </span>{sign}ls</pre>"));
        let html = command(&"echo tide\n".repeat(1_000), None, 7, 5_000).0;
        assert!(html.contains("<details class=\"more\">") && html.contains("5,000 more characters"), "{html}");
        assert_eq!(html.matches(sign).count(), 1);
    }
}
