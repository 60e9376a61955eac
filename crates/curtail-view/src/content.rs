//! Draws the content of messages: texts, folded if they are long and cut with a note if they are very long.

use maud::{Markup, html};

use super::diffs;
use super::visible::{Body, Shown, more};
use curtail_core::numbers::figure;

/// Bytes and lines of a text that are shown before the rest is folded.
const FOLD: (usize, usize) = (1_600, 24);
/// Diffs longer than this many bytes are shown as plain text.
const MAX_DIFF: usize = 200_000;

/// What a note says of the end of a text that is too long.
pub(super) const NOT_ON_PAGE: &str = "not on this page (--max-text)";

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
    let (shown, hidden) = capped(passage.text, passage.max_chars);
    let (head, rest) = shown.split_at(collapse_point(shown));
    html! {
        (block(head, passage.mono))
        @if !rest.is_empty() {
            (more(rest.chars().count(), "character", html! { (block(rest, passage.mono)) (note(hidden, passage.byte)) }))
        } @else { (note(hidden, passage.byte)) }
    }
}

/// `text` up to `max_chars` characters, and the number of characters after them.
pub(super) fn capped(text: &str, max_chars: usize) -> (&str, usize) {
    // A text has at most as many characters as bytes, so a short one needs no counting.
    if text.len() <= max_chars {
        return (text, 0);
    }
    match text.char_indices().nth(max_chars) {
        Some((at, _)) => (&text[..at], text[at..].chars().count()),
        None => (text, 0),
    }
}

fn note(hidden: usize, byte: usize) -> Markup {
    html! {
        @if hidden > 0 {
            p class="note" {
                (figure(hidden)) " more characters are " (NOT_ON_PAGE) "; the text begins at byte "
                (figure(byte)) " of the file."
            }
        }
    }
}

/// Where a text is folded: the number of bytes to show. All of them if little would be hidden.
fn collapse_point(text: &str) -> usize {
    let (bytes, lines) = FOLD;
    let by_lines = memchr::memchr_iter(b'\n', text.as_bytes()).nth(lines - 1).map_or(text.len(), |at| at + 1);
    if text.len() <= bytes + bytes / 2 && by_lines == text.len() {
        return text.len();
    }
    let end = text.floor_char_boundary(by_lines.min(bytes));
    // Cut at the end of a line or a word if one is near.
    let ending = &text[text.floor_char_boundary(end.saturating_sub(bytes / 4))..end];
    let cut = ending.rfind('\n').or_else(|| ending.rfind(' ')).map_or(0, |at| ending.len() - at - 1);
    if text.len() - (end - cut) < bytes / 4 && by_lines == text.len() { text.len() } else { end - cut }
}

fn block(text: &str, mono: bool) -> Markup {
    if mono && text.len() <= MAX_DIFF && diffs::is_diff(text) {
        return diffs::written(text);
    }
    html! {
        @if mono { pre { (Body(text)) } } @else { div class="text" dir="auto" { (Body(text)) } }
    }
}

/// A text on one line.
pub(super) fn code(text: &str) -> Markup {
    html! { code { (Shown(text)) } }
}

#[cfg(test)]
mod tests {
    use super::{Passage, capped, collapse_point, passage};

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
        assert_eq!(capped("éé", 1), ("é", 1));
        let html = passage(Passage { text: &"é".repeat(30), byte: 1_234, max_chars: 10, mono: false }).0;
        assert!(html.contains("20 more characters are not on this page") && html.contains("byte 1,234"), "{html}");
    }
}
