//! What a dialect does not know of a transcript: items that are no messages, how much of the text is in parts and items of
//! unknown type, and whether calls or results may be in it.

use foldhash::{HashMap, HashSet};

use super::{Content, Estimated, Message};
use crate::json::{Text, Value};

/// An item that is not a message.
#[derive(Debug, Clone)]
pub struct NonMessage<'a> {
    /// The item.
    pub value: Value<'a>,
    /// Why the dialect does not recognize it; `None` for known metadata.
    pub unknown: Option<Unknown>,
    /// How many messages precede it.
    pub after: usize,
    /// What a model may read of it although the dialect does not: it is counted as an estimate.
    pub unread: Option<Text<'a>>,
}

impl NonMessage<'_> {
    /// Whether the item names neither a role nor a type.
    #[must_use]
    pub fn lacks_role(&self) -> bool {
        self.unknown.as_ref().is_some_and(|unknown| !matches!(unknown, Unknown::Named(_)))
    }
}

/// Why a dialect does not recognize an item.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unknown {
    /// The item has this role or type, which the dialect does not define.
    Named(String),
    /// The item has no role.
    NoRole,
    /// The item has no type.
    NoType,
    /// The item is an envelope without a message.
    NoMessage,
    /// The item is a list, but not the pair of texts that the dialect keeps in lists.
    NoTexts,
    /// The item belongs to one of several conversations, but neither a name nor an id says to which.
    NoId,
}

impl Unknown {
    /// The role `name`, which the dialect does not define; an empty name is no role.
    #[must_use]
    pub fn role(name: String) -> Self {
        if name.is_empty() { Self::NoRole } else { Self::Named(name) }
    }

    /// The type `name`, which the dialect does not define; an empty name is no type.
    #[must_use]
    pub fn kind(name: String) -> Self {
        if name.is_empty() { Self::NoType } else { Self::Named(name) }
    }
}

impl std::fmt::Display for Unknown {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Named(name) => name,
            Self::NoRole => "no role",
            Self::NoType => "no type",
            Self::NoMessage => "no message",
            Self::NoTexts => "no pair of texts",
            Self::NoId => "no id",
        })
    }
}

/// Parts and items of unknown type that matter: much text is in them, or they name each other or a known part.
#[derive(Debug, Clone)]
pub struct Unread<'a> {
    /// The first of them, or the one with the id.
    pub first: Value<'a>,
    /// The message that contains it; `None` for an item that is no message.
    pub message: Option<usize>,
    /// Their types, each once, in the order of the text.
    pub kinds: Vec<String>,
    /// How much of the text they hold, in percent.
    pub percent: usize,
    /// An id in one of them that another part names.
    pub id: Option<String>,
}

/// The share of the text from which on unknown parts matter, in percent.
const LEAST_PERCENT: usize = 10;

struct UnknownPart<'a> {
    value: Value<'a>,
    message: Option<usize>,
    bytes: usize,
}

impl<'a> Unread<'a> {
    /// What is unknown of a transcript; `None` if that is nothing, or little and without an id that another part names.
    #[must_use]
    pub fn find(messages: &[Message<'a>], non_messages: &[NonMessage<'a>]) -> Option<Self> {
        let unknown = unknown_parts(messages, non_messages);
        let mut first = unknown.first()?;
        let bytes: usize = unknown.iter().map(|part| part.bytes).sum();
        let percent = (100 * bytes).div_ceil((bytes + known_bytes(messages)).max(1));
        let shared = shared_id(messages, &unknown);
        if percent < LEAST_PERCENT && shared.is_none() {
            return None;
        }
        if let Some((nth, _)) = &shared {
            first = &unknown[*nth];
        }
        let mut seen = HashSet::default();
        let kinds = unknown.iter().map(|part| kind_of(part.value)).filter(|kind| seen.insert(kind.clone())).collect();
        Some(Self { first: first.value, message: first.message, kinds, percent, id: shared.map(|(_, id)| id) })
    }
}

impl std::fmt::Display for Unread<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        const SHOWN: usize = 3;
        let kinds: Vec<String> = self.kinds.iter().take(SHOWN).map(|kind| format!("`{kind}`")).collect();
        let more = if self.kinds.len() > SHOWN { ", …" } else { "" };
        write!(
            f,
            "{} % of the text has an unknown type ({}{more}): its tokens are estimated",
            self.percent,
            kinds.join(", ")
        )?;
        match &self.id {
            Some(id) => write!(f, ", and a cut may separate the parts that name the id `{id}`"),
            None => f.write_str(", and calls and results in it are not paired"),
        }
    }
}

