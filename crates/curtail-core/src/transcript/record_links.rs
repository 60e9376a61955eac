//! The links between the records of a log, by numbers in place of names. They are read once, whatever is cut of the log; under which
//! keys they are, only the dialect knows.

use foldhash::HashMap;

/// The records of a log, in order, and what their links say.
#[derive(Debug, Default)]
pub(crate) struct RecordLinks {
    pub(crate) records: Vec<LinkedRecord>,
    /// Index of the record of each message, by the index of the message.
    pub(crate) of_message: Vec<usize>,
    /// The side conversation of the records with an id.
    pub(crate) sides: HashMap<Name, Side>,
    numbers: HashMap<Box<str>, Name>,
    names: Vec<Named>,
}

/// What has a name.
#[derive(Debug)]
struct Named {
    text: Box<str>,
    /// The indices of the records with this id, in order.
    records: Vec<usize>,
}

/// What a record links to.
#[derive(Debug)]
pub(crate) struct LinkedRecord {
    /// Its own id.
    pub(crate) id: Option<Name>,
    pub(crate) parent: Option<Name>,
    /// Whether it has a link to a parent, or to none.
    pub(crate) linked: bool,
    /// The end of the tree before, if this is the first record of a tree that names it.
    pub(crate) logical: Option<Name>,
    /// The record before it in the same tree, which it continues if its own links lead nowhere.
    pub(crate) previous: Option<Name>,
    /// Index of its slot.
    pub(crate) slot: usize,
    /// The side conversation that it belongs to, if any.
    pub(crate) side: Option<Side>,
    /// Index of the first record of its tree, if there are several.
    pub(crate) tree: Option<usize>,
}

/// A side conversation.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Side {
    /// Index of its first record.
    pub(crate) root: usize,
    /// Whether its records name it.
    pub(crate) named: bool,
}

/// The number of an id, or of what a link says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Name(u32);

impl RecordLinks {
    /// The number of `text`, which may be new.
    pub(crate) fn intern(&mut self, text: &str) -> Name {
        if let Some(name) = self.name_of(text) {
            return name;
        }
        // Each name takes a byte or more of a text whose places are 32 bits wide.
        let name = Name(u32::try_from(self.names.len()).unwrap_or(u32::MAX));
        self.names.push(Named { text: text.into(), records: Vec::new() });
        self.numbers.insert(text.into(), name);
        name
    }

    /// Adds the next record.
    pub(crate) fn push(&mut self, record: LinkedRecord) {
        if let Some(Name(id)) = record.id {
            self.names[id as usize].records.push(self.records.len());
        }
        self.records.push(record);
    }

    /// The name `text`, if a record has it or links to it.
    pub(crate) fn name_of(&self, text: &str) -> Option<Name> {
        self.numbers.get(text).copied()
    }

    /// The text of a name.
    pub(crate) fn text(&self, Name(name): Name) -> &str {
        &self.names[name as usize].text
    }

    /// Whether a record is called `name`, and none only links to it.
    pub(crate) fn has(&self, name: Name) -> bool {
        self.last_before(name, usize::MAX).is_some()
    }

    /// Whether a record has this id.
    pub(crate) fn is_id(&self, text: &str) -> bool {
        self.name_of(text).is_some_and(|name| self.has(name))
    }

    /// Index of the last record before `end` with this id.
    pub(crate) fn last_before(&self, Name(id): Name, end: usize) -> Option<usize> {
        let records = &self.names[id as usize].records;
        records[..records.partition_point(|at| *at < end)].last().copied()
    }

    /// The names that the record `at` may continue, in order: the first that a record has applies.
    pub(crate) fn links(&self, at: usize) -> impl Iterator<Item = Name> {
        let LinkedRecord { parent, logical, previous, tree, .. } = self.records[at];
        let further = [logical, previous].into_iter().filter(move |_| tree.is_some());
        [parent].into_iter().chain(further).flatten()
    }
}
