//! Splits texts into sentences under their headings, and sentences into segments that give one order each.

use super::languages::{LANGUAGES, Phrases};
use super::negation::negates;

/// A sentence of a text, or an item of a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Clause<'t> {
    /// The byte of the whole text with which its line begins.
    pub(super) at: usize,
    /// Its text.
    pub(super) text: &'t str,
    /// The line above it that introduces it, if there is one.
    pub(super) heading: Option<&'t str>,
    /// Whether it is an item of a list.
    pub(super) is_item: bool,
    /// Whether it is the first of its line.
    pub(super) is_first: bool,
    /// Whether it introduces what follows.
    pub(super) is_heading: bool,
}

/// The longest sentence, in bytes: a longer one is divided.
const LONGEST: usize = 600;

/// The longest heading, in bytes.
const LONGEST_HEADING: usize = 80;

/// Calls `each` with the sentences of `text`, in order.
pub(super) fn each_clause<'t>(text: &'t str, mut each: impl FnMut(Clause<'t>)) {
    let mut heading = None;
    // Whether the heading is marked by `#`.
    let mut is_section = false;
    let mut since_blank = false;
    let mut end = 0;
    for line in text.split_inclusive('\n') {
        let at = end;
        end += line.len();
        let line = line.trim();
        if line.is_empty() {
            since_blank = true;
            continue;
        }
        let (item, is_item) = without_bullet(line);
        if let Some(named) = heading_of(line) {
            heading = Some(named);
            is_section = line.starts_with('#');
            each(Clause { at, text: named, heading: None, is_item: false, is_first: true, is_heading: true });
            since_blank = false;
            continue;
        }
        // A paragraph after an empty line is no longer what a heading introduces, unless that is a heading of Markdown.
        if since_blank && !is_item && !is_section {
            heading = None;
        }
        since_blank = false;
        let mut is_first = true;
        each_sentence(item, &mut |text| {
            each(Clause { at, text, heading, is_item, is_first, is_heading: false });
            is_first = false;
        });
    }
}

/// The words of a heading: a line of Markdown with `#`, a bold line that is no sentence, or a short line that ends with a colon.
fn heading_of(line: &str) -> Option<&str> {
    if line.len() > LONGEST_HEADING || line.starts_with(['-', '*', '>', '|']) && !line.starts_with("**") {
        return None;
    }
    let bare = line.trim_start_matches('#').trim();
    let is_marked = bare.len() < line.len();
    let bold = bare.strip_prefix("**").and_then(|bare| bare.trim_end_matches([':', '：']).strip_suffix("**"));
    if let Some(bold) = bold.filter(|bold| !bold.contains("**")) {
        let is_sentence = bold.ends_with('。') || bold.ends_with(['.', '!']) && bold.split(' ').count() > 2;
        if !is_sentence {
            return Some(bold.trim_end_matches([':', '：']));
        }
    }
    if is_marked {
        return Some(bare.trim_end_matches([':', '：']));
    }
    bare.strip_suffix([':', '：'])
}

/// A line without the mark of a list item, and whether it had one. The box of a to-do stays.
fn without_bullet(line: &str) -> (&str, bool) {
    let digits = line.bytes().take_while(u8::is_ascii_digit).count();
    let rest = match digits {
        0 => line.strip_prefix(['-', '*', '+', '•', '·']),
        1..=3 => line[digits..].strip_prefix(['.', ')']),
        _ => None,
    };
    match rest.filter(|rest| rest.starts_with([' ', '\t'])) {
        Some(rest) => (rest.trim_start(), true),
        None => (line, false),
    }
}

/// Marks that may stand behind the point of a sentence.
const CLOSING: [char; 4] = ['"', '”', '\'', ')'];

/// Calls `each` with the sentences of a line.
pub(super) fn each_sentence<'t>(line: &'t str, each: &mut impl FnMut(&'t str)) {
    let mut start = 0;
    let mut chars = line.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        let mut end = at + c.len_utf8();
        if c == '`' {
            let code = &line[at + backticks(&line[at..])..];
            let marks = line.len() - at - code.len();
            let behind = closing(code, marks).map_or(0, |length| length + marks);
            while chars.next_if(|(next, _)| *next < at + marks + behind).is_some() {}
            continue;
        }
        if matches!(c, '.' | ';' | '!' | '?') {
            let rest = line[end..].trim_start_matches(CLOSING);
            end = line.len() - rest.strip_prefix("**").unwrap_or(rest).trim_start_matches(CLOSING).len();
        }
        let is_behind = line[end..].chars().next().is_none_or(char::is_whitespace);
        let ends = match c {
            '。' | '！' | '？' | '；' => true,
            ';' | '!' | '?' => is_behind || line[at + 1..].starts_with(['"', '\'', ')']),
            // What is quoted, or in parentheses, may stand inside a sentence.
            '.' if end > at + 1 && line[end..].trim_start().starts_with(char::is_lowercase) => false,
            '.' => is_behind && !is_abbreviation(&line[start..], at - start),
            c => c.is_whitespace() && end - start > LONGEST || end - start > LONGEST * 2,
        };
        if ends {
            while chars.next_if(|(at, _)| *at < end).is_some() {}
            push(&line[start..end], each);
            start = end;
        }
    }
    push(&line[start..], each);
}

