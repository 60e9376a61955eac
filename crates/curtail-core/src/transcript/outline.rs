//! A transcript as data, for people: every message with its parts, their bytes, pairs, segments and turns.
//!
//! It reports what was read and applies no rule.

use std::collections::HashMap;
use std::ops::Range;

use serde::Serialize;

use super::subject::beginning;
use super::{Content, Message, Pairs, Part, PartRef, Role, SlotKind, Standing, Transcript, in_flight, segments, turns};
use crate::json::{Span, Text};
use crate::numbers::tally;
use crate::places::Locator;

/// The structure of a transcript, as it was read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Outline {
    /// Messages and metadata in the order of the text.
    pub items: Vec<OutlineItem>,
    /// Number of instructions, tool definitions and replies outside the list of messages.
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
    /// What else affects it: `binds-next`, `indivisible`, `closes-calls`, `boundary`, `superseded`, `rolled-back` and `unsent`.
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
    /// Who says it, in an exchange, if that is not the role of its message.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub speaker: Option<&'static str>,
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

impl Outline {
    /// Outlines `transcript`, whose text begins at the byte `offset` of its file. `places` finds places in that text: one for all
    /// transcripts of it, because each would be counted from the beginning.
    pub fn from_transcript(transcript: &Transcript<'_>, offset: usize, places: &mut Locator<'_>) -> Self {
        let messages = &transcript.messages;
        let pairs = Pairs::from_messages(messages);
        let groups = Groups {
            turns: numbers(messages.len(), &turns(messages)),
            segments: numbers(messages.len(), &segments(messages, &pairs)),
        };
        let non_messages = transcript.layout.non_messages.iter();
        let unknown: HashMap<u32, String> = non_messages
            .filter_map(|item| Some((item.value.span().start, item.unknown.as_ref()?.to_string())))
            .collect();
        let slots = transcript.layout.slots.iter().filter_map(|slot| {
            let kind = match slot.kind {
                SlotKind::Frame { .. } => return None,
                SlotKind::Message(index) => {
                    OutlineKind::Message(message(&messages[index], index, &pairs, &groups, offset))
                }
                SlotKind::With(index) => OutlineKind::With(index),
                SlotKind::Pinned => OutlineKind::Pinned(true),
            };
            Some(OutlineItem {
                line: places.place(slot.span.start as usize).line,
                span: span(slot.span, offset),
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
            preamble: transcript.layout.outside().count(),
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
        tally(self.messages().flat_map(|message| &message.parts).map(|part| part.kind))
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

fn span(span: Span, offset: usize) -> [usize; 2] {
    [span.start as usize + offset, span.end as usize + offset]
}

fn message(message: &Message<'_>, index: usize, pairs: &Pairs, groups: &Groups, offset: usize) -> OutlineMessage {
    let properties = [
        ("binds-next", message.is_bound()),
        ("indivisible", message.call_rules.indivisible),
        ("closes-calls", message.closes_calls()),
        ("boundary", message.is_boundary()),
        ("superseded", message.standing == Standing::Superseded),
        ("rolled-back", message.standing.is_rolled_back()),
        ("unsent", message.standing == Standing::Unsent),
    ];
    let parts = message.parts.iter().enumerate().map(|(nth, part)| {
        let other = pairs.counterpart(PartRef { message: index, part: nth });
        self::part(message, part, other.map(|other| [other.message, other.part]), offset)
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

fn part(message: &Message<'_>, part: &Part<'_>, pair: Option<[usize; 2]>, offset: usize) -> OutlinePart {
    let text = match &part.content {
        Content::Text(text) | Content::Reasoning(text) => Some(text),
        Content::ToolCall(call) => Some(&call.arguments),
        Content::ToolResult(result) => result.content.first(),
        Content::Media(_) | Content::Unknown(_) | Content::Other => None,
    };
    OutlinePart {
        kind: if matches!(part.content, Content::Unknown(_)) { "other" } else { part.content.kind() },
        speaker: message.other_speaker(part).map(Role::name),
        id: part.content.tool_id().map(decoded),
        name: part.content.tool_name().map(decoded),
        span: part.place().map_or([0, 0], |place| span(place.piece.unwrap_or(place.element.span()), offset)),
        pair,
        hosted: part.content.call().is_some_and(|call| call.hosted),
        begins: text.map_or_else(String::new, |text| beginning(&text.decode())),
    }
}

fn decoded(text: &Text<'_>) -> String {
    text.decode().into_owned()
}
