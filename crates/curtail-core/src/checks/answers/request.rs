//! The messages of a transcript as a provider received them: an index in its answer counts these, and not the lines of a log.

use std::ops::Range;

use foldhash::HashMap;

use super::paths::Mention;
use crate::json::Value;
use crate::transcript::{Content, Message, Part, ProviderRules, ResultPlace, Role, Transcript, main_thread};

/// How a provider's request is made of messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wire {
    /// Instructions are apart, and results are parts of the user's message.
    Joined,
    /// Instructions are the first message, and each result is a message.
    Chat,
    /// Every call, result and thought is an item.
    Items,
}

impl Wire {
    /// The wire of a format with these rules.
    pub(super) const fn of(results: ResultPlace, rules: &ProviderRules) -> Self {
        match results {
            ResultPlace::NextMessage | ResultPlace::NextMessageFirst => Self::Joined,
            _ if rules.server_state => Self::Items,
            _ => Self::Chat,
        }
    }
}

/// A place that an answer names.
pub(super) struct NamedPlace<'a> {
    /// What to show.
    pub(super) value: Option<Value<'a>>,
    /// The block inside the message, if it is named.
    pub(super) block: Option<Value<'a>>,
    /// The bytes that belong to it.
    pub(super) spans: Vec<Range<usize>>,
    /// Whether it is certain that the provider received it under this number.
    pub(super) is_certain: bool,
}

impl<'a> NamedPlace<'a> {
    /// The message that the provider received under the number of `mention`.
    pub(super) fn of_sent(sent: &Sent<'a>, mention: &Mention, is_certain: bool) -> Self {
        Self { value: sent.value(), block: sent.block(mention), spans: sent.spans().collect(), is_certain }
    }

    /// The parts with an id. The block is the one of them that `indexed` names as well.
    pub(super) fn of_parts(parts: &[Value<'a>], indexed: &[Self]) -> Self {
        let spans = indexed.iter().flat_map(|place| &place.spans);
        let block = parts.iter().copied().find(|part| spans.clone().any(|span| overlap(span, &range(*part))));
        let value = block.or(parts.first().copied());
        Self { value, block, spans: parts.iter().map(|value| range(*value)).collect(), is_certain: true }
    }

    /// A whole item.
    pub(super) fn of_item(item: Value<'a>) -> Self {
        Self { value: Some(item), block: None, spans: vec![range(item)], is_certain: true }
    }
}

/// Whether two ranges have a byte in common.
pub(super) const fn overlap(one: &Range<usize>, other: &Range<usize>) -> bool {
    one.start < other.end && other.start < one.end
}

/// A message of a request.
#[derive(Debug, Clone)]
pub(super) struct Sent<'a> {
    /// Its parts, in order.
    parts: Vec<Place<'a>>,
    /// The item that is the message, if one is.
    item: Option<Value<'a>>,
}

/// A part of a message of a request.
#[derive(Debug, Clone, Copy)]
struct Place<'a> {
    value: Value<'a>,
    is_call: bool,
}

impl<'a> Sent<'a> {
    fn of_item(item: Value<'a>, message: Option<&Message<'a>>) -> Self {
        let parts = message.map_or_else(Vec::new, places);
        Self { parts, item: Some(item) }
    }

    /// The bytes of each part, and of the item if there is one.
    pub(super) fn spans(&self) -> impl Iterator<Item = Range<usize>> {
        self.parts.iter().map(|part| part.value).chain(self.item).map(range)
    }

    /// The value to show.
    pub(super) fn value(&self) -> Option<Value<'a>> {
        self.item.or_else(|| self.parts.first().map(|part| part.value))
    }

    /// The block that `mention` names inside the message.
    pub(super) fn block(&self, mention: &Mention) -> Option<Value<'a>> {
        let (list, number) = mention.steps.iter().find(|(list, _)| LISTS.contains(&list.as_str()))?;
        let is_mixed = list == "content" || list == "parts";
        let mut listed = self.parts.iter().filter(|part| is_mixed || list.contains("call") == part.is_call);
        listed.nth(*number).map(|part| part.value)
    }
}

/// Lists of the parts of a message.
const LISTS: [&str; 3] = ["content", "parts", "tool_calls"];

fn places<'a>(message: &Message<'a>) -> Vec<Place<'a>> {
    message.parts.iter().filter_map(place_of).collect()
}

fn place_of<'a>(part: &Part<'a>) -> Option<Place<'a>> {
    Some(Place { value: part.place()?.element, is_call: matches!(part.content, Content::ToolCall(_)) })
}

