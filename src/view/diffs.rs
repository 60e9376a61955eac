//! Draws edits as line diffs.

use maud::{Markup, html};
use similar::{ChangeTag, TextDiff};

use super::visible::{Body, counted};

/// Maximum lines of both texts to compare. Longer texts are shown as removed and added.
const MAX_LINES: usize = 4_000;
/// Lines of a diff that are shown before the rest is folded.
const FOLD: usize = 40;

/// A line of a diff. Its mark is `+`, `-`, a blank, or `@` between distant parts.
struct Line {
    mark: char,
    text: String,
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
        let (old, new) = (with_final_newline(old), with_final_newline(new));
        let mut lines = Vec::new();
        if old.lines().count() + new.lines().count() > MAX_LINES {
            lines.extend(old.lines().map(|text| Line { mark: '-', text: text.to_owned() }));
            lines.extend(new.lines().map(|text| Line { mark: '+', text: text.to_owned() }));
        } else {
            let diff = TextDiff::from_lines(&old, &new);
            for group in diff.grouped_ops(3) {
                if !lines.is_empty() {
                    lines.push(Line { mark: '@', text: String::from("⋯") });
                }
                for change in group.iter().flat_map(|op| diff.iter_changes(op)) {
                    let mark = match change.tag() {
                        ChangeTag::Delete => '-',
                        ChangeTag::Insert => '+',
                        ChangeTag::Equal => ' ',
                    };
                    lines.push(Line { mark, text: change.value().trim_end_matches(['\n', '\r']).to_owned() });
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
            Line { mark, text: text.to_owned() }
        };
        Self::from_lines(patch.lines().map(line).collect())
    }

    fn from_lines(lines: Vec<Line>) -> Self {
        let count = |mark: char| lines.iter().filter(|line| line.mark == mark).count();
        Self { added: count('+'), removed: count('-'), lines }
    }

    /// The diff as HTML.
    pub(super) fn draw(&self) -> Markup {
        let folds = self.lines.len() > FOLD + FOLD / 4;
        let (head, rest) = self.lines.split_at(if folds { FOLD } else { self.lines.len() });
        html! {
            (draw_lines(head))
            @if !rest.is_empty() {
                details class="more" {
                    summary { "Show " (counted(rest.len(), "more line")) }
                    (draw_lines(rest))
                }
            }
        }
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
                    '+' => { ins { "+" (Body(&line.text)) "\n" } },
                    '-' => { del { "-" (Body(&line.text)) "\n" } },
                    '@' => { b { (Body(&line.text)) "\n" } },
                    _ => { " " (Body(&line.text)) "\n" },
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
    fn long_texts_are_not_compared() {
        let (old, new) = ("a\n".repeat(3_000), "b\n".repeat(3_000));
        let diff = Diff::between(&old, &new);
        assert_eq!((diff.added, diff.removed), (3_000, 3_000));
    }
}
