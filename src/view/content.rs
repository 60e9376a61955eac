//! Draws texts of a message: folded if they are long, cut with a note if they are very long, colored if they are diffs.

use maud::{Markup, html};

use super::visible::{Body, Shown, counted, figure};
use curtail_core::json::{Document, Value};

/// Bytes and lines of a text that are shown before the rest is folded.
const FOLD: (usize, usize) = (1_600, 24);
/// Diffs longer than this many bytes are shown as plain text.
const MAX_DIFF: usize = 200_000;

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
            details class="more" {
                summary { "Show " (counted(rest.chars().count(), "more character")) }
                (block(rest, passage.mono))
                (note(hidden, passage.byte))
            }
        } @else { (note(hidden, passage.byte)) }
    }
}

/// `text` up to `max_chars` characters, and the number of characters after them.
fn capped(text: &str, max_chars: usize) -> (&str, usize) {
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
                (figure(hidden)) " more characters are not on this page (--max-text); the text begins at byte "
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
    if mono && text.len() <= MAX_DIFF && is_diff(text) {
        return diff(text);
    }
    html! {
        @if mono { pre { (Body(text)) } } @else { div class="text" dir="auto" { (Body(text)) } }
    }
}

/// Whether a text looks like a unified diff or a patch.
fn is_diff(text: &str) -> bool {
    let starts = ["@@ ", "diff --git ", "*** Begin Patch", "*** Update File"];
    text.lines().take(12).any(|line| starts.iter().any(|start| line.starts_with(start)))
}

fn diff(text: &str) -> Markup {
    html! {
        pre class="diff" {
            @for line in text.split_inclusive('\n') {
                @match line.as_bytes().first() {
                    Some(b'+') => { ins { (Body(line)) } },
                    Some(b'-') => { del { (Body(line)) } },
                    Some(b'@' | b'*') => { b { (Body(line)) } },
                    _ => { (Body(line)) },
                }
            }
        }
    }
}

/// A text on one line.
pub(super) fn code(text: &str) -> Markup {
    html! { code { (Shown(text)) } }
}

// Images that the transcript itself contains, as base64 of a known format. Nothing is fetched.

/// Maximum length of the base64 of an image that is shown.
const MAX_IMAGE: usize = 8_000_000;
/// The first base64 characters of the formats that browsers show, with their media types.
const FORMATS: &[(&str, &str)] =
    &[("iVBORw0KGgo", "image/png"), ("/9j/", "image/jpeg"), ("R0lGOD", "image/gif"), ("UklGR", "image/webp")];

/// The images in a JSON value, as elements.
pub(super) fn images(raw: &str) -> Markup {
    let mut found = Vec::new();
    if let Ok(document) = Document::parse(raw) {
        let mut waiting: Vec<Value<'_>> = document.roots().collect();
        while let Some(value) = waiting.pop() {
            waiting.extend(value.items());
            waiting.extend(value.members().map(|member| member.value));
            found.extend(value.text().and_then(|text| source(&text.decode())));
        }
    }
    found.dedup();
    html! {
        @for source in &found { img class="shown" src=(source) alt="Image in this message" loading="lazy"; }
    }
}

/// The data URL of an image, from base64 with or without the beginning of such a URL.
fn source(text: &str) -> Option<String> {
    let data = match text.strip_prefix("data:image/") {
        Some(rest) => rest.split_once(";base64,")?.1,
        None => text,
    };
    let (_, format) = FORMATS.iter().find(|(start, _)| data.starts_with(start))?;
    let is_base64 = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=');
    (data.len() > 40 && data.len() <= MAX_IMAGE && data.bytes().all(is_base64))
        .then(|| format!("data:{format};base64,{data}"))
}

#[cfg(test)]
mod tests {
    use super::{Passage, capped, collapse_point, images, passage};

    #[test]
    fn long_texts_fold_without_losing_a_character() {
        for text in
            ["short".to_owned(), "word ".repeat(2_000), "é".repeat(5_000), "line\n".repeat(40), "x".repeat(1_700)]
        {
            let at = collapse_point(&text);
            assert!(text.is_char_boundary(at) && at > 0, "{at} of {}", text.len());
            let html = passage(Passage { text: &text, byte: 0, max_chars: usize::MAX, mono: true }).0;
            assert_eq!(html.contains("<details"), at < text.len());
            let bare: String = html.split('<').filter_map(|tag| tag.split_once('>')).map(|(_, text)| text).collect();
            assert_eq!(
                bare.len()
                    - bare
                        .find("Show ")
                        .map_or(0, |_| bare.find("characters").unwrap_or(0) + 10 - bare.find("Show ").unwrap_or(0)),
                text.len()
            );
        }
    }

    #[test]
    fn very_long_texts_are_cut_with_a_note() {
        assert_eq!(capped("éé", 1), ("é", 1));
        let html = passage(Passage { text: &"é".repeat(30), byte: 1_234, max_chars: 10, mono: false }).0;
        assert!(html.contains("20 more characters are not on this page") && html.contains("byte 1,234"), "{html}");
    }

    #[test]
    fn only_images_of_known_formats_are_shown() {
        let png = format!("iVBORw0KGgo{}", "A".repeat(60));
        let block = format!("{{\"source\":{{\"media_type\":\"text/html\",\"data\":\"{png}\"}}}}");
        assert!(images(&block).0.contains(&format!("src=\"data:image/png;base64,{png}\"")));
        let url = format!("[\"data:image/svg+xml;base64,{png}\"]");
        assert!(images(&url).0.contains("src=\"data:image/png;"), "the format is that of the bytes");
        for other in [
            "\"https://example.com/a.png\"".to_owned(),
            "\"data:text/html;base64,PHNjcmlwdD4=\"".to_owned(),
            "\"data:image/svg+xml;base64,PHN2ZyBvbmxvYWQ9YWxlcnQoMSk+AAAAAAAAAAAAAAAAAAAAAAAAAAAAAA\"".to_owned(),
            format!("\"{png}\\\" onerror=\\\"x\""),
            format!("{{\"a\": {png}"),
        ] {
            assert_eq!(images(&other).0, "", "{other}");
        }
    }
}
