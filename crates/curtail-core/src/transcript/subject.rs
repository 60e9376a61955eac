//! A message in words, so that a person recognizes it: its role, its tools and what it begins with.

use std::fmt;

use super::{Content, Message, Pairs, Part, PartRef, beginning};

/// A message in words. Written as text, it is its role and tools: `user`, `assistant, tool call of "timetable"`,
/// `tool result of "timetable"`.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Subject {
    /// The role of the message.
    pub role: &'static str,
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
        let mut subject = Self::of_draft(message.role.name(), &first_text(message));
        for (nth, part) in message.parts.iter().enumerate() {
            let names = match &part.content {
                Content::ToolCall(_) => &mut subject.calls,
                Content::ToolResult(_) => &mut subject.results,
                _ => continue,
            };
            let name = tool_name(messages, pairs, PartRef { message: at, part: nth });
            if let Some(name) = name.filter(|name| !names.contains(name)) {
                names.push(name);
            }
        }
        subject
    }

    /// The words for a message of this role that is not in the transcript and begins with `text`.
    #[must_use]
    pub fn of_draft(role: &'static str, text: &str) -> Self {
        Self { role, calls: Vec::new(), results: Vec::new(), begins: beginning(text) }
    }
}

impl fmt::Display for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let named = |kind: &str, names: &[String]| match names {
            [] => None,
            [name] => Some(format!("{kind} of \"{name}\"")),
            names => Some(format!("{kind}s of \"{}\"", names.join("\", \""))),
        };
        // The role `tool` is left out beside a result, which implies it.
        let role = (self.role != "tool" || self.results.is_empty()).then(|| self.role.to_owned());
        let words = [role, named("tool call", &self.calls), named("tool result", &self.results)];
        f.write_str(&words.into_iter().flatten().collect::<Vec<_>>().join(", "))
    }
}

/// The name of the tool that a part calls, or whose result it is.
fn tool_name(messages: &[Message<'_>], pairs: &Pairs, at: PartRef) -> Option<String> {
    let content = |at: PartRef| &messages[at.message].parts[at.part].content;
    let call = content(at).call().or_else(|| content(pairs.counterpart(at)?).call());
    let name = call.map(|call| &call.name).or_else(|| content(at).result()?.name.as_ref());
    name.map(|name| name.decode().into_owned())
}

/// The text of a message, or else of its first result, or else its reasoning.
fn first_text(message: &Message<'_>) -> String {
    let text_of = |part: &Part<'_>| match &part.content {
        Content::Text(text) if !text.is_blank() => Some(text.decode().into_owned()),
        _ => None,
    };
    let found = |part: &Part<'_>| part.content.result()?.content.first().map(|text| text.decode().into_owned());
    let thought = |part: &Part<'_>| match &part.content {
        Content::Reasoning(text) => Some(text.decode().into_owned()),
        _ => None,
    };
    let parts = &message.parts;
    let text = parts.iter().find_map(text_of).or_else(|| parts.iter().find_map(found));
    text.or_else(|| parts.iter().find_map(thought)).unwrap_or_default()
}
