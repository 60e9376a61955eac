//! The tree that the records of some logs form: after a cut every link points to a record that stays, or to nothing.
//!
//! It knows the shape of such a tree; which keys make it is for the dialect to say.

use std::collections::{HashMap, HashSet};

use super::{Patch, Remaining};
use crate::digest::fnv1a_64;
use crate::json::{Value, quote};
use crate::transcript::{Draft, DraftPart, SlotKind, Transcript};

/// The keys that make records a tree.
pub(super) struct Tree {
    /// The record's own id.
    pub(super) own: &'static str,
    /// The id of the record before it.
    pub(super) parent: &'static str,
    /// Links of other kinds, which may also point out of the log.
    pub(super) others: &'static [&'static str],
    /// Whether a parent may stand outside the log: such a link stays as it is.
    pub(super) open: bool,
    /// Keys that tell the conversations inside one log apart.
    pub(super) sides: &'static [&'static str],
}

impl Tree {
    /// Re-parents records whose parent leaves to its nearest ancestor that stays, and puts what we wrote between its
    /// neighbours.
    pub(super) fn relink(&self, transcript: &Transcript<'_>, left: &mut Remaining<'_>) -> Vec<Patch> {
        let log = Log::of(self, transcript, left.kept);
        let mut parents: HashMap<usize, Option<String>> = HashMap::new();
        let mut patches = Vec::new();
        for (at, record) in log.records.iter().enumerate().filter(|(_, record)| record.stays) {
            if let Some(parent) = record.parent.clone().filter(|parent| !self.open || log.homes.contains_key(parent)) {
                parents.insert(at, log.homes.get(&parent).cloned().flatten());
            }
            let others = self.others.iter().filter_map(|key| record.value.get(key));
            patches.extend(others.filter_map(|link| log.mend_inside(link)));
        }
        self.link_written(&log, left, &mut parents);
        for (at, parent) in parents {
            let link = log.records[at].value.get(self.parent);
            patches.extend(link.and_then(|link| repointed(link, parent.as_deref())));
        }
        patches
    }

    /// What we wrote stands on the link between the record behind it and that one's parent, or else hangs on the record
    /// before it.
    fn link_written(&self, log: &Log<'_>, left: &mut Remaining<'_>, parents: &mut HashMap<usize, Option<String>>) {
        let mut last: Option<(Option<usize>, String)> = None;
        self.tell_apart(log, left);
        for written in &mut left.written {
            let before = written.before.and_then(|index| log.of_message.get(&index).copied());
            let after = written.after.and_then(|index| log.of_message.get(&index).copied());
            let chained = last.take().filter(|(behind, _)| *behind == before).map(|(_, own)| own);
            let above = before.and_then(|child| parents.get(&child).cloned().flatten());
            let hangs = above.is_some() || after.is_none();
            let child = before.filter(|&child| hangs && self.is_child(log, child, after));
            let above = above.filter(|_| child.is_some());
            let parent = chained.or(above).or_else(|| after.and_then(|after| log.records[after].own.clone()));
            let Some(own) = self.own(&written.text).map(str::to_owned) else { continue };
            let begun = self.head(None, &own).len();
            written.text = self.head(parent.as_deref(), &own) + &written.text[begun..];
            if let Some(child) = child {
                parents.insert(child, Some(own.clone()));
            }
            last = Some((before, own));
        }
    }

    /// Whether the record can hang on something written between `after` and itself: it has a parent link, which does not
    /// lead to a record that stands in between (a compaction boundary), and it continues the same conversation.
    fn is_child(&self, log: &Log<'_>, child: usize, after: Option<usize>) -> bool {
        let record = &log.records[child];
        let place = record.parent.as_ref().and_then(|parent| log.places.get(parent).copied());
        let between = place.zip(after).is_some_and(|(place, after)| place > after);
        let side = |at: usize, key: &str| log.records[at].value.get(key).map(Value::raw);
        let together = |after: usize| self.sides.iter().all(|key| side(after, key) == side(child, key));
        record.value.get(self.parent).is_some() && !between && after.is_none_or(together)
    }

    /// How a record begins that we write: a link that leads nowhere yet, and an id made of what it is and of the id of the
    /// record that it was written for. Its words do not count: they may be shortened before they are written.
    pub(super) fn begin(&self, draft: &Draft, anchor: Option<Value<'_>>) -> String {
        let anchor = anchor.and_then(|anchor| anchor.get_text(self.own));
        let parts = draft.parts.iter().map(|part| match part {
            DraftPart::Text(_) => "",
            DraftPart::ToolResult { id, .. } => id.as_deref().unwrap_or_default(),
            DraftPart::Verbatim(raw) => raw,
        });
        let what: Vec<&str> = std::iter::once(draft.role.name()).chain(parts).collect();
        let anchor = anchor.map_or_else(String::new, |anchor| anchor.decode().into_owned());
        self.head(None, &id(fingerprint(&what.join("\n"), &anchor), 0))
    }

