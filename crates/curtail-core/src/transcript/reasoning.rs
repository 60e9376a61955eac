//! Which reasoning a provider wants back with the call or the text that it led to, and where it is gone: the only place that knows
//! it, for all formats.

use std::collections::BTreeMap;

use foldhash::HashMap;

use super::{Content, Message, Part, PartPlace, PartRef, Role};
use crate::json::{Document, Text, Value};

/// How the ids of items begin that the Responses API refers to reasoning with, alone or after the id of a call and a bar.
const FOLLOWERS: &[&str] = &["fc_", "msg_", "ws_", "ctc_", "ci_", "fs_", "ig_", "cu_", "mcp_", "sh_", "lsh_", "apc_"];

/// How the ids of calls of functions begin there.
const CALLS: [&str; 1] = ["fc_"];

/// How the id of a reasoning item begins.
const ITEMS: [&str; 1] = ["rs_"];

/// Members that contain a signature without which a provider rejects the calls of the message.
const CALL_SIGNATURES: [&str; 2] = ["thoughtSignature", "thought_signature"];

/// The member beside a message that a provider wants back if the message has calls.
pub const BESIDE_CALLS: &str = "reasoning_content";

/// The reasoning of a transcript that must stay as long as what it led to stays.
pub struct RequiredReasoning<'m, 'a> {
    messages: &'m [Message<'a>],
    /// What is around the thoughts of each message.
    surroundings: Vec<Surroundings>,
    open_turns: OpenTurns,
}

impl<'m, 'a> RequiredReasoning<'m, 'a> {
    /// The reasoning of `messages` that must stay.
    #[must_use]
    pub fn of(messages: &'m [Message<'a>]) -> Self {
        let surroundings = messages.iter().map(Surroundings::of).collect();
        Self { messages, surroundings, open_turns: OpenTurns::of(messages) }
    }

    /// Whether the part at `at` is reasoning that must stay: in the open turn of calls, before an item with an id of its own that
    /// refers to it, if it carries the only signature of the calls, and beside calls where the provider wants it.
    #[must_use]
    pub fn contains(&self, at: PartRef) -> bool {
        let message = &self.messages[at.message];
        let around = self.surroundings[at.message];
        let part = at.part_in(self.messages);
        // A thought that is a piece of a text is the text's: no provider asks for it.
        let is_written = part.place().is_some_and(|place| place.piece.is_some());
        if is_written || !is_thought(part) {
            return false;
        }
        if around.is_bound_reasoning {
            return self.open_turns.contain(self.messages, at.message) || self.leads_to_message(at.message);
        }
        self.open_turns.contain(self.messages, at.message) && around.has_tools
            || leads_to_item(message, at.part)
            || around.has_unsigned_calls && is_signed(part, &CALL_SIGNATURES)
            || is_beside_calls(message, part)
    }

    /// Whether any part of the message `at` is reasoning that must stay.
    #[must_use]
    pub fn is_in(&self, at: usize) -> bool {
        (0..self.messages[at].parts.len()).any(|part| self.contains(PartRef { message: at, part }))
    }

    /// Whether the message after the reasoning at `at` is another item, with an id by which the provider looks for it.
    fn leads_to_message(&self, at: usize) -> bool {
        self.messages.get(at + 1).is_none_or(|next| next.id.is_some() && next.id != self.messages[at].id)
    }
}

/// Where the open turn of each conversation begins: index of the last message with text of its user.
struct OpenTurns(HashMap<u32, usize>);