fn unknown_parts<'a>(messages: &[Message<'a>], non_messages: &[NonMessage<'a>]) -> Vec<UnknownPart<'a>> {
    let mut found = Vec::new();
    for (at, message) in messages.iter().enumerate() {
        for part in &message.parts {
            let Some(place) = part.place() else { continue };
            if let Content::Unknown(text) = &part.content {
                found.push(UnknownPart { value: place.element, message: Some(at), bytes: text.len_bound() });
            }
            found.extend(place.estimated().iter().filter_map(|text| unknown_member(at, *text)));
        }
        found.extend(message.estimated.iter().filter_map(|text| unknown_member(at, *text)));
    }
    let items = non_messages.iter().filter_map(|item| Some((item.value, item.unread.as_ref()?.len_bound())));
    found.extend(items.map(|(value, bytes)| UnknownPart { value, message: None, bytes }));
    found.sort_by_key(|part| part.value.span().start);
    found
}

/// A text in a member that the format does not define.
fn unknown_member(message: usize, text: Estimated<'_>) -> Option<UnknownPart<'_>> {
    let Estimated { value, sealed } = text;
    (!sealed).then(|| UnknownPart { value, message: Some(message), bytes: value.raw().len() })
}

fn known_bytes(messages: &[Message<'_>]) -> usize {
    let bytes = messages.iter().flat_map(|message| &message.parts).map(|part| match &part.content {
        Content::Text(text) | Content::Reasoning(text) => text.len_bound(),
        Content::ToolCall(call) => call.texts().map(Text::len_bound).sum(),
        Content::ToolResult(result) => result.content.iter().map(Text::len_bound).sum(),
        // The bytes of an image are no text.
        Content::Media(_) | Content::Unknown(_) | Content::Other => 0,
    });
    bytes.sum()
}

/// The first id in an unknown part that a call, a result or another unknown part has as well, with the part's index.
fn shared_id(messages: &[Message<'_>], unknown: &[UnknownPart<'_>]) -> Option<(usize, String)> {
    let mut ids = Vec::new();
    for (nth, part) in unknown.iter().enumerate() {
        ids_in(part.value, 2, &mut |id| ids.push((nth, id)));
    }
    if ids.is_empty() {
        return None;
    }
    let calls = messages.iter().flat_map(Message::calls).filter_map(|(_, call)| call.id.as_ref());
    let results = messages.iter().flat_map(Message::results).filter_map(|(_, result)| result.id.as_ref());
    let known: HashSet<_> = calls.chain(results).map(Text::decode).collect();
    let mut first: HashMap<String, usize> = HashMap::default();
    for (nth, id) in ids {
        match first.get(&id) {
            Some(&other) if other != nth => return Some((other, id)),
            _ if known.contains(&*id) => return Some((nth, id)),
            _ => drop(first.insert(id, nth)),
        }
    }
    None
}

/// The ids by which parts name calls: under `id`, or under a key that names a call or a tool. Ids of sessions and messages
/// are in many parts and name no call.
fn ids_in(value: Value<'_>, depth: usize, found: &mut impl FnMut(String)) {
    for member in value.members() {
        let key = member.key.decode().to_ascii_lowercase();
        let names_call = key == "id" || key.ends_with("id") && ["call", "tool"].iter().any(|name| key.contains(name));
        match member.value.text() {
            Some(id) if names_call && id.len_bound() > 0 => found(id.decode().into_owned()),
            None if depth > 1 && member.value.is_object() => ids_in(member.value, depth - 1, found),
            _ => {}
        }
    }
}

/// The type of a part, or of what its envelope contains: under a usual key, or else its first key, or the key under which it is.
fn kind_of(part: Value<'_>) -> String {
    let inner = ["payload", "message"].iter().find_map(|key| part.get(key).filter(|inner| inner.is_object()));
    let part = inner.unwrap_or(part);
    let named = ["type", "kind", "part_kind", "role", "from"].iter().find_map(|key| part.get_text(key));
    let name = named
        .or_else(|| part.members().next().map(|member| member.key))
        .or_else(|| part.parent()?.members().find(|member| member.value == part).map(|member| member.key));
    name.map_or_else(|| String::from("?"), |name| name.decode().into_owned())
}
