//! A transcript for people: as data, every message with its parts, their bytes, pairs, segments and turns; and each message in
//! words, so that a person recognizes it.
//!
//! It reports what was read and applies no rule.

use std::collections::HashMap;
use std::fmt;
use std::ops::Range;

use serde::Serialize;

use super::{Content, Message, Pairs, Part, PartRef, SlotKind, Standing, Transcript, in_flight, segments, turns};
use crate::error::Locator;
use crate::json::{Span, Text};
use crate::visible::cut_after;

/// The structure of a transcript, as it was read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Outline {
    /// Messages and metadata in the order of the text.
    pub items: Vec<OutlineItem>,
    /// Number of instructions and tool definitions outside the list of messages.
    pub preamble: usize,
    /// Index of the first message of the in-flight round, if the transcript ends in one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub in_flight: Option<usize>,
}

/// A message, or an item that is not a message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct OutlineItem {
    /// Line in the file, from 1.
    pub line: usize,
    /// Offset of the first byte in the file, and of the byte after the last.
    pub span: [usize; 2],
    /// What it is.
    #[serde(flatten)]
    pub kind: OutlineKind,
    /// The role or type, if the dialect does not recognize it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unknown: Option<String>,
    /// The beginning of the bytes of an item that is not a message.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub begins: String,
}

/// What an item is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum OutlineKind {
    /// A message.
    Message(OutlineMessage),
    /// Metadata that is kept or dropped with the message that has this index.
    With(usize),
    /// Metadata that is always kept.
    Pinned(bool),
}

/// A message, with its turn and segment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct OutlineMessage {
    /// Index among the messages, from 0.
    pub index: usize,
    /// The role.
    pub role: &'static str,
    /// The message's own id.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The conversation inside the log; 0 is the main one.
    pub thread: u32,
    /// Number of its turn, from 0.
    pub turn: usize,
    /// Number of its segment, from 0.
    pub segment: usize,
    /// What else affects it: `binds-next`, `indivisible`, `barrier`, `boundary`, `superseded` and `rolled-back`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub properties: Vec<&'static str>,
    /// The parts, in order.
    pub parts: Vec<OutlinePart>,
}

/// A part of a message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct OutlinePart {
    /// `text`, `tool-call`, `tool-result`, `reasoning`, `media` or `other`.
    pub kind: &'static str,
    /// The id that call and result share.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The tool's name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The bytes that are removed when the part is cut.
    pub span: [usize; 2],
    /// Message and part of the counterpart.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pair: Option<[usize; 2]>,
    /// Whether the provider runs the tool.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub hosted: bool,
    /// The beginning of the text.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub begins: String,
}

/// Where a text begins in its file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OutlineOrigin {
    /// Bytes before it.
    pub offset: usize,
    /// Lines before it.
    pub lines: usize,
}

impl Outline {
    /// Outlines `transcript`, whose text begins at `origin` in its file.
    #[must_use]
    pub fn from_transcript(transcript: &Transcript<'_>, origin: OutlineOrigin) -> Self {
        let messages = &transcript.messages;
        let pairs = Pairs::from_messages(messages);
        let groups = Groups {
            turns: numbers(messages.len(), &turns(messages)),
            segments: numbers(messages.len(), &segments(messages, &pairs)),
        };
        let mut places = Locator::new(transcript.layout.source.as_bytes(), origin.lines + 1);
        let non_messages = transcript.layout.non_messages.iter();
        let unknown: HashMap<u32, String> = non_messages
            .filter_map(|item| Some((item.value.span().start, item.unknown.as_ref()?.to_string())))
            .collect();
        let slots = transcript.layout.slots.iter().filter_map(|slot| {
            let kind = match slot.kind {
                SlotKind::Frame { .. } => return None,
                SlotKind::Message(index) => {
                    OutlineKind::Message(message(&messages[index], index, &pairs, &groups, origin))
                }
                SlotKind::With(index) => OutlineKind::With(index),
                SlotKind::Pinned => OutlineKind::Pinned(true),
            };
            Some(OutlineItem {
                line: places.place(slot.span.start as usize).line,
                span: span(slot.span, origin),
                unknown: unknown.get(&slot.span.start).cloned(),
                begins: match kind {
                    OutlineKind::Message(_) => String::new(),
                    _ => beginning(slot.span.slice(transcript.layout.source)),
                },
                kind,
            })
        });
        let flight = in_flight(messages);
        Self {
            items: slots.collect(),
            preamble: transcript.layout.preamble.len(),
            in_flight: (flight < messages.len()).then_some(flight),
        }
    }

    /// The messages.
    pub fn messages(&self) -> impl Iterator<Item = &OutlineMessage> {
        self.items.iter().filter_map(|item| match &item.kind {
            OutlineKind::Message(message) => Some(message),
            _ => None,
        })
    }

