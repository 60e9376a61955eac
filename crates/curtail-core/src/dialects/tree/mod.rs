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

mod drafts;
mod joint;
mod keys;
mod line;
mod log;
mod records;

use std::collections::HashSet;

use foldhash::{HashMap, HashMapExt as _};

use super::{Patch, Remaining, Written};
use crate::transcript::{Layout, Name};
use drafts::make_ids_unique;
pub(in crate::dialects) use drafts::{first_links, name_records, part_names};
use joint::joint;
use keys::repointed;
pub(in crate::dialects) use keys::{Sides, Tree};
use line::{Parents, Target};
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
        make_ids_unique(remaining, |id| log.links.is_id(id));
        let links = remaining.written.iter().map(|written| written.draft.links.as_ref());
        let ids: Vec<String> =
            links.map(|links| links.map_or_else(String::new, |links| links.id.to_string())).collect();
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
}
