//! The records of a log, with what their links say: homes, places, pieces, lines and side conversations.

use std::borrow::Cow;

use foldhash::HashMap;

use super::keys::{Sides, Tree, repointed};
use super::line::{Line, Parents};
use crate::dialects::{Patch, Written};
use crate::json::{Text, Value};
use crate::steps;
use crate::transcript::{Layout, SlotKind};

pub(super) struct Record<'a> {
    pub(super) value: Value<'a>,
    pub(super) id: Option<Cow<'a, str>>,
    pub(super) parent: Option<Cow<'a, str>>,
    /// Whether it has a link to a parent, or to none.
    linked: bool,
    /// The end of the tree before, if this is the first record of a tree that names it.
    pub(super) logical: Option<Cow<'a, str>>,
    /// The record before it in the same tree, which it continues if its own links lead nowhere.
    previous: Option<Cow<'a, str>>,
    pub(super) slot: SlotKind,
    pub(super) stays: bool,
    /// The side conversation that it belongs to, if any.
    side: Option<Side>,
    /// Index of the first record of its tree, if there are several.
    pub(super) tree: Option<usize>,
}

#[derive(Clone, Copy)]
struct Side {
    /// Index of its first record.
    root: usize,
    /// Whether its records name it.
    named: bool,
}

/// All records of a log.
#[derive(Default)]
pub(super) struct Log<'a> {
    pub(super) records: Vec<Record<'a>>,
    /// Whether a program resumes from the newest record.
    path: bool,
    /// Index of the record of each message, by the index of the message.
    pub(super) of_message: HashMap<usize, usize>,
    /// For each record id: the nearest kept record from it upwards, if any.
    pub(super) homes: HashMap<Cow<'a, str>, Option<Cow<'a, str>>>,
    /// Index of the first kept record with each id: the pieces of a message can share one.
    pub(super) places: HashMap<Cow<'a, str>, usize>,
    /// Indices of the other kept records with the same id, by the index of the first one.
    pub(super) pieces: HashMap<usize, Vec<usize>>,
    /// Index of the first record of each side conversation, by its name.
    named: HashMap<Cow<'a, str>, usize>,
    /// The side conversation of each record, by its id.
    sides: HashMap<Cow<'a, str>, Side>,
    /// Indices of the kept messages with an id, in order, by the first record of their side conversation; `None` for the main one.
    said: HashMap<Option<usize>, Vec<usize>>,
    /// Index and id of the first kept record of each side conversation, by its first record.
    firsts: HashMap<usize, (usize, Cow<'a, str>)>,
    /// Id of the last record of each tree, by its first record.
    ends: HashMap<usize, Cow<'a, str>>,
}

impl<'a> Log<'a> {
    pub(super) fn new(keys: &Tree, layout: &Layout<'a>, kept: &[bool]) -> Self {
        let mut log = Self { path: keys.path, ..Self::default() };
        let trees = keys.trees.map(|trees_of| trees_of(&layout.elements)).unwrap_or_default();
        for ((slot, value), stays) in layout.slotted_elements().zip(layout.stays(kept)) {
            if let SlotKind::Message(index) = slot.kind {
                log.of_message.insert(index, log.records.len());
            }
            let text = |key: &str| value.get_text(key).map(Text::into_decoded);
            let id = text(keys.id);
            let parent = text(keys.parent);
            let logical = keys.others.first().filter(|_| parent.is_none()).and_then(|key| text(key));
            let side = keys.sides.as_ref().and_then(|keys| log.side_of_next(value, [&id, &parent], keys));
            let tree = trees.get(log.records.len()).copied().flatten();
            let previous = tree.and_then(|tree| log.ends.get(&tree).cloned());
            let linked = value.get(keys.parent).is_some();
            log.add(Record { value, id, parent, linked, logical, previous, slot: slot.kind, stays, side, tree });
        }
        log
    }

