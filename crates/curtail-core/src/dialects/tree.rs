//! The tree that the records of a log form in some dialects. After a cut, every link points to a kept record or to `null`. A link
//! to a record that was never in the log stays as it is: the program stops there, and would go on if the link were mended.
//!
//! Each dialect names the keys; this module only knows the shape of the tree.
//!
//! Example: record `c` is dropped, and a draft `x` is inserted before `d` (arrows point to parents):
//!
//! ```text
//! before   a <- b <- c <- d <- e
//! after    a <- b <- x <- d <- e     d is patched: parent "c" becomes "x"
//! ```
//!
//! The nearest kept ancestor of `d` is `b`, its *home*: without the draft, `d` would link to `b`. The draft takes over that
//! link, and `d` links to the draft. Links of `e` do not change, so its bytes are copied.

use std::borrow::Cow;
use std::collections::HashSet;

use foldhash::{HashMap, HashMapExt as _};

use super::{Patch, Remaining, Written};
use crate::digest::fnv1a_64;
use crate::json::{ObjectWriter, Text, Value, or_null, quote};
use crate::transcript::{Draft, DraftId, DraftPart, Layout, Links, SlotKind};

/// The keys that link the records of a log.
pub struct Tree {
    /// The record's own id.
    pub(super) id: &'static str,
    /// The id of the parent record.
    pub(super) parent: &'static str,
    /// Other links, which may also point outside the log. The first one leads from the first record of a tree to the end of the
    /// tree before it.
    pub(super) others: &'static [&'static str],
    /// Whether a program resumes from the newest record, also if it is no message.
    pub(super) path: bool,
    /// How the conversations inside one log differ, if there can be several.
    pub(super) sides: Option<Sides>,
    /// Which records form a tree, if a log can have several, and only the newest one is read.
    pub(super) trees: Option<TreesOf>,
}

