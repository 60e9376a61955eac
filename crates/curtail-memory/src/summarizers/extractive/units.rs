//! Splits texts into the units of a summary: sentences, lines, and fenced code, each with its place. It knows the layout of
//! chat text and tool output, not the worth of a unit.

use std::borrow::Cow;
use std::ops::Range;

use unicode_segmentation::UnicodeSegmentation;

use curtail_core::visible::without_escapes;

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

/// The units of an utterance's text. In prose, a sentence may continue after a line break; in tool output, every line is a
/// unit.
pub(super) fn units_of(utterance: usize, text: &str, prose: bool) -> Vec<SummaryUnit> {
    let mut units = Vec::new();
    for (range, fenced) in blocks(text, prose) {
        let unit = |range| SummaryUnit { utterance, range, fenced };
        if fenced {
            units.push(unit(range));
        } else {
            let found = split(&text[range.clone()]);
            let shifted = found.into_iter().map(|at| at.start + range.start..at.end + range.start);
            let is_kept = |at: &Range<usize>| at.len() == text.trim().len() || has_content(&text[at.clone()]);
            units.extend(shifted.filter(is_kept).map(unit));
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
    let mark = |c: char| u8::try_from(c).is_ok_and(|byte| b".,;:!?'\"()[]{}<>-_".contains(&byte));
    let separates = |c: char| c.is_whitespace() || mark(c) || !c.is_ascii() && "。，、！？；：（）「」…".contains(c);
    let longest = text.split(separates).map(|run| run.chars().count()).max().unwrap_or(0);
    longest > LONGEST_RUN && 2 * longest > text.chars().count()
}

/// The blocks of a text, each with whether it is fenced: paragraphs, list items, single lines, and fenced blocks with their
/// fences.
fn blocks(text: &str, prose: bool) -> Vec<(Range<usize>, bool)> {
    let mut blocks: Vec<(Range<usize>, bool)> = Vec::new();
    let mut fence: Option<&str> = None;
    let mut wraps = false;
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let range = at..at + line.len();
        at = range.end;
        let mark = fence_mark(line);
        let inside = fence.is_some();
        match (fence, mark) {
            (Some(open), Some(close)) if closes(open, close, line) => fence = None,
            (None, Some(open)) => fence = Some(open),
            _ => {}
        }
        let joins = inside || mark.is_none() && prose && wraps && continues(line);
        match blocks.last_mut() {
            Some((last, _)) if joins => last.end = range.end,
            _ => blocks.push((range, mark.is_some())),
        }
        wraps = !inside && mark.is_none() && may_wrap(line);
    }
    blocks
}

/// The run of three or more back-ticks or tildes that a line starts with.
fn fence_mark(line: &str) -> Option<&str> {
    let line = line.trim_start();
    let mark = line.chars().next().filter(|c| matches!(c, '`' | '~'))?;
    let run = line.len() - line.trim_start_matches(mark).len();
    // A line with ```inline``` code opens no block.
    let inline = mark == '`' && line[run..].contains('`');
    (run >= 3 && !inline).then(|| &line[..run])
}

/// Whether a line closes a fence.
fn closes(open: &str, close: &str, line: &str) -> bool {
    close.starts_with(open) && line.trim().len() == close.len()
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
    let is_plain = |c: &char| !c.is_control() || matches!(c, '\n' | '\t');
    if text.chars().all(|c| is_plain(&c)) {
        return Cow::Borrowed(text);
    }
    Cow::Owned(without_escapes(text).chars().filter(is_plain).collect())
}

// Finds the ends of sentences within one paragraph, in any script: by the rules of UAX 29, corrected where they fail in
// chats.

/// A sentence longer than this, in bytes, is cut where it can be: minified JSON or Thai prose is one sentence to UAX 29.
const LONGEST_SENTENCE: usize = 360;

/// The shortest part that is cut off: a third of the longest.
const SHORTEST_PIECE: usize = LONGEST_SENTENCE / 3;

/// Abbreviations with a full stop that rarely end a sentence, in lower case, sorted.
const ABBREVIATIONS: &[&str] = &[
    "abb", "abs", "al", "allg", "approx", "apr", "art", "aug", "av", "avg", "bd", "bspw", "bzgl", "bzw", "ca", "cf",
    "cfr", "ch", "co", "corp", "dec", "dept", "dipl", "dr", "dra", "ed", "eds", "eg", "engl", "esp", "est", "etc",
    "evtl", "feb", "fig", "figs", "fr", "geb", "gen", "ggf", "gov", "hr", "ie", "inc", "incl", "inkl", "jan", "jr",
    "jul", "jun", "lt", "ltd", "mag", "mar", "max", "min", "mio", "misc", "mme", "mr", "mrd", "mrs", "ms", "mt", "nov",
    "nr", "núm", "oct", "op", "orig", "p", "pp", "pr", "prof", "pág", "resp", "rev", "sec", "sen", "sep", "sept",
    "sig", "sog", "sr", "sra", "st", "str", "tab", "tel", "usw", "vgl", "viz", "vol", "vs", "z",
];

/// The sentences of `text` as byte ranges without the white space around them. No sentence is longer than a few hundred
/// bytes unless nothing in it can be cut.
pub(super) fn split(text: &str) -> Vec<Range<usize>> {
    let mut sentences: Vec<Range<usize>> = Vec::new();
    if is_one_sentence(text) {
        cut(text, 0..text.len(), &mut sentences);
        return sentences;
    }
    let mut open: Option<usize> = None;
    for (at, sentence) in text.split_sentence_bound_indices() {
        let start = open.take().unwrap_or(at);
        let end = at + sentence.len();
        if is_continued(&text[start..end], &text[end..]) {
            open = Some(start);
        } else {
            cut(text, start..end, &mut sentences);
        }
    }
    if let Some(start) = open {
        cut(text, start..text.len(), &mut sentences);
    }
    sentences
}

/// Whether a text certainly has no place where a sentence may end, as most lines of output have none. In ASCII, by the rules of
/// UAX 29, only punctuation or a line break ends a sentence, and a full stop before a small letter or a digit does not.
fn is_one_sentence(text: &str) -> bool {
    let bytes = text.trim_end_matches(['\r', '\n']).as_bytes();
    bytes.iter().enumerate().all(|(at, byte)| match byte {
        b'!' | b'?' | b'\r' | b'\n' => false,
        b'.' => bytes.get(at + 1).is_some_and(|next| next.is_ascii_lowercase() || next.is_ascii_digit()),
        byte => byte.is_ascii(),
    })
}

/// Whether the sentence continues after this point, before `rest`: the text ends in an abbreviation, an initial or the
/// number of a list item, or it was split at a wrapped line or at an ellipsis within a sentence.
fn is_continued(text: &str, rest: &str) -> bool {
    if text.ends_with('\n') && !rest.is_empty() {
        return true;
    }
    if is_operator(text, rest) {
        return true;
    }
    let text = text.trim_end();
    if rest.trim_start().chars().next().is_some_and(char::is_lowercase) && text.ends_with('…') {
        return true;
    }
    let Some(text) = text.strip_suffix('.') else {
        return false;
    };
    let word =
        text.rsplit(|c: char| c.is_whitespace() || matches!(c, '(' | '[' | '"' | '“' | '„')).next().unwrap_or_default();
    let is_alone = word.len() == text.trim_start().len();
    is_initial(word) || is_abbreviation(word) || is_alone && word.chars().all(char::is_numeric)
}

/// Whether a punctuation character is part of code or of an address: `a != b`, `assert!(x)`, `/page?id=3`.
fn is_operator(text: &str, rest: &str) -> bool {
    let next = rest.chars().next();
    let tight =
        |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '=' | '(' | '[' | '.' | ':' | '&');
    text.ends_with(['!', '?']) && next.is_some_and(tight)
}