    /// The side conversation of `value`, the next record, whose own id and parent are `ids`.
    fn side_of_next(&mut self, value: Value<'a>, ids: [&Option<Cow<'a, str>>; 2], keys: &Sides) -> Option<Side> {
        if !value.is_true(keys.flag) {
            return None;
        }
        let next = self.records.len();
        let name = value.get_text(keys.name).map(Text::into_decoded);
        let named = name.is_some();
        let root = match name {
            Some(name) => *self.named.entry(name).or_insert(next),
            None => {
                let mut sides = ids.into_iter().flatten().filter_map(|id| self.sides.get(id));
                sides.find(|side| !side.named).map_or(next, |side| side.root)
            }
        };
        Some(Side { root, named })
    }

    /// The parent of a kept record: its nearest kept ancestor `home`. In a side conversation without a name, which would
    /// otherwise become several or join another one, it is the first kept record of the conversation if `home` is not in it.
    pub(super) fn in_side(&self, at: usize, home: Option<Cow<'a, str>>) -> Option<Cow<'a, str>> {
        let Some(Side { root, named: false }) = self.records[at].side else { return home };
        let home_side = home.as_ref().and_then(|home| self.sides.get(home));
        if home_side.is_some_and(|side| side.root == root) {
            return home;
        }
        let first = self.firsts.get(&root).filter(|(first, _)| *first < at);
        first.map(|(_, id)| id.clone()).or(home.filter(|_| home_side.is_none_or(|side| side.named)))
    }

    /// Index of the first kept record with the id of the record `at`.
    pub(super) fn first_piece(&self, at: usize) -> usize {
        self.records[at].id.as_ref().and_then(|id| self.places.get(id)).map_or(at, |&first| first)
    }

    /// Whether the parent `id` is written before the record `behind`. A draft that is one is, and has no place.
    pub(super) fn is_before(&self, id: &str, behind: usize) -> bool {
        self.places.get(id).is_none_or(|place| *place < behind)
    }

    /// Index of the record that begins at this byte of the source, or of the next one.
    fn index_at(&self, start: u32) -> usize {
        self.records.partition_point(|record| record.value.span().start < start)
    }

    /// The side conversation of a draft, by the index of its first record; `None` for the main one.
    pub(super) fn side_of(&self, written: &Written, above: Option<usize>) -> Option<usize> {
        let anchor = written.place.map(|start| self.index_at(start)).or(above);
        self.records.get(anchor?)?.side.map(|side| side.root)
    }

    /// The kept records of a conversation that a program reads when it resumes: from the newest message, or the newest record,
    /// back through the parents. Behind the first record of a tree, that which it names as the end of the tree before goes on,
    /// or the newest message before it.
    pub(super) fn line(&self, side: Option<usize>, parents: &Parents<'a>) -> Line {
        let is_own = |at: usize| self.records[at].side.map(|side| side.root) == side;
        let place = |id: &Cow<'a, str>| self.places.get(id).copied();
        let said = self.said.get(&side).map_or(&[][..], Vec::as_slice);
        let newest = |end: usize| said[..said.partition_point(|&at| at < end)].last().copied();
        let is_leaf = |record: &Record<'_>| record.stays && record.id.is_some() && record.linked;
        let leaf = if self.path { self.records.iter().rposition(is_leaf) } else { None };
        let mut line = Line::default();
        let mut next = leaf.or_else(|| newest(self.records.len()));
        while let Some(at) = next.map(|at| self.first_piece(at)) {
            steps::count(1);
            line.records.push(at);
            let record = &self.records[at];
            let parent = parents.get(&at).cloned().unwrap_or_else(|| record.parent.clone());
            let logical = || self.homes.get(record.logical.as_ref()?)?.as_ref().and_then(place);
            let earlier = |at: &usize, end: usize| *at < end && is_own(*at);
            let above = parent.as_ref().and_then(place).filter(|above| earlier(above, at));
            next = above.or_else(|| logical().filter(|above| earlier(above, at)));
            if next.is_none() {
                line.path = if line.path == 0 { line.records.len() } else { line.path };
                next = newest(at);
            }
        }
        line
    }

    /// Index of the first record that is written after a draft: it is written before its place, and after the metadata of the
    /// messages before it.
    pub(super) fn index_behind(&self, written: &Written, after: Option<usize>) -> usize {
        let least = after.map_or(0, |after| after + 1);
        let mut at = written.place.map_or(least, |start| self.index_at(start)).max(least);
        if let Some(SlotKind::Message(index)) = self.records.get(at).map(|record| record.slot) {
            while at > least && self.records[at - 1].slot == SlotKind::With(index) {
                at -= 1;
            }
        }
        let index = |record: &Record<'_>| match record.slot {
            SlotKind::Message(index) | SlotKind::With(index) => Some(index),
            _ => None,
        };
        let last = self.records[..at].iter().rev().find_map(index);
        let precedes = |record: &Record<'_>| match record.slot {
            SlotKind::With(index) => last.is_some_and(|last| index <= last),
            slot => slot == SlotKind::Pinned,
        };
        at + self.records[at..].iter().take_while(|record| precedes(record)).count()
    }

    /// Parents precede their children, so one pass finds all homes.
    fn add(&mut self, record: Record<'a>) {
        if let Some(id) = record.id.clone() {
            if let Some(side) = record.side {
                if side.named {
                    self.sides.entry(id.clone()).or_insert(side);
                } else {
                    self.sides.insert(id.clone(), side);
                }
                if record.stays {
                    self.firsts.entry(side.root).or_insert_with(|| (self.records.len(), id.clone()));
                }
            }
            if record.stays {
                let first = *self.places.entry(id.clone()).or_insert(self.records.len());
                if first < self.records.len() {
                    self.pieces.entry(first).or_default().push(self.records.len());
                }
                self.homes.insert(id.clone(), Some(id.clone()));
                if let SlotKind::Message(_) = record.slot {
                    self.said.entry(record.side.map(|side| side.root)).or_default().push(self.records.len());
                }
            } else if !self.places.contains_key(&id) {
                let links = [&record.parent, &record.logical, &record.previous];
                let links = if record.tree.is_some() { &links[..] } else { &links[..1] };
                let known = links.iter().find_map(|link| self.homes.get(link.as_ref()?));
                let home = known.cloned().flatten();
                self.homes.insert(id.clone(), home);
            }
            if let Some(tree) = record.tree {
                self.ends.insert(tree, id);
            }
        }
        self.records.push(record);
    }

    /// The nearest kept ancestor of a record whose parent is `parent`.
    pub(super) fn home_of(&self, parent: &Cow<'a, str>) -> Option<Cow<'a, str>> {
        self.homes.get(parent).cloned().flatten()
    }

    /// The nearest kept ancestor of the record that begins at this byte of the source.
    pub(super) fn home_at(&self, start: u32) -> Option<Cow<'a, str>> {
        let record = self.records.get(self.index_at(start))?;
        self.home_of(record.parent.as_ref()?)
    }

    /// Changes a link that may point outside the log only if it points to a dropped record: to the nearest kept ancestor of that,
    /// or else to `root`.
    pub(super) fn relink_inside(&self, link: Value<'_>, root: impl Fn() -> Option<Cow<'a, str>>) -> Option<Patch> {
        let target = link.text()?;
        let home = self.homes.get(&*target.decode())?;
        repointed(link, home.clone().or_else(root).as_deref())
    }
}