impl OpenTurns {
    fn of(messages: &[Message<'_>]) -> Self {
        let in_force = messages.iter().enumerate().filter(|(_, message)| !message.standing.is_rolled_back());
        let asking = in_force.filter(|(_, message)| message.has_text_as(Role::User));
        Self(asking.map(|(at, message)| (message.thread, at)).collect())
    }

    /// Whether the message at `at` is in one of them.
    fn contain(&self, messages: &[Message<'_>], at: usize) -> bool {
        at >= self.0.get(&messages[at].thread).copied().unwrap_or(0)
    }
}

/// What is around the thoughts of a message. It is found once, because a message may have many of them.
#[derive(Clone, Copy, Default)]
struct Surroundings {
    is_bound_reasoning: bool,
    has_tools: bool,
    /// Whether it calls tools, and none of the calls has a signature.
    has_unsigned_calls: bool,
}

impl Surroundings {
    fn of(message: &Message<'_>) -> Self {
        if !message.parts.iter().any(is_thought) {
            return Self::default();
        }
        Self {
            is_bound_reasoning: message.is_bound_reasoning(),
            has_tools: message.has_tools(),
            has_unsigned_calls: has_unsigned_calls(message),
        }
    }
}

const fn is_thought(part: &Part<'_>) -> bool {
    part.content.reasoning().is_some()
}

fn calls_tools(message: &Message<'_>) -> bool {
    message.calls().any(|(_, call)| !call.hosted)
}

fn is_item(part: &Part<'_>) -> bool {
    is_thought(part) && names(part, &ITEMS)
}

fn leads_to_item(message: &Message<'_>, at: usize) -> bool {
    let mut after = message.parts[at + 1..].iter().take_while(|part| !is_thought(part));
    is_item(&message.parts[at]) && after.any(|part| names(part, FOLLOWERS))
}

/// Whether an id in a part, or in a copy of it, begins with one of `beginnings`. What the part says is none: a tool may be called
/// `ws_connect`.
fn names(part: &Part<'_>, beginnings: &[&str]) -> bool {
    let Some(place) = part.place() else { return false };
    let said: Vec<&Text<'_>> = match &part.content {
        Content::ToolCall(call) => vec![&call.name, &call.arguments],
        Content::Text(text) | Content::Reasoning(text) => vec![text],
        _ => Vec::new(),
    };
    std::iter::once(place.element).chain(place.copies.iter().copied()).any(|value| has_id(value, &said, beginnings))
}

/// Whether a string in `root` is an id that begins with one of `beginnings`, or the JSON of an item with such an id, which some
/// programs keep. What is one of `said` is passed over.
fn has_id(root: Value<'_>, said: &[&Text<'_>], beginnings: &[&str]) -> bool {
    // Most values have none, and a search for a few letters is fast.
    if !beginnings.iter().any(|begin| root.raw().contains(begin)) {
        return false;
    }
    let values = root.within(|value| said.contains(&&value.text().unwrap_or(Text::Json(value.raw()))));
    let mut texts = values.filter_map(Value::text);
    texts.any(|text| is_id(&text, beginnings) || is_item_with_id(&text, beginnings))
}

fn is_id(text: &Text<'_>, beginnings: &[&str]) -> bool {
    /// Longer than any id.
    const LONGEST: usize = 300;
    if text.len_bound() > LONGEST {
        return false;
    }
    let text = text.decode();
    text.split('|').any(|id| beginnings.iter().any(|begin| id.starts_with(begin)))
        && !text.contains(|c: char| c.is_whitespace() || matches!(c, '"' | '{'))
}

fn is_item_with_id(text: &Text<'_>, beginnings: &[&str]) -> bool {
    if text.characters().next() != Some('{') {
        return false;
    }
    let text = text.decode();
    let item = Document::parse(&text).ok();
    let root = item.as_ref().and_then(|item| item.roots().next());
    root.and_then(|root| root.get_text("id")).is_some_and(|id| is_id(&id, beginnings))
}

fn has_unsigned_calls(message: &Message<'_>) -> bool {
    let mut calls = message.calls().filter(|(_, call)| !call.hosted).peekable();
    calls.peek().is_some() && !calls.any(|(at, _)| is_signed(&message.parts[at], &CALL_SIGNATURES))
}

fn is_signed(part: &Part<'_>, keys: &[&str]) -> bool {
    part.place().is_some_and(|place| has_text(place.element, keys))
}

/// Whether an object has a text under one of `keys`.
fn has_text(object: Value<'_>, keys: &[&str]) -> bool {
    keys.iter().filter_map(|key| object.get_text(key)).any(|text| text.len_bound() > 0)
}

fn is_beside_calls(message: &Message<'_>, thought: &Part<'_>) -> bool {
    let Some(element) = thought.place().map(|place| place.element) else { return false };
    element.parent().and_then(|holder| holder.get(BESIDE_CALLS)) == Some(element) && calls_tools(message)
}