/// Whether a word is a capital letter, or several letters separated by full stops: `J.`, `U.S.`, `z.B.`
fn is_initial(word: &str) -> bool {
    let mut parts = word.split('.');
    let single = |part: &str| part.chars().count() == 1 && part.chars().all(char::is_alphabetic);
    let dotted = word.contains('.');
    // “I.” can end a sentence, and so can a lower-case letter or a letter of a script without upper and lower case.
    let capital = word.chars().all(char::is_uppercase) && word != "I";
    parts.all(single) && (dotted || capital)
}

fn is_abbreviation(word: &str) -> bool {
    word.len() <= 8 && ABBREVIATIONS.binary_search(&word.to_lowercase().as_str()).is_ok()
}

/// Adds `range` of `text`, trimmed, in as many parts as its length requires.
fn cut(text: &str, range: Range<usize>, into: &mut Vec<Range<usize>>) {
    let mut rest = trimmed(text, range);
    while rest.len() > LONGEST_SENTENCE {
        let Some(at) = best_cut(&text[rest.clone()]) else {
            break;
        };
        into.push(trimmed(text, rest.start..rest.start + at));
        rest = trimmed(text, rest.start + at..rest.end);
    }
    if !rest.is_empty() {
        into.push(rest);
    }
}

/// `range` of `text` without the white space at its ends.
fn trimmed(text: &str, range: Range<usize>) -> Range<usize> {
    let slice = &text[range.clone()];
    let start = range.end - slice.trim_start().len();
    start..(start + slice.trim().len()).max(start)
}