/// The tree of each record, as the index of its first one; `None` for a record that is in none of them.
pub(super) type TreesOf = fn(&[Value<'_>]) -> Vec<Option<usize>>;

/// The keys that tell a side conversation. One without a name is told by the record without one from which it descends.
pub(super) struct Sides {
    /// Whether the record belongs to a side conversation.
    pub(super) flag: &'static str,
    /// The name of the side conversation.
    pub(super) name: &'static str,
}

impl Tree {
    /// Links records whose parent is dropped to their nearest kept ancestor, and drafts to their neighbors.
    pub(super) fn relink(&self, layout: &Layout<'_>, remaining: &mut Remaining<'_>) -> Vec<Patch> {
        let log = Log::new(self, layout, remaining.kept);
        let mut parents = Parents::with_capacity(log.records.len());
        let mut patches = Vec::new();
        // The first kept record of each tree: a record without a parent would begin another tree. It is the same record whether
        // the ancestors are dropped at once or one after another.
        let mut first: HashMap<usize, Cow<'_, str>> = HashMap::new();
        for (at, record) in log.records.iter().enumerate().filter(|(_, record)| record.stays) {
            let root = || first.get(&record.tree?).cloned();
            if let Some(parent) = record.parent.clone().filter(|parent| log.homes.contains_key(parent)) {
                let home = log.home_of(&parent);
                parents.insert(at, log.in_side(at, home).or_else(root));
            }
            for (nth, link) in
                self.others.iter().enumerate().filter_map(|(nth, key)| Some((nth, record.value.get(key)?)))
            {
                patches.extend(log.relink_inside(link, || root().filter(|_| nth == 0 && record.logical.is_some())));
            }
            if let (Some(tree), Some(id)) = (record.tree, &record.id) {
                first.entry(tree).or_insert_with(|| id.clone());
            }
        }
        self.link_written(&log, remaining, &mut parents);
        for (at, parent) in parents {
            let link = log.records[at].value.get(self.parent);
            patches.extend(link.and_then(|link| repointed(link, parent.as_deref())));
        }
        patches
    }

    /// Links each draft. One that a model reads, or whose neighbor is on the line of its conversation, becomes a part of that
    /// line; any other is linked to its neighbors.
    fn link_written<'a>(&self, log: &Log<'a>, remaining: &mut Remaining<'_>, parents: &mut Parents<'a>) {
        make_ids_unique(remaining, |id| log.homes.contains_key(id));
        let record = |index: Option<usize>| index.and_then(|index| log.of_message.get(&index).copied());
        let side = |written: &Written| log.side_of(written, record(written.previous));
        let sides: HashSet<Option<usize>> = remaining.written.iter().map(side).collect();
        let lines: HashMap<_, _> = sides.into_iter().map(|side| (side, log.line(side, parents))).collect();
        // The newest draft behind each record that no other continues.
        let mut ends: HashMap<(Option<usize>, Option<usize>), String> = HashMap::new();
        for written in &mut remaining.written {
            let above = record(written.previous);
            let side = side(written);
            let line = &lines[&side];
            let behind = log.index_behind(written, record(written.after));
            let joint = if line.takes(written, above, behind) {
                self.joint(log, line, behind, written, parents)
            } else {
                self.joint_of_neighbors(log, written, above, behind, parents)
            };
            let Some(links) = &mut written.draft.links else { continue };
            let id = links.id.to_string();
            let last = ends.get(&(side, joint.above)).filter(|_| joint.child.is_none());
            links.parent = last.cloned().or(joint.parent.map(Cow::into_owned));
            match joint.child {
                Some(child) => {
                    let pieces = log.pieces.get(&child).into_iter().flatten();
                    parents.extend(pieces.chain([&child]).map(|at| (*at, Some(Cow::Owned(id.clone())))));
                }
                None => drop(ends.insert((side, joint.above), id)),
            }
        }
    }

    /// Where a draft joins `line` between its records before `behind` and those from there on.
    ///
    /// The first record of a tree takes a draft as its parent if a model reads both and it is a message: what precedes a
    /// compaction boundary has no part in what follows it. A draft of an older tree is linked to the end of that.
    fn joint<'a>(
        &self,
        log: &Log<'a>,
        line: &Line,
        behind: usize,
        written: &Written,
        parents: &Parents<'a>,
    ) -> Joint<'a> {
        let nth = line.place_of(behind);
        let id = |at: usize| log.records[at].id.clone();
        let above = line.records.get(nth).copied();
        let end = Joint { child: None, parent: above.and_then(id), above };
        // Whatever would be behind it on the path to the newest record is not about what is abandoned.
        let last = nth.checked_sub(1).filter(|last| !written.abandoned || *last >= line.path);
        let Some(child) = last.map(|last| line.records[last]) else { return end };
        let record = &log.records[child];
        if record.value.get(self.parent).is_none() {
            return end;
        }
        let parent = parents.get(&child).cloned().unwrap_or_else(|| record.parent.clone());
        match parent {
            // A draft may be the parent already.
            Some(parent)
                if parents.contains_key(&child) && log.places.get(&parent).is_none_or(|place| *place < behind) =>
            {
                Joint { child: Some(child), parent: Some(parent), above }
            }
            None if matches!(record.slot, SlotKind::Message(_)) && (written.live || above.is_none()) => {
                Joint { child: Some(child), parent: None, above }
            }
            // The path begins with a link that leads out of the log, or down it in a damaged one.
            Some(parent)
                if written.live
                    && nth == line.path
                    && (!log.homes.contains_key(&parent) || log.places.get(&parent) > Some(&child)) =>
            {
                Joint { child: Some(child), parent: Some(parent), above }
            }
            _ => end,
        }
    }

    /// Where a draft joins the log that no model reads: between the record of its conversation after it and the parent of that,
    /// or else behind `after`, the one before it, or else where the record was that it is written for.
    fn joint_of_neighbors<'a>(
        &self,
        log: &Log<'a>,
        written: &Written,
        after: Option<usize>,
        behind: usize,
        parents: &Parents<'a>,
    ) -> Joint<'a> {
        let next = written.next.and_then(|index| log.of_message.get(&index).copied());
        let above = next.and_then(|child| parents.get(&child).cloned().flatten());
        let is_before = |parent: &Cow<'a, str>| log.places.get(parent).is_none_or(|place| *place < behind);
        let hangs = above.as_ref().map_or(after.is_none(), is_before);
        let child = next.filter(|&child| hangs && self.is_child(log, child, after));
        // A damaged record has no id: what follows it is linked as it is.
        let beside = |after: usize| log.records[after].id.clone().or_else(|| parents.get(&after).cloned().flatten());
        let parent = above.filter(|_| child.is_some()).or_else(|| after.and_then(beside));
        let parent =
            parent.or_else(|| written.place.filter(|_| written.abandoned).and_then(|place| log.home_at(place)));
        Joint { child, parent, above: after }
    }

    /// Whether a draft between `after` and the record `child` can become its parent: `child` has a parent link, the link
    /// does not point to a record in between (a compaction boundary), and both belong to the same conversation.
    fn is_child(&self, log: &Log<'_>, child: usize, after: Option<usize>) -> bool {
        let record = &log.records[child];
        let place = record.parent.as_ref().and_then(|parent| log.places.get(parent).copied());
        let between = place.zip(after).is_some_and(|(place, after)| place > after);
        let keys = self.sides.iter().flat_map(|sides| [sides.flag, sides.name]);
        let side = |at: usize, key: &str| log.records[at].value.get(key).map(Value::raw);
        let together = |after: usize| keys.clone().all(|key| side(after, key) == side(child, key));
        // A piece of the message before it.
        let continues = log.first_piece(child) != child;
        record.value.get(self.parent).is_some() && !between && !continues && after.is_none_or(together)
    }

    /// The beginning of a record for `draft`, up to its links.
    pub(super) fn begin(&self, draft: &Draft, anchor: Option<Value<'_>>) -> ObjectWriter {
        let Links { id, parent } = draft.links.clone().unwrap_or_else(|| self.links(draft, anchor));
        ObjectWriter::new().member(self.parent, &or_null(parent.as_deref())).member(self.id, &id.to_string())
    }

    /// The links of `draft` before it has neighbors: no parent.
    pub(super) fn links(&self, draft: &Draft, anchor: Option<Value<'_>>) -> Links {
        first_links(self.id, draft, anchor)
    }

    /// Sets the ids of the drafts that have none.
    pub(super) fn name_drafts(&self, layout: &Layout<'_>, remaining: &mut Remaining<'_>) {
        let log = Log::new(self, layout, remaining.kept);
        make_ids_unique(remaining, |id| log.homes.contains_key(id));
    }
}