/// Calls that the Responses API stored as items of their own, in replies without the reasoning that led to them. The transcript
/// has reasoning elsewhere: without any, the model does not reason. Of a refused request, all items of such replies.
#[must_use]
pub fn items_without_reasoning(messages: &[Message<'_>], is_refused: bool) -> Vec<usize> {
    if !is_refused && !messages.iter().any(Message::is_reasoning) {
        return Vec::new();
    }
    let mut thought = false;
    let mut lost = Vec::new();
    for (at, message) in messages.iter().enumerate() {
        // Consecutive items of the assistant are one reply.
        thought = message.role == Role::Assistant && (thought || message.is_reasoning());
        let is_meant = calls_tools(message) || is_refused && message.role == Role::Assistant;
        if message.id.is_some() && is_meant && !thought {
            lost.push(at);
        }
    }
    lost
}

/// Messages with such items inside, one of which refers to reasoning that is gone. Others of the transcript still have theirs, or
/// the program says nothing of reasoning at all.
#[must_use]
pub fn messages_without_reasoning(messages: &[Message<'_>]) -> Vec<usize> {
    if !messages.iter().any(|message| message.parts.len() > 1 && message.parts.iter().any(is_item)) {
        return Vec::new();
    }
    indices(messages, |message| {
        let mut before = message.parts.iter().take_while(|part| !is_thought(part));
        before.any(|part| part.content.call().is_some_and(|call| !call.hosted) && names(part, &CALLS))
    })
}

/// Replies that call a tool without the reasoning that stands beside a message: between two that have it or, if `is_wanted`
/// always, anywhere.
#[must_use]
pub fn calls_without_reasoning(messages: &[Message<'_>], is_wanted: bool) -> Vec<usize> {
    let between = match messages.iter().position(thinks_beside) {
        _ if is_wanted => 0..messages.len(),
        Some(first) => first..messages.iter().rposition(thinks_beside).unwrap_or(first),
        None => return Vec::new(),
    };
    let replies = between.filter(|at| messages[*at].role == Role::Assistant);
    replies.filter(|at| calls_tools(&messages[*at]) && !thinks_beside(&messages[*at])).collect()
}

/// Whether reasoning stands beside a message.
fn thinks_beside(message: &Message<'_>) -> bool {
    let thoughts = message.parts.iter().filter(|part| is_thought(part)).filter_map(Part::place);
    thoughts.filter_map(|place| place.element.parent()).any(Value::is_object)
        || message.value().is_some_and(|item| has_text(item, &[BESIDE_CALLS]))
}

/// The first call of each message that has no signature under `keys`: in the open turn, which is all that the provider examines, if
/// messages of the transcript have one; anywhere, if `is_wanted` says so.
#[must_use]
pub fn unsigned_calls(messages: &[Message<'_>], keys: &[&str], is_wanted: bool) -> Vec<PartRef> {
    if keys.is_empty() {
        return Vec::new();
    }
    let (signed, unsigned): (Vec<usize>, Vec<usize>) =
        (0..messages.len()).partition(|at| messages[*at].parts.iter().any(|part| is_signed(part, keys)));
    if signed.is_empty() && !is_wanted {
        return Vec::new();
    }
    let open_turns = OpenTurns::of(messages);
    let examined = unsigned.into_iter().filter(|at| is_wanted || open_turns.contain(messages, *at));
    // Calls that the provider runs have no signature.
    let first = examined.filter_map(|message| {
        let (part, _) = messages[message].calls().find(|(_, call)| !call.hosted)?;
        Some(PartRef { message, part })
    });
    first.collect()
}

/// Messages whose signed thought comes after other content: the provider wants it first.
#[must_use]
pub fn thoughts_not_first(messages: &[Message<'_>]) -> Vec<usize> {
    indices(messages, |message| {
        message.role == Role::Assistant && message.parts.iter().position(may_be_signed).is_some_and(|first| first > 0)
    })
}

/// Whether a part is reasoning of a kind that a provider signs.
fn may_be_signed(part: &Part<'_>) -> bool {
    is_thought(part) && part.place().is_some_and(|place| !place.is_unsigned())
}

/// The indices of the messages of which `is_meant` is true.
fn indices<'a>(messages: &[Message<'a>], is_meant: impl Fn(&Message<'a>) -> bool) -> Vec<usize> {
    (0..messages.len()).filter(|at| is_meant(&messages[*at])).collect()
}

/// Items of reasoning that the item which they led to does not follow.
#[must_use]
pub fn loose_reasoning(messages: &[Message<'_>]) -> Vec<usize> {
    indices(messages, |message| message.is_reasoning() && !message.is_bound())
}

/// Items of reasoning that name what the provider stored, and do not contain it.
#[must_use]
pub fn stored_reasoning(messages: &[Message<'_>]) -> Vec<usize> {
    indices(messages, |message| message.is_reasoning() && message.id.is_some() && !is_encrypted(message))
}

fn is_encrypted(message: &Message<'_>) -> bool {
    let items = message.value().into_iter().flat_map(|item| [Some(item), item.get("payload")]);
    items.flatten().any(|item| item.has("encrypted_content"))
}

/// A reply that contains thinking and nothing else.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ThinkingAlone {
    /// Its first message.
    pub at: usize,
    /// Whether it is the last one of its conversation, so that the rest of it may follow.
    pub is_last: bool,
}

/// The replies that contain thinking and nothing else. A provider that signs thinking accepts none.
#[must_use]
pub fn replies_of_thinking_alone(messages: &[Message<'_>]) -> Vec<ThinkingAlone> {
    // Conversations in a log interleave: a reply consists of consecutive messages of one thread.
    let mut threads: BTreeMap<u32, Vec<(usize, &Message<'_>)>> = BTreeMap::new();
    for (at, message) in messages.iter().enumerate() {
        threads.entry(message.thread).or_default().push((at, message));
    }
    let mut found = Vec::new();
    for thread in threads.values() {
        let mut left = thread.len();
        for reply in thread.chunk_by(|(_, one), (_, next)| one.role == next.role) {
            left -= reply.len();
            let thinks = reply.iter().any(|(_, message)| message.is_reasoning());
            if reply[0].1.role == Role::Assistant && thinks && reply.iter().all(|(_, message)| says_nothing(message)) {
                found.push(ThinkingAlone { at: reply[0].0, is_last: left == 0 });
            }
        }
    }
    found
}

/// Whether a message has nothing but reasoning and blank texts.
fn says_nothing(message: &Message<'_>) -> bool {
    message.parts.iter().all(|part| is_thought(part) || part.content.text().is_some_and(Text::is_blank))
}

/// Thoughts without the signature that a provider writes under one of `keys`; none if it signs none.
#[must_use]
pub fn unsigned_thoughts(messages: &[Message<'_>], keys: &[&str]) -> Vec<PartRef> {
    if keys.is_empty() {
        return Vec::new();
    }
    thoughts(messages, |_, place| !place.is_unsigned() && !has_text(place.element, keys))
}

/// Thoughts with a signature under one of `keys` and without a text. What the provider hid itself is in another member.
#[must_use]
pub fn emptied_thoughts(messages: &[Message<'_>], keys: &[&str]) -> Vec<PartRef> {
    thoughts(messages, |is_blank, place| {
        is_blank && has_text(place.element, keys) && place.element.get_text("data").is_none()
    })
}

/// The thoughts of which `is_meant` says so, by whether they are blank and by their place.
fn thoughts(messages: &[Message<'_>], is_meant: impl Fn(bool, &PartPlace<'_>) -> bool) -> Vec<PartRef> {
    let thoughts =
        PartRef::each(messages).filter_map(|(at, part)| Some((at, part.content.reasoning()?, part.place()?)));
    thoughts.filter(|(_, text, place)| is_meant(text.is_blank(), place)).map(|(at, ..)| at).collect()
}

#[cfg(test)]
mod tests {
    use super::{CALLS, names};
    use crate::json::{Document, Text, Value};
    use crate::transcript::{Content, Part, PartPlace, ToolCall};

    #[test]
    fn an_item_is_known_by_an_id_and_not_by_what_is_said() {
        for (json, expected) in [
            (r#"{"id":"fc_1","name":"f","arguments":"{}"}"#, true),
            (r#"{"id":"call_1|fc_1","name":"f","arguments":"{}"}"#, true),
            (r#"{"id":"call_1","name":"f","arguments":{},"metadata":{"openai":{"itemId":"fc_1"}}}"#, true),
            (r#"{"id":"call_1","name":"f","arguments":{},"signature":"{\"id\":\"fc_1\"}"}"#, true),
            (r#"{"id":"call_1","name":"fc_close","arguments":{}}"#, false),
            (r#"{"id":"call_1","name":"f","arguments":{"id":"fc_1"}}"#, false),
            (r#"{"id":"call_1","name":"f","arguments":"{\"id\":\"fc_1\"}"}"#, false),
            (r#"{"id":"call_1","name":"f","arguments":{},"note":"as \"fc_1\" says"}"#, false),
        ] {
            let document = Document::parse(json).unwrap();
            let element = document.roots().next().unwrap();
            let text = |key: &str| {
                let value: Value<'_> = element.get(key).unwrap();
                value.text().unwrap_or(Text::Json(value.raw()))
            };
            let call = ToolCall::new(Some(text("id")), text("name"), text("arguments"));
            let part = Part::from_source(Content::ToolCall(call), PartPlace::element(element));
            assert_eq!(names(&part, &CALLS), expected, "{json}");
        }
    }
}
