//! What a description says, once it is compiled: how items are recognized, where roles and parts are, and what is written.

use std::fmt;

use super::frames::Frames;
use super::paths::Path;
use super::templates::Writing;
use crate::dialects::Dialect;
use crate::json::Value;
use crate::transcript::{ResultPlace, Role};

/// A description, compiled.
#[derive(Clone, Default)]
pub(super) struct Rules {
    pub(super) name: String,
    /// By what a person recognizes the format.
    pub(super) about: String,
    /// The dialect that reads the messages, where only the way to them is described.
    pub(super) base: Option<&'static dyn Dialect>,
    /// The provider whose limits apply; empty for that of what is extended.
    pub(super) provider: String,
    /// Where the message is in an item.
    pub(super) message: Option<Path>,
    /// Where a record keeps its messages.
    pub(super) lists: Vec<ListPlace>,
    /// Where a document keeps its records.
    pub(super) records: Vec<Path>,
    /// Marks of this format, of which an item must have one to be recognized.
    pub(super) marks: Vec<Mark>,
    /// Marks of other formats: a transcript that has one is not in this dialect, whatever else it has.
    pub(super) unlike: Vec<Mark>,
    /// What an item is, by the first of these that says so.
    pub(super) roles: Vec<RoleRule>,
    /// Parts that are whole messages.
    pub(super) whole: Vec<Kind>,
    /// Where the other parts are.
    pub(super) groups: Vec<Group>,
    /// Keys of what no model reads.
    pub(super) known: Vec<String>,
    /// Where a record has instructions and tools beside its messages.
    pub(super) preamble: Vec<Path>,
    pub(super) model: Option<Path>,
    /// What the messages of one reply share.
    pub(super) reply: Option<Path>,
    /// A time by which items are in order; the item itself if it has none.
    pub(super) order: Option<Path>,
    /// When a message stands for everything before it.
    pub(super) boundary: Vec<Condition>,
    /// When a program wrote a message of the user.
    pub(super) automatic: Vec<Condition>,
    /// Where the results of calls must be.
    pub(super) results: ResultPlace,
    /// Whether a program appends to it what happens, of which unknown items are a part.
    pub(super) is_log: bool,
    /// Whether calls of a turn may share an id.
    pub(super) shares_ids: bool,
    /// How messages are written; a format without it is only read.
    pub(super) writing: Option<Writing>,
    /// Transcripts by which the description can be tried.
    pub(super) samples: Vec<String>,
}

/// Where a record keeps its messages: a list of them, or of values that each contain a list.
#[derive(Debug, Clone)]
pub(super) struct ListPlace {
    pub(super) list: Path,
    pub(super) inner: Option<Path>,
}

impl ListPlace {
    /// Whether a record has messages here.
    pub(super) fn has_list(&self, record: Value<'_>) -> bool {
        let Some(list) = self.list.first(record).filter(|list| list.is_array()) else { return false };
        let inner = self.inner.as_ref().filter(|inner| !inner.is_here());
        inner.is_none_or(|inner| list.items().any(|item| inner.first(item).is_some_and(Value::is_array)))
    }
}

impl fmt::Display for ListPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.inner {
            None => write!(f, "{}", self.list),
            Some(inner) if inner.is_here() => write!(f, "{}[]", self.list),
            Some(inner) => write!(f, "{}[].{inner}", self.list),
        }
    }
}

/// What is true together of an item, by which its dialect is recognized.
pub(super) type Mark = Vec<Condition>;

/// What must be true of a value.
#[derive(Debug, Clone)]
pub(super) struct Condition {
    pub(super) path: Path,
    pub(super) wanted: Wanted,
}

#[derive(Debug, Clone)]
pub(super) enum Wanted {
    Present,
    Absent,
    OneOf(Vec<String>),
}

impl Condition {
    pub(super) fn holds(&self, value: Value<'_>, outer: Option<Value<'_>>) -> bool {
        let Some(value) = (if self.path.is_outer() { outer } else { Some(value) }) else { return false };
        match &self.wanted {
            Wanted::Present => self.path.has(value),
            Wanted::Absent => !self.path.has(value),
            Wanted::OneOf(texts) => self.path.holds(value, texts),
        }
    }

    /// The key of the value itself that it wants a text under, and the texts.
    pub(super) fn tag(&self) -> Option<(&str, &[String])> {
        let key = self.path.only_key().filter(|_| !self.path.is_outer())?;
        Some((key, self.texts()?))
    }

    /// The texts of which it wants one.
    pub(super) fn texts(&self) -> Option<&[String]> {
        if let Wanted::OneOf(texts) = &self.wanted { Some(texts) } else { None }
    }
}

pub(super) fn all_hold(conditions: &[Condition], value: Value<'_>, outer: Option<Value<'_>>) -> bool {
    conditions.iter().all(|condition| condition.holds(value, outer))
}

/// Who speaks in a message.
#[derive(Debug, Clone)]
pub(super) struct RoleRule {
    pub(super) when: Vec<Condition>,
    pub(super) at: Option<Path>,
    pub(super) names: Vec<(String, Speaker)>,
    /// Who speaks under any other name.
    pub(super) other: Option<Speaker>,
}

impl RoleRule {
    /// Whether it says of a message who speaks, and not only which items are none.
    pub(super) fn names_a_role(&self) -> bool {
        self.speakers().any(|speaker| matches!(speaker, Speaker::Role(_)))
    }

