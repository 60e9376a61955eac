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

    /// The messages of `list`, each the next old one with the same JSON, if there is one.
    fn items(&self, before: &str, list: Value<'_>) -> Vec<Item> {
        let mut next = 0;
        let item = |value: Value<'_>| {
            let rest = self.messages[next..].iter().position(|old| before[old.clone()] == *value.raw());
            match rest {
                Some(at) => {
                    next += at + 1;
                    Item::Kept(next - 1)
                }
                None => Item::New(value.raw().to_owned()),
            }
        };
        list.items().map(item).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(text: &str) -> Parts {
        let document = Document::parse(text).unwrap();
        let root = document.roots().next().unwrap();
        let span = |value: Value<'_>| value.span().start as usize..value.span().end as usize;
        let list = if root.is_array() { Some(root) } else { root.get("messages") };
        Parts {
            members: root.members().map(|member| (member.key.decode().into_owned(), span(member.value))).collect(),
            list: root.members().position(|member| member.key.is("messages")),
            messages: list.into_iter().flat_map(|list| list.items().map(span).collect::<Vec<_>>()).collect(),
        }
    }

    #[test]
    fn what_is_unchanged_is_named_by_its_index() {
        let before = r#"{"id":1,"messages":[{"a":1},{"a":2},{"a":1}],"z":[]}"#;
        let pieces = |after| parts(before).pieces(before, after);
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
            parts(list).pieces(list, r#"[{"a":2}]"#),
            Pieces::Messages { items: vec![Item::Kept(1)], before: 2 }
        );
        assert_eq!(parts(list).pieces(list, "[]"), Pieces::Messages { items: Vec::new(), before: 2 });
        assert_eq!(Parts::default().pieces("1", "[1]"), Pieces::Json("[1]".to_owned()));
    }
}
