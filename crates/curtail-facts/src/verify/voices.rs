//! Who says what in a transcript: each text of its messages, with whoever speaks.

use std::hash::{BuildHasher as _, Hasher as _};

use foldhash::HashSet;
use foldhash::quality::FixedState;

use super::Side;
use super::tokens::composed;
use crate::calls::read_path;
use crate::writers::{INSERTED, Writer, writer};
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
    /// The model, in the arguments of a call.
    Arguments,
    /// A tool.
    Result,
    /// A program that summarizes the conversation, as a compaction does.
    Summary,
    /// Another program in the role of the user.
    Program,
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
    let path = path.to_lowercase();
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
        Content::Text(text) => {
            let text = text.decode();
            if message.role.instructs() || part.instructs() {
                say(Voice::Instructions, &text);
            } else if message.role == Role::Assistant {
                say(if message.is_boundary() { Voice::Summary } else { Voice::Model }, &text);
            } else if message.role == Role::Tool {
                say(Voice::Result, &text);
            } else {
                let written_by = match () {
                    () if message.is_boundary() || is_summary(&text) => Some(Voice::Summary),
                    () if message.automatic => Some(Voice::Program),
                    () => None,
                };
                split_user_text(&text, written_by, &mut say);
            }
        }
        Content::ToolCall(call) => each_value(&call.arguments.decode(), &mut |text| say(Voice::Arguments, text)),
        Content::ToolResult(result) if answers_project_file(side, at) => {
            result
                .content
                .iter()
                .for_each(|text| say(Voice::Project, &without_numbers(&without_inserted(&text.decode()))));
        }
        Content::ToolResult(result) => result.content.iter().for_each(|text| say(Voice::Result, &text.decode())),
        Content::Reasoning(_) | Content::Media(_) | Content::Unknown(_) | Content::Other => {}
    }
}

fn is_summary(text: &str) -> bool {
    matches!(writer(text), Writer::Summary(_))
}

/// A text without what a program inserted.
fn without_inserted(text: &str) -> String {
    let mut rest = text.to_owned();
    for (open, close) in INSERTED {
        while let Some(start) = rest.find(open)
            && let Some(length) = rest[start..].find(close)
        {
            rest.replace_range(start..start + length + close.len(), " ");
        }
    }
    rest
}

/// The lines of a file without the numbers that a tool wrote before them.
fn without_numbers(text: &str) -> String {
    let bare = |line: &str| {
        let digits = line.trim_start().trim_start_matches(|c: char| c.is_ascii_digit());
        let is_numbered = digits.len() < line.trim_start().len();
        let rest = digits.strip_prefix('→').or_else(|| digits.strip_prefix('\t')).or_else(|| digits.strip_prefix(": "));
        rest.filter(|_| is_numbered).unwrap_or(line).to_owned()
    };
    text.lines().map(bare).collect::<Vec<_>>().join("\n")
}

/// Parts the text of a user message: what a person typed, what a program inserted, what a program wrote.
fn split_user_text(text: &str, written_by: Option<Voice>, say: &mut impl FnMut(Voice, &str)) {
    let mut typed = text.to_owned();
    for (open, close) in INSERTED {
        while let Some(start) = typed.find(open)
            && let Some(length) = typed[start..].find(close)
        {
            let inserted = typed[start + open.len()..start + length].to_owned();
            let voice = if PROJECT_FILES.iter().any(|name| inserted.to_lowercase().contains(name)) {
                Voice::Project
            } else {
                Voice::Program
            };
            say(voice, &inserted);
            typed.replace_range(start..start + length + close.len(), " ");
        }
    }
    let voice = match writer(&typed) {
        _ if typed.trim_start().starts_with("# AGENTS.md instructions")
            || typed.trim_start().starts_with("<user_instructions") =>
        {
            Voice::Project
        }
        _ if written_by.is_some() => written_by.unwrap_or(Voice::Program),
        Writer::Person(_) => Voice::Person,
        _ => Voice::Program,
    };
    say(voice, &typed);
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
fn each_value(arguments: &str, each: &mut impl FnMut(&str)) {
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

/// A digest of what a message says, whatever dialect wrote it.
pub fn digest(message: &Message<'_>) -> u64 {
    let mut hasher = FixedState::default().build_hasher();
    let mut add = |kind: u8, text: &str| {
        hasher.write_u8(kind);
        hasher.write(text.as_bytes());
        hasher.write_u8(0);
    };
    for part in &message.parts {
        match &part.content {
            Content::Text(text) => add(1, &text.decode()),
            Content::ToolCall(call) => {
                add(2, &call.name.decode());
                each_value(&call.arguments.decode(), &mut |text| add(3, text));
            }
            Content::ToolResult(result) => result.content.iter().for_each(|text| add(4, &text.decode())),
            Content::Media(text) => add(5, &text.decode()),
            Content::Reasoning(_) | Content::Unknown(_) | Content::Other => {}
        }
    }
    hasher.finish()
}

/// The digest of a text outside of the messages.
pub(super) fn digest_of_text(text: &str) -> u64 {
    let mut hasher = FixedState::default().build_hasher();
    hasher.write(text.as_bytes());
    hasher.finish()
}

/// The digests of everything that a side says: of its messages, and of the texts outside of them.
pub(super) fn digests(side: &Side<'_, '_>) -> HashSet<u64> {
    let messages = read_messages(side).map(|(_, message)| digest(message));
    messages.chain(side.outside.iter().map(|text| digest_of_text(text))).collect()
}
