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
    let trees = trees_of(items);
    let is_said = |at: &usize| trees[*at].is_some() && matches!(read[*at], Item::Message(_));
    let Some(newest) = (0..items.len()).rev().find(is_said) else { return };
    for (read, tree) in read.iter_mut().zip(&trees) {
        if let Item::Message(message) = read
            && tree.is_some_and(|tree| Some(tree) != trees[newest])
        {
            (message.standing, message.boundary) = (Standing::Abandoned, false);
        }
    }
}

/// The messages that begin another tree or return to an earlier one, each with the first item that is no longer read.
pub(super) fn taken_back(items: &[Value<'_>]) -> Vec<(usize, usize)> {
    let mut trees = Trees::default();
    items.iter().enumerate().filter_map(|(at, item)| Some((at, trees.turn_at(at, *item)?))).collect()
}

/// The tree of each item of the main conversation, as the index of its first record.
pub(super) fn trees_of(items: &[Value<'_>]) -> Vec<Option<usize>> {
    let mut trees = Trees::default();
    items
        .iter()
        .enumerate()
        .map(|(at, item)| {
            let tree = trees.tree_at(at, *item)?;
            trees.turn_to(tree, at, *item);
            Some(tree)
        })
        .collect()
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
        let tree = self.tree_at(at, item)?;
        self.turn_to(tree, at, item)
    }

    /// The tree of `item`; `None` for a record of a side conversation.
    fn tree_at(&mut self, at: usize, item: Value<'a>) -> Option<usize> {
        if is_set(item, "isSidechain") {
            return None;
        }
        // A damaged record without an id continues the last tree, because nothing can hang off it.
        let Some(id) = item.get_text("uuid").map(Text::into_decoded) else { return self.current };
        let parent = item.get("parentUuid");
        let begins = parent.is_some_and(|parent| parent.kind() == ValueKind::Null) && !is_boundary(item);
        // A boundary names what it stands after by another key.
        let after = parent.and_then(Value::text).or_else(|| item.get_text("logicalParentUuid"));
        let known = after.and_then(|after| self.by_record.get(&after.decode()).copied());
        // A boundary of nothing, and a record whose parent a cut dropped, continue the last tree.
        let tree = if begins { at } else { known.or(self.current).unwrap_or(at) };
        self.by_record.entry(id).or_insert(tree);
        Some(tree)
    }

    /// The first item that is no longer read, if `item` is a message and turns to another tree.
    fn turn_to(&mut self, tree: usize, at: usize, item: Value<'a>) -> Option<usize> {
        let kind = item.get("type");
        if !kind.is_some_and(|kind| kind.is("user") || kind.is("assistant")) {
            return None;
        }
        let end = self.ends.insert(tree, at + 1);
        let last = self.current.replace(tree);
        last.is_some_and(|last| last != tree).then(|| end.unwrap_or(0))
    }
}
