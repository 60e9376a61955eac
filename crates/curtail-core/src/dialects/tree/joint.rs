//! Where a draft or a record joins the records of a log that are written.

use super::keys::Tree;
use super::line::{Line, Parents, Target};
use super::log::Log;
use crate::dialects::Written;
use crate::json::Value;
use crate::transcript::{Name, Side, SlotKind};

/// Where a draft joins a line of records.
pub(super) struct Joint {
    /// The record that becomes its child.
    pub(super) child: Option<usize>,
    /// The id of its parent.
    pub(super) parent: Option<Target>,
    /// The record before it on the line.
    pub(super) above: Option<usize>,
}

/// Where a draft joins `line` between its records before `behind` and those from there on.
///
/// The first record of a tree takes a draft as its parent if a model reads both and it is a message: what precedes a
/// compaction boundary has no part in what follows it. A draft of an older tree is linked to the end of that.
pub(super) fn joint(log: &Log<'_, '_>, line: &Line, behind: usize, written: &Written, parents: &Parents) -> Joint {
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

impl Log<'_, '_> {
    /// The parent of a kept record: its nearest kept ancestor `home`. In a side conversation without a name, which would
    /// otherwise become several or join another one, it is the first kept record of the conversation if `home` is not in it.
    pub(super) fn in_side(&self, at: usize, home: Option<Name>) -> Option<Name> {
        let Some(Side { root, named: false }) = self.links.records[at].side else { return home };
        let home_side = home.and_then(|home| self.links.sides.get(&home));
        if home_side.is_some_and(|side| side.root == root) {
            return home;
        }
        let first = self.firsts.get(&root).filter(|first| **first < at);
        let first = first.and_then(|first| self.links.records[*first].id);
        first.or(home.filter(|_| home_side.is_none_or(|side| side.named)))
    }

    /// Index of the first record that is written after a draft: it is written before its place, and after the metadata of the
    /// messages before it.
    pub(super) fn index_behind(&self, written: &Written, after: Option<usize>) -> usize {
        let count = self.links.records.len();
        let least = after.map_or(0, |after| after + 1);
        let mut at = written.place.map_or(least, |start| self.index_at(start)).max(least);
        if let Some(SlotKind::Message(index)) = (at < count).then(|| self.slot(at)) {
            while at > least && self.slot(at - 1) == SlotKind::With(index) {
                at -= 1;
            }
        }
        let last = (0..at).rev().find_map(|at| match self.slot(at) {
            SlotKind::Message(index) | SlotKind::With(index) => Some(index),
            _ => None,
        });
        let preceding = (at..count).take_while(|at| match self.slot(*at) {
            SlotKind::With(index) => last.is_some_and(|last| index <= last),
            slot => slot == SlotKind::Pinned,
        });
        at + preceding.count()
    }
}

impl Tree {
    /// Where a draft that no model reads joins the log: between the record of its conversation after it and the parent of that,
    /// or else behind `above`, the one before it, or else where the record was that it is written for.
    ///
    /// Example: in `a <- b <- c`, the draft `x` is written for `b`, which is dropped: it becomes `a <- x <- c`. If `c` is dropped as
    /// well, `x` is behind `a`. If both are, and the branch is abandoned, its parent is the nearest kept ancestor of `b`.
    pub(super) fn joint_of_neighbors(
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
        let parent = next_parent.filter(|_| child.is_some()).or_else(|| {
            let id = log.links.records[above?].id.map(Target::Record);
            // A damaged record has no id: what follows it is linked as it is.
            id.or_else(|| parents.get(&above?).copied().flatten())
        });
        let parent = parent.or_else(|| {
            let place = written.place.filter(|_| written.abandoned)?;
            log.home_at(place).map(Target::Record)
        });
        Joint { child, parent, above }
    }

    /// Whether a draft between `above` and the record `child` can become its parent: `child` has a parent link, the link
    /// does not point to a record in between (a compaction boundary), and both belong to the same conversation.
    fn is_child(&self, log: &Log<'_, '_>, child: usize, above: Option<usize>) -> bool {
        let record = &log.links.records[child];
        let place = record.parent.and_then(|parent| log.place_of(Target::Record(parent)));
        let between = place.zip(above).is_some_and(|(place, above)| place > above);
        // A piece of the message before it.
        let continues = log.first_piece(child) != child;
        let mut keys = self.sides.iter().flat_map(|sides| [sides.flag, sides.name]);
        record.linked
            && !between
            && !continues
            && above.is_none_or(|above| {
                keys.all(|key| log.value(above).get(key).map(Value::raw) == log.value(child).get(key).map(Value::raw))
            })
    }
}
