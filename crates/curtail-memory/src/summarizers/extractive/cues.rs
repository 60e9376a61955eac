//! Detects sentences that an agent needs later: goals, decisions, changes, errors, questions, and exact names. It judges by
//! words and spelling and does not know the topic of the conversation.

use super::lexicon::{CHANGE_SIGNS, CueList, DECISION_SIGNS, ERROR_SIGNS, GOAL_SIGNS, Lists, lowered};

/// The cues in one sentence.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "the cues are independent of each other")]
pub(super) struct Cues {
    /// Somebody wants, needs, asks for or forbids something.
    pub(super) goal: bool,
    /// Something was decided, chosen, agreed or promised.
    pub(super) decision: bool,
    /// Something was made, changed or removed.
    pub(super) change: bool,
    /// Something failed.
    pub(super) error: bool,
    /// It is a question.
    pub(super) question: bool,
    /// It only thanks, greets or offers further help.
    pub(super) courtesy: bool,
    /// It only introduces the text after it.
    pub(super) lead_in: bool,
    /// The number of words that are paths, addresses or identifiers.
    pub(super) identifiers: usize,
    /// The number of words with a digit.
    pub(super) numbers: usize,
    /// The number of capitalized words, except the first word.
    pub(super) names: usize,
}

impl Cues {
    /// The cues in `text`, which contains `words`.
    pub(super) fn find_in(text: &str, words: &[(usize, &str)]) -> Self {
        let mut cues = Self { question: is_question(text), lead_in: is_lead_in(text), ..Self::default() };
        let mut lower = String::new();
        for (_, word) in words {
            let word = lowered(word, &mut lower);
            let lists = Lists::containing(word);
            cues.courtesy |= lists.is_in(CueList::Courtesies);
            cues.goal |= lists.is_in(CueList::Goals);
            cues.decision |= lists.is_in(CueList::Decisions);
            cues.change |= lists.is_in(CueList::Changes);
            cues.error |= lists.is_in(CueList::Errors) || is_exception_name(word);
        }
        let has_sign = |signs: &[&str]| contains_sign(text, signs);
        cues.goal |= has_sign(GOAL_SIGNS);
        cues.decision |= has_sign(DECISION_SIGNS);
        cues.change |= has_sign(CHANGE_SIGNS);
        cues.error |= has_sign(ERROR_SIGNS);
        for (index, word) in text.split_whitespace().enumerate() {
            let word = word.trim_matches(|c: char| !c.is_alphanumeric() && !matches!(c, '/' | '_' | '~'));
            if is_identifier(word) {
                cues.identifiers += 1;
            } else if word.chars().any(char::is_numeric) {
                cues.numbers += 1;
            } else if index > 0 && is_name(word) {
                cues.names += 1;
            }
        }
        cues
    }
}

/// Whether `text` contains one of `signs`, none of which is ASCII.
fn contains_sign(text: &str, signs: &[&str]) -> bool {
    !text.is_ascii() && signs.iter().any(|sign| text.contains(sign))
}

/// Whether a line of output reports an error. Code that handles errors does not report one: `raise Error(`, `error = None;`.
pub(super) fn is_error_line(line: &str) -> bool {
    let trimmed = line.trim();
    let code = trimmed.ends_with(['(', '{', '}', ',', ';', '\\'])
        || trimmed.starts_with(['#', '"', '*', '/', '<'])
        || trimmed.contains(" = ");
    if code {
        return false;
    }
    let (mut rest, mut lower) = (trimmed, String::new());
    while let Some(start) = rest.find(char::is_alphanumeric) {
        let word = &rest[start..];
        let end = word.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(word.len());
        let (word, after) = word.split_at(end);
        if (4..32).contains(&word.len())
            && is_error_term(word, &mut lower)
            && !after.starts_with(['(', '.', '\'', '"', '/'])
        {
            return true;
        }
        rest = after;
    }
    contains_sign(line, ERROR_SIGNS)
}

/// Whether a word is `error`, `failed` and the like, or the name of an exception. Only ASCII letters are compared in lower
/// case.
fn is_error_term(word: &str, lower: &mut String) -> bool {
    lower.clear();
    lower.push_str(word);
    lower.make_ascii_lowercase();
    Lists::containing(lower).is_in(CueList::Errors) || is_exception_name(lower)
}

/// Whether a word, in lower case, is the name of an exception, such as `valueerror`.
fn is_exception_name(word: &str) -> bool {
    word.len() > 5 && word.is_ascii() && (word.ends_with("error") || word.ends_with("exception"))
}

/// Whether a text ends with a question mark of any script, perhaps before a closing quote.
fn is_question(text: &str) -> bool {
    text.trim_end_matches(|c: char| c.is_whitespace() || matches!(c, '"' | '\'' | ')' | '”' | '»' | '」' | '*' | '_'))
        .ends_with(['?', '？', '؟'])
}

/// Whether a sentence introduces the text after it, by its colon or its first words.
fn is_lead_in(text: &str) -> bool {
    const OPENINGS: [&str; 4] = ["Let me ", "Now let me ", "Let's start", "I'll start"];
    text.ends_with([':', '：']) || OPENINGS.iter().any(|opening| text.starts_with(opening))
}

