//! Draws edits as line diffs: those of two texts, those of a patch, and those in a text.

use std::ops::Range;

use maud::{Markup, html};
use similar::{ChangeTag, DiffTag, TextDiff};

use super::capped::{capped, note};
use super::visible::{Body, more};

/// Maximum lines of both texts to compare. Longer texts are shown as removed and added.
const MAX_LINES: usize = 4_000;
/// Lines of a diff that are shown before the rest is folded.
const FOLDED_DIFF: usize = 40;

/// A line of a diff. Its mark is `+`, `-`, a blank, or `@` between distant parts.
#[derive(Clone)]
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
        let equal = diff.ops().iter().filter(|op| op.tag() == DiffTag::Equal);
        let equal = equal.flat_map(|op| &words[0][op.old_range()]).filter(|word| word.contains(char::is_alphanumeric));
        let equal: usize = equal.map(|word| word.len()).sum();
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

/// Whether a character is a sign, in a word, or blank.
fn kind(c: char) -> u8 {
    if c.is_alphanumeric() || c == '_' {
        1
    } else if c.is_whitespace() {
        2
    } else {
        0
    }
}

/// The bytes that some of the words of a line take.
fn span_of(words: &[&str], range: Range<usize>) -> Option<Range<usize>> {
    let start = length(&words[..range.start]);
    (!range.is_empty()).then(|| start..start + length(&words[range]))
}

fn length(words: &[&str]) -> usize {
    words.iter().map(|word| word.len()).sum()
}

/// The diff of an edit, with the number of lines that it adds and removes.
pub(super) struct Diff {
    lines: Vec<Line>,
    pub(super) added: usize,
    pub(super) removed: usize,
}