/// No parent, and an id derived from the role, the parts and the id of `anchor`, which its record has under `key`. The
/// text is not part of the id, because it may be shortened before it is written.
pub(super) fn first_links(key: &str, draft: &Draft, anchor: Option<Value<'_>>) -> Links {
    let read = || anchor.map(|anchor| anchor.word(key).into_owned());
    let origin: Vec<&str> = std::iter::once(draft.role.name()).chain(part_names(draft)).collect();
    let anchor = draft.beside.map(|id| id.to_string()).or_else(read).unwrap_or_default();
    Links { id: id(fingerprint(&origin.join("\n"), &anchor), 0), parent: None }
}

/// What tells the parts of a draft from those of another: not their texts, because these may be shortened before they are written.
pub(super) fn part_names(draft: &Draft) -> impl Iterator<Item = &str> {
    draft.parts.iter().map(|part| match part {
        DraftPart::Text(_) => "",
        DraftPart::ToolResult(result) => result.call_id(),
        DraftPart::Verbatim(raw) => raw,
    })
}

/// Gives drafts of records that have ids under `key`, but no parents, different ones.
pub(super) fn name_records(key: &str, layout: &Layout<'_>, remaining: &mut Remaining<'_>) {
    if remaining.written.is_empty() {
        return;
    }
    let read = layout.elements.iter().filter_map(|item| item.get_text(key));
    let known: HashSet<Cow<'_, str>> = read.map(Text::into_decoded).collect();
    make_ids_unique(remaining, |id| known.contains(id));
}

