//! A log of which some records are written, and how its records are found.

use std::cell::RefCell;

use foldhash::HashMap;

use super::keys::{Tree, repointed};
use super::line::{Line, Parents, Target};
use crate::dialects::{Patch, Written};
use crate::json::Value;
use crate::steps;
use crate::transcript::{Layout, Name, RecordLinks, SlotKind};

/// The records of a log that are written.
pub(super) struct Log<'l, 'a> {
    layout: &'l Layout<'a>,
    pub(super) links: &'l RecordLinks,
    /// Whether a program resumes from the newest record.
    path: bool,
    /// Their indices, in order.
    pub(super) kept: Vec<usize>,
    /// Index of the first of them that has an id.
    first: usize,
    /// Index of the first of them with each id: the pieces of a message can share one.
    places: HashMap<Name, usize>,
    /// Indices of the others with the same id, by the index of the first one.
    pub(super) pieces: HashMap<usize, Vec<usize>>,
    /// Indices of the messages with an id, in order, by the first record of their side conversation; `None` for the main one.
    said: HashMap<Option<usize>, Vec<usize>>,
    /// Index of the first of them in each side conversation, by the first record of that.
    pub(super) firsts: HashMap<usize, usize>,
    /// The homes of records that are not written, as far as they are known.
    homes: RefCell<Vec<Option<Home>>>,
}

/// The nearest kept record above one, if there is any.
#[derive(Clone, Copy)]
struct Home(Option<Name>);

impl<'l, 'a> Log<'l, 'a> {
    pub(super) fn new(keys: &Tree, layout: &'l Layout<'a>, kept: &[bool]) -> Self {
        let stays = layout.stays(kept);
        let mut log = Self {
            layout,
            links: keys.records(layout),
            path: keys.path,
            kept: (0..stays.len()).filter(|at| stays[*at]).collect(),
            first: usize::MAX,
            places: HashMap::default(),
            pieces: HashMap::default(),
            said: HashMap::default(),
            firsts: HashMap::default(),
            homes: RefCell::new(vec![None; stays.len()]),
        };
        for nth in 0..log.kept.len() {
            log.place(log.kept[nth]);
        }
        log
    }

    /// Notes where the record `at` is, which is written.
    fn place(&mut self, at: usize) {
        let record = &self.links.records[at];
        let Some(id) = record.id else { return };
        self.first = self.first.min(at);
        let root = record.side.map(|side| side.root);
        if let Some(root) = root {
            self.firsts.entry(root).or_insert(at);
        }
        let first = *self.places.entry(id).or_insert(at);
        if first < at {
            self.pieces.entry(first).or_default().push(at);
        }
        if let SlotKind::Message(_) = self.slot(at) {
            self.said.entry(root).or_default().push(at);
        }
    }

