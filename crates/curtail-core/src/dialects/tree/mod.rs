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
mod records;

use std::borrow::Cow;
use std::collections::HashSet;

use foldhash::{HashMap, HashMapExt as _};

use super::{Patch, Remaining, Written};
use crate::digest::fnv1a_64;
use crate::json::{ObjectWriter, Text, Value, or_null};
use crate::transcript::{Draft, DraftId, DraftPart, Layout, Links, Name, SlotKind};
use keys::repointed;
pub(in crate::dialects) use keys::{Sides, Tree};
use line::{Line, Parents, Target};
use log::Log;

impl Tree {
    /// Links records whose parent is dropped to their nearest kept ancestor, and drafts to their neighbors.
    pub(super) fn relink(&self, layout: &Layout<'_>, remaining: &mut Remaining<'_>) -> Vec<Patch> {
        let log = Log::new(self, layout, remaining.kept);
        let mut parents = Parents::with_capacity(log.kept.len());
        let mut patches = Vec::new();
        // The first kept record of each tree: a record without a parent would begin another tree. It is the same record whether
        // the ancestors are dropped at once or one after another.
        let mut first: HashMap<usize, Name> = HashMap::new();
        for &at in &log.kept {
            let record = &log.links.records[at];
            let root = || first.get(&record.tree?).copied();
            if let Some(parent) = record.parent.filter(|parent| log.links.has(*parent)) {
                let home = log.home_of(parent);
                parents.insert(at, log.in_side(at, home).or_else(root).map(Target::Record));
            }
            for (nth, link) in
                self.others.iter().enumerate().filter_map(|(nth, key)| Some((nth, log.value(at).get(key)?)))
            {
                patches.extend(log.relink_inside(link, || root().filter(|_| nth == 0 && record.logical.is_some())));
            }
            if let (Some(tree), Some(id)) = (record.tree, record.id) {
                first.entry(tree).or_insert(id);
            }
        }
        let drafts = self.link_written(&log, remaining, &mut parents);
        for (at, parent) in parents {
            let link = log.value(at).get(self.parent);
            let parent = parent.map(|parent| log.id_of(parent, &drafts));
            patches.extend(link.and_then(|link| repointed(link, parent)));
        }
        patches
    }

    /// Links each draft, and returns their ids. One that a model reads, or whose neighbor is on the line of its conversation, becomes
    /// a part of that line; any other is linked to its neighbors.
    fn link_written(&self, log: &Log<'_, '_>, remaining: &mut Remaining<'_>, parents: &mut Parents) -> Vec<String> {
        make_ids_unique(remaining, |id| log.links.number(id).is_some_and(|name| log.links.has(name)));
        let id =
            |written: &Written| written.draft.links.as_ref().map_or_else(String::new, |links| links.id.to_string());
        let ids: Vec<String> = remaining.written.iter().map(id).collect();
        let side_of = |written: &Written| log.side_of(written, log.of_message(written.previous));
        let sides: HashSet<Option<usize>> = remaining.written.iter().map(side_of).collect();
        let lines: HashMap<_, _> = sides.into_iter().map(|side| (side, log.line(side, parents))).collect();
        // The newest draft behind each record that no other continues.
        let mut ends: HashMap<(Option<usize>, Option<usize>), Target> = HashMap::new();
        for (nth, written) in remaining.written.iter_mut().enumerate() {
            let above = log.of_message(written.previous);
            let side = side_of(written);
            let line = &lines[&side];
            let behind = log.index_behind(written, log.of_message(written.after));
            let joint = if line.takes(written, above, behind) {
                joint(log, line, behind, written, parents)
            } else {
                self.joint_of_neighbors(log, written, above, behind, parents)
            };
            let Some(links) = &mut written.draft.links else { continue };
            let last = ends.get(&(side, joint.above)).filter(|_| joint.child.is_none());
            links.parent = last.copied().or(joint.parent).map(|parent| log.id_of(parent, &ids).to_owned());
            match joint.child {
                Some(child) => {
                    let pieces = log.pieces.get(&child).into_iter().flatten();
                    parents.extend(pieces.chain([&child]).map(|at| (*at, Some(Target::Draft(nth)))));
                }
                None => drop(ends.insert((side, joint.above), Target::Draft(nth))),
            }
        }
        ids
    }