/// The bytes of a value.
pub(super) fn range(value: Value<'_>) -> Range<usize> {
    value.span().start as usize..value.span().end as usize
}

/// The requests that `transcript`, of which only what a model reads is left, may have been, the likeliest first. `is_native` says
/// whether it is in the form of the provider already.
pub(super) fn requests<'a>(transcript: &Transcript<'a>, wire: Wire, is_native: bool) -> Vec<Vec<Sent<'a>>> {
    let main = main_thread(&transcript.messages);
    let messages: Vec<&Message<'a>> = transcript.messages.iter().filter(|message| message.thread == main).collect();
    let dialogue: Vec<&Message<'a>> = messages.iter().copied().filter(|message| !message.role.instructs()).collect();
    let as_written = items(transcript);
    let spoken = dialogue.iter().filter_map(|message| Some(Sent::of_item(message.value()?, Some(message)))).collect();
    let made = match wire {
        Wire::Joined => joined(&dialogue),
        Wire::Chat => chat(&messages),
        Wire::Items => single(&messages),
    };
    let begins_with_instructions = messages.first().is_some_and(|message| message.role.instructs());
    match (is_native, wire) {
        (true, Wire::Joined) if begins_with_instructions => vec![spoken, as_written, made],
        (true, _) => vec![as_written, made, spoken],
        (false, _) => vec![made, as_written, spoken],
    }
}

/// Every item of the transcript, known or not.
fn items<'a>(transcript: &Transcript<'a>) -> Vec<Sent<'a>> {
    let mut read: HashMap<Value<'a>, &Message<'a>> = HashMap::default();
    for message in &transcript.messages {
        if let Some(value) = message.value() {
            read.entry(value).or_insert(message);
        }
    }
    let elements = transcript.layout.elements.iter();
    elements.map(|&item| Sent::of_item(item, read.get(&item).copied())).collect()
}

/// Messages of one side in a row are one.
fn joined<'a>(messages: &[&Message<'a>]) -> Vec<Sent<'a>> {
    let runs = messages.chunk_by(|one, next| is_reply(one) == is_reply(next));
    runs.map(|run| Sent { parts: run.iter().flat_map(|message| places(message)).collect(), item: None }).collect()
}

/// A message of the application, then each reply as one message, each result as one, and what a user said as one.
fn chat<'a>(messages: &[&Message<'a>]) -> Vec<Sent<'a>> {
    let mut sent: Vec<Sent<'a>> = Vec::new();
    // A log does not contain the instructions that are sent first.
    if messages.first().is_none_or(|message| !message.role.instructs()) {
        sent.push(Sent { parts: Vec::new(), item: None });
    }
    for run in messages.chunk_by(|one, next| is_reply(one) && is_reply(next)) {
        let parts = run.iter().flat_map(|message| &message.parts);
        let (results, said): (Vec<&Part<'a>>, Vec<&Part<'a>>) = parts.partition(|part| part.content.result().is_some());
        let results = results.into_iter().filter_map(place_of);
        sent.extend(results.map(|place| Sent { parts: vec![place], item: None }));
        let said: Vec<Place<'a>> = said.into_iter().filter_map(place_of).collect();
        if !said.is_empty() {
            sent.push(Sent { parts: said, item: None });
        }
    }
    sent
}

fn is_reply(message: &Message<'_>) -> bool {
    message.role == Role::Assistant
}

/// What a message says in a row, in texts and media, is one item, and so is each other part.
fn single<'a>(messages: &[&Message<'a>]) -> Vec<Sent<'a>> {
    let items = messages.iter().flat_map(|message| message.parts.chunk_by(|one, next| is_said(one) && is_said(next)));
    let parts = items.map(|item| item.iter().filter_map(place_of).collect::<Vec<_>>());
    parts.filter(|parts| !parts.is_empty()).map(|parts| Sent { parts, item: None }).collect()
}

fn is_said(part: &Part<'_>) -> bool {
    matches!(part.content, Content::Text(_) | Content::Media(_) | Content::Unknown(_))
}

/// The parts of the transcript of which `has` is true.
pub(super) fn parts_with<'a>(
    messages: &[Message<'a>],
    has: impl Fn(&Message<'a>, &Part<'a>) -> bool,
) -> Vec<Value<'a>> {
    let parts = messages.iter().flat_map(|message| message.parts.iter().filter(|part| has(message, part)));
    parts.filter_map(|part| Some(part.place()?.element)).collect()
}