    /// How many parts there are of each kind, in the order in which they are met.
    #[must_use]
    pub fn kinds(&self) -> Vec<(&'static str, usize)> {
        let mut order: Vec<&'static str> = Vec::new();
        let mut counts: HashMap<&'static str, usize> = HashMap::new();
        for part in self.messages().flat_map(|message| &message.parts) {
            *counts.entry(part.kind).or_insert_with(|| {
                order.push(part.kind);
                0
            }) += 1;
        }
        order.into_iter().map(|kind| (kind, counts[kind])).collect()
    }
}

/// The group of every message, by number.
struct Groups {
    turns: Vec<usize>,
    segments: Vec<usize>,
}

fn numbers(count: usize, groups: &[Range<usize>]) -> Vec<usize> {
    let mut numbers = vec![0; count];
    for (nth, group) in groups.iter().enumerate() {
        numbers[group.clone()].fill(nth);
    }
    numbers
}

fn span(span: Span, origin: OutlineOrigin) -> [usize; 2] {
    [span.start as usize + origin.offset, span.end as usize + origin.offset]
}

fn message(
    message: &Message<'_>,
    index: usize,
    pairs: &Pairs,
    groups: &Groups,
    origin: OutlineOrigin,
) -> OutlineMessage {
    let properties = [
        ("binds-next", message.is_bound()),
        ("indivisible", message.call_rules.indivisible),
        ("barrier", message.closes_calls()),
        ("boundary", message.is_boundary()),
        ("superseded", message.standing == Standing::Superseded),
        ("rolled-back", message.standing.is_rolled_back()),
        ("unsent", message.standing == Standing::Unsent),
    ];
    let parts = message.parts.iter().enumerate().map(|(nth, part)| {
        let other = pairs.counterpart(PartRef { message: index, part: nth });
        self::part(part, other.map(|other| [other.message, other.part]), origin)
    });
    OutlineMessage {
        index,
        role: message.role.name(),
        id: message.id.as_ref().map(decoded),
        thread: message.thread,
        turn: groups.turns[index],
        segment: groups.segments[index],
        properties: properties.iter().filter(|property| property.1).map(|property| property.0).collect(),
        parts: parts.collect(),
    }
}

fn part(part: &Part<'_>, pair: Option<[usize; 2]>, origin: OutlineOrigin) -> OutlinePart {
    let (kind, text) = match &part.content {
        Content::Text(text) => ("text", Some(text)),
        Content::ToolCall(call) => ("tool-call", Some(&call.arguments)),
        Content::ToolResult(result) => ("tool-result", result.content.first()),
        Content::Reasoning(text) => ("reasoning", Some(text)),
        Content::Media(_) => ("media", None),
        Content::Unknown(_) | Content::Other => ("other", None),
    };
    OutlinePart {
        kind,
        id: part.content.tool_id().map(decoded),
        name: part.content.tool_name().map(decoded),
        span: part.place().map_or([0, 0], |place| span(place.piece.unwrap_or(place.element.span()), origin)),
        pair,
        hosted: part.content.call().is_some_and(|call| call.hosted),
        begins: text.map_or_else(String::new, |text| beginning(&text.decode())),
    }
}

fn decoded(text: &Text<'_>) -> String {
    text.decode().into_owned()
}

/// The beginning of a text, on one line.
#[must_use]
pub fn beginning(text: &str) -> String {
    const MOST: usize = 40;
    // White space is collapsed, so more characters are read than shown.
    let head: String = text.chars().take(4 * MOST).collect();
    let words = head.split(|c: char| c.is_whitespace() || c.is_control()).filter(|word| !word.is_empty());
    let line = words.collect::<Vec<_>>().join(" ");
    if line.chars().count() <= MOST {
        return line;
    }
    cut_after(&line, MOST - 1).into_owned()
}

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
            let name = pairs.tool_name(messages, PartRef { message: at, part: nth }).map(decoded);
            if let Some(name) = name.filter(|name| !names.contains(name)) {
                names.push(name);
            }
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
        let named = |kind: &str, names: &[String]| match names {
            [] => None,
            [name] => Some(format!("{kind} of \"{name}\"")),
            names => Some(format!("{kind}s of \"{}\"", names.join("\", \""))),
        };
        // A tool is left out beside a result, which implies it.
        let writer = (self.writer != "tool" || self.results.is_empty()).then(|| self.writer.to_owned());
        let words = [writer, named("tool call", &self.calls), named("tool result", &self.results)];
        f.write_str(&words.into_iter().flatten().collect::<Vec<_>>().join(", "))
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
    let mut parts = message.parts.iter().map(|part| &part.content);
    let text = parts.clone().find_map(|content| match content {
        Content::Text(text) if !text.is_blank() => Some(text),
        _ => None,
    });
    let text = text.or_else(|| parts.clone().find_map(|content| content.result()?.content.first()));
    let reasoning = || {
        parts.find_map(|content| match content {
            Content::Reasoning(text) => Some(text),
            _ => None,
        })
    };
    text.or_else(reasoning).map(decoded).unwrap_or_default()
}