    pub(super) fn value(&self, at: usize) -> Value<'a> {
        self.layout.elements[at]
    }

    pub(super) fn slot(&self, at: usize) -> SlotKind {
        self.layout.slots[self.links.records[at].slot].kind
    }

    /// Index of the record of a message.
    pub(super) fn of_message(&self, index: Option<usize>) -> Option<usize> {
        self.links.of_message.get(index?).copied()
    }

    /// Index of the first kept record that `target` names. A draft is none.
    pub(super) fn place_of(&self, target: Target) -> Option<usize> {
        if let Target::Record(name) = target { self.places.get(&name).copied() } else { None }
    }

    /// Whether `target` is a record of the log, written or not.
    pub(super) fn is_record(&self, target: Target) -> bool {
        matches!(target, Target::Record(name) if self.links.has(name))
    }

    /// The id of `target`; `drafts` are those of the drafts.
    pub(super) fn id_of<'i>(&'i self, target: Target, drafts: &'i [String]) -> &'i str {
        match target {
            Target::Record(name) => self.links.text(name),
            Target::Draft(nth) => &drafts[nth],
        }
    }

    /// Index of the first kept record with the id of the record `at`.
    pub(super) fn first_piece(&self, at: usize) -> usize {
        self.links.records[at].id.and_then(|id| self.places.get(&id)).map_or(at, |&first| first)
    }

    /// Whether a parent is written before the record `behind`. A draft that is one is, and has no place.
    pub(super) fn is_before(&self, parent: Target, behind: usize) -> bool {
        self.place_of(parent).is_none_or(|place| place < behind)
    }

    /// Index of the record that begins at this byte of the source, or of the next one.
    pub(super) fn index_at(&self, start: u32) -> usize {
        self.layout.elements.partition_point(|value| value.span().start < start)
    }

    /// The side conversation of a draft, by the index of its first record; `None` for the main one.
    pub(super) fn side_of(&self, written: &Written, above: Option<usize>) -> Option<usize> {
        let anchor = written.place.map(|start| self.index_at(start)).or(above);
        self.links.records.get(anchor?)?.side.map(|side| side.root)
    }

    /// The kept records of a conversation that a program reads when it resumes: from the newest message, or the newest record,
    /// back through the parents. Behind the first record of a tree, that which it names as the end of the tree before goes on,
    /// or the newest message before it.
    pub(super) fn line(&self, side: Option<usize>, parents: &Parents) -> Line {
        let records = &self.links.records;
        let is_own = |at: usize| records[at].side.map(|side| side.root) == side;
        let said = self.said.get(&side).map_or(&[][..], Vec::as_slice);
        let newest = |end: usize| said[..said.partition_point(|&at| at < end)].last().copied();
        let path: &[usize] = if self.path { &self.kept } else { &[] };
        let leaf = path.iter().copied().rfind(|at| records[*at].id.is_some() && records[*at].linked);
        let mut line = Line::default();
        let mut next = leaf.or_else(|| newest(records.len()));
        while let Some(at) = next.map(|at| self.first_piece(at)) {
            steps::count(1);
            line.records.push(at);
            let record = &records[at];
            let parent = parents.get(&at).copied().unwrap_or(record.parent.map(Target::Record));
            let above = parent.and_then(|parent| self.place_of(parent)).filter(|above| *above < at && is_own(*above));
            next = above.or_else(|| {
                let logical = self.place_of(Target::Record(self.home_of(record.logical?)?));
                logical.filter(|above| *above < at && is_own(*above))
            });
            if next.is_none() {
                line.path = if line.path == 0 { line.records.len() } else { line.path };
                next = newest(at);
            }
        }
        line
    }

    /// The nearest kept record from the one called `name` upwards.
    pub(super) fn home_of(&self, name: Name) -> Option<Name> {
        self.home_before(name, usize::MAX)?.0
    }

    /// The same, as the records before `end` tell: parents precede their children. `None` if none of them has that name.
    fn home_before(&self, name: Name, end: usize) -> Option<Home> {
        let mut homes = self.homes.borrow_mut();
        let mut path = Vec::new();
        let mut next = Some((name, end));
        let home = loop {
            steps::count(1);
            let Some((name, end)) = next else { break Home(None) };
            if self.places.get(&name).is_some_and(|place| *place < end) {
                break Home(Some(name));
            }
            let at = self.links.last_before(name, end)?;
            // Parents precede their children: none of those above is written.
            if at <= self.first {
                break Home(None);
            }
            if let Some(home) = homes[at] {
                break home;
            }
            path.push(at);
            let mut links = self.links.links(at);
            next = links.find(|link| self.links.last_before(*link, at).is_some()).map(|link| (link, at));
        };
        for at in path {
            homes[at] = Some(home);
        }
        Some(home)
    }

    /// The nearest kept ancestor of the record that begins at this byte of the source.
    pub(super) fn home_at(&self, start: u32) -> Option<Name> {
        self.home_of(self.links.records.get(self.index_at(start))?.parent?)
    }

    /// Changes a link that may point outside the log only if it points to a dropped record: to the nearest kept ancestor of that,
    /// or else to `root`.
    pub(super) fn relink_inside(&self, link: Value<'_>, root: impl Fn() -> Option<Name>) -> Option<Patch> {
        let target = self.links.name_of(&link.text()?.decode())?;
        let home = self.home_before(target, usize::MAX)?;
        repointed(link, home.0.or_else(root).map(|name| self.links.text(name)))
    }
}
