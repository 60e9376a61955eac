//! Finds the ends of sentences within one paragraph, in any script: by the rules of UAX 29, corrected where they fail in chats.

use std::ops::Range;

use unicode_segmentation::UnicodeSegmentation;

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
    text.ends_with(['!', '?']) && next.is_some_and(is_tight)
}

const fn is_tight(c: char) -> bool {
    c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '=' | '(' | '[' | '.' | ':' | '&')
}

/// Whether a word is a capital letter, or several letters separated by full stops: `J.`, `U.S.`, `z.B.`
fn is_initial(word: &str) -> bool {
    let mut parts = word.split('.');
    let dotted = word.contains('.');
    // “I.” can end a sentence, and so can a lower-case letter or a letter of a script without upper and lower case.
    let capital = word.chars().all(char::is_uppercase) && word != "I";
    parts.all(|part| part.chars().count() == 1 && part.chars().all(char::is_alphabetic)) && (dotted || capital)
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
    last_end(text, |c| matches!(c, ';' | ',' | '}' | '、' | '，' | '；' | '،'))
        .or_else(|| last_end(text, char::is_whitespace))
        .or_else(|| last_end(text, |_| true))
        .filter(|&end| end < text.len())
}

/// The last end of a wanted character at which a piece is neither too short nor too long.
fn last_end(text: &str, wanted: fn(char) -> bool) -> Option<usize> {
    let ends = text.char_indices().map(|(at, c)| (at + c.len_utf8(), c));
    let near = ends.take_while(|&(end, _)| end <= LONGEST_SENTENCE);
    near.filter(|&(end, c)| end >= SHORTEST_PIECE && wanted(c)).map(|(end, _)| end).last()
}

#[cfg(test)]
mod tests {
    use super::{ABBREVIATIONS, LONGEST_SENTENCE, split};

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
