//! Who wrote a text in the role of the user: a person, or a program; and whether a person corrects something.

use std::borrow::Cow;

use super::quotes::{bounded, one_line};

/// First words of a message that corrects what was said or done.
const CORRECTIONS: &[&str] = &[
    "no", "nope", "not", "don't", "dont", "do not", "stop", "wait", "actually", "instead", "wrong", "that's not",
    "that is not", "that's wrong", "undo", "revert", "never", "nein", "nicht", "falsch", "halt", "stopp", "non", "pas",
    "arrête", "nee", "niet", "errado", "não", "нет", "стоп", "不", "不要", "不对", "いいえ", "違", "아니",
];

/// Beginnings of texts that programs write in the role of the user.
const PROGRAMS: &[&str] = &[
    "<environment_context",
    "<codex_internal_context",
    "<goal_context",
    "<external_context",
    "<extension_context",
    "<subagent_notification",
    "<hook_prompt",
    "<skill>",
    "<user_shell_command",
    "<recommended_plugins",
    "<task_model_guidance",
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
    "[Request interrupted",
    "Caveat: The messages below",
    "Base directory for this skill",
    "Operation stopped by hook",
];

/// Beginnings of texts in which programs quote a file of the project that tells agents how to work.
pub(super) const PROJECT_TEXTS: &[&str] = &["# AGENTS.md instructions", "<user_instructions"];

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
pub(super) const INSERTED: &[(&str, &str)] = &[
    ("<system-reminder>", "</system-reminder>"),
    ("<environment_details>", "</environment_details>"),
    ("<session_context>", "</session_context>"),
    ("<user_info>", "</user_info>"),
    ("<git-context>", "</git-context>"),
    ("<USER_SETTINGS_CHANGE>", "</USER_SETTINGS_CHANGE>"),
    ("<qwen:user-prompt-submit-context>", "</qwen:user-prompt-submit-context>"),
];

/// The tags around what a program says of a command that a person typed.
pub(super) const COMMANDS: &[(&str, &str)] = &[
    ("<command-name>", "</command-name>"),
    ("<command-message>", "</command-message>"),
    ("<local-command-stdout>", "</local-command-stdout>"),
    ("<local-command-caveat>", "</local-command-caveat>"),
];

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
    let typed = one_line(&without_insertions(text));
    if let Some(arguments) = arguments(&typed) {
        return Writer::Person(bounded(arguments));
    }
    if SUMMARIES.iter().any(|mark| typed.starts_with(mark)) {
        Writer::Summary(bounded(&typed))
    } else if typed.is_empty() || is_agent_command(&typed) || begins_as_program(&typed) {
        Writer::Program
    } else {
        Writer::Person(bounded(&typed))
    }
}

fn begins_as_program(text: &str) -> bool {
    PROGRAMS.iter().chain(PROJECT_TEXTS).any(|mark| text.starts_with(mark))
}

/// Whether a person typed `text`, which comes from a user message. Programs write user messages as well.
pub fn is_typed(text: &str) -> bool {
    matches!(writer(text), Writer::Person(_))
}

/// What a person typed after the name of a command.
fn arguments(text: &str) -> Option<&str> {
    if text.starts_with("<command-") { inside(text, "command-args") } else { None }
}

/// The text in the first element `tag`, unless it is blank.
fn inside<'t>(text: &'t str, tag: &str) -> Option<&'t str> {
    let (_, rest) = text.split_once(&format!("<{tag}>"))?;
    let (inside, _) = rest.split_once(&format!("</{tag}>"))?;
    Some(inside.trim()).filter(|inside| !inside.is_empty())
}

/// A command with arguments as a person typed it, if `text` is what Claude Code makes of one.
///
/// ```
/// let text = "<command-message>fix</command-message>\n<command-name>/fix</command-name>\n<command-args>a\nb</command-args>";
/// assert_eq!(curtail_facts::command(text).as_deref(), Some("/fix a\nb"));
/// assert_eq!(curtail_facts::command("/fix a"), None);
/// ```
pub fn command(text: &str) -> Option<String> {
    let arguments = arguments(text.trim_start())?;
    Some(format!("{} {arguments}", inside(text, "command-name")?))
}

