//! The tree that records form: after a cut every link points to a record that stays, or to nothing.

use std::collections::HashMap;

use super::writing;
use crate::dialects::{Left, Patch};
use crate::json::{Value, quote};
use crate::transcript::{SlotKind, Transcript};

/// Re-parents records whose parent leaves to its nearest ancestor that stays, and puts what we wrote between its
/// neighbours.
pub(super) fn mend(transcript: &Transcript<'_>, left: &mut Left<'_>) -> Vec<Patch> {
    let tree = Tree::of(transcript, left.kept);
    let mut parents: HashMap<usize, Option<String>> = HashMap::new();
    let mut patches = Vec::new();
    for (at, record) in tree.records.iter().enumerate().filter(|(_, record)| record.stays) {
        if let Some(parent) = record.value.get_text("parentUuid").map(|parent| parent.decode().into_owned()) {
            parents.insert(at, tree.home(&parent));
        }
        for key in ["logicalParentUuid", "leafUuid"] {
            patches.extend(record.value.get(key).and_then(|link| tree.mend_inside(link)));
        }
    }
    link_written(&tree, left, &mut parents);
    for (at, parent) in parents {
        patches.extend(tree.records[at].value.get("parentUuid").and_then(|link| repointed(link, parent.as_deref())));
    }
    patches
}

/// What gives way so that `link` points to `target`.
fn repointed(link: Value<'_>, target: Option<&str>) -> Option<Patch> {
    let same = match target {
        Some(target) => link.is(target),
        None => link.raw() == "null",
    };
    (!same).then(|| Patch { span: link.span(), text: target.map_or_else(|| String::from("null"), quote) })
}

struct Record<'a> {
    value: Value<'a>,
    stays: bool,
}

/// All records of a log.
struct Tree<'a> {
    records: Vec<Record<'a>>,
    /// Which record a message is, by the message's index.
    of_message: HashMap<usize, usize>,
    /// The nearest record that stays, from a record upwards; nothing where none does.
    homes: HashMap<String, Option<String>>,
    /// Where the records stand that stay.
    places: HashMap<String, usize>,
}

impl<'a> Tree<'a> {
    fn of(transcript: &Transcript<'a>, kept: &[bool]) -> Self {
        let mut tree =
            Self { records: Vec::new(), of_message: HashMap::new(), homes: HashMap::new(), places: HashMap::new() };
        let slots = transcript.slots.iter().filter(|slot| !matches!(slot.what, SlotKind::Seam { .. }));
        for (slot, &value) in slots.zip(&transcript.elements) {
            let stays = match slot.what {
                SlotKind::Message(index) | SlotKind::With(index) => kept[index],
                SlotKind::Pinned | SlotKind::Seam { .. } => true,
            };
            if let SlotKind::Message(index) = slot.what {
                tree.of_message.insert(index, tree.records.len());
            }
            tree.add(Record { value, stays });
        }
        tree
    }

    /// Parents stand before their children, so that one pass finds all homes.
    fn add(&mut self, record: Record<'a>) {
        if let Some(uuid) = uuid(&record) {
            if record.stays {
                self.places.insert(uuid.clone(), self.records.len());
                self.homes.insert(uuid.clone(), Some(uuid));
            } else if !self.places.contains_key(&uuid) {
                let parent = record.value.get_text("parentUuid");
                let home = parent.and_then(|parent| self.homes.get(&*parent.decode()).cloned().flatten());
                self.homes.insert(uuid, home);
            }
        }
        self.records.push(record);
    }

    fn home(&self, uuid: &str) -> Option<String> {
        self.homes.get(uuid).cloned().flatten()
    }

    /// A link that may point out of the log: it changes only if it pointed to a record that leaves.
    fn mend_inside(&self, link: Value<'_>) -> Option<Patch> {
        let target = link.text()?.decode().into_owned();
        let home = self.homes.get(&target)?;
        repointed(link, home.as_deref())
    }

    /// Whether two records belong to one conversation.
    fn are_together(&self, one: usize, other: usize) -> bool {
        let side = |at: usize| {
            let agent = self.records[at].value.get_text("agentId").map(|id| id.decode().into_owned());
            (super::is_set(self.records[at].value, "isSidechain"), agent)
        };
        side(one) == side(other)
    }
}

fn uuid(record: &Record<'_>) -> Option<String> {
    record.value.get_text("uuid").map(|uuid| uuid.decode().into_owned())
}

/// What we wrote stands on the link between the record behind it and that one's parent, or else hangs on the record before
/// it.
fn link_written(tree: &Tree<'_>, left: &mut Left<'_>, parents: &mut HashMap<usize, Option<String>>) {
    let mut last: Option<(Option<usize>, String)> = None;
    for (nth, written) in left.written.iter_mut().enumerate() {
        let before = written.before.and_then(|index| tree.of_message.get(&index).copied());
        let after = written.after.and_then(|index| tree.of_message.get(&index).copied());
        let chained = last.take().filter(|(behind, _)| *behind == before).map(|(_, uuid)| uuid);
        let above = before.and_then(|child| parents.get(&child).cloned().flatten());
        let child = before.filter(|&child| (above.is_some() || after.is_none()) && is_child(tree, child, after));
        let parent = chained.or(above.filter(|_| child.is_some())).or_else(|| after.and_then(|after| uuid(&tree.records[after])));
        let own = writing::link(&mut written.text, parent.as_deref(), nth);
        if let Some(child) = child {
            parents.insert(child, Some(own.clone()));
        }
        last = Some((before, own));
    }
}

/// Whether the record can hang on something written between `after` and itself: it has a parent link, which does not lead
/// to a record that stands in between (a compaction boundary), and it continues the same conversation.
fn is_child(tree: &Tree<'_>, child: usize, after: Option<usize>) -> bool {
    let record = &tree.records[child];
    let place = record.value.get_text("parentUuid").and_then(|parent| tree.places.get(&*parent.decode()).copied());
    let between = place.zip(after).is_some_and(|(place, after)| place > after);
    let together = after.is_none_or(|after| tree.are_together(after, child));
    record.value.get("parentUuid").is_some() && !between && together
}
