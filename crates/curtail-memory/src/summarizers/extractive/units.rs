//! Splits texts into the units of a summary: sentences, lines, and fenced code, each with its place. It knows the layout of
//! chat text, not the worth of a unit.

use std::borrow::Cow;
use std::ops::Range;

use super::sentences::split;
use curtail_core::visible::without_escapes;
use curtail_facts::{FenceLine, Fences};

/// A part of one utterance that is taken as a whole or not at all.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct SummaryUnit {
    /// The index of the utterance.
    pub(super) utterance: usize,
    /// The bytes of its text.
    pub(super) range: Range<usize>,
    /// Whether it is fenced code.
    pub(super) fenced: bool,
}

/// The units of an utterance's text. A sentence may continue after a line break.
pub(super) fn units_of(utterance: usize, text: &str) -> Vec<SummaryUnit> {
    let mut units = Vec::new();
    for (range, fenced) in blocks(text) {
        if fenced {
            units.push(SummaryUnit { utterance, range, fenced });
            continue;
        }
        for found in split(&text[range.clone()]) {
            let range = found.start + range.start..found.end + range.start;
            if range.len() == text.trim().len() || has_content(&text[range.clone()]) {
                units.push(SummaryUnit { utterance, range, fenced });
            }
        }
    }
    units
}

/// Whether a unit has content. Rules, brackets, bullets, single numbers and single tags have none.
fn has_content(text: &str) -> bool {
    let tag = text.starts_with('<') && text.ends_with('>') && !text[1..].contains('<');
    !tag && text.chars().any(char::is_alphabetic) && !is_blob(text)
}

/// More characters in a row than occur in any language without a space or punctuation: ciphertext, a key, a file in Base64.
const LONGEST_RUN: usize = 80;

/// Whether most of a text is one such run.
fn is_blob(text: &str) -> bool {
    if text.len() <= LONGEST_RUN {
        return false;
    }
    let runs = text.split(|c: char| c.is_whitespace() || ".,;:!?'\"()[]{}<>-_。，、！？；：（）「」…".contains(c));
    let longest = runs.map(|run| run.chars().count()).max().unwrap_or(0);
    longest > LONGEST_RUN && 2 * longest > text.chars().count()
}

/// The blocks of a text, each with whether it is fenced: paragraphs, list items, single lines, and fenced blocks with their
/// fences.
fn blocks(text: &str) -> Vec<(Range<usize>, bool)> {
    let mut blocks: Vec<(Range<usize>, bool)> = Vec::new();
    let mut fences = Fences::default();
    let mut wraps = false;
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let range = at..at + line.len();
        at = range.end;
        let kind = fences.take(line);
        let is_outside = kind == FenceLine::Outside;
        let joins = kind == FenceLine::Inside || is_outside && wraps && continues(line);
        match blocks.last_mut() {
            Some((last, _)) if joins => last.end = range.end,
            _ => blocks.push((range, kind == FenceLine::Opening)),
        }
        wraps = is_outside && may_wrap(line);
    }
    blocks
}

/// Whether a line is long enough to have been wrapped, and ends in the middle of a sentence.
fn may_wrap(line: &str) -> bool {
    let line = line.trim_end();
    line.len() >= 40 && !line.ends_with(['.', '!', '?', ':', ';', '|', '}', '{', '。', '！', '？', '؟'])
}

/// Whether a line looks like the continuation of the previous one: it starts in lower case, is not a list item and is not
/// indented.
fn continues(line: &str) -> bool {
    line.chars().next().is_some_and(|c| c.is_lowercase() || c == '(')
}

/// How much of a long text is read: its beginning, its end, and the lines between them that report errors. A summary of a few
/// hundred tokens has room for only a few lines of a log, so the work need not grow with the log: all of it is searched for
/// errors, at about 4 GB/s, and only this much is weighed.
#[derive(Clone, Copy)]
pub(super) struct Reach {
    /// Bytes at the beginning.
    pub(super) head: usize,
    /// Bytes at the end.
    pub(super) tail: usize,
    /// Lines between them that report errors.
    pub(super) errors: usize,
}

