//! Trees of one log: a program that begins again links the next message to none, and what it sends no longer contains the
//! tree before.

use std::borrow::Cow;
use std::collections::HashMap;

use super::{is_boundary, is_set};
use crate::dialects::Item;
use crate::json::{Text, Value, ValueKind};
use crate::transcript::Standing;

/// Marks the messages of the main conversation that are not in the tree of the newest one.
pub(super) fn roll_back<'a>(items: &[Value<'a>], read: &mut [Item<'a>]) {
    for (event, first) in taken_back(items) {
        for (item, read) in items[first..event].iter().zip(&mut read[first..event]) {
            if let Item::Message(message) = read
                && !is_set(*item, "isSidechain")
            {
                (message.standing, message.boundary) = (Standing::RolledBack, false);
            }
        }
    }
}

/// The messages that begin another tree or return to an earlier one, each with the first item that is no longer read.
pub(super) fn taken_back(items: &[Value<'_>]) -> Vec<(usize, usize)> {
    let mut trees = Trees::default();
    items.iter().enumerate().filter_map(|(at, item)| Some((at, trees.turn_at(at, *item)?))).collect()
}

#[derive(Default)]
struct Trees<'a> {
    /// The tree of each record, as the index of its first record.
    by_record: HashMap<Cow<'a, str>, usize>,
    /// Index behind the last message of each tree.
    ends: HashMap<usize, usize>,
    /// The tree of the last message.
    current: Option<usize>,
}

impl<'a> Trees<'a> {
    /// The first item that is no longer read from `item` on, if this is a message of another tree than the last one.
    fn turn_at(&mut self, at: usize, item: Value<'a>) -> Option<usize> {
        let own = item.get_text("uuid").map(Text::into_decoded)?;
        if is_set(item, "isSidechain") {
            return None;
        }
        let parent = item.get("parentUuid");
        let begins = parent.is_some_and(|parent| parent.kind() == ValueKind::Null) && !is_boundary(item);
        let known = parent.and_then(Value::text).and_then(|parent| self.by_record.get(&parent.decode()).copied());
        // A boundary, and a record whose parent a cut dropped, continue the last tree.
        let tree = if begins { at } else { known.or(self.current).unwrap_or(at) };
        self.by_record.entry(own).or_insert(tree);
        let kind = item.get("type");
        if !kind.is_some_and(|kind| kind.is("user") || kind.is("assistant")) {
            return None;
        }
        let end = self.ends.insert(tree, at + 1);
        let last = self.current.replace(tree);
        last.is_some_and(|last| last != tree).then(|| end.unwrap_or(0))
    }
}