/// Gives drafts with the same id different ones. The last draft keeps its id, because later cuts drop the first ones. What an
/// earlier stage named keeps its name.
fn make_ids_unique(remaining: &mut Remaining<'_>, is_known: impl Fn(&str) -> bool) {
    let mut taken: HashSet<DraftId> = remaining.written.iter().filter_map(|written| written.id).collect();
    // For each digest: the first number that may be free.
    let mut free: HashMap<u64, u32> = HashMap::new();
    for written in remaining.written.iter_mut().rev() {
        let Some(links) = &mut written.draft.links else { continue };
        let seed = fingerprint(&written.text, "");
        let from = free.entry(seed).or_insert(1);
        let numbered = std::iter::repeat_with(|| id(seed, std::mem::replace(from, *from + 1)));
        let mut ids = std::iter::once(links.id).chain(numbered);
        let is_free = |id: &DraftId| !taken.contains(id) && !is_known(&id.to_string());
        let Some(id) = written.id.or_else(|| ids.find(is_free)) else { continue };
        links.id = id;
        written.id = Some(id);
        taken.insert(id);
    }
}

/// A digest of both texts: the same input gives the same record on every machine.
fn fingerprint(text: &str, anchor: &str) -> u64 {
    fnv1a_64(text.bytes().chain([0xff]).chain(anchor.bytes()))
}

/// A UUID of version 8 (RFC 9562).
pub(super) fn id(seed: u64, nth: u32) -> DraftId {
    let seed = u128::from(seed);
    let version = 8 << 12 | seed & 0xfff;
    let variant = 8 << 12 | seed >> 4 & 0xfff;
    DraftId::new((seed >> 16) << 80 | version << 64 | variant << 48 | u128::from(nth))
}

/// The patch that makes `link` point to `target`; `None` if it already does.
fn repointed(link: Value<'_>, target: Option<&str>) -> Option<Patch> {
    let same = match target {
        Some(target) => link.is(target),
        None => link.raw() == "null",
    };
    (!same).then(|| Patch { span: link.span(), text: target.map_or_else(|| String::from("null"), quote) })
}

/// Where a draft joins a line of records.
struct Joint<'a> {
    /// The record that becomes its child.
    child: Option<usize>,
    /// The id of its parent.
    pub(super) parent: Option<Cow<'a, str>>,
    /// The record before it on the line.
    above: Option<usize>,
}

/// The kept records of a conversation that a program reads when it resumes, the newest first, and behind them those of older
/// trees, which it no longer reads.
#[derive(Default)]
struct Line {
    /// Their indices.
    records: Vec<usize>,
    /// How many of them are on the path to the newest one.
    path: usize,
}

impl Line {
    /// How many of its records are written behind the place `behind`.
    fn place_of(&self, behind: usize) -> usize {
        self.records.partition_point(|&at| at >= behind)
    }

    /// Whether a draft behind the record `above` becomes a part of it. One about what is abandoned is no part of the path.
    fn takes(&self, written: &Written, above: Option<usize>, behind: usize) -> bool {
        let is_on_line = |above| self.records.binary_search_by(|at| usize::cmp(&above, at)).is_ok();
        let on_line = written.live || above.is_some_and(is_on_line);
        let open = !written.abandoned || self.place_of(behind) >= self.path;
        on_line && open && !self.records.is_empty()
    }
}

/// The parent that each kept record will link to, by the index of the record.
type Parents<'a> = HashMap<usize, Option<Cow<'a, str>>>;

