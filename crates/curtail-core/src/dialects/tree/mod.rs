//! The tree that the records of a log form in some dialects. After a cut, every link points to a kept record or to `null`. A link
//! to a record that was never in the log stays as it is: the program stops there, and would go on if the link were mended.
//!
//! Each dialect names the keys; this module only knows the shape of the tree.
//!
//! Example: record `c` is dropped, and a draft `x` is inserted before `d` (arrows point to parents):
//!
//! ```text
//! index    0    1    2    3    4  5         6    7
//! before   a <- b <- c <- d <- e, e    c <- s <- t     s and t are a side conversation
//! after    a <- b <- x <- d <- e, e    b <- s <- t     d is patched: parent "c" becomes "x"; s: "c" becomes "b"
//! ```
//!
//! - The *home* of an id is the nearest kept record from it upwards, that of `c` is `b`: without the draft, `d` would link to it.
//!   The draft takes over that link, and `d` links to the draft. Links of `e` do not change, so its bytes are copied.
//! - The *place* of an id is the index of its first kept record, that of `e` is 4. The record 5 is another *piece* of the same
//!   message, and gets the same parent.
//! - The *line* of a conversation is what a program reads when it resumes, from its end: `e`, `d`, `b`, `a`. That of the side
//!   conversation is `t`, `s`. The draft joins the line of the conversation that it is written for.

mod keys;
mod line;
mod log;

use std::borrow::Cow;
use std::collections::HashSet;

use foldhash::{HashMap, HashMapExt as _};

use super::{Patch, Remaining, Written};
use crate::digest::fnv1a_64;
use crate::json::{ObjectWriter, Text, Value, or_null};
use crate::transcript::{Draft, DraftId, DraftPart, Layout, Links, SlotKind};
use keys::repointed;
pub(in crate::dialects) use keys::{Sides, Tree};
use line::{Line, Parents};
use log::Log;

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
        let side_of = |written: &Written| log.side_of(written, record(written.previous));
        let sides: HashSet<Option<usize>> = remaining.written.iter().map(side_of).collect();
        let lines: HashMap<_, _> = sides.into_iter().map(|side| (side, log.line(side, parents))).collect();
        // The newest draft behind each record that no other continues.
        let mut ends: HashMap<(Option<usize>, Option<usize>), String> = HashMap::new();
        for written in &mut remaining.written {
            let above = record(written.previous);
            let side = side_of(written);
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
        let takes_draft = match &parent {
            Some(parent) => {
                // A draft may be the parent already.
                let hangs_above = parents.contains_key(&child) && log.is_before(parent, behind);
                // Only in a damaged log does a link lead down.
                let leads_down = log.places.get(parent).is_some_and(|place| *place > child);
                let leads_out_of_the_log = !log.homes.contains_key(parent) || leads_down;
                let begins_the_path = nth == line.path;
                hangs_above || written.live && begins_the_path && leads_out_of_the_log
            }
            None => {
                let tree_begins_with_message = matches!(record.slot, SlotKind::Message(_));
                tree_begins_with_message && (written.live || above.is_none())
            }
        };
        if takes_draft { Joint { child: Some(child), parent, above } } else { end }
    }

    /// Where a draft joins the log that no model reads: between the record of its conversation after it and the parent of that,
    /// or else behind `above`, the one before it, or else where the record was that it is written for.
    fn joint_of_neighbors<'a>(
        &self,
        log: &Log<'a>,
        written: &Written,
        above: Option<usize>,
        behind: usize,
        parents: &Parents<'a>,
    ) -> Joint<'a> {
        let next = written.next.and_then(|index| log.of_message.get(&index).copied());
        let next_parent = next.and_then(|child| parents.get(&child).cloned().flatten());
        let hangs_above = next_parent.as_ref().map_or(above.is_none(), |parent| log.is_before(parent, behind));
        let child = next.filter(|&child| hangs_above && self.is_child(log, child, above));
        // A damaged record has no id: what follows it is linked as it is.
        let beside = |above: usize| log.records[above].id.clone().or_else(|| parents.get(&above).cloned().flatten());
        let parent = next_parent.filter(|_| child.is_some()).or_else(|| above.and_then(beside));
        let parent =
            parent.or_else(|| written.place.filter(|_| written.abandoned).and_then(|place| log.home_at(place)));
        Joint { child, parent, above }
    }

    /// Whether a draft between `above` and the record `child` can become its parent: `child` has a parent link, the link
    /// does not point to a record in between (a compaction boundary), and both belong to the same conversation.
    fn is_child(&self, log: &Log<'_>, child: usize, above: Option<usize>) -> bool {
        let record = &log.records[child];
        let place = record.parent.as_ref().and_then(|parent| log.places.get(parent).copied());
        let between = place.zip(above).is_some_and(|(place, above)| place > above);
        let keys = self.sides.iter().flat_map(|sides| [sides.flag, sides.name]);
        let member = |at: usize, key: &str| log.records[at].value.get(key).map(Value::raw);
        let together = |above: usize| keys.clone().all(|key| member(above, key) == member(child, key));
        // A piece of the message before it.
        let continues = log.first_piece(child) != child;
        record.value.get(self.parent).is_some() && !between && !continues && above.is_none_or(together)
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

/// Where a draft joins a line of records.
struct Joint<'a> {
    /// The record that becomes its child.
    child: Option<usize>,
    /// The id of its parent.
    parent: Option<Cow<'a, str>>,
    /// The record before it on the line.
    above: Option<usize>,
}
