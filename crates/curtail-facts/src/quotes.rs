//! Quotes of messages: on one line, and cut in the middle if they are long; and the question at the end of one.

/// Longest quote that is kept, in characters.
pub(super) const LONGEST: usize = 1200;

/// Longest command and longest error line that are kept, in characters.
const LONGEST_LINE: usize = 200;

/// Marks the place of a cut.
pub(super) const GAP: &str = " … ";

/// The question at the end of a text; `None` if the text ends otherwise.
pub(super) fn question(text: &str) -> Option<&str> {
    let text = text.trim_end_matches(|c: char| c.is_whitespace() || matches!(c, '*' | '_' | ')' | '"'));
    let body = text.strip_suffix(['?', '？', '؟'])?;
    let start = body.char_indices().rev().find(|(at, c)| ends_sentence(*c, &body[at + c.len_utf8()..]));
    let start = start.map_or(0, |(at, c)| at + c.len_utf8());
    let question = text[start..].trim();
    (question.chars().count() > 3).then_some(question)
}

/// Whether a sentence ends with `c`, before `rest`. A dot inside a word, as in the name of a file, ends none.
fn ends_sentence(c: char, rest: &str) -> bool {
    match c {
        '\n' | '。' | '！' | '？' => true,
        '.' | '!' | '?' => rest.starts_with(|next: char| !next.is_alphanumeric()),
        _ => false,
    }
}

/// `text` on one line: every run of white space becomes a space, and control characters are removed.
pub(super) fn one_line(text: &str) -> String {
    let mut line = String::new();
    for word in text.split_whitespace() {
        if !line.is_empty() {
            line.push(' ');
        }
        line.extend(word.chars().filter(|c| !c.is_control()));
    }
    line
}

/// `text`, cut to the length that is kept.
pub(super) fn bounded(text: &str) -> String {
    let letters = text.chars().count();
    if letters <= LONGEST { text.to_owned() } else { cut(text, LONGEST) }
}

/// A command or an error on one line, cut to the length that is kept.
pub(super) fn short_line(text: &str) -> String {
    cut(&one_line(text), LONGEST_LINE)
}

/// The beginning and the end of a text: about `letters` characters in all, 70 % of them from the beginning. It is cut between
/// words if possible.
pub(super) fn cut(text: &str, letters: usize) -> String {
    cut_at(text, letters, 7)
}

/// Like [`cut`], with `tenths` of the characters from the beginning.
pub(super) fn cut_at(text: &str, letters: usize, tenths: usize) -> String {
    let all: Vec<char> = text.chars().collect();
    if all.len() <= letters {
        return text.to_owned();
    }
    let head = letters * tenths / 10;
    let tail = letters - head;
    let head_end = (head.saturating_sub(12)..=head).rev().find(|&at| all[at].is_whitespace()).unwrap_or(head);
    let start = all.len() - tail;
    let word = (start..(start + 12).min(all.len())).find(|&at| all[at].is_whitespace()).map_or(start, |at| at + 1);
    let tail_start = if tail == 0 { all.len() } else { word };
    let first: String = all[..head_end].iter().collect();
    let last: String = all[tail_start..].iter().collect();
    format!("{}{GAP}{}", first.trim_end(), last.trim_start()).trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::{cut, question};

    #[test]
    fn the_last_question_is_found() {
        assert_eq!(question("Done. Shall I commit it?"), Some("Shall I commit it?"));
        assert_eq!(question("**Shall I?**\n"), Some("**Shall I?"));
        assert_eq!(question("Why? Because."), None);
        assert_eq!(question("?"), None);
        assert_eq!(question("Done. Should I edit src/main.rs now?"), Some("Should I edit src/main.rs now?"));
        assert_eq!(question("Should I edit src/main.rs?"), Some("Should I edit src/main.rs?"));
    }

    #[test]
    fn long_texts_keep_their_ends() {
        assert_eq!(cut("short", 20), "short");
        let text = (1..200).map(|n| n.to_string()).collect::<Vec<_>>().join(" ");
        let short = cut(&text, 60);
        assert!(short.starts_with("1 2 3") && short.ends_with("198 199") && short.contains(" … "), "{short}");
        assert!(short.chars().count() <= 64, "{short}");
        assert_eq!(cut(&"é".repeat(100), 10), format!("{} … {}", "é".repeat(7), "é".repeat(3)));
    }
}
