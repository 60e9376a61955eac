//! The trees inside one log. A program that begins again links the next message to none, and what it sends no longer contains the
//! tree before. Nor does what a resumed session sends, if a link leads to a record that was never written. A user who goes back to
//! an earlier message leaves a branch, which is not sent either.
//!
//! ```text
//!     a <- b <- c <- d          the user went back to b: c and d are a branch, and a tree of their own here
//!          b <- e <- f          f is the newest message; the program resumes with a, b, e, f
//! ```
//!
//! Not every fork is a rewind: each result of parallel calls hangs off the record of its own call, and the next message off one
//! of them. All of these are sent. So only a prompt or a compaction begins a branch.

use std::borrow::Cow;

use foldhash::{HashMap, HashMapExt as _, HashSet};

use super::preserved::anchored;
use super::{ClaudeCode, is_boundary};
use crate::dialects::branches::path;
use crate::dialects::{Dialect as _, HistoryChange, Item};
use crate::json::{Text, Value, ValueKind};
use crate::transcript::Standing;

/// Marks the messages of the main conversation that are not in the tree of the newest one.
pub(super) fn roll_back(trees: &[Option<usize>], read: &mut [Item<'_>]) {
    let newest = newest(trees, read);
    // A branch is dropped with its first message: without that, it would no longer begin with a prompt.
    let mut first: HashMap<usize, usize> = HashMap::new();
    for (at, (read, tree)) in read.iter_mut().zip(trees).enumerate() {
        let (Item::Message(message), Some(tree)) = (read, tree) else { continue };
        let first = *first.entry(*tree).or_insert(at);
        if newest.is_some_and(|newest| newest != *tree) {
            message.roll_back(Standing::Abandoned);
            message.dropped_with = u32::try_from(first).ok().filter(|_| first < at);
        }
    }
}

/// The tree of the newest message of the main conversation.
pub(super) fn newest(trees: &[Option<usize>], read: &[Item<'_>]) -> Option<usize> {
    trees.iter().zip(read).rev().find_map(|(tree, read)| tree.filter(|_| matches!(read, Item::Message(_))))
}

/// The messages that begin another tree, return to an earlier one or go back to an earlier message, each with the first item
/// that is no longer read.
pub(super) fn rollbacks(items: &[Value<'_>]) -> Vec<HistoryChange> {
    let mut current = None;
    // For each tree, the index behind its last message.
    let mut ends: HashMap<usize, usize> = HashMap::new();
    // And its last prompt.
    let mut prompts: HashMap<usize, usize> = HashMap::new();
    let mut found = Vec::new();
    for (at, node) in nodes(items, Missing::Continues).into_iter().enumerate() {
        let Some(tree) = node.tree.filter(|_| is_message(items[at])) else { continue };
        let end = ends.insert(tree, at + 1).unwrap_or_default();
        let turned = current.replace(tree).is_some_and(|last| last != tree);
        let last = if is_prompt(items[at]) { prompts.insert(tree, at) } else { None };
        let back = node.parent.filter(|parent| last.is_some_and(|last| *parent < last)).map(|parent| parent + 1);
        found.extend(back.or(turned.then_some(end)).map(|first| HistoryChange::rollback(at, first)));
    }
    found
}

/// The tree of each item of the main conversation, as the index of its first record. A branch that the path to the newest
/// message left is a tree of its own.
pub(super) fn trees_of(items: &[Value<'_>]) -> Vec<Option<usize>> {
    let nodes = nodes(items, Missing::Begins);
    let mut trees: Vec<Option<usize>> = nodes.iter().map(|node| node.tree).collect();
    let newest = (0..items.len()).rev().find(|at| nodes[*at].tree.is_some() && is_message(items[*at]));
    let Some(newest) = newest else { return trees };
    let parents: Vec<Option<usize>> = nodes.iter().map(|node| node.parent).collect();
    let path = path(newest, &parents);
    for at in 0..nodes.len() {
        let TreeNode { tree, parent: Some(parent), first } = nodes[at] else { continue };
        if tree != nodes[newest].tree || path[at] {
            continue;
        }
        let begins = first && trees[parent] == tree && (is_boundary(items[at]) || is_prompt(items[at]));
        trees[at] = if begins { Some(at) } else { trees[parent] };
    }
    trees
}

/// Whether an item is a message.
fn is_message(item: Value<'_>) -> bool {
    let [kind, message] = item.get_each(["type", "message"]);
    kind.is_some_and(|kind| kind.is("user") || kind.is("assistant")) && message.is_some_and(Value::is_object)
}

/// Whether a person typed an item, or the program wrote it as the summary of what was said. What is beside a result is no
/// prompt, also if a cut drops the result: the record still names the call.
fn is_prompt(item: Value<'_>) -> bool {
    let [kind, call] = item.get_each(["type", "sourceToolAssistantUUID"]);
    call.is_none()
        && kind.is_some_and(|kind| kind.is("user"))
        && matches!(
            ClaudeCode.read(item),
            Item::Message(message) if message.begins_turn() && message.results().next().is_none()
        )
}

/// The place of a record in the trees.
#[derive(Clone, Copy, Default)]
struct TreeNode {
    /// Its tree, as the index of the first record of that, branches included; `None` for a record of a side conversation.
    tree: Option<usize>,
    /// Index of its parent, or of the record before it in its tree if that precedes no parent, or of the record that it repeats.
    parent: Option<usize>,
    /// Whether it is the first record with its id.
    first: bool,
}

/// What a record does whose parent was never written.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Missing {
    /// It begins a tree: the program goes no further back when it resumes the session.
    Begins,
    /// It continues the last tree: the program that wrote it knew the parent.
    Continues,
}

fn nodes(items: &[Value<'_>], missing: Missing) -> Vec<TreeNode> {
    let mut trees = Trees {
        items,
        missing,
        written: None,
        by_record: HashMap::new(),
        last: HashMap::new(),
        current: None,
        kept: HashMap::new(),
    };
    items.iter().enumerate().map(|(at, &item)| trees.add(at, item)).collect()
}

struct Trees<'i, 'a> {
    items: &'i [Value<'a>],
    missing: Missing,
    /// The ids of all records, once one of them names a parent that does not precede it.
    written: Option<HashSet<Cow<'a, str>>>,
    /// Index and tree of the first record with each id.
    by_record: HashMap<Cow<'a, str>, (usize, usize)>,
    /// Index of the last record of each tree that has an id.
    last: HashMap<usize, usize>,
    /// The tree of the last message.
    current: Option<usize>,
    /// What a compaction preserved, by the record behind which that stands from then on.
    kept: HashMap<Cow<'a, str>, Vec<Cow<'a, str>>>,
}

impl<'a> Trees<'_, 'a> {
    /// The place of the next item.
    fn add(&mut self, at: usize, item: Value<'a>) -> TreeNode {
        if item.is_true("isSidechain") {
            return TreeNode::default();
        }
        let node = self.place(at, item);
        if is_message(item) {
            self.current = node.tree;
        }
        node
    }

    /// Whether the program, when it resumes the session, finds no parent of a record that names this one.
    fn is_missing(&mut self, parent: &Text<'a>) -> bool {
        if self.missing == Missing::Continues {
            return false;
        }
        let ids = self.items.iter().filter_map(|item| Some(item.get_text("uuid")?.into_decoded()));
        !self.written.get_or_insert_with(|| ids.collect()).contains(&parent.decode())
    }

    fn place(&mut self, at: usize, item: Value<'a>) -> TreeNode {
        // A damaged record without an id continues the last tree, because nothing can hang off it.
        let Some(id) = item.get_text("uuid").map(Text::into_decoded) else {
            let parent = self.current.and_then(|tree| self.last.get(&tree).copied());
            return TreeNode { tree: self.current, parent, first: false };
        };
        if let Some(&(parent, tree)) = self.by_record.get(&id) {
            return TreeNode { tree: Some(tree), parent: Some(parent), first: false };
        }
        let parent = item.get("parentUuid");
        // A boundary names what it stands after by another key.
        let begins = is_null(parent) && (!is_boundary(item) || is_null(item.get("logicalParentUuid")));
        let named = parent.and_then(Value::text);
        let after = named.clone().or_else(|| item.get_text("logicalParentUuid"));
        let known = after.and_then(|after| self.by_record.get(&after.decode()).copied());
        let begins = begins || known.is_none() && named.is_some_and(|parent| self.is_missing(&parent));
        // A record whose parent is not before it continues the last tree.
        let above = known.or_else(|| Some((*self.last.get(&self.current?)?, self.current?))).filter(|_| !begins);
        let tree = above.map_or(at, |(_, tree)| tree);
        if is_boundary(item) {
            self.kept.extend(anchored(item));
        }
        // What names one of the records that a compaction preserved as its parent follows the compaction.
        let kept = self.kept.remove(&id).unwrap_or_default();
        self.by_record.extend(kept.into_iter().chain([id]).map(|id| (id, (at, tree))));
        self.last.insert(tree, at);
        TreeNode { tree: Some(tree), parent: above.map(|(parent, _)| parent), first: true }
    }
}

fn is_null(link: Option<Value<'_>>) -> bool {
    link.is_some_and(|link| link.kind() == ValueKind::Null)
}
