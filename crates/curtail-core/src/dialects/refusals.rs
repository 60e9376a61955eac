//! What is refused although it is JSON: a list that takes too much memory, a transcript without a message, and calls in members that
//! the dialect does not read.

use std::borrow::Cow;
use std::collections::HashMap;

use super::detection::keys_of;
use super::read_error::ReadError;
use super::{ALL, Dialect, Fit};
use crate::json::{Member, Value};
use crate::steps;
use crate::transcript::{Message, Part, Role, Transcript};

/// The number of items from which on a list must have items of [`TINY`] bytes or more. The records of a document are in memory
/// at once, and each takes some hundred bytes there, however short it is.
const MAX_TINY: usize = 100_000;
/// The size of an item that is hardly more than empty, in bytes: `{"messages": []},`.
const TINY: usize = 24;

/// Refuses a list of very many records that are hardly more than empty.
///
/// # Errors
/// `root` is such a list.
pub(super) fn refuse_tiny_records(root: Value<'_>) -> Result<(), ReadError> {
    let bytes = root.raw().len();
    let count = if root.is_array() { root.items().count() } else { 0 };
    if count <= MAX_TINY || bytes >= count * TINY {
        return Ok(());
    }
    let reason = format!(
        "a list of {count} items in {bytes} bytes takes too much memory as one document; write each item on a line of its own"
    );
    Err(ReadError { offset: root.span().start as usize, what: reason })
}

/// The error for a transcript with items of which none was read as a message.
///
/// There is none for a log that has just begun, or of which a cut left no message, as far as the items show that: one of them
/// certainly is of `dialect`; or they may be of it, or no dialect recognizes any, and `dialect` knows what they are. If an unknown
/// item has a text that a model may read, there always is one.
pub(super) fn nothing_read(dialect: &dyn Dialect, transcript: &Transcript<'_>) -> Option<ReadError> {
    if !transcript.messages.is_empty() {
        return None;
    }
    // A turn without messages is an empty list.
    let items: Vec<_> =
        transcript.layout.elements.iter().filter(|item| !item.is_array() || item.items().next().is_some()).collect();
    let first = **items.first()?;
    // A log that has just begun has nothing yet that a model may read.
    let said = transcript.layout.non_messages.iter().find(|item| item.unknown.is_some() && item.unread.is_some());
    let unknown = transcript.layout.non_messages.iter().filter(|item| item.unknown.is_some()).count();
    // New versions of a program write new events.
    let known = if dialect.is_log() { unknown < items.len() } else { unknown == 0 };
    let read = match items.iter().map(|item| dialect.fit(**item)).max() {
        _ if said.is_some() => false,
        Some(Fit::Certain | Fit::Marked) => true,
        Some(Fit::Possible) => known,
        _ => known && !ALL.iter().any(|other| items.iter().any(|item| other.fit(**item) > Fit::No)),
    };
    (!read).then(|| ReadError {
        offset: first.span().start as usize,
        what: format!(
            "no message was read: no item is a message of the dialect `{}` ({}); check --dialect, or leave it out to detect it",
            dialect.name(),
            keys_of(first)
        ),
    })
}

/// Refuses to cut a transcript without a call whose results name calls that are in members the dialect does not know: a call
/// would be kept or dropped without its result.
///
/// A call is looked for by its id alone: any string or key in such a member that equals the id of a later result is taken for it.
/// So a transcript may be refused because another member of the reply repeats the id, but none is cut between a call and its result.
pub(super) fn refuse_hidden_calls(dialect: &dyn Dialect, messages: &[Message<'_>]) -> Result<(), ReadError> {
    let has_call = messages.iter().any(|message| message.calls().next().is_some());
    let mut results = messages.iter().flat_map(Message::results);
    if dialect.is_log() || has_call || !results.any(|(_, result)| result.id.is_some()) {
        return Ok(());
    }
    let mut messages_of: HashMap<Value<'_>, usize> = HashMap::new();
    for item in messages.iter().filter_map(Message::value) {
        *messages_of.entry(item).or_default() += 1;
    }
    let mut unread = None;
    for message in messages {
        if message.role == Role::Assistant {
            // An item of several messages has the results of one beside what another says.
            let alone = message.value().filter(|item| messages_of.get(item) == Some(&1));
            unread = alone.map(|item| UnreadMembers { item, message, by_string: None });
        }
        let Some(unread) = &mut unread else { continue };
        let mut ids = message.results().filter_map(|(_, result)| result.id.as_ref());
        let Some(member) = ids.find_map(|id| unread.member_with(&id.decode())) else { continue };
        return Err(ReadError {
            offset: member.value.span().start as usize,
            what: format!(
                "the result after it names a call in `{}`, which the dialect `{}` does not read, so a cut would part them; describe \
                 the format: --dialect-file",
                member.key.decode(),
                dialect.name()
            ),
        });
    }
    Ok(())
}

/// The members of an item of which no part was read.
struct UnreadMembers<'m, 'a> {
    item: Value<'a>,
    message: &'m Message<'a>,
    /// The first member that contains a string or a key, by this string; found when it is first asked for.
    by_string: Option<HashMap<Cow<'a, str>, Member<'a>>>,
}

impl<'a> UnreadMembers<'_, 'a> {
    fn member_with(&mut self, string: &str) -> Option<Member<'a>> {
        let Self { item, message, by_string } = self;
        by_string.get_or_insert_with(|| strings_of_unread(*item, message)).get(string).cloned()
    }
}

fn strings_of_unread<'a>(item: Value<'a>, message: &Message<'a>) -> HashMap<Cow<'a, str>, Member<'a>> {
    let mut found = HashMap::new();
    for member in item.members().filter(|member| !holds_a_part(member.value, message)) {
        let mut open = vec![member.value];
        while let Some(value) = open.pop() {
            steps::count(1);
            if let Some(text) = value.text() {
                found.entry(text.into_decoded()).or_insert_with(|| member.clone());
            }
            for inner in value.members() {
                found.entry(inner.key.into_decoded()).or_insert_with(|| member.clone());
                open.push(inner.value);
            }
            open.extend(value.items());
        }
    }
    found
}

/// Whether some part of a message was read of a value.
fn holds_a_part(value: Value<'_>, message: &Message<'_>) -> bool {
    let span = value.span();
    let places = message.parts.iter().filter_map(Part::place).map(|place| place.element.span());
    places.into_iter().any(|part| span.start <= part.start && part.end <= span.end)
}
