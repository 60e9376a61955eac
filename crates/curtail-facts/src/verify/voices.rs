//! Who says what in a transcript: each text of its messages, with whoever speaks.

use super::Side;
use super::tokens::{composed, tokens};
use crate::calls::read_path;
use crate::writers::{COMMANDS, INSERTED, PROJECT_TEXTS, Writer, without_elements, writer};
use curtail_core::json::{Document, Value};
use curtail_core::transcript::{Content, Message, Part, PartRef, Role, main_thread};

/// Who speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Voice {
    /// The application.
    Instructions,
    /// A file of the project that tells an agent how to work. Many agents read it again after a cut.
    Project,
    /// A person.
    Person,
    /// The model, in text.
    Model,
    /// The model, in a short argument of a call.
    Arguments,
    /// The model, in a long argument of a call, such as the content of a file.
    Content,
    /// A tool.
    Result,
    /// A program that summarizes the conversation, as a compaction does.
    Summary,
    /// Another program in the role of the user.
    Program,
}

impl Voice {
    /// Whether the model speaks, and does not write the content of something.
    pub(super) const fn is_of_model(self) -> bool {
        matches!(self, Self::Model | Self::Arguments)
    }
}

/// A text of a transcript.
#[derive(Debug, Clone)]
pub(super) struct Spoken {
    pub(super) voice: Voice,
    pub(super) text: String,
    /// The message; `None` outside of the messages.
    pub(super) message: Option<usize>,
}

/// Names of files that tell agents how to work.
const PROJECT_FILES: &[&str] = &[
    "claude.md",
    "agents.md",
    "agent.md",
    "gemini.md",
    "qwen.md",
    "copilot-instructions.md",
    ".cursorrules",
    ".clinerules",
    ".windsurfrules",
    "contributing.md",
    "conventions.md",
    "rules.md",
];

/// Whether a file tells agents how to work.
fn is_project_file(path: &str) -> bool {
    let path = path.to_lowercase().replace('\\', "/");
    PROJECT_FILES.iter().any(|name| crate::paths::name(&path) == *name) || path.contains(".cursor/rules/")
}

/// The messages of a side that a model reads in its main conversation.
pub(super) fn read_messages<'s, 'a>(
    side: &Side<'s, 'a>,
) -> impl Iterator<Item = (usize, &'s Message<'a>)> + use<'s, 'a> {
    let main = main_thread(side.messages);
    side.messages.iter().enumerate().filter(move |(_, message)| message.thread == main && message.standing.is_read())
}

/// Calls `each` with every text of a side, in the order in which a model reads them.
pub(super) fn each_spoken(side: &Side<'_, '_>, each: &mut impl FnMut(&Spoken)) {
    for text in side.outside {
        each(&Spoken { voice: Voice::Instructions, text: composed(text).into_owned(), message: None });
    }
    for (at, message) in read_messages(side) {
        for (nth, part) in message.parts.iter().enumerate() {
            each_in_part(side, message, PartRef { message: at, part: nth }, part, each);
        }
        for text in &message.attached {
            each(&Spoken { voice: Voice::Program, text: composed(&text.decode()).into_owned(), message: Some(at) });
        }
    }
}

fn each_in_part(
    side: &Side<'_, '_>,
    message: &Message<'_>,
    at: PartRef,
    part: &Part<'_>,
    each: &mut impl FnMut(&Spoken),
) {
    let mut say = |voice: Voice, text: &str| {
        if !text.trim().is_empty() {
            each(&Spoken { voice, text: composed(text).into_owned(), message: Some(at.message) });
        }
    };
    match &part.content {
        Content::Text(text) => match voice_by_role(message, part) {
            Some(voice) => say(voice, &text.decode()),
            None => say_user_text(message, &text.decode(), &mut say),
        },
        Content::ToolCall(call) => each_value(&call.arguments.decode(), &mut |text| say(voice_of_argument(text), text)),
        Content::ToolResult(result) => {
            let is_project_file = answers_project_file(side, at);
            for text in &result.content {
                let text = text.decode();
                if is_project_file {
                    say(Voice::Project, &without_numbers(&Typed::of(&text).text));
                } else {
                    say(Voice::Result, &text);
                }
            }
        }
        Content::Reasoning(_) | Content::Media(_) | Content::Unknown(_) | Content::Other => {}
    }
}

/// Who speaks in a text, by the role of its message; `None` in that of the user, in which programs write as well.
fn voice_by_role(message: &Message<'_>, part: &Part<'_>) -> Option<Voice> {
    if message.role.instructs() || part.instructs() {
        return Some(Voice::Instructions);
    }
    match message.speaker(part) {
        Role::Assistant if message.is_boundary() => Some(Voice::Summary),
        Role::Assistant => Some(Voice::Model),
        Role::Tool => Some(Voice::Result),
        _ => None,
    }
}

