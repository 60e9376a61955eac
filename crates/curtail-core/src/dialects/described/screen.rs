//! Which described dialects the keys of an item allow: asked of every item, so that no other description is.

use foldhash::HashMap;

use super::rules::{Condition, Mark, Wanted};
use crate::json::{Member, Text, Value};

/// The dialects by their number, as bits.
pub(super) type Mask = u128;

/// Keys that most formats have: they distinguish nothing.
const COMMON: [&str; 25] = [
    "role", "content", "type", "id", "name", "text", "message", "parts", "contents", "tool_calls", "timestamp",
    "model", "metadata", "source", "data", "item", "status", "session_id", "sessionID", "uuid", "output", "input",
    "title", "error", "extra",
];

/// The longest text that a mark wants, in bytes.
const LONGEST: usize = 64;

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
    known: HashMap<String, Allowed>,
    /// Which lengths and first bytes the keys have: most others are told by it alone.
    filter: [u64; 4],
}

/// What a key allows.
#[derive(Default)]
struct Allowed {
    /// With any value.
    any: Mask,
    /// With one of some texts.
    texts: HashMap<String, Mask>,
    /// With an object that has one of these keys.
    object: Option<Box<Keys>>,
    /// With a list of objects of which one has one of these keys.
    list: Option<Box<Keys>>,
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

    /// Adds the condition of a mark that the fewest items meet.
    fn add(&mut self, mark: &[Condition], dialect: Mask) {
        let wanted = || mark.iter().filter(|one| !matches!(one.wanted, Wanted::Absent));
        let rare = |key: &&str| !COMMON.contains(key);
        let inside = || wanted().filter(|one| !one.path.is_outer());
        let by_key = inside().filter_map(|one| one.path.only_start()).find(rare);
        let by_text = inside().find_map(|one| match &one.wanted {
            Wanted::OneOf(texts) => Some((one.path.only_key()?, texts)),
            _ => None,
        });
        let deeper = || inside().filter_map(|one| Some((one.path.second_key()?, one)));
        let deep = deeper().find(|((.., key), one)| rare(key) || matches!(one.wanted, Wanted::OneOf(_)));
        let around = wanted().filter(|one| one.path.is_outer()).filter_map(|one| one.path.only_start()).find(rare);
        if let Some(key) = by_key {
            self.items.allowed(key).any |= dialect;
        } else if let Some((key, texts)) = by_text {
            self.items.allowed(key).add(texts, dialect);
        } else if let Some(((first, each, key), one)) = deep.or_else(|| deeper().next()) {
            let allowed = self.items.allowed(first);
            let keys = if each { &mut allowed.list } else { &mut allowed.object };
            let inner = keys.get_or_insert_default().allowed(key);
            match &one.wanted {
                Wanted::OneOf(texts) if one.path.is_two_keys() => inner.add(texts, dialect),
                _ => inner.any |= dialect,
            }
        } else if let Some(key) = around {
            self.records.push((key.to_owned(), dialect));
        } else {
            for key in inside().filter_map(|one| one.path.only_start()) {
                self.items.allowed(key).any |= dialect;
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

impl Keys {
    fn allowed(&mut self, key: &str) -> &mut Allowed {
        let (word, bit) = place(key);
        self.filter[word] |= bit;
        self.known.entry(key.to_owned()).or_default()
    }

    fn mask(&self, object: Value<'_>) -> Mask {
        object.members().fold(0, |mask, member| mask | self.of_member(&member))
    }

    fn of_member(&self, member: &Member<'_>) -> Mask {
        let Text::Escaped(raw) = &member.key else { return 0 };
        let (word, bit) = place(raw);
        if self.filter[word] & bit == 0 {
            return 0;
        }
        self.known.get(*raw).map_or(0, |allowed| allowed.mask(member.value))
    }
}

/// Where a key is in the filter: by its length and its first byte. A key with escapes is in no format.
fn place(key: &str) -> (usize, u64) {
    let first = key.bytes().next().map_or(0, usize::from);
    let at = ((key.len() * 31) ^ first) % 256;
    (at / 64, 1 << (at % 64))
}

impl Allowed {
    fn add(&mut self, texts: &[String], dialect: Mask) {
        for text in texts {
            *self.texts.entry(text.clone()).or_default() |= dialect;
        }
    }

    fn mask(&self, value: Value<'_>) -> Mask {
        let raw = value.raw();
        let mut mask = if raw == "null" { 0 } else { self.any };
        if !self.texts.is_empty() {
            let text = raw.strip_prefix('"').and_then(|raw| raw.strip_suffix('"')).unwrap_or(raw);
            mask |= if text.len() <= LONGEST { self.texts.get(text).copied().unwrap_or(0) } else { 0 };
        }
        if let Some(keys) = &self.object {
            mask |= keys.mask(value);
        }
        if let Some(keys) = &self.list {
            mask |= value.items().fold(keys.mask(value), |mask, element| mask | keys.mask(element));
        }
        mask
    }
}