/// A prompt as a person typed it: a [`command`], or what stands in the tag that a template wraps it in, such as
/// `<pr_description>`, if nothing but other tags follows. Any other prompt is returned unchanged.
///
/// ```
/// assert_eq!(curtail_facts::as_typed("<task>\nMend it.\n</task>\n<time>\nNoon\n</time>"), "Mend it.");
/// let question = "<button>\n  Save\n</button>\nWhy is it grey?";
/// assert_eq!(curtail_facts::as_typed(question), question);
/// assert_eq!(curtail_facts::as_typed("Why is 2 < 3?"), "Why is 2 < 3?");
/// ```
pub fn as_typed(prompt: &str) -> Cow<'_, str> {
    command(prompt).map_or_else(|| without_tag(prompt).unwrap_or(prompt).into(), Cow::Owned)
}

fn without_tag(prompt: &str) -> Option<&str> {
    let (tag, inside) = prompt.trim_start().strip_prefix('<')?.split_once('>')?;
    let is_name = !tag.is_empty() && tag.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    let (content, after) = inside.split_once(&format!("</{tag}>")).filter(|_| is_name)?;
    let after = after.trim_start();
    Some(content.trim()).filter(|content| !content.is_empty() && (after.is_empty() || after.starts_with('<')))
}

/// `text` without what programs inserted.
fn without_insertions(text: &str) -> String {
    INSERTED.iter().fold(text.to_owned(), |typed, (open, close)| without_elements(&typed, open, close, |_| {}))
}

/// `text` with a space in place of what stands between two tags, and the tags. `each` is called with that.
pub(super) fn without_elements(text: &str, open: &str, close: &str, mut each: impl FnMut(&str)) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, inside)) = rest.split_once(open)
        && let Some((inserted, after)) = inside.split_once(close)
    {
        kept.push_str(before);
        kept.push(' ');
        each(inserted);
        rest = after;
    }
    kept + rest
}

/// A command to the agent's program, such as `/clear`: one word, and no path.
fn is_agent_command(text: &str) -> bool {
    text.strip_prefix('/').is_some_and(|name| !name.is_empty() && !name.contains(['/', '.', ' ']))
}

/// Whether a message of the user corrects something: it begins with a word such as "no", "stop" or "actually".
pub(super) fn corrects(text: &str) -> bool {
    let start: String = text.chars().take(24).collect::<String>().to_lowercase().replace('’', "'");
    CORRECTIONS.iter().filter_map(|word| Some((word, start.strip_prefix(word)?))).any(|(word, rest)| {
        // Chinese, Japanese and Korean have no spaces between words.
        word.starts_with(|c: char| c >= '\u{2e80}')
            || rest.is_empty()
            || rest.starts_with([' ', ',', '.', '!', '?', '…', ')', ':', ';', '-', '，', '。', '、'])
    })
}

#[cfg(test)]
mod tests {
    use super::{Writer, corrects, writer};

    #[test]
    fn only_a_persons_words_are_quoted() {
        for (text, expected) in [
            ("Fix\n the  test", Writer::Person("Fix the test".into())),
            ("<system-reminder>x</system-reminder>\nGo on", Writer::Person("Go on".into())),
            ("<environment_context>\n<cwd>/r</cwd>", Writer::Program),
            ("<codex_internal_context source=\"goal\">\nGo on", Writer::Program),
            ("<skill>\n<name>lamp</name>\n</skill>", Writer::Program),
            ("<user_info>\nOS: macos\n</user_info>", Writer::Program),
            ("<user_info>\nOS: macos\n</user_info>\nFix it", Writer::Person("Fix it".into())),
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
        for text in [
            "No, the other one", "don’t touch it", "Stop.", "actually use b", "不要这样", "Nein, anders",
            "Нет, не так", "Não mude isso", "Нет…", "Não?", "No)",
        ] {
            assert!(corrects(text), "{text}");
        }
        for text in [
            "Now fix it",
            "Nothing else",
            "Notes are in a.md",
            "Waiting for you",
            "Please stop",
            "Para el test usa b",
            "Стопка файлов",
            "Arrêter le serveur à la fin",
        ] {
            assert!(!corrects(text), "{text}");
        }
    }
}