    /// Whether it says which items are no messages.
    pub(super) fn names_others(&self) -> bool {
        self.speakers().any(|speaker| !matches!(speaker, Speaker::Role(_)))
    }

    fn speakers(&self) -> impl Iterator<Item = &Speaker> {
        self.names.iter().map(|(_, speaker)| speaker).chain(&self.other)
    }
}

/// What an item is by its role: a message of who speaks, or no message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Speaker {
    Role(Role),
    /// It is kept or dropped with a message.
    Metadata,
    /// It is always kept.
    Pinned,
}

/// The names of what an item can be.
pub(super) const SPEAKERS: [(&str, Speaker); 7] = [
    ("system", Speaker::Role(Role::System)),
    ("developer", Speaker::Role(Role::Developer)),
    ("user", Speaker::Role(Role::User)),
    ("assistant", Speaker::Role(Role::Assistant)),
    ("tool", Speaker::Role(Role::Tool)),
    ("metadata", Speaker::Metadata),
    ("pinned", Speaker::Pinned),
];

/// Parts of one list, or one part.
#[derive(Debug, Clone)]
pub(super) struct Group {
    /// Whether it is in the item around the message.
    pub(super) of_item: bool,
    /// The list; `None` for a part that is a member of the message.
    pub(super) list: Option<Path>,
    pub(super) kinds: Vec<Kind>,
}

impl Group {
    /// The key whose text tells kinds apart.
    pub(super) fn tag(&self) -> Option<&str> {
        let mut tags = self.kinds.iter().flat_map(|kind| &kind.when).filter_map(Condition::tag);
        tags.next().map(|(key, _)| key)
    }
}

/// A kind of part.
#[derive(Debug, Clone)]
pub(super) struct Kind {
    /// What is read there.
    pub(super) is: Is,
    /// From the element of the list, or from the message.
    pub(super) inner: Path,
    pub(super) when: Vec<Condition>,
    /// The messages that have it; all, if none is named.
    pub(super) roles: Vec<Role>,
    pub(super) text: Option<Path>,
    pub(super) id: Option<Path>,
    pub(super) name: Option<Path>,
    pub(super) arguments: Option<Path>,
    /// Of a call: the result in the same element.
    pub(super) result: Option<Path>,
    /// What is written around a text that replaces the result.
    pub(super) frames: Frames,
    /// Of reasoning: the signature that binds it to what was before.
    pub(super) signed: Option<Path>,
    /// What repeats the part elsewhere in the message.
    pub(super) copy: Option<Path>,
    /// Whether the tool takes any text.
    pub(super) custom: bool,
    /// Whether several results may answer a call.
    pub(super) several: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Is {
    Text,
    Call,
    Result,
    Reasoning,
    Media,
    Mark,
    Unknown,
}

pub(super) const KINDS: [(&str, Is); 7] = [
    ("text", Is::Text),
    ("call", Is::Call),
    ("result", Is::Result),
    ("reasoning", Is::Reasoning),
    ("media", Is::Media),
    ("mark", Is::Mark),
    ("unknown", Is::Unknown),
];

impl Rules {
    /// The provider whose limits apply: that of what is extended, if the description names none.
    pub(super) fn provider_or(&'static self, base: &'static str) -> &'static str {
        if self.provider.is_empty() { base } else { &self.provider }
    }

    /// All kinds of parts.
    pub(super) fn kinds(&self) -> impl Iterator<Item = &Kind> {
        self.whole.iter().chain(self.groups.iter().flat_map(|group| &group.kinds))
    }

    pub(super) fn kinds_mut(&mut self) -> impl Iterator<Item = &mut Kind> {
        self.whole.iter_mut().chain(self.groups.iter_mut().flat_map(|group| &mut group.kinds))
    }

    /// Whether a value has the members of a medium, also where it is inside something else, such as a result.
    pub(super) fn is_medium(&self, value: Value<'_>) -> bool {
        let mut media = self.kinds().filter(|kind| kind.is == Is::Media);
        value.is_object()
            && media.any(|kind| {
                !kind.when.is_empty() && kind.inner.first(value).is_some() && all_hold(&kind.when, value, None)
            })
    }

    /// Whether calls and results carry ids.
    pub(super) fn has_ids(&self) -> bool {
        self.kinds().any(|kind| kind.is == Is::Call && kind.id.is_some())
    }

    /// Whether results name their calls by ids.
    pub(super) fn pairs_by_id(&self) -> bool {
        let mut results = self.kinds().filter(|kind| kind.is == Is::Result).peekable();
        self.has_ids() && results.peek().is_some() && results.all(|kind| kind.id.is_some())
    }

    /// The first name of a role.
    pub(super) fn name_of(&self, role: Role) -> Option<&str> {
        // The names of what is extended come last, and are the usual ones.
        let names = self.roles.iter().rev().flat_map(|rule| &rule.names);
        names.into_iter().find(|(_, speaker)| *speaker == Speaker::Role(role)).map(|(name, _)| name.as_str())
    }

    /// Whether a message can have this role.
    pub(super) fn has_role(&self, role: Role) -> bool {
        self.base.is_some()
            || self.name_of(role).is_some()
            || self.roles.iter().any(|rule| rule.other == Some(Speaker::Role(role)))
    }
}

impl Kind {
    /// Where the text of a result is: a member of its call, or a part by itself.
    pub(super) const fn result_path(&self) -> Option<&Path> {
        match self.is {
            Is::Call => self.result.as_ref(),
            _ => self.text.as_ref(),
        }
    }
}
