//! Quotes of messages: on one line, and cut in the middle if they are long. Also recognizes corrections, questions, and texts
//! that a program wrote in the role of the user.

/// Longest quote that is kept, in characters.
pub(super) const LONGEST: usize = 1200;

/// Marks the place of a cut.
pub(super) const GAP: &str = " … ";

/// First words of a message that corrects what was said or done.
const CORRECTIONS: &[&str] = &[
    "no", "nope", "not", "don't", "dont", "do not", "stop", "wait", "actually", "instead", "wrong", "that's not",
    "that is not", "that's wrong", "undo", "revert", "never", "nein", "nicht", "falsch", "halt", "stopp", "non", "pas",
    "arrête", "nee", "niet", "para", "errado", "não", "нет", "стоп", "不", "不要", "不对", "いいえ", "違", "아니",
];

/// Beginnings of texts that programs write in the role of the user.
const PROGRAMS: &[&str] = &[
    "<environment_context",
    "<user_instructions",
    "<INSTRUCTIONS",
    "<permissions",
    "<turn_aborted",
    "<system-reminder",
    "<local-command",
    "<command-name",
    "<command-message",
    "<task-",
    "<bash-",
    "<user-prompt-submit-hook",
    "<conversation_summaries",
    "<working_memory",
    "# AGENTS.md instructions",
    "[Request interrupted",
    "Caveat: The messages below",
    "Base directory for this skill",
];

/// Beginnings of summaries by other programs.
const SUMMARIES: &[&str] = &[
    "This session is being continued from a previous conversation",
    "Another language model started to solve this problem",
    "<summary>",
    "<compaction",
    "<conversation_summary",
    "The conversation history before this point was compacted",
];

/// The tags around text that a program inserted into a person's message.
const INSERTED: &[(&str, &str)] =
    &[("<system-reminder>", "</system-reminder>"), ("<environment_details>", "</environment_details>")];

/// Who wrote a text in the role of the user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Writer {
    /// A person. The text is without what programs inserted.
    Person(String),
    /// Another program, to summarize the conversation before.
    Summary(String),
    /// A program, for another purpose.
    Program,
}

/// Who wrote `text`, which has the role of the user.
pub(super) fn writer(text: &str) -> Writer {
    let mut typed = text.to_owned();
    for (open, close) in INSERTED {
        while let Some((before, (_, after))) =
            typed.split_once(open).and_then(|(b, rest)| Some((b, rest.split_once(close)?)))
        {
            typed = format!("{before} {after}");
        }
    }
    let typed = one_line(&typed);
    // The arguments that the user typed after the name of a command.
    let command = if typed.starts_with("<command-") { typed.split_once("<command-args>") } else { None };
    let arguments = command.and_then(|(_, rest)| rest.split_once("</command-args>")).map(|(inside, _)| inside.trim());
    if let Some(arguments) = arguments.filter(|arguments| !arguments.is_empty()) {
        return Writer::Person(bounded(arguments));
    }
    let begins = |marks: &[&str]| marks.iter().any(|mark| typed.starts_with(mark));
    match () {
        () if begins(SUMMARIES) => Writer::Summary(bounded(&typed)),
        () if typed.is_empty() || is_agent_command(&typed) || begins(PROGRAMS) => Writer::Program,
        () => Writer::Person(bounded(&typed)),
    }
}

/// A command to the agent's program, such as `/clear`: one word, and no path.
fn is_agent_command(text: &str) -> bool {
    text.strip_prefix('/').is_some_and(|name| !name.is_empty() && !name.contains(['/', '.', ' ']))
}

/// Whether a message of the user corrects something: it begins with a word such as "no", "stop" or "actually".
pub(super) fn corrects(text: &str) -> bool {
    let start: String = text.chars().take(24).collect::<String>().to_lowercase().replace('’', "'");
    let ends = |rest: &str| rest.is_empty() || rest.starts_with([' ', ',', '.', '!', ':', ';', '-', '，', '。', '、']);
    CORRECTIONS.iter().any(|word| start.strip_prefix(word).is_some_and(|rest| ends(rest) || !word.is_ascii()))
}

/// The question at the end of a text; `None` if the text ends otherwise.
pub(super) fn question(text: &str) -> Option<&str> {
    let text = text.trim_end_matches(|c: char| c.is_whitespace() || matches!(c, '*' | '_' | ')' | '"'));
    let body = text.strip_suffix(['?', '？', '؟'])?;
    let start = body
        .rfind(['.', '!', '?', '\n', '。', '！', '？'])
        .map_or(0, |at| at + body[at..].chars().next().map_or(1, char::len_utf8));
    let question = text[start..].trim();
    (question.chars().count() > 3).then_some(question)
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
    let (first, last): (String, String) = (all[..head_end].iter().collect(), all[tail_start..].iter().collect());
    format!("{}{GAP}{}", first.trim_end(), last.trim_start()).trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::{Writer, corrects, cut, question, writer};

    #[test]
    fn only_a_persons_words_are_quoted() {
        for (text, expected) in [
            ("Fix\n the  test", Writer::Person("Fix the test".into())),
            ("<system-reminder>x</system-reminder>\nGo on", Writer::Person("Go on".into())),
            ("<environment_context>\n<cwd>/r</cwd>", Writer::Program),
            ("<system-reminder>x</system-reminder>", Writer::Program),
            (" \n", Writer::Program),
            ("/compact", Writer::Program),
            ("<command-name>/fix</command-name>\n<command-args></command-args>", Writer::Program),
            (
                "<command-message>fix</command-message>\n<command-name>/fix</command-name>\n<command-args>the  pump</command-args>",
                Writer::Person("the pump".into()),
            ),
        ] {
            assert_eq!(writer(text), expected, "{text}");
        }
        assert!(matches!(
            writer("This session is being continued from a previous conversation that …"),
            Writer::Summary(_)
        ));
    }

    #[test]
    fn corrections_begin_with_a_no() {
        for text in ["No, the other one", "don’t touch it", "Stop.", "actually use b", "不要这样", "Nein, anders"]
        {
            assert!(corrects(text), "{text}");
        }
        for text in ["Now fix it", "Nothing else", "Notes are in a.md", "Waiting for you", "Please stop"] {
            assert!(!corrects(text), "{text}");
        }
    }

    #[test]
    fn the_last_question_is_found() {
        assert_eq!(question("Done. Shall I commit it?"), Some("Shall I commit it?"));
        assert_eq!(question("**Shall I?**\n"), Some("**Shall I?"));
        assert_eq!(question("Why? Because."), None);
        assert_eq!(question("?"), None);
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