/// The last possible place to cut: after a clause, else at a space, else between any two characters.
fn best_cut(text: &str) -> Option<usize> {
    let places = |wanted: fn(char) -> bool| {
        text.char_indices()
            .map(|(at, c)| (at + c.len_utf8(), c))
            .take_while(|&(end, _)| end <= LONGEST_SENTENCE)
            .filter(|&(end, c)| end >= SHORTEST_PIECE && wanted(c))
            .map(|(end, _)| end)
            .last()
    };
    places(|c| matches!(c, ';' | ',' | '}' | '、' | '，' | '；' | '،'))
        .or_else(|| places(char::is_whitespace))
        .or_else(|| places(|_| true))
        .filter(|&end| end < text.len())
}

#[cfg(test)]
mod tests {
    use super::{ABBREVIATIONS, LONGEST_SENTENCE, Reach, excerpt, split, units_of};

    fn texts(text: &str, prose: bool) -> Vec<(&str, bool)> {
        units_of(0, text, prose).into_iter().map(|unit| (text[unit.range].trim_end(), unit.fenced)).collect()
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
            assert_eq!(texts(text, true), expected, "{text}");
        }
    }

    #[test]
    fn endless_runs_of_characters_have_no_content() {
        let key = "Zm9v/YmFy+".repeat(20);
        let cipher = "᤬㨉ᓺ㜽ᭅ᧟".repeat(38);
        let text = format!("Decrypt this.\n{key}\n{cipher}\nThe key is {}.\n", &key[..64]);
        let kept = format!("The key is {}.", &key[..64]);
        assert_eq!(texts(&text, true), [("Decrypt this.", false), (kept.as_str(), false)]);
        assert_eq!(texts(&key, true), [(key.as_str(), false)]);
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

    #[test]
    fn abbreviations_are_sorted_so_that_they_can_be_searched() {
        assert!(ABBREVIATIONS.is_sorted());
    }

    #[test]
    fn lines_without_an_end_are_one_sentence() {
        let parts = ["a", "B", "7", ".", ".", " ", ")", "\"", "-", "fn x", "a.rs", "\t", ":"];
        let mut state = 7_usize;
        for _ in 0..4000 {
            let mut text = String::new();
            for _ in 0..12 {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                text.push_str(parts[(state >> 33) % parts.len()]);
            }
            let whole: Vec<&str> =
                unicode_segmentation::UnicodeSegmentation::split_sentence_bounds(text.as_str()).collect();
            assert!(!super::is_one_sentence(&text) || whole.len() == 1, "{text:?} {whole:?}");
        }
        assert!(
            super::is_one_sentence("let x = a.b(1.5);\r\n")
                && !super::is_one_sentence("One. Two")
                && !super::is_one_sentence("é")
        );
    }

    #[test]
    fn sentences_end_where_a_reader_would_end_them() {
        for (text, expected) in [
            ("One. Two! Three?", &["One.", "Two!", "Three?"][..]),
            ("Dr. Smith met J. R. Lee. They left.", &["Dr. Smith met J. R. Lee.", "They left."]),
            ("The U.S. Senate voted. It passed.", &["The U.S. Senate voted.", "It passed."]),
            ("Edit src/main.rs. Then run v1.2.3 again.", &["Edit src/main.rs.", "Then run v1.2.3 again."]),
            ("Das gilt z.B. Montag bzw. Dienstag. Gut.", &["Das gilt z.B. Montag bzw. Dienstag.", "Gut."]),
            ("1. Open the door. 2. Close it.", &["1. Open the door.", "2. Close it."]),
            ("So... what now? It was I. Yes.", &["So... what now?", "It was I.", "Yes."]),
            ("我来了。你呢？好！", &["我来了。", "你呢？", "好！"]),
            ("هل تعمل؟ نعم.", &["هل تعمل؟", "نعم."]),
            ("It broke: 1 != 2. See /page?id=3! Done.", &["It broke: 1 != 2.", "See /page?id=3!", "Done."]),
            (" \n", &[]),
        ] {
            let found: Vec<_> = split(text).into_iter().map(|range| &text[range]).collect();
            assert_eq!(found, expected, "{text}");
        }
    }

    #[test]
    fn endless_sentences_are_cut_at_clauses_or_anywhere() {
        for text in ["{\"key\":\"value\",".repeat(100), "คำ".repeat(400), "ไม่เว้นวรรค ".repeat(100), "x".repeat(2000)]
        {
            let parts = split(&text);
            assert!(parts.iter().all(|range| range.len() <= LONGEST_SENTENCE));
            let kept: usize =
                parts.iter().map(|range| text[range.clone()].split_whitespace().map(str::len).sum::<usize>()).sum();
            assert_eq!(kept, text.split_whitespace().map(str::len).sum::<usize>());
        }
    }
}