fn push<'t>(sentence: &'t str, each: &mut impl FnMut(&'t str)) {
    let sentence = sentence.trim();
    if !sentence.is_empty() {
        each(sentence);
    }
}

/// Whether the point at the byte `at` of a sentence is one of an abbreviation, which ends no sentence.
fn is_abbreviation(sentence: &str, at: usize) -> bool {
    let (before, rest) = sentence.split_at(at);
    let word = before.rsplit([' ', '(']).next().unwrap_or_default();
    // An initial.
    let is_letter = word.len() == 1 && word.bytes().all(|byte| byte.is_ascii_uppercase());
    let is_number = rest[1..].trim_start().starts_with(|c: char| c.is_ascii_digit());
    is_letter
        || is_number && matches!(word, "No" | "no")
        || LANGUAGES.abbreviation.iter().any(|written| {
            written.match_indices('.').any(|(point, _)| {
                let begin = before.strip_suffix(&written[..point]);
                begin.is_some_and(|begin| begin.is_empty() || begin.ends_with([' ', '(']))
                    && rest.starts_with(&written[point..])
            })
        })
}

/// The longest label of a list or an order, in bytes.
const LONGEST_LABEL: usize = 32;

/// The label of a line such as `Open: validate the rows`, and what is behind it.
pub(super) fn labelled(line: &str) -> Option<(&str, &str)> {
    line.split_once([':', '：']).filter(|(label, rest)| label.len() <= LONGEST_LABEL && !rest.starts_with("//"))
}

/// The label and the items of a line such as `Open: validate the rows, document the errors`.
pub(super) fn labelled_list(line: &str) -> Option<(&str, impl Iterator<Item = &str>)> {
    let (label, items) = labelled(line)?;
    Some((label, items.split([',', ';', '，', '；', '、']).map(str::trim)))
}

/// A text between backticks.
pub(super) struct CodeSpan<'t> {
    /// What is before it, from the last such text on.
    pub(super) before: &'t str,
    /// The text.
    pub(super) text: &'t str,
    /// All that is behind it.
    pub(super) after: &'t str,
}

/// The texts between backticks, as many before them as behind them in the same line.
pub(super) fn code_spans(text: &str) -> Vec<CodeSpan<'_>> {
    let mut found = Vec::new();
    let mut last = 0;
    let mut at = 0;
    while let Some(open) = text[at..].find('`').map(|open| at + open) {
        let marks = backticks(&text[open..]);
        at = open + marks;
        let line = text[at..].lines().next().unwrap_or_default();
        if let Some(length) = closing(line, marks) {
            at += length + marks;
            found.push(CodeSpan { before: &text[last..open], text: &line[..length], after: &text[at..] });
            last = at;
        }
    }
    found
}

/// Where exactly `marks` backticks follow each other in `line`.
fn closing(line: &str, marks: usize) -> Option<usize> {
    let mut at = 0;
    loop {
        at += line[at..].find('`')?;
        let found = backticks(&line[at..]);
        if found == marks {
            return Some(at);
        }
        at += found;
    }
}

/// The number of backticks with which `text` begins.
fn backticks(text: &str) -> usize {
    text.bytes().take_while(|byte| *byte == b'`').count()
}

/// What the segments of a sentence are between.
const JOINTS: &[&str] = &[
    ", and ", ", but ", ", or ", ", then ", " and only then ", " and then ", " and ", " but ", " und ", " aber ",
    " sondern ", " et ", " mais ", " y ", " pero ", "; ", ", ", "，", "、", " — ", " – ",
];

/// The segments of a sentence that give one order each: it is divided where an order begins after a comma or a conjunction.
pub(super) fn segments(sentence: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut start = 0;
    let mut at = 0;
    while at < sentence.len() {
        let joint = JOINTS.iter().find(|joint| sentence[at..].starts_with(**joint));
        let Some(joint) = joint else {
            at += sentence[at..].chars().next().map_or(1, char::len_utf8);
            continue;
        };
        let after = &sentence[at + joint.len()..];
        let before = sentence[start..at].trim();
        if !before.is_empty()
            && !is_condition(before)
            && (begins_with(&[&LANGUAGES.rule, &LANGUAGES.negation], after)
                || begins_with(&[&LANGUAGES.order], after) && !goes_on(before, joint, after))
        {
            found.push(sentence[start..at].trim());
            start = at + joint.len();
        }
        at += joint.len();
    }
    found.push(sentence[start..].trim());
    found.retain(|segment| !segment.is_empty());
    found
}

