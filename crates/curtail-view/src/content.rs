//! Draws the content of messages: texts, folded if they are long and cut with a note if they are very long; diffs; images.

use std::ops::Range;

use maud::{Markup, Render, html};
use similar::{ChangeTag, DiffTag, TextDiff};

use super::visible::{Body, Shown};
use curtail_core::json::{Document, Value};
use curtail_core::numbers::{counted, figure};

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
            (more(rest.chars().count(), "character", html! { (block(rest, passage.mono)) (note(hidden, passage.byte)) }))
        } @else { (note(hidden, passage.byte)) }
    }
}

/// The folded `rest` of something, which has so many more characters, lines or prompts.
pub(super) fn more(count: usize, unit: &str, rest: impl Render) -> Markup {
    html! {
        details class="more" {
            summary { "Show " (counted(count, &format!("more {unit}"))) }
            (rest)
        }
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

// Edits as line diffs.

/// Maximum lines of both texts to compare. Longer texts are shown as removed and added.
const MAX_LINES: usize = 4_000;
/// Lines of a diff that are shown before the rest is folded.
const FOLDED_DIFF: usize = 40;

/// A line of a diff. Its mark is `+`, `-`, a blank, or `@` between distant parts.
struct Line {
    mark: char,
    text: String,
    /// The words in which it differs from the line that it replaces, or that replaces it.
    words: Vec<Range<usize>>,
}

impl Line {
    fn new(mark: char, text: &str) -> Self {
        Self { mark, text: text.trim_end_matches(['\n', '\r']).to_owned(), words: Vec::new() }
    }

    fn draw(&self) -> Markup {
        let mut from = 0;
        let pieces = self.words.iter().map(|word| {
            let before = &self.text[std::mem::replace(&mut from, word.end)..word.start];
            (before, &self.text[word.clone()])
        });
        let pieces: Vec<(&str, &str)> = pieces.collect();
        html! { @for (before, word) in pieces { (Body(before)) u { (Body(word)) } } (Body(&self.text[from..])) }
    }
}

/// Lines of these lengths, in bytes, are compared word by word.
const WORD_DIFF: Range<usize> = 8..400;

/// Marks the words in which the removed and the added lines of a replacement differ, for lines that are alike.
fn mark_words(replaced: &mut [Line]) {
    let removed = replaced.iter().take_while(|line| line.mark == '-').count();
    let (old, new) = replaced.split_at_mut(removed);
    for (old, new) in old.iter_mut().zip(new) {
        if ![&old, &new].iter().all(|line| WORD_DIFF.contains(&line.text.len())) {
            continue;
        }
        let words = [&old.text, &new.text].map(|text| words_of(text));
        let diff = TextDiff::from_slices(&words[0], &words[1]);
        let is_equal = |op: &&similar::DiffOp| op.tag() == DiffTag::Equal;
        let letters = |word: &&&str| word.chars().any(char::is_alphanumeric);
        let equal = diff.ops().iter().filter(is_equal).flat_map(|op| &words[0][op.old_range()]);
        let equal: usize = equal.filter(letters).map(|word| word.len()).sum();
        if equal * 3 < old.text.len().max(new.text.len()) {
            continue;
        }
        for op in diff.ops().iter().filter(|op| op.tag() != DiffTag::Equal) {
            old.words.extend(span_of(&words[0], op.old_range()));
            new.words.extend(span_of(&words[1], op.new_range()));
        }
    }
}

/// The words of a line, and what is between them: each sign and each run of blanks.
fn words_of(text: &str) -> Vec<&str> {
    let kind = |c: char| {
        if c.is_alphanumeric() || c == '_' {
            1
        } else if c.is_whitespace() {
            2
        } else {
            0
        }
    };
    let mut words = Vec::new();
    let mut from = 0;
    let mut last = 0;
    for (at, c) in text.char_indices() {
        if at > 0 && (kind(c) != last || last == 0) {
            words.push(&text[from..at]);
            from = at;
        }
        last = kind(c);
    }
    words.push(&text[from..]);
    words
}

/// The bytes that some of the words of a line take.
fn span_of(words: &[&str], range: Range<usize>) -> Option<Range<usize>> {
    let length = |words: &[&str]| words.iter().map(|word| word.len()).sum::<usize>();
    let start = length(&words[..range.start]);
    (!range.is_empty()).then(|| start..start + length(&words[range]))
}

/// The diff of an edit, with the number of lines that it adds and removes.
pub(super) struct Diff {
    lines: Vec<Line>,
    pub(super) added: usize,
    pub(super) removed: usize,
}

impl Diff {
    /// Compares two texts line by line.
    pub(super) fn between(old: &str, new: &str) -> Self {
        let old = with_final_newline(old);
        let new = with_final_newline(new);
        let mut lines = Vec::new();
        if old.lines().count() + new.lines().count() > MAX_LINES {
            lines.extend(old.lines().map(|text| Line::new('-', text)));
            lines.extend(new.lines().map(|text| Line::new('+', text)));
        } else {
            let diff = TextDiff::from_lines(&old, &new);
            for group in diff.grouped_ops(3) {
                if !lines.is_empty() {
                    lines.push(Line::new('@', "⋯"));
                }
                for op in &group {
                    let from = lines.len();
                    lines.extend(diff.iter_changes(op).map(|change| Line::new(mark(change.tag()), change.value())));
                    if op.tag() == DiffTag::Replace {
                        mark_words(&mut lines[from..]);
                    }
                }
            }
        }
        Self::from_lines(lines)
    }

    /// The lines of a patch, unchanged.
    pub(super) fn from_patch(patch: &str) -> Self {
        let line = |line: &str| {
            let mark = match line.as_bytes().first() {
                Some(b'+') if !line.starts_with("+++ ") => '+',
                Some(b'-') if !line.starts_with("--- ") => '-',
                Some(b'@' | b'*' | b'+' | b'-') => '@',
                _ => ' ',
            };
            let text = line.strip_prefix(mark).filter(|_| mark != '@').unwrap_or(line);
            Line::new(mark, text)
        };
        let mut lines: Vec<Line> = patch.lines().map(line).collect();
        for replaced in lines.chunk_by_mut(|one, next| one.mark == next.mark || one.mark == '-' && next.mark == '+') {
            mark_words(replaced);
        }
        Self::from_lines(lines)
    }

    fn from_lines(lines: Vec<Line>) -> Self {
        let count = |mark: char| lines.iter().filter(|line| line.mark == mark).count();
        Self { added: count('+'), removed: count('-'), lines }
    }

    /// The diff as HTML.
    pub(super) fn draw(&self) -> Markup {
        let folds = self.lines.len() > FOLDED_DIFF + FOLDED_DIFF / 4;
        let (head, rest) = self.lines.split_at(if folds { FOLDED_DIFF } else { self.lines.len() });
        html! {
            (draw_lines(head))
            @if !rest.is_empty() {
                (more(rest.len(), "line", draw_lines(rest)))
            }
        }
    }
}

const fn mark(tag: ChangeTag) -> char {
    match tag {
        ChangeTag::Delete => '-',
        ChangeTag::Insert => '+',
        ChangeTag::Equal => ' ',
    }
}

/// The text with a final line break, so that its last line equals the same line elsewhere.
fn with_final_newline(text: &str) -> String {
    let text = text.replace("\r\n", "\n");
    if text.is_empty() || text.ends_with('\n') { text } else { text + "\n" }
}

fn draw_lines(lines: &[Line]) -> Markup {
    html! {
        pre class="diff" {
            @for line in lines {
                @match line.mark {
                    '+' => { ins { "+" (line.draw()) "\n" } },
                    '-' => { del { "-" (line.draw()) "\n" } },
                    '@' => { b { (Body(&line.text)) "\n" } },
                    _ => { " " (Body(&line.text)) "\n" },
                }
            }
        }
    }
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
    (data.len() > 40 && data.len() <= MAX_IMAGE && data.bytes().all(is_base64))
        .then(|| format!("data:{format};base64,{data}"))
}

const fn is_base64(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=')
}

#[cfg(test)]
mod tests {
    use super::{Diff, Passage, capped, collapse_point, images, passage};

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

    #[test]
    fn an_edit_shows_what_it_changes() {
        let diff = Diff::between("a\r\n<b>\r\nc", "a\n<i>\nc\n");
        assert_eq!((diff.added, diff.removed), (1, 1));
        let html = diff.draw().0;
        assert_eq!(html, "<pre class=\"diff\"> a\n<del>-&lt;b&gt;\n</del><ins>+&lt;i&gt;\n</ins> c\n</pre>");
        assert_eq!(Diff::between("", "x").draw().0, "<pre class=\"diff\"><ins>+x\n</ins></pre>");
    }

    #[test]
    fn a_patch_is_shown_as_it_is_written() {
        let diff =
            Diff::from_patch("*** Begin Patch\n*** Update File: <a>\n@@\n-b\u{202e}\n+c</ins>\n d\n*** End Patch");
        assert_eq!((diff.added, diff.removed), (1, 1));
        let html = diff.draw().0;
        assert!(html.contains("<b>*** Update File: &lt;a&gt;\n</b>"), "{html}");
        assert!(html.contains("<del>-b⟨U+202E⟩\n</del><ins>+c&lt;/ins&gt;\n</ins> d\n"), "{html}");
    }

    #[test]
    fn the_words_that_changed_are_marked() {
        let html = Diff::between("let tide = level(3);\n", "let tide = level(<4>);\n").draw().0;
        assert!(
            html.contains("<del>-let tide = level(<u>3</u>);") && html.contains("level(<u>&lt;4&gt;</u>);"),
            "{html}"
        );
        let patch = Diff::from_patch("@@\n-the old glaze is dry\n+the new glaze is dry\n").draw().0;
        assert!(patch.contains("the <u>old</u> glaze") && patch.contains("the <u>new</u> glaze"), "{patch}");
        assert!(!Diff::between("wholly different", "no word of that").draw().0.contains("<u>"));
        assert!(!Diff::between("", "all of this is new").draw().0.contains("<u>"));
    }

    #[test]
    fn long_texts_are_not_compared() {
        let old = "a\n".repeat(3_000);
        let new = "b\n".repeat(3_000);
        let diff = Diff::between(&old, &new);
        assert_eq!((diff.added, diff.removed), (3_000, 3_000));
    }
}
