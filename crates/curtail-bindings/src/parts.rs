//! A record of the host language as JSON, and what a cut leaves of its parts. Members and messages that are unchanged are named by
//! their indexes, so that the host gives back its own values and builds only what is new.

use std::collections::HashMap;
use std::ops::Range;

use curtail_core::json::{self, Document, Value};

/// Where the parts of a record are in its JSON.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Parts {
    /// The record is a list of objects, its messages: where each of them is.
    List(Vec<Range<usize>>),
    /// The record is an object.
    Object(Vec<Part>),
    /// The record is neither, or its text is not JSON.
    #[default]
    Other,
}

/// Where a member of a record is in its JSON.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    /// Its key.
    pub key: String,
    /// Its value.
    pub place: Range<usize>,
    /// The objects of a list of nothing else; empty for any other value. Only the dialect knows which list is that of the messages,
    /// and a cut may change another one, too: that of instructions.
    pub items: Vec<Range<usize>>,
}

/// What a cut made of a record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Pieces {
    /// The list of messages that the record was.
    List(Vec<Item>),
    /// The object, with its keys.
    Object(Vec<(String, Member)>),
    /// Something else, as JSON.
    Json(String),
}

/// A member of the object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Member {
    /// The member with this index.
    Kept(usize),
    /// A list of objects, such as the messages.
    List(Vec<Item>),
    /// A new value, as JSON.
    New(String),
}

/// An object of a list, such as a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Item {
    /// The object with this index.
    Kept(usize),
    /// A new object, as JSON.
    New(String),
}

impl Parts {
    /// The parts of the record `text`.
    #[must_use]
    pub fn of(text: &str) -> Self {
        let Ok(document) = Document::parse(text) else { return Self::Other };
        match document.roots().next() {
            Some(root) if root.is_object() => Self::Object(root.members().map(|member| Part::new(&member)).collect()),
            Some(root) if !objects_in(root).is_empty() => Self::List(objects_in(root)),
            _ => Self::Other,
        }
    }

    /// What the cut of the record `before`, whose parts these are, left of it in `after`.
    #[must_use]
    pub fn pieces(&self, before: &str, after: &str) -> Pieces {
        let document = Document::parse(after).ok();
        let root = document.as_ref().and_then(|document| document.roots().next());
        match (self, root) {
            (Self::List(items), Some(root)) if root.is_array() => Pieces::List(kept_items(items, before, root)),
            (Self::Object(parts), Some(root)) if root.is_object() => {
                let members = root.members().map(|member| {
                    let key = member.key.decode().into_owned();
                    let left = left_of_member(parts, &key, before, member.value);
                    (key, left)
                });
                Pieces::Object(members.collect())
            }
            _ => Pieces::Json(after.to_owned()),
        }
    }
}

impl Part {
    fn new(member: &json::Member<'_>) -> Self {
        Self { key: member.key.decode().into_owned(), place: place(member.value), items: objects_in(member.value) }
    }
}

/// The places of the objects of a list of nothing else; empty for any other value.
fn objects_in(value: Value<'_>) -> Vec<Range<usize>> {
    let is_list = value.is_array() && value.items().all(Value::is_object);
    if is_list { value.items().map(place).collect() } else { Vec::new() }
}

fn place(value: Value<'_>) -> Range<usize> {
    let span = value.span();
    span.start as usize..span.end as usize
}

/// What `value` is of the member `key` of the record `before`, whose members are `parts`.
fn left_of_member(parts: &[Part], key: &str, before: &str, value: Value<'_>) -> Member {
    match parts.iter().position(|part| part.key == key) {
        Some(old) if before[parts[old].place.clone()] == *value.raw() => Member::Kept(old),
        Some(old) if value.is_array() && !parts[old].items.is_empty() => {
            Member::List(kept_items(&parts[old].items, before, value))
        }
        _ => Member::New(value.raw().to_owned()),
    }
}

/// The items of `list`, each the last old one with the same JSON before those that follow, if there is one: of messages that are
/// alike, most cuts keep the newest, and where one keeps another, the JSON is the same.
fn kept_items(old: &[Range<usize>], before: &str, list: Value<'_>) -> Vec<Item> {
    let mut places: HashMap<&str, Vec<usize>> = HashMap::new();
    for (at, place) in old.iter().enumerate() {
        places.entry(&before[place.clone()]).or_default().push(at);
    }
    let mut left = old.len();
    let mut items = Vec::new();
    for value in list.items().collect::<Vec<_>>().into_iter().rev() {
        let alike = places.get_mut(value.raw());
        let kept = alike.and_then(|alike| {
            alike.truncate(alike.partition_point(|at| *at < left));
            alike.pop()
        });
        left = kept.unwrap_or(left);
        items.push(kept.map_or_else(|| Item::New(value.raw().to_owned()), Item::Kept));
    }
    items.reverse();
    items
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_unchanged_is_named_by_its_index() {
        let before = r#"{"id":1,"messages":[{"a":1},{"a":2},{"a":1}],"z":[]}"#;
        let after = r#"{"id":1,"messages":[{"a":2},{"b":1},{"a":1}],"new":0,"z":[]}"#;
        assert_eq!(
            Parts::of(before).pieces(before, after),
            Pieces::Object(vec![
                ("id".to_owned(), Member::Kept(0)),
                (
                    "messages".to_owned(),
                    Member::List(vec![Item::Kept(1), Item::New(r#"{"b":1}"#.to_owned()), Item::Kept(2)])
                ),
                ("new".to_owned(), Member::New("0".to_owned())),
                ("z".to_owned(), Member::Kept(2)),
            ])
        );
        let list = r#"[{"a":1},{"a":2}]"#;
        assert_eq!(Parts::of(list).pieces(list, r#"[{"a":2}]"#), Pieces::List(vec![Item::Kept(1)]));
        assert_eq!(Parts::of(list).pieces(list, "[]"), Pieces::List(Vec::new()));
        let alike = r#"[{"a":1},{"a":2},{"a":1}]"#;
        let newest = Pieces::List(vec![Item::Kept(2)]);
        assert_eq!(Parts::of(alike).pieces(alike, r#"[{"a":1}]"#), newest);
        let last_two = Pieces::List(vec![Item::Kept(0), Item::Kept(1)]);
        assert_eq!(Parts::of(alike).pieces(alike, r#"[{"a":1},{"a":2}]"#), last_two);
        assert_eq!(Parts::of("1").pieces("1", "[1]"), Pieces::Json("[1]".to_owned()));
    }

    #[test]
    fn every_list_of_objects_keeps_its_own() {
        let before =
            r#"{"tools":[{"name":"f"}],"system":[{"a":1},{"a":2}],"messages":[{"a":1},{"a":2}],"stop":["a","b"]}"#;
        let after = r#"{"tools":[{"name":"f"}],"system":[{"a":2}],"messages":[{"a":2},{"a":3}],"stop":["b"]}"#;
        let Pieces::Object(members) = Parts::of(before).pieces(before, after) else { panic!("no object") };
        assert_eq!(
            members.into_iter().map(|(_, member)| member).collect::<Vec<_>>(),
            [
                Member::Kept(0),
                Member::List(vec![Item::Kept(1)]),
                Member::List(vec![Item::Kept(1), Item::New(r#"{"a":3}"#.to_owned())]),
                Member::New(r#"["b"]"#.to_owned()),
            ]
        );
    }
}