/// The part of `text` that is read: all of it if it is short, else the parts within `reach`, each on lines of its own.
/// `is_error` recognizes lines that report errors. Terminal escapes and other control characters are removed.
pub(super) fn excerpt(text: &str, reach: Reach, is_error: impl Fn(&str) -> bool) -> Cow<'_, str> {
    if text.len() <= reach.head + reach.tail {
        return clean(text);
    }
    let head_end = text.floor_char_boundary(reach.head);
    let tail_start = text.ceil_char_boundary(text.len() - reach.tail);
    let mut parts = vec![&text[..head_end]];
    let between = text[head_end..tail_start].lines();
    parts.extend(
        between.filter(|line| is_error(line)).map(|line| &line[..line.floor_char_boundary(400)]).take(reach.errors),
    );
    parts.push(&text[tail_start..]);
    Cow::Owned(clean(&parts.join("\n")).into_owned())
}

/// `text` without the codes of terminals and without control characters other than line breaks and tabs.
fn clean(text: &str) -> Cow<'_, str> {
    if text.chars().all(is_plain) {
        return Cow::Borrowed(text);
    }
    Cow::Owned(without_escapes(text).chars().filter(|c| is_plain(*c)).collect())
}

fn is_plain(c: char) -> bool {
    !c.is_control() || matches!(c, '\n' | '\t')
}

#[cfg(test)]
mod tests {
    use super::{Reach, excerpt, units_of};

    fn texts(text: &str) -> Vec<(&str, bool)> {
        units_of(0, text).into_iter().map(|unit| (text[unit.range].trim_end(), unit.fenced)).collect()
    }

    #[test]
    fn text_falls_into_sentences_lines_and_fences() {
        for (text, expected) in [
            (
                "One. Two.\n- item\n---\n# Head\n",
                &[("One.", false), ("Two.", false), ("- item", false), ("# Head", false)][..],
            ),
            (
                "This line is wrapped after forty letters or so\nand ends here. Next.",
                &[("This line is wrapped after forty letters or so\nand ends here.", false), ("Next.", false)],
            ),
            (
                "See:\n```rust\nfn a() {}\n\nfn b() {}\n```\nDone.",
                &[("See:", false), ("```rust\nfn a() {}\n\nfn b() {}\n```", true), ("Done.", false)],
            ),
            ("~~~\n```\n~~~\nok", &[("~~~\n```\n~~~", true), ("ok", false)]),
            ("````\n```\nx\n````", &[("````\n```\nx\n````", true)]),
            ("```\nnever closed. Not at all.", &[("```\nnever closed. Not at all.", true)]),
            ("```x``` is inline. Yes.", &[("```x``` is inline.", false), ("Yes.", false)]),
        ] {
            assert_eq!(texts(text), expected, "{text}");
        }
    }

    #[test]
    fn endless_runs_of_characters_have_no_content() {
        let key = "Zm9v/YmFy+".repeat(20);
        let cipher = "᤬㨉ᓺ㜽ᭅ᧟".repeat(38);
        let text = format!("Decrypt this.\n{key}\n{cipher}\nThe key is {}.\n", &key[..64]);
        let kept = format!("The key is {}.", &key[..64]);
        assert_eq!(texts(&text), [("Decrypt this.", false), (kept.as_str(), false)]);
        assert_eq!(texts(&key), [(key.as_str(), false)]);
    }

    #[test]
    fn long_output_is_read_at_its_ends_and_errors() {
        let text = format!("start\n{}error: boom\n{}end", "x\n".repeat(500), "y\n".repeat(500));
        let reach = Reach { head: 8, tail: 6, errors: 3 };
        let read = excerpt(&text, reach, |line| line.contains("error"));
        assert_eq!(read, "start\nx\n\nerror: boom\ny\ny\nend".replace("y\ny\n", "\ny\n"));
    }

    #[test]
    fn escapes_do_not_reach_a_summary() {
        let reach = Reach { head: 99, tail: 99, errors: 0 };
        assert_eq!(excerpt("\x1b[1;31mred\x1b[0m\r\n\x07ok", reach, |_| false), "red\nok");
    }
}