impl Diff {
    /// Compares two texts line by line, whatever their lines end with.
    pub(super) fn between(old_text: &str, new_text: &str) -> Self {
        let old = with_final_newline(old_text);
        let new = with_final_newline(new_text);
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
            if lines.is_empty() && old_text != new_text {
                lines.push(Line::new('@', "only line breaks differ"));
            }
        }
        Self::from_lines(lines)
    }

    /// The lines of a patch, unchanged.
    pub(super) fn from_patch(patch: &str) -> Self {
        let written: Vec<&str> = patch.lines().collect();
        let marked = written.iter().enumerate().map(|(nth, line)| {
            let mark = match line.as_bytes().first() {
                Some(b'+' | b'-') if names_file(&written, nth) => '@',
                Some(b'+') => '+',
                Some(b'-') => '-',
                Some(b'@' | b'*') => '@',
                _ => ' ',
            };
            let text = line.strip_prefix(mark).filter(|_| mark != '@').unwrap_or(line);
            Line::new(mark, text)
        });
        let mut lines: Vec<Line> = marked.collect();
        for replaced in lines.chunk_by_mut(|one, next| one.mark == next.mark || one.mark == '-' && next.mark == '+') {
            mark_words(replaced);
        }
        Self::from_lines(lines)
    }

    fn from_lines(lines: Vec<Line>) -> Self {
        let [added, removed] = ['+', '-'].map(|mark| lines.iter().filter(|line| line.mark == mark).count());
        Self { lines, added, removed }
    }

    /// The diff as HTML, up to `max_chars` characters. `byte` is the offset of the edit in the file.
    pub(super) fn draw(&self, byte: usize, max_chars: usize) -> Markup {
        let (lines, hidden) = self.lines_in(max_chars);
        let folds = lines.len() > FOLDED_DIFF + FOLDED_DIFF / 4;
        let (head, rest) = lines.split_at(if folds { FOLDED_DIFF } else { lines.len() });
        html! {
            (draw_lines(head))
            @if !rest.is_empty() {
                (more(rest.len(), "line", draw_lines(rest)))
            }
            (note(hidden, byte))
        }
    }

    /// The lines in the first `max_chars` characters, of which the last may be cut, and the number of characters after them.
    fn lines_in(&self, max_chars: usize) -> (Vec<Line>, usize) {
        let mut lines = Vec::new();
        let mut left = max_chars;
        let mut hidden = 0;
        for line in &self.lines {
            if left == 0 {
                hidden += line.text.chars().count() + 1;
                continue;
            }
            let (text, rest) = capped(&line.text, left);
            lines.push(if rest == 0 { line.clone() } else { Line::new(line.mark, text) });
            hidden += rest;
            left = left.saturating_sub(text.chars().count() + 1);
        }
        (lines, hidden)
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

/// Whether a line of a patch names the file before or after: the two stand together, in front of the changes.
fn names_file(lines: &[&str], nth: usize) -> bool {
    let near = &lines[nth.saturating_sub(1)..lines.len().min(nth + 2)];
    near.windows(2).any(|pair| pair[0].starts_with("--- ") && pair[1].starts_with("+++ "))
}

/// Whether a text looks like a unified diff or a patch.
pub(super) fn is_diff(text: &str) -> bool {
    let starts = ["@@ ", "diff --git ", "*** Begin Patch", "*** Update File"];
    text.lines().take(12).any(|line| starts.iter().any(|start| line.starts_with(start)))
}

/// A diff in a text, as it is written.
pub(super) fn written(text: &str) -> Markup {
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

#[cfg(test)]
mod tests {
    use super::Diff;

    #[test]
    fn an_edit_shows_what_it_changes() {
        let diff = Diff::between("a\r\n<b>\r\nc", "a\n<i>\nc\n");
        assert_eq!((diff.added, diff.removed), (1, 1));
        let comments = Diff::from_patch("--- a.sql\n+++ b.sql\n@@ -1,2 +1 @@\n--- note\n select 1;\n");
        assert_eq!((comments.added, comments.removed), (0, 1), "a line that begins with two dashes is one");
        let html = diff.draw(0, 1_000).0;
        assert_eq!(html, "<pre class=\"diff\"> a\n<del>-&lt;b&gt;\n</del><ins>+&lt;i&gt;\n</ins> c\n</pre>");
        assert_eq!(Diff::between("", "x").draw(0, 1_000).0, "<pre class=\"diff\"><ins>+x\n</ins></pre>");
        for (old, new) in [("a\r\nb\r\n", "a\nb\n"), ("a", "a\n")] {
            let html = Diff::between(old, new).draw(0, 1_000).0;
            assert_eq!(html, "<pre class=\"diff\"><b>only line breaks differ\n</b></pre>");
        }
    }

    #[test]
    fn a_patch_is_shown_as_it_is_written() {
        let diff =
            Diff::from_patch("*** Begin Patch\n*** Update File: <a>\n@@\n-b\u{202e}\n+c</ins>\n d\n*** End Patch");
        assert_eq!((diff.added, diff.removed), (1, 1));
        let html = diff.draw(0, 1_000).0;
        assert!(html.contains("<b>*** Update File: &lt;a&gt;\n</b>"), "{html}");
        assert!(html.contains("<del>-b⟨U+202E⟩\n</del><ins>+c&lt;/ins&gt;\n</ins> d\n"), "{html}");
    }

    #[test]
    fn the_words_that_changed_are_marked() {
        let html = Diff::between("let tide = level(3);\n", "let tide = level(<4>);\n").draw(0, 1_000).0;
        assert!(
            html.contains("<del>-let tide = level(<u>3</u>);") && html.contains("level(<u>&lt;4&gt;</u>);"),
            "{html}"
        );
        let patch = Diff::from_patch("@@\n-the old glaze is dry\n+the new glaze is dry\n").draw(0, 1_000).0;
        assert!(patch.contains("the <u>old</u> glaze") && patch.contains("the <u>new</u> glaze"), "{patch}");
        assert!(!Diff::between("wholly different", "no word of that").draw(0, 1_000).0.contains("<u>"));
        assert!(!Diff::between("", "all of this is new").draw(0, 1_000).0.contains("<u>"));
    }

    #[test]
    fn long_diffs_are_cut_with_a_note() {
        let html = Diff::between("", &"tide\n".repeat(100)).draw(1_234, 50).0;
        assert_eq!(html.matches("+tide").count(), 10, "{html}");
        assert!(html.contains("450 more characters are not on this page") && html.contains("byte 1,234"), "{html}");
    }

    #[test]
    fn long_texts_are_not_compared() {
        let old = "a\n".repeat(3_000);
        let new = "b\n".repeat(3_000);
        let diff = Diff::between(&old, &new);
        assert_eq!((diff.added, diff.removed), (3_000, 3_000));
    }
}
