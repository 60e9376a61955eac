//! Which described dialects the keys of an item allow: asked of every item, so that no other description is.

use foldhash::HashMap;

use super::rules::{Condition, Mark, Wanted};
use crate::json::{Value, ValueKind};

/// The dialects by their number, as bits.
pub(super) type Mask = u128;

/// Keys that most formats of the fixtures have: they distinguish nothing.
const COMMON: [&str; 25] = [
    "role", "content", "type", "id", "name", "text", "message", "parts", "contents", "tool_calls", "timestamp",
    "model", "metadata", "source", "data", "item", "status", "session_id", "sessionID", "uuid", "output", "input",
    "title", "error", "extra",
];

/// How an escape can spell a character.
const ESCAPE: &str = "\\u0061";

/// The keys by which items of built-in dialects are recognized.
#[derive(Default)]
pub(super) struct Screen {
    items: Keys,
    /// Keys of the record around the items.
    records: Vec<(String, Mask)>,
}

/// Keys of an object, each with the dialects that it allows.
#[derive(Default)]
struct Keys {
    known: HashMap<Vec<u8>, Allowed>,
}

/// What a key allows.
#[derive(Default)]
struct Allowed {
    /// With any value.
    any: Mask,
    /// With one of some texts.
    texts: HashMap<String, Mask>,
    /// The length of the longest of them.
    longest: usize,
    /// With an object that has one of these keys, or a list of objects of which one has.
    inner: Option<Box<Keys>>,
}

impl Screen {
    /// The screen of the marks of descriptions, by the number of the description.
    pub(super) fn of<'m>(all: impl Iterator<Item = &'m Vec<Mark>>) -> Self {
        let mut screen = Self::default();
        for (number, marks) in all.enumerate() {
            for mark in marks {
                screen.add(mark, 1 << number);
            }
        }
        screen
    }

    /// Adds what tells that an item may have `mark`.
    fn add(&mut self, mark: &[Condition], dialect: Mask) {
        match Sign::of(mark) {
            Sign::Key(key) => self.items.allowed(key).any |= dialect,
            Sign::Text(key, texts) => self.items.allowed(key).add(texts, dialect),
            Sign::Inner { first, key, texts } => {
                let allowed = self.items.allowed(first).inner.get_or_insert_default().allowed(key);
                match texts {
                    Some(texts) => allowed.add(texts, dialect),
                    None => allowed.any |= dialect,
                }
            }
            Sign::Record(key) => self.records.push((key.to_owned(), dialect)),
            Sign::Common(keys) => {
                for key in keys {
                    self.items.allowed(key).any |= dialect;
                }
            }
        }
    }

    /// The dialects that one of `items` may be of.
    pub(super) fn mask(&self, items: &[Value<'_>]) -> Mask {
        let record = items.first().and_then(|first| first.parent()?.parent());
        let around = record.map_or(0, |record| {
            self.records.iter().filter(|(key, _)| record.has(key)).fold(0, |mask, (_, dialect)| mask | dialect)
        });
        items.iter().fold(around, |mask, item| mask | self.items.mask(*item))
    }
}

/// What is asked of an item before its other conditions are: what the fewest items have.
enum Sign<'m> {
    /// A key that few formats have.
    Key(&'m str),
    /// One of some texts under a key.
    Text(&'m str, &'m [String]),
    /// A key, with one of some texts if there are any, of the object under another one, or of an element of the list there.
    Inner { first: &'m str, key: &'m str, texts: Option<&'m [String]> },
    /// A key of the record around the item.
    Record(&'m str),
    /// One of these keys, which most formats have.
    Common(Vec<&'m str>),
}

impl<'m> Sign<'m> {
    fn of(mark: &'m [Condition]) -> Self {
        let wanted = mark.iter().filter(|one| !matches!(one.wanted, Wanted::Absent));
        let (around, inside): (Vec<_>, Vec<_>) = wanted.partition(|one| one.path.is_outer());
        let starts = |all: &[&'m Condition]| all.iter().filter_map(|one| one.path.only_start()).collect::<Vec<_>>();
        let keys = starts(&inside);
        if let Some(key) = keys.iter().find(|key| is_rare(key)) {
            return Self::Key(key);
        }
        if let Some((key, texts)) = inside.iter().find_map(|one| one.tag()) {
            return Self::Text(key, texts);
        }
        let inner: Vec<_> = inside.iter().filter_map(|one| Some((one, one.path.two_keys()?))).collect();
        let telling = inner.iter().find(|(one, (_, key))| is_rare(key) || one.texts().is_some());
        if let Some((one, (first, key))) = telling.or(inner.first()) {
            let texts = one.texts().filter(|_| one.path.is_two_keys());
            return Self::Inner { first, key, texts };
        }
        match starts(&around).into_iter().find(|key| is_rare(key)) {
            Some(key) => Self::Record(key),
            None => Self::Common(keys),
        }
    }
}

/// Whether few formats have a key.
fn is_rare(key: &str) -> bool {
    !COMMON.contains(&key)
}

impl Keys {
    fn allowed(&mut self, key: &str) -> &mut Allowed {
        self.known.entry(key.into()).or_default()
    }

    fn mask(&self, object: Value<'_>) -> Mask {
        let mut mask = 0;
        for (key, value) in object.written_members() {
            mask |= match self.known.get(key) {
                Some(allowed) => allowed.mask(value),
                // Escapes can spell any of them.
                None if object.is_beside_escaped_keys() && key.contains(&b'\\') => self.all(),
                None => 0,
            };
        }
        mask
    }

    /// The dialects that one of the keys may allow.
    fn all(&self) -> Mask {
        self.known.values().fold(0, |mask, allowed| mask | allowed.all())
    }
}

impl Allowed {
    fn add(&mut self, texts: &[String], dialect: Mask) {
        for text in texts {
            self.longest = self.longest.max(text.len());
            *self.texts.entry(text.clone()).or_default() |= dialect;
        }
    }

    fn mask(&self, value: Value<'_>) -> Mask {
        let raw = value.raw();
        let by_value = match value.kind() {
            ValueKind::Null => return 0,
            ValueKind::Object | ValueKind::Array => self.inner.as_ref().map_or(0, |keys| {
                let one = value.is_object().then_some(value);
                value.items().chain(one).fold(0, |mask, element| mask | keys.mask(element))
            }),
            ValueKind::String => self.mask_of_text(&raw[1..raw.len() - 1]),
            ValueKind::Number | ValueKind::Bool => self.mask_of_text(raw),
        };
        self.any | by_value
    }

    fn mask_of_text(&self, text: &str) -> Mask {
        // Escapes can spell any of them, each character of it in six.
        if text.len() > ESCAPE.len() * self.longest {
            return 0;
        }
        match self.texts.get(text) {
            Some(dialects) => *dialects,
            None if text.contains('\\') => self.all_texts(),
            None => 0,
        }
    }

    fn all_texts(&self) -> Mask {
        self.texts.values().fold(0, |mask, dialects| mask | dialects)
    }

    fn all(&self) -> Mask {
        self.any | self.all_texts() | self.inner.as_ref().map_or(0, |keys| keys.all())
    }
}
