//! Lines beside the messages: the state of a session, which stays for the one that resumes it, and snapshots of files.

use std::borrow::Cow;

use foldhash::{HashMap, HashMapExt as _};

use crate::dialects::Item;
use crate::json::{Text, Value};

/// Pins the last line of each kind of state, which a resumed session reads.
pub(super) fn pin_states<'a>(items: &[Value<'a>], read: &mut [Item<'a>]) {
    let mut seen: Vec<Text<'a>> = Vec::new();
    for (item, read) in items.iter().zip(read).rev() {
        let state = matches!(read, Item::Metadata | Item::Unknown(_) | Item::Attached(_)) && is_state(*item);
        let Some(kind) = item.get_text("type").filter(|_| state) else { continue };
        if !seen.contains(&kind) {
            seen.push(kind);
            *read = Item::Pinned;
        }
    }
}

/// Whether a line sets a value of the session: it is not a node of the tree and repeats no part of a message. The last prompt
/// names the node that it led to, as the title of a conversation does.
fn is_state(item: Value<'_>) -> bool {
    let [session, kind, linked @ ..] =
        item.get_each(["sessionId", "type", "uuid", "parentUuid", "messageId", "message", "operation"]);
    let title = kind.is_some_and(|kind| kind.is("summary"));
    !title && session.is_some() && linked.iter().all(Option::is_none)
}

/// Keeps a line that says how results are sent in short: with the message of its result, or always if it names several messages or
/// others. All of these lines count, not only the last one.
pub(super) fn bind_replacements<'a>(items: &[Value<'a>], read: &mut [Item<'a>]) {
    let lines: Vec<usize> = (0..items.len()).filter(|&at| items[at].member_is("type", "content-replacement")).collect();
    if lines.is_empty() {
        return;
    }
    let mut answered: HashMap<Cow<'a, str>, usize> = HashMap::new();
    for (at, item) in read.iter().enumerate() {
        if let Item::Message(message) = item {
            let ids = message.results().filter_map(|(_, result)| result.id.clone());
            answered.extend(ids.map(|id| (id.into_decoded(), at)));
        }
    }
    for at in lines {
        let ids = items[at].items_under("replacements").map(|one| one.get_text("toolUseId"));
        let mut messages = ids.map(|id| answered.get(&id?.into_decoded()).copied());
        read[at] = match messages.next().flatten() {
            Some(first) if messages.all(|other| other == Some(first)) => Item::With(first),
            _ => Item::Pinned,
        };
    }
}

/// A snapshot of the files that was taken for a later message belongs to it, wherever it is.
pub(super) fn bind_snapshots<'a>(items: &[Value<'a>], read: &mut [Item<'a>]) {
    let mut metadata = items.iter().zip(&*read).filter(|(_, read)| matches!(read, Item::Metadata));
    if !metadata.any(|(item, _)| item.get("messageId").is_some()) {
        return;
    }
    let mut later: HashMap<Cow<'a, str>, usize> = HashMap::new();
    for (at, &item) in items.iter().enumerate().rev() {
        match &read[at] {
            Item::Message(_) => {
                if let Some(uuid) = item.get_text("uuid") {
                    later.insert(uuid.into_decoded(), at);
                }
            }
            Item::Metadata => {
                let named = item.get_text("messageId").map(Text::into_decoded);
                if let Some(message) = named.and_then(|named| later.get(&named)) {
                    read[at] = Item::With(*message);
                }
            }
            _ => {}
        }
    }
}
