//! A record of the host language as JSON, and what a cut leaves of its parts. Members and messages that are unchanged are named by
//! their indexes, so that the host gives back its own values and builds only what is new.

use std::ops::Range;

use curtail_core::json::{Document, Value};

/// Where the parts of a record are in its JSON.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Parts {
    /// The members of an object, each with its key.
    pub members: Vec<(String, Range<usize>)>,
    /// Which member is the list of messages; `None` if the record itself is the list.
    pub list: Option<usize>,
    /// The messages.
    pub messages: Vec<Range<usize>>,
}

/// What a cut made of a record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Pieces {
    /// The list of messages that the record was, and how many it had.
    Messages {
        /// The messages.
        items: Vec<Item>,
        /// The number before the cut.
        before: usize,
    },
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
    /// The list of messages.
    Messages(Vec<Item>),
    /// A new value, as JSON.
    New(String),
}

/// A message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Item {
    /// The message with this index.
    Kept(usize),
    /// A new message, as JSON.
    New(String),
}

impl Parts {
    /// The parts of the record `text`, whose list of messages is itself, or the first member that is a list of objects.
    #[must_use]
    pub fn of(text: &str) -> Self {
        let Ok(document) = Document::parse(text) else { return Self::default() };
        let Some(root) = document.roots().next() else { return Self::default() };
        if is_list_of_objects(root) {
            return Self { messages: root.items().map(place).collect(), ..Self::default() };
        }
        let mut parts = Self::default();
        for member in root.members() {
            if parts.list.is_none() && is_list_of_objects(member.value) {
                parts.list = Some(parts.members.len());
                parts.messages = member.value.items().map(place).collect();
            }
            parts.members.push((member.key.decode().into_owned(), place(member.value)));
        }
        parts
    }

    /// What the cut of the record `before`, whose parts these are, left of it in `after`.
    #[must_use]
    pub fn pieces(&self, before: &str, after: &str) -> Pieces {
        let Ok(document) = Document::parse(after) else { return Pieces::Json(after.to_owned()) };
        let root = document.roots().next();
        match root {
            Some(root) if root.is_array() && self.members.is_empty() && !self.messages.is_empty() => {
                Pieces::Messages { items: self.items(before, root), before: self.messages.len() }
            }
            Some(root) if root.is_object() && !self.members.is_empty() => Pieces::Object(self.object(before, root)),
            _ => Pieces::Json(after.to_owned()),
        }
    }

    fn object(&self, before: &str, root: Value<'_>) -> Vec<(String, Member)> {
        let members = root.members().map(|member| {
            let key = member.key.decode().into_owned();
            let old = self.members.iter().position(|(old, _)| *old == key);
            let same = old.filter(|&old| before[self.members[old].1.clone()] == *member.value.raw());
            let value = match same {
                Some(old) => Member::Kept(old),
                None if old.is_some() && old == self.list && member.value.is_array() => {
                    Member::Messages(self.items(before, member.value))
                }
                None => Member::New(member.value.raw().to_owned()),
            };
            (key, value)
        });
        members.collect()
    }

    /// The messages of `list`, each the last old one with the same JSON before those that follow, if there is one: of messages that
    /// are alike, cuts keep the newest.
    fn items(&self, before: &str, list: Value<'_>) -> Vec<Item> {
        let values: Vec<Value<'_>> = list.items().collect();
        let mut left = self.messages.len();
        let item =
            |value: &Value<'_>| match self.messages[..left].iter().rposition(|old| before[old.clone()] == *value.raw())
            {
                Some(at) => {
                    left = at;
                    Item::Kept(at)
                }
                None => Item::New(value.raw().to_owned()),
            };
        let mut items: Vec<Item> = values.iter().rev().map(item).collect();
        items.reverse();
        items
    }
}

fn is_list_of_objects(value: Value<'_>) -> bool {
    value.is_array() && value.items().next().is_some() && value.items().all(Value::is_object)
}

fn place(value: Value<'_>) -> Range<usize> {
    let span = value.span();
    span.start as usize..span.end as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_unchanged_is_named_by_its_index() {
        let before = r#"{"id":1,"messages":[{"a":1},{"a":2},{"a":1}],"z":[]}"#;
        let pieces = |after| Parts::of(before).pieces(before, after);
        assert_eq!(
            pieces(r#"{"id":1,"messages":[{"a":2},{"b":1},{"a":1}],"new":0,"z":[]}"#),
            Pieces::Object(vec![
                ("id".to_owned(), Member::Kept(0)),
                (
                    "messages".to_owned(),
                    Member::Messages(vec![Item::Kept(1), Item::New(r#"{"b":1}"#.to_owned()), Item::Kept(2)])
                ),
                ("new".to_owned(), Member::New("0".to_owned())),
                ("z".to_owned(), Member::Kept(2)),
            ])
        );
        let list = r#"[{"a":1},{"a":2}]"#;
        assert_eq!(
            Parts::of(list).pieces(list, r#"[{"a":2}]"#),
            Pieces::Messages { items: vec![Item::Kept(1)], before: 2 }
        );
        assert_eq!(Parts::of(list).pieces(list, "[]"), Pieces::Messages { items: Vec::new(), before: 2 });
        let alike = r#"[{"a":1},{"a":2},{"a":1}]"#;
        let newest = Pieces::Messages { items: vec![Item::Kept(2)], before: 3 };
        assert_eq!(Parts::of(alike).pieces(alike, r#"[{"a":1}]"#), newest);
        assert_eq!(Parts::of(r#"{"a":[1],"b":[{}],"c":[{}]}"#).list, Some(1));
        assert_eq!(Parts::default().pieces("1", "[1]"), Pieces::Json("[1]".to_owned()));
    }
}
