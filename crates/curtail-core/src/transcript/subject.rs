//! A message in words, so that a person recognizes it.

use std::fmt;

use serde::Serialize;

use super::{Content, Message, Pairs, PartRef};
use crate::visible::first_words;

/// A message in words. Written as text, it is who wrote it, and its tools: `person`, `model, tool call of "timetable"`,
/// `tool result of "timetable"`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Subject {
    /// The role of the message.
    pub role: &'static str,
    /// Who wrote it, whatever role carries it: a person, the model, a tool or a program.
    #[serde(skip)]
    pub writer: &'static str,
    /// The tools that it calls, each once.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub calls: Vec<String>,
    /// The tools whose results it contains, each once.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub results: Vec<String>,
    /// Its first words, on one line.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub begins: String,
}

impl Subject {
    /// The words for the message at `at`.
    #[must_use]
    pub fn of_message(messages: &[Message<'_>], pairs: &Pairs, at: usize) -> Self {
        let message = &messages[at];
        let drafted = Self::of_draft(message.role.name(), &first_text(message));
        let mut subject = Self { writer: writer_named(message.writer()), ..drafted };
        for (nth, part) in message.parts.iter().enumerate() {
            let names = match &part.content {
                Content::ToolCall(_) => &mut subject.calls,
                Content::ToolResult(_) => &mut subject.results,
                _ => continue,
            };
            let name =
                pairs.tool_name(messages, PartRef { message: at, part: nth }).map(|name| name.decode().into_owned());
            names.extend(name.filter(|name| !names.contains(name)));
        }
        subject
    }

    /// The words for a message of this role that is not in the transcript and begins with `text`.
    #[must_use]
    pub fn of_draft(role: &'static str, text: &str) -> Self {
        Self { role, writer: writer_named(role), calls: Vec::new(), results: Vec::new(), begins: beginning(text) }
    }
}

impl fmt::Display for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // A tool is left out beside a result, which implies it.
        let writer = (self.writer != "tool" || self.results.is_empty()).then(|| self.writer.to_owned());
        let words = [writer, of_tools("tool call", &self.calls), of_tools("tool result", &self.results)];
        f.write_str(&words.into_iter().flatten().collect::<Vec<_>>().join(", "))
    }
}

/// The parts of this kind in words, by their tools.
fn of_tools(kind: &str, names: &[String]) -> Option<String> {
    match names {
        [] => None,
        [name] => Some(format!("{kind} of \"{name}\"")),
        names => Some(format!("{kind}s of \"{}\"", names.join("\", \""))),
    }
}

/// Who writes messages of a role, or what [`Message::writer`] names: a person, the model, a tool or a program.
#[must_use]
pub fn writer_named(role: &str) -> &'static str {
    match role {
        "user" => "person",
        "assistant" => "model",
        "tool" => "tool",
        _ => "program",
    }
}

/// The text of a message, or else of its first result, or else its reasoning.
fn first_text(message: &Message<'_>) -> String {
    let contents = message.parts.iter().map(|part| &part.content);
    let text = contents.clone().filter_map(Content::text).find(|text| !text.is_blank());
    let text = text.or_else(|| message.results().find_map(|(_, result)| result.content.first()));
    let text = text.or_else(|| contents.clone().find_map(Content::reasoning));
    text.map_or_else(String::new, |text| text.decode().into_owned())
}

/// The beginning of a text, on one line.
#[must_use]
pub fn beginning(text: &str) -> String {
    first_words(text, 40, |c| c.is_whitespace() || c.is_control())
}