    /// Where a draft joins the log that no model reads: between the record of its conversation after it and the parent of that,
    /// or else behind `above`, the one before it, or else where the record was that it is written for.
    fn joint_of_neighbors(
        &self,
        log: &Log<'_, '_>,
        written: &Written,
        above: Option<usize>,
        behind: usize,
        parents: &Parents,
    ) -> Joint {
        let next = log.of_message(written.next);
        let next_parent = next.and_then(|child| parents.get(&child).copied().flatten());
        let hangs_above = next_parent.map_or(above.is_none(), |parent| log.is_before(parent, behind));
        let child = next.filter(|&child| hangs_above && self.is_child(log, child, above));
        // A damaged record has no id: what follows it is linked as it is.
        let beside = |above: usize| {
            let id = log.links.records[above].id.map(Target::Record);
            id.or_else(|| parents.get(&above).copied().flatten())
        };
        let home = || written.place.filter(|_| written.abandoned).and_then(|place| log.home_at(place));
        let parent = next_parent.filter(|_| child.is_some()).or_else(|| above.and_then(beside));
        let parent = parent.or_else(|| home().map(Target::Record));
        Joint { child, parent, above }
    }

    /// Whether a draft between `above` and the record `child` can become its parent: `child` has a parent link, the link
    /// does not point to a record in between (a compaction boundary), and both belong to the same conversation.
    fn is_child(&self, log: &Log<'_, '_>, child: usize, above: Option<usize>) -> bool {
        let record = &log.links.records[child];
        let place = record.parent.and_then(|parent| log.place_of(Target::Record(parent)));
        let between = place.zip(above).is_some_and(|(place, above)| place > above);
        let keys = self.sides.iter().flat_map(|sides| [sides.flag, sides.name]);
        let member = |at: usize, key: &str| log.value(at).get(key).map(Value::raw);
        let together = |above: usize| keys.clone().all(|key| member(above, key) == member(child, key));
        // A piece of the message before it.
        let continues = log.first_piece(child) != child;
        record.linked && !between && !continues && above.is_none_or(together)
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
        let links = self.records(layout);
        make_ids_unique(remaining, |id| links.number(id).is_some_and(|name| links.has(name)));
    }
}

/// Where a draft joins `line` between its records before `behind` and those from there on.
///
/// The first record of a tree takes a draft as its parent if a model reads both and it is a message: what precedes a
/// compaction boundary has no part in what follows it. A draft of an older tree is linked to the end of that.
fn joint(log: &Log<'_, '_>, line: &Line, behind: usize, written: &Written, parents: &Parents) -> Joint {
    let nth = line.place_of(behind);
    let above = line.records.get(nth).copied();
    let id = above.and_then(|at| log.links.records[at].id);
    let end = Joint { child: None, parent: id.map(Target::Record), above };
    // Whatever would be behind it on the path to the newest record is not about what is abandoned.
    let last = nth.checked_sub(1).filter(|last| !written.abandoned || *last >= line.path);
    let Some(child) = last.map(|last| line.records[last]) else { return end };
    let record = &log.links.records[child];
    if !record.linked {
        return end;
    }
    let parent = parents.get(&child).copied().unwrap_or(record.parent.map(Target::Record));
    let takes_draft = match parent {
        Some(parent) => {
            // A draft may be the parent already.
            let hangs_above = parents.contains_key(&child) && log.is_before(parent, behind);
            // Only in a damaged log does a link lead down.
            let leads_down = log.place_of(parent).is_some_and(|place| place > child);
            let leads_out_of_the_log = !log.is_record(parent) || leads_down;
            let begins_the_path = nth == line.path;
            hangs_above || written.live && begins_the_path && leads_out_of_the_log
        }
        None => {
            let tree_begins_with_message = matches!(log.slot(child), SlotKind::Message(_));
            tree_begins_with_message && (written.live || above.is_none())
        }
    };
    if takes_draft { Joint { child: Some(child), parent, above } } else { end }
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
struct Joint {
    /// The record that becomes its child.
    child: Option<usize>,
    /// The id of its parent.
    parent: Option<Target>,
    /// The record before it on the line.
    above: Option<usize>,
}
