//! Branches, in logs of which a program resumes one path: the newest record, its parent, and so on up to the first.
//!
//! ```text
//! a <- b <- c <- d          c and d are a branch: the user went back to b
//!      b <- e <- f          f is the newest record; the program resumes with a, b, e, f
//! ```

use std::borrow::Cow;

use foldhash::HashMap;

use super::tree::Tree;
use super::{HistoryChange, Item};
use crate::json::{Text, Value};
use crate::transcript::Standing;

impl Tree {
    /// Marks the messages that are not on the path to the newest record. Records without a link, as damaged and older logs have
    /// them, are in no tree.
    pub(super) fn abandon<'a>(&self, items: &[Value<'a>], read: &mut [Item<'a>]) {
        let links = self.branch_links(items);
        let Some((newest, leaf)) = links.iter().enumerate().rev().find_map(|(at, link)| Some((at, (*link)?))) else {
            return;
        };
        let parents: Vec<Option<usize>> = links.iter().map(|link| link.and_then(|link| link.parent)).collect();
        let path = path(leaf.place, &parents);
        let left = links.iter().map(|link| link.is_some_and(|link| !path[link.place]));
        let mut last = None;
        let mut branches = false;
        // Indices of metadata of branches that is among the messages of the path.
        let mut strays = Vec::new();
        let mut in_branch = false;
        for (at, is_left) in left.enumerate() {
            match &mut read[at] {
                Item::Message(message) if is_left => {
                    message.roll_back(Standing::Abandoned);
                    (branches, in_branch) = (true, true);
                }
                Item::Message(_) => {
                    (last, in_branch) = (Some(at), false);
                    // Without a later message of the path, it would be the newest record.
                    strays.drain(..).for_each(|stray: usize| read[stray] = Item::With(at));
                }
                Item::Metadata if is_left && !in_branch => strays.push(at),
                _ => {}
            }
        }
        // A newest record that is no message belongs to the path, and not to a branch before it.
        if let (Some(last), true, Item::Metadata) = (last, branches, &read[newest]) {
            read[newest] = Item::With(last);
        }
    }

    /// The records that do not continue the one before them, each with the first item that a program no longer sends from there on:
    /// the one behind their parent.
    pub(super) fn rollbacks(&self, items: &[Value<'_>]) -> Vec<HistoryChange> {
        let mut last = None;
        let mut found = Vec::new();
        for (at, link) in self.branch_links(items).into_iter().enumerate() {
            let Some(link) = link.filter(|link| link.place == at) else { continue };
            if last.replace(at).is_some_and(|last| link.parent != Some(last)) {
                found.push(HistoryChange::rollback(at, link.parent.map_or(0, |parent| parent + 1)));
            }
        }
        found
    }

    /// The links of the records that name a parent, or none.
    fn branch_links<'a>(&self, items: &[Value<'a>]) -> Vec<Option<BranchLink>> {
        let ids = items.iter().map(|item| {
            let [id, parent] = item.get_each([self.id, self.parent]);
            Some((id?.text()?.into_decoded(), parent?.text().map(Text::into_decoded)))
        });
        let ids: Vec<Option<(Cow<'a, str>, Option<Cow<'a, str>>)>> = ids.collect();
        let mut places: HashMap<&str, usize> = HashMap::default();
        for (at, (id, _)) in ids.iter().enumerate().filter_map(|(at, ids)| Some((at, ids.as_ref()?))) {
            places.entry(id).or_insert(at);
        }
        let links = ids.iter().map(|ids| {
            let (id, parent) = ids.as_ref()?;
            let parent = parent.as_ref().and_then(|parent| places.get(&**parent));
            Some(BranchLink { place: *places.get(&**id)?, parent: parent.copied() })
        });
        links.collect()
    }
}

/// Where a record is in the tree.
#[derive(Clone, Copy)]
struct BranchLink {
    /// Index of the record, or of the first one with its id: a damaged log repeats records.
    place: usize,
    /// Index of its parent, if that is in the log.
    parent: Option<usize>,
}

/// Which records are on the path from the record `newest` up to the first one. `parents` are the indices of their parents.
pub(super) fn path(newest: usize, parents: &[Option<usize>]) -> Vec<bool> {
    let mut path = vec![false; parents.len()];
    let mut next = Some(newest);
    // A damaged log can link records in a circle.
    while let Some(at) = next.filter(|at| !path[*at]) {
        path[at] = true;
        next = parents[at];
    }
    path
}