/// The longest argument of a call, in bytes, that is not the content of something.
const LONGEST_ARGUMENT: usize = 200;

fn voice_of_argument(text: &str) -> Voice {
    if text.len() > LONGEST_ARGUMENT || text.contains('\n') { Voice::Content } else { Voice::Arguments }
}

/// Says a text in the role of the user: what a program inserted into it, and what is left.
fn say_user_text(message: &Message<'_>, text: &str, say: &mut impl FnMut(Voice, &str)) {
    let typed = Typed::of(text);
    for inserted in &typed.inserted {
        say(voice_of_insertion(inserted), inserted);
    }
    say(voice_of_user(message, &typed.text), &typed.text);
}

fn voice_of_insertion(text: &str) -> Voice {
    let names_project_file = tokens(text).iter().any(|token| is_project_file(token.text));
    if names_project_file { Voice::Project } else { Voice::Program }
}

/// Who wrote a text in the role of the user.
fn voice_of_user(message: &Message<'_>, text: &str) -> Voice {
    if PROJECT_TEXTS.iter().any(|start| text.trim_start().starts_with(start)) {
        return Voice::Project;
    }
    match writer(text) {
        _ if message.is_boundary() => Voice::Summary,
        Writer::Summary(_) => Voice::Summary,
        _ if message.automatic => Voice::Program,
        Writer::Person(_) => Voice::Person,
        Writer::Program => Voice::Program,
    }
}

/// A text in the role of the user, in its parts.
struct Typed {
    /// The text without what programs inserted.
    text: String,
    /// What they inserted.
    inserted: Vec<String>,
}

impl Typed {
    fn of(text: &str) -> Self {
        let mut typed = Self { text: text.to_owned(), inserted: Vec::new() };
        for (open, close) in INSERTED.iter().chain(COMMANDS) {
            let inserted = &mut typed.inserted;
            typed.text = without_elements(&typed.text, open, close, |text| inserted.push(text.to_owned()));
        }
        for tag in ["<command-args>", "</command-args>"] {
            if typed.text.contains(tag) {
                typed.text = typed.text.replace(tag, " ");
            }
        }
        typed
    }
}

/// The lines of a file without the numbers that a tool wrote before them.
fn without_numbers(text: &str) -> String {
    let bare = text.lines().map(|line| {
        let digits = line.trim_start().trim_start_matches(|c: char| c.is_ascii_digit());
        let is_numbered = digits.len() < line.trim_start().len();
        let rest = digits.strip_prefix('→').or_else(|| digits.strip_prefix('\t')).or_else(|| digits.strip_prefix(": "));
        rest.filter(|_| is_numbered).unwrap_or(line)
    });
    bare.collect::<Vec<_>>().join("\n")
}

/// Whether a result is what a call read from a file of the project that tells agents how to work.
fn answers_project_file(side: &Side<'_, '_>, at: PartRef) -> bool {
    let Some(call) = side.pairs.counterpart(at) else { return false };
    let content =
        side.messages.get(call.message).and_then(|message| message.parts.get(call.part)).map(|part| &part.content);
    let Some(Content::ToolCall(call)) = content else { return false };
    read_path(&call.name.decode(), &call.arguments.decode()).iter().any(|path| is_project_file(path))
}

/// Calls `each` with the texts in the arguments of a call. The tool defines the keys, so they are left out.
pub(super) fn each_value(arguments: &str, each: &mut impl FnMut(&str)) {
    match Document::parse(arguments) {
        Ok(document) if document.roots().len() > 0 => {
            let mut open: Vec<Value<'_>> = document.roots().collect();
            open.reverse();
            while let Some(value) = open.pop() {
                if let Some(text) = value.text() {
                    each(&text.decode());
                } else if value.is_object() || value.is_array() {
                    let mut inside: Vec<Value<'_>> =
                        value.items().chain(value.members().map(|member| member.value)).collect();
                    inside.reverse();
                    open.append(&mut inside);
                } else {
                    each(value.raw());
                }
            }
        }
        _ => each(arguments),
    }
}

#[cfg(test)]
mod tests {
    use super::is_project_file;

    #[test]
    fn project_files_stand_in_folders_of_both_systems() {
        for path in ["/r/.cursor/rules/a.mdc", r"C:\x\.cursor\rules\a.mdc", r"C:\x\AGENTS.md"] {
            assert!(is_project_file(path), "{path}");
        }
        assert!(!is_project_file("/r/rules/a.mdc"));
    }
}
