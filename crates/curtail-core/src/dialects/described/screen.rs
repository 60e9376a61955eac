//! Which described dialects the keys of an item allow: asked of every item, so that no other description is.

use super::rules::{Condition, Mark, Wanted};
use crate::json::{Value, ValueKind};

/// The dialects by their number, as bits.
pub(super) type Mask = u128;

/// Keys that most formats have: they distinguish nothing.
const COMMON: [&str; 25] = [
    "role", "content", "type", "id", "name", "text", "message", "parts", "contents", "tool_calls", "timestamp",
    "model", "metadata", "source", "data", "item", "status", "session_id", "sessionID", "uuid", "output", "input",
    "title", "error", "extra",
];

/// The places that keys are distributed to.
const PLACES: usize = 128;

/// The keys by which items of built-in dialects are recognized.
#[derive(Default)]
pub(super) struct Screen {
    items: Keys,
    /// Keys of the record around the items.
    records: Vec<(String, Mask)>,
}

/// Keys of an object, each with the dialects that it allows.
struct Keys {
    /// The known keys, by their [`place`].
    known: [Vec<(String, Allowed)>; PLACES],
}

/// What a key allows.
#[derive(Default)]
struct Allowed {
    /// With any value.
    any: Mask,
    /// With one of some texts.
    texts: Vec<(String, Mask)>,
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

impl Default for Keys {
    fn default() -> Self {
        Self { known: std::array::from_fn(|_| Vec::new()) }
    }
}

impl Keys {
    fn allowed(&mut self, key: &str) -> &mut Allowed {
        entry(&mut self.known[place(key.as_bytes())], key)
    }

    fn mask(&self, object: Value<'_>) -> Mask {
        let mut mask = 0;
        for (key, value) in object.written_members() {
            mask |= match find(&self.known[place(key)], key) {
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
        self.known.iter().flatten().fold(0, |mask, (_, allowed)| mask | allowed.all())
    }
}

/// Where a key is among [`PLACES`]: by its length and its first byte, which distinguish most keys.
fn place(key: &[u8]) -> usize {
    let first = key.first().map_or(0, |first| usize::from(*first));
    ((key.len() * 31) ^ first) % PLACES
}

/// What is known of `key`; made if nothing is.
fn entry<'l, T: Default>(list: &'l mut Vec<(String, T)>, key: &str) -> &'l mut T {
    let at = list.iter().position(|(known, _)| known == key).unwrap_or(list.len());
    if at == list.len() {
        list.push((key.to_owned(), T::default()));
    }
    &mut list[at].1
}

fn find<'l, T>(list: &'l [(String, T)], key: &[u8]) -> Option<&'l T> {
    list.iter().find(|(known, _)| known.as_bytes() == key).map(|(_, value)| value)
}

impl Allowed {
    fn add(&mut self, texts: &[String], dialect: Mask) {
        for text in texts {
            *entry(&mut self.texts, text) |= dialect;
        }
    }

    fn mask(&self, value: Value<'_>) -> Mask {
        let raw = value.raw();
        let mut mask = if raw == "null" { 0 } else { self.any };
        if !self.texts.is_empty() {
            let text = raw.strip_prefix('"').and_then(|raw| raw.strip_suffix('"')).unwrap_or(raw);
            mask |= match find(&self.texts, text.as_bytes()) {
                Some(dialects) => *dialects,
                None if text.contains('\\') => self.all_texts(),
                None => 0,
            };
        }
        match (value.kind(), &self.object, &self.list) {
            (ValueKind::Object, object, list) => {
                mask |= [object, list].into_iter().flatten().fold(0, |mask, keys| mask | keys.mask(value));
            }
            (ValueKind::Array, _, Some(keys)) => {
                mask |= value.items().fold(0, |mask, element| mask | keys.mask(element));
            }
            _ => {}
        }
        mask
    }

    fn all_texts(&self) -> Mask {
        self.texts.iter().fold(0, |mask, (_, dialects)| mask | dialects)
    }

    fn all(&self) -> Mask {
        let nested = [&self.object, &self.list].into_iter().flatten();
        nested.fold(self.any | self.all_texts(), |mask, keys| mask | keys.all())
    }
}