/// Whether a word is a path, an address or an identifier: `src/main.rs`, `snake_case`, `camelCase`, `a::b`, `main.rs`,
/// `--flag`.
fn is_identifier(word: &str) -> bool {
    let inner = word.trim_matches(['/', '_', '~', '.']);
    if inner.len() < 2 || !inner.is_ascii() {
        return false;
    }
    let bytes = inner.as_bytes();
    let camel = bytes.windows(2).any(|pair| pair[0].is_ascii_lowercase() && pair[1].is_ascii_uppercase());
    let dotted = inner.rsplit_once('.').is_some_and(|(stem, end)| {
        stem.len() > 1 && (1..=5).contains(&end.len()) && end.bytes().all(|b| b.is_ascii_lowercase())
    });
    camel || dotted || inner.contains("::") || inner.contains('_') || inner.contains('/') || word.starts_with('/')
}

/// Whether a word begins with a capital letter and a lower-case letter.
fn is_name(word: &str) -> bool {
    let mut letters = word.chars();
    letters.next().is_some_and(char::is_uppercase) && letters.next().is_some_and(char::is_lowercase)
}

/// Whether a line only shows a place in code or an entry of a folder, with nothing said about it: `12:  fn a()`, `12-`, `12→`,
/// `12` and a tab, `src/a.rs:12: fn a()`, a frame of a traceback, a line of `ls -l`.
pub(super) fn is_listing(line: &str) -> bool {
    let line = line.trim_start();
    let numbered = is_numbered(line, &[':', '-', '→', '\t', '|']);
    let placed = path_and_rest(line).is_some_and(|(path, rest)| {
        let is_path = path.contains(['.', '/']) && !path.contains(char::is_whitespace);
        let reports = [": error", ": warning", "Error", "Exception"].iter().any(|sign| rest.contains(sign));
        is_path && is_numbered(rest, &[':', '-']) && !(reports && is_error_line(rest))
    });
    let frame = line.starts_with("File \"") || line.starts_with("at ") && line.ends_with(')') && line.contains(':');
    let files = ["drwx", "-rw", "lrwx"].iter().any(|mode| line.starts_with(mode));
    numbered || placed || frame || files
}

/// The path at the beginning of a search result, and the rest of the line: `src/a.rs:12: …`, or `src/a.rs-12-…` around a match.
fn path_and_rest(line: &str) -> Option<(&str, &str)> {
    let context = line.match_indices('-').map(|(at, _)| (&line[..at], &line[at + 1..]));
    let mut context = context.filter(|(path, rest)| path.contains(['.', '/']) && is_numbered(rest, &['-']));
    context.next().filter(|(path, _)| !path.contains(':')).or_else(|| line.split_once(':'))
}

/// Whether a line begins with a number and one of these marks, and no digit follows.
fn is_numbered(line: &str, marks: &[char]) -> bool {
    let after = line.trim_start_matches(|c: char| c.is_ascii_digit());
    let mark = after.chars().next().filter(|mark| after.len() < line.len() && marks.contains(mark));
    mark.is_some_and(|mark| !after[mark.len_utf8()..].starts_with(|c: char| c.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use unicode_segmentation::UnicodeSegmentation;

    use super::{Cues, is_error_line, is_listing};

    #[test]
    fn cues_are_detected_in_several_languages() {
        let none = Cues::default();
        for (text, expected) in [
            ("It rains.", none),
            ("I want tea.", Cues { goal: true, ..none }),
            ("We decided on tea.", Cues { decision: true, ..none }),
            ("It was renamed.", Cues { change: true, ..none }),
            ("KeyError there.", Cues { error: true, identifiers: 1, ..none }),
            ("Is it \"so?\"", Cues { question: true, ..none }),
            ("See src/main.rs and call_me, 3 times with Ada", Cues { identifiers: 2, numbers: 1, names: 1, ..none }),
            ("wir haben entschieden", Cues { decision: true, ..none }),
            ("修改了文件，但是报错？", Cues { change: true, error: true, question: true, ..none }),
            ("削除してください", Cues { goal: true, change: true, ..none }),
            ("أريد ذلك", Cues { goal: true, ..none }),
            ("أين؟", Cues { question: true, ..none }),
        ] {
            let words: Vec<(usize, &str)> = text.unicode_word_indices().collect();
            assert_eq!(Cues::find_in(text, &words), expected, "{text}");
        }
    }

    #[test]
    fn error_lines_are_found_in_logs() {
        for line in [
            "error[E0308]: mismatched",
            "java.io.IOException: no",
            "FAILED (errors=1)",
            "2 ❌",
            "make: *** [all] Error 2",
        ] {
            assert!(is_error_line(line), "{line}");
        }
        for line in ["all 12 passed", "a line", "", "except ValueError(e):", "E1 = Error(", "# error: none"] {
            assert!(!is_error_line(line), "{line}");
        }
    }

    #[test]
    fn listings_are_distinguished_from_speech() {
        for line in [
            "277: # Check required elements",
            "12-",
            "  File \"a.py\", line 84, in f",
            "at f (a.js:3:1)",
            "12→fn a()",
            "   12\tfn a()",
            "src/a.rs:12:  fn error() {",
            "src/a.rs-12-  }",
        ] {
            assert!(is_listing(line), "{line}");
        }
        for line in [
            "12 items are left.", "At noon (3:15)", "10:30 is fine", "2024-05-21 is the day", "3. Do it",
            "src/a.c:3:4: error: x", "a.py:12: ValueError",
        ] {
            assert!(!is_listing(line), "{line}");
        }
    }
}