struct Record<'a> {
    value: Value<'a>,
    pub(super) id: Option<Cow<'a, str>>,
    pub(super) parent: Option<Cow<'a, str>>,
    /// Whether it has a link to a parent, or to none.
    linked: bool,
    /// The end of the tree before, if this is the first record of a tree that names it.
    logical: Option<Cow<'a, str>>,
    /// The record before it in the same tree, which it continues if its own links lead nowhere.
    previous: Option<Cow<'a, str>>,
    slot: SlotKind,
    stays: bool,
    /// The side conversation that it belongs to, if any.
    side: Option<Side>,
    /// Index of the first record of its tree, if there are several.
    tree: Option<usize>,
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
struct Log<'a> {
    records: Vec<Record<'a>>,
    /// Whether a program resumes from the newest record.
    path: bool,
    /// Index of the record of each message, by the index of the message.
    of_message: HashMap<usize, usize>,
    /// For each record id: the nearest kept record from it upwards, if any.
    homes: HashMap<Cow<'a, str>, Option<Cow<'a, str>>>,
    /// Index of the first kept record with each id: the pieces of a message can share one.
    places: HashMap<Cow<'a, str>, usize>,
    /// Indices of the other kept records with the same id, by the index of the first one.
    pieces: HashMap<usize, Vec<usize>>,
    /// Index of the first record of each side conversation, by its name.
    named: HashMap<Cow<'a, str>, usize>,
    /// The side conversation of each record, by its id.
    sides: HashMap<Cow<'a, str>, Side>,
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
            let side = keys.sides.as_ref().and_then(|keys| log.side(value, [&id, &parent], keys));
            let tree = trees.get(log.records.len()).copied().flatten();
            let previous = tree.and_then(|tree| log.ends.get(&tree).cloned());
            let linked = value.get(keys.parent).is_some();
            log.add(Record { value, id, parent, linked, logical, previous, slot: slot.kind, stays, side, tree });
        }
        log
    }

    /// The side conversation of `value`, the next record, whose own id and parent are `ids`.
    fn side(&mut self, value: Value<'a>, ids: [&Option<Cow<'a, str>>; 2], keys: &Sides) -> Option<Side> {
        if value.get(keys.flag).is_none_or(|flag| flag.raw() != "true") {
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
    fn in_side(&self, at: usize, home: Option<Cow<'a, str>>) -> Option<Cow<'a, str>> {
        let Some(Side { root, named: false }) = self.records[at].side else { return home };
        let side = home.as_ref().and_then(|home| self.sides.get(home));
        if side.is_some_and(|side| side.root == root) {
            return home;
        }
        let first = self.firsts.get(&root).filter(|(first, _)| *first < at);
        first.map(|(_, id)| id.clone()).or(home.filter(|_| side.is_none_or(|side| side.named)))
    }

    /// Index of the first kept record with the id of the record `at`.
    fn first_piece(&self, at: usize) -> usize {
        self.records[at].id.as_ref().and_then(|id| self.places.get(id)).map_or(at, |&first| first)
    }

    /// Index of the record that begins at this byte of the source, or of the next one.
    fn index_at(&self, start: u32) -> usize {
        self.records.partition_point(|record| record.value.span().start < start)
    }

    /// The side conversation of a draft, by the index of its first record; `None` for the main one.
    fn side_of(&self, written: &Written, after: Option<usize>) -> Option<usize> {
        let anchor = written.place.map(|start| self.index_at(start)).or(after);
        self.records.get(anchor?)?.side.map(|side| side.root)
    }

    /// The kept records of a conversation that a program reads when it resumes: from the newest message, or the newest record,
    /// back through the parents. Behind the first record of a tree, that which it names as the end of the tree before goes on,
    /// or the newest message before it.
    fn line(&self, side: Option<usize>, parents: &Parents<'a>) -> Line {
        let is_own = |at: usize| self.records[at].side.map(|side| side.root) == side;
        let place = |id: &Cow<'a, str>| self.places.get(id).copied();
        let newest = |end: usize| {
            let mut earlier = (0..end).rev();
            earlier.find(|&at| {
                let record = &self.records[at];
                let message = record.stays && matches!(record.slot, SlotKind::Message(_));
                message && record.id.is_some() && is_own(at)
            })
        };
        let leaf = self.records.iter().rposition(|record| record.stays && record.id.is_some() && record.linked);
        let mut line = Line::default();
        let mut next = leaf.filter(|_| self.path).or_else(|| newest(self.records.len()));
        while let Some(at) = next.map(|at| self.first_piece(at)) {
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
    fn index_behind(&self, written: &Written, after: Option<usize>) -> usize {
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
    fn home_of(&self, parent: &Cow<'a, str>) -> Option<Cow<'a, str>> {
        self.homes.get(parent).cloned().flatten()
    }

    /// The nearest kept ancestor of the record that begins at this byte of the source.
    fn home_at(&self, start: u32) -> Option<Cow<'a, str>> {
        let record = self.records.get(self.index_at(start))?;
        self.home_of(record.parent.as_ref()?)
    }

    /// Changes a link that may point outside the log only if it points to a dropped record: to the nearest kept ancestor of that,
    /// or else to `root`.
    fn relink_inside(&self, link: Value<'_>, root: impl Fn() -> Option<Cow<'a, str>>) -> Option<Patch> {
        let target = link.text()?;
        let home = self.homes.get(&*target.decode())?;
        repointed(link, home.clone().or_else(root).as_deref())
    }
}