/// Whether `text` begins with one of some phrases, by which an order is recognized.
fn begins_with(tables: &[&Phrases], text: &str) -> bool {
    let head = &text[..text.floor_char_boundary(40)];
    tables.iter().any(|table| table.first_in(head) == Some(0))
}

/// Whether a part of a sentence says when the order after it holds: it belongs to that order.
fn is_condition(part: &str) -> bool {
    begins_with(&[&LANGUAGES.condition], part) && !part.contains([',', '，'])
}

/// An order without the condition before it.
pub(super) fn without_condition(segment: &str) -> &str {
    match segment.split_once([',', '，']) {
        Some((condition, order)) if is_condition(condition) => order.trim_start(),
        _ => segment,
    }
}

/// Whether a verb continues the order before it: `never commit, push or tag`, `never stop and wait`.
fn goes_on(before: &str, joint: &str, after: &str) -> bool {
    let next = JOINTS.iter().filter_map(|joint| after.find(joint)).min().unwrap_or(after.len());
    let is_word = after[..next].split(' ').count() < 2;
    let is_alternative = joint.starts_with(',') && LANGUAGES.or.are_in(after);
    is_word || is_alternative || joint.starts_with(' ') && joint.trim_end().len() < joint.len() && negates(before)
}

#[cfg(test)]
mod tests {
    use super::{Clause, each_clause, segments};

    #[test]
    fn sentences_have_their_headings() {
        let mut found = Vec::new();
        each_clause(
            "# Open\n- a.py fails. See 2.3.1\n\nAll e.g. good! 完成。继续",
            |Clause { text, heading, .. }| found.push((text, heading)),
        );
        let open = Some("Open");
        assert_eq!(
            found,
            [
                ("Open", None),
                ("a.py fails.", open),
                ("See 2.3.1", open),
                ("All e.g. good!", open),
                ("完成。", open),
                ("继续", open)
            ]
        );
    }

    #[test]
    fn a_bold_sentence_ends_with_its_marks() {
        let mut found = Vec::new();
        each_clause(
            "Be kind. **Never refund.** Say \"Hello.\" Use a.py (or b.py.) and a.* files. `go test ./... -v` ran. A ` is one.",
            |clause| {
                found.push(clause.text);
            },
        );
        assert_eq!(
            found,
            [
                "Be kind.",
                "**Never refund.**",
                "Say \"Hello.\"",
                "Use a.py (or b.py.) and a.* files.",
                "`go test ./... -v` ran.",
                "A ` is one."
            ]
        );
    }

    #[test]
    fn the_point_of_an_abbreviation_ends_no_sentence() {
        for whole in [
            "Nutze immer pnpm, z. B. für das Frontend.",
            "Nutze pnpm, d. h. nie npm, bzw. u. a. nie yarn.",
            "Never mail Dr. Smith (Prof. Jones is fine).",
            "Send approx. 5 MB to St. Louis, cf. No. 5 and no. 6.",
            "Z. B. pnpm.",
        ] {
            let mut found = Vec::new();
            each_clause(whole, |clause| found.push(clause.text));
            assert_eq!(found, [whole]);
        }
        for two in ["Wait 5 ms. Never poll.", "Say no. Never push.", "Return a. Never b.", "Edit main.cf. Never push."]
        {
            let mut count = 0;
            each_clause(two, |_| count += 1);
            assert_eq!(count, 2, "{two}");
        }
    }

    #[test]
    fn bold_sentences_are_no_headings() {
        for (line, is_heading) in [
            ("**Rules**", true),
            ("**Important!**", true),
            ("**Open questions:**", true),
            ("**Never commit to main.**", false),
            ("**Never push** and **never force**", false),
        ] {
            each_clause(line, |clause| assert_eq!(clause.is_heading, is_heading, "{line}"));
        }
    }

    #[test]
    fn two_orders_are_two_segments() {
        assert_eq!(
            segments("Always run the linter and never push to main"),
            ["Always run the linter", "never push to main"]
        );
        assert_eq!(segments("Use pnpm, never npm"), ["Use pnpm", "never npm"]);
        for whole in [
            "Log errors (never print them) with the logger.",
            "Never commit (use the queue) to main.",
            "The command to run (wrap it in quotes)",
        ] {
            assert_eq!(segments(whole), [whole]);
        }
        assert_eq!(segments("Read a, b and c"), ["Read a, b and c"]);
        assert_eq!(segments("Never commit, push or tag"), ["Never commit, push or tag"]);
        assert_eq!(segments("Check format, name and order"), ["Check format, name and order"]);
        assert_eq!(segments("If it is late, send a mail and never call"), ["If it is late, send a mail", "never call"]);
    }
}
