//! Texts that are too long for a page or a terminal: their beginning, and a note that says where the rest is.

use maud::{Markup, html};

use curtail_core::numbers::{counted, figure};

/// What a note says of the end of a text that is too long.
pub(super) const NOT_ON_PAGE: &str = "not on this page (--max-text)";

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

/// The note below a text that begins at `byte` of the file, if `hidden` characters of it are not shown.
pub(super) fn note(hidden: usize, byte: usize) -> Markup {
    html! {
        @if hidden > 0 {
            p class="note" {
                (counted(hidden, "more character")) @if hidden == 1 { " is " } @else { " are " } (NOT_ON_PAGE) "; the text begins at byte "
                (figure(byte)) " of the file."
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::capped;

    #[test]
    fn characters_are_counted_and_not_bytes() {
        assert_eq!(capped("éé", 1), ("é", 1));
        assert_eq!(capped("éé", 2), ("éé", 0));
    }
}