    fn head(&self, parent: Option<&str>, own: &str) -> String {
        let parent = parent.map_or_else(|| String::from("null"), quote);
        format!("{{\"{}\":{parent},\"{}\":{}", self.parent, self.own, quote(own))
    }

    /// The id of a record that began with [`Tree::begin`]; nothing for a record that has no links.
    fn own<'t>(&self, text: &'t str) -> Option<&'t str> {
        let open = self.head(None, "");
        let rest = text.strip_prefix(&open[..open.len() - 1])?;
        rest.get(..id(0, 0).len())
    }

    /// Gives another id to what we wrote where one is taken. The last of several keeps it: a cut mostly takes the first.
    fn tell_apart(&self, log: &Log<'_>, left: &mut Remaining<'_>) {
        let mut taken: HashSet<String> = HashSet::new();
        for written in left.written.iter_mut().rev() {
            let Some(own) = self.own(&written.text).map(str::to_owned) else { continue };
            let seed = fingerprint(&written.text, "");
            let mut ids = std::iter::once(own.clone()).chain((1..).map(|nth| id(seed, nth)));
            let fresh = ids.find(|id| !taken.contains(id) && !log.homes.contains_key(id)).unwrap_or_default();
            let begun = self.head(None, &own).len();
            written.text = self.head(None, &fresh) + &written.text[begun..];
            taken.insert(fresh);
        }
    }
}

/// A digest of both texts: the same input gives the same record on every machine.
fn fingerprint(text: &str, anchor: &str) -> u64 {
    fnv1a_64(text.bytes().chain([0xff]).chain(anchor.bytes()))
}

/// A uuid of our own making (RFC 9562, version 8).
fn id(seed: u64, nth: usize) -> String {
    let (high, low) = (seed >> 32, seed & 0xffff_ffff);
    format!("{high:08x}-{:04x}-8{:03x}-8{:03x}-{:012x}", low >> 16, low & 0xfff, (low >> 4) & 0xfff, nth)
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
    own: Option<String>,
    parent: Option<String>,
    stays: bool,
}

/// All records of a log.
#[derive(Default)]
struct Log<'a> {
    records: Vec<Record<'a>>,
    /// Which record a message is, by the message's index.
    of_message: HashMap<usize, usize>,
    /// The nearest record that stays, from a record upwards; nothing where none does.
    homes: HashMap<String, Option<String>>,
    /// Where the records stand that stay.
    places: HashMap<String, usize>,
}

impl<'a> Log<'a> {
    fn of(keys: &Tree, transcript: &Transcript<'a>, kept: &[bool]) -> Self {
        let mut log = Self::default();
        let slots = transcript.slots.iter().filter(|slot| !matches!(slot.what, SlotKind::Frame { .. }));
        for (slot, &value) in slots.zip(&transcript.elements) {
            let stays = match slot.what {
                SlotKind::Message(index) | SlotKind::With(index) => kept[index],
                SlotKind::Pinned | SlotKind::Frame { .. } => true,
            };
            if let SlotKind::Message(index) = slot.what {
                log.of_message.insert(index, log.records.len());
            }
            let text = |key: &str| value.get_text(key).map(|text| text.decode().into_owned());
            log.add(Record { value, own: text(keys.own), parent: text(keys.parent), stays });
        }
        log
    }

    /// Parents stand before their children, so that one pass finds all homes.
    fn add(&mut self, record: Record<'a>) {
        if let Some(own) = record.own.clone() {
            if record.stays {
                self.places.insert(own.clone(), self.records.len());
                self.homes.insert(own.clone(), Some(own));
            } else if !self.places.contains_key(&own) {
                let parent = record.parent.as_ref();
                let home = parent.and_then(|parent| self.homes.get(parent).cloned().flatten());
                self.homes.insert(own, home);
            }
        }
        self.records.push(record);
    }

    /// A link that may point out of the log: it changes only if it pointed to a record that leaves.
    fn mend_inside(&self, link: Value<'_>) -> Option<Patch> {
        let target = link.text()?.decode().into_owned();
        let home = self.homes.get(&target)?;
        repointed(link, home.as_deref())
    }
}
