//! What became of the records of a recording: a later record of an id is the message's last state, `$set.messages` replaces
//! everything, and `$rewindTo` rolls back a message and all after it.

use std::borrow::Cow;

use foldhash::{HashMap, HashSet};

use super::gemini_records::is_header;
use super::{Item, Patch, blocks};
use crate::json::{Text, Value, quote};
use crate::transcript::{Content, Layout, Message, Standing};

/// What became of the records of a recording.
#[derive(Default)]
pub(super) struct History {
    /// Records of which a later one is the last state: the index of each, and of the last.
    pub(super) rewritten: Vec<(usize, usize)>,
    /// The events that roll something back.
    pub(super) rewinds: Vec<Rewind>,
    /// The newest list that replaces everything before it.
    boundary: Option<usize>,
}

/// An event that rolls back records.
pub(super) struct Rewind {
    /// Index of the event.
    pub(super) event: usize,
    /// Indices of the last records of what it rolls back, in order; may be empty.
    pub(super) records: Vec<usize>,
    /// Whether it reaches into the list that replaced everything before it.
    reaches_into_list: bool,
}

/// The last records of the messages and notices, in the order of the program.
#[derive(Default)]
struct Order<'a> {
    entries: Vec<(Cow<'a, str>, usize)>,
    /// The place of each id among them.
    places: HashMap<Cow<'a, str>, usize>,
}

impl<'a> Order<'a> {
    /// Puts the record at `at` in the place of the one before it of the same id, which it returns; a new id goes to the end.
    fn put(&mut self, id: Cow<'a, str>, at: usize) -> Option<usize> {
        if let Some(&place) = self.places.get(&id) {
            return Some(std::mem::replace(&mut self.entries[place].1, at));
        }
        self.places.insert(id.clone(), self.entries.len());
        self.entries.push((id, at));
        None
    }

    /// Takes the record of `id` and all after it away, or everything if there is none: whether there is one, and the records.
    fn take_from(&mut self, id: &str) -> (bool, Vec<usize>) {
        let place = self.places.get(id).copied();
        let taken = self.entries.split_off(place.unwrap_or(0));
        for (id, _) in &taken {
            self.places.remove(id);
        }
        (place.is_some(), taken.into_iter().map(|(_, at)| at).collect())
    }
}

impl History {
    /// Plays the records as the program does.
    pub(super) fn of(items: &[Value<'_>]) -> Self {
        let mut history = Self::default();
        let mut order = Order::default();
        for (at, item) in items.iter().enumerate() {
            if let Some(target) = target_of(*item) {
                let (is_found, records) = order.take_from(&target.decode());
                let reaches_into_list = !is_found && history.boundary.is_some();
                history.rewinds.push(Rewind { event: at, records, reaches_into_list });
            } else if list_of(*item).is_some() {
                order = Order::default();
                history.boundary = Some(at);
            } else if let Some(id) = id_of(*item) {
                if begins_list(*item) {
                    order = Order::default();
                }
                let before = order.put(id.into_decoded(), at);
                history.rewritten.extend(before.map(|before| (before, at)));
            }
        }
        history.name_last_records();
        history
    }

    /// Names the last record for each that was rewritten, in place of the next one.
    fn name_last_records(&mut self) {
        let mut last_of: HashMap<usize, usize> = HashMap::default();
        // The later ones first: what follows the next record is known by then.
        for (before, next) in self.rewritten.iter_mut().rev() {
            *next = last_of.get(next).copied().unwrap_or(*next);
            last_of.insert(*before, *next);
        }
    }
}

/// The messages of a `$set` line that replaces everything before it.
pub(super) fn list_of(item: Value<'_>) -> Option<Value<'_>> {
    let list = item.get("$set")?.get("messages").filter(|list| list.is_array())?;
    (is_header(item) && target_of(item).is_none()).then_some(list)
}

/// The id that a `$rewindTo` line names.
fn target_of(item: Value<'_>) -> Option<Text<'_>> {
    item.get("$rewindTo")?.text()
}

fn id_of(item: Value<'_>) -> Option<Text<'_>> {
    let [id, role, author] = item.get_each(["id", "role", "author"]);
    id?.text().filter(|_| role.is_none() && author.is_none() && item.get("type").is_some())
}

/// Whether `item` is the first element of the list of a `$set` line.
fn begins_list(item: Value<'_>) -> bool {
    line_around(item).is_some() && item.parent().and_then(|list| list.items().next()) == Some(item)
}

/// Reads a `$set` line with messages as a list of them.
pub(super) fn read_list(list: Value<'_>) -> Item<'_> {
    if list.items().next().is_none() { Item::Pinned } else { Item::Nested(list.items().collect()) }
}

/// A list that a later one replaced.
fn boundary(item: Value<'_>) -> Item<'_> {
    let mut message = blocks::notice(item, None, vec![blocks::whole(item, Content::Other)]);
    message.set_boundary();
    Item::Message(message)
}

/// The `$set` line of whose list `item` is an element.
fn line_around(item: Value<'_>) -> Option<Value<'_>> {
    item.parent()?.parent()?.parent().filter(|line| list_of(*line).is_some())
}

/// Marks what the program does not read any more.
pub(super) fn mark_records<'a>(items: &[Value<'a>], read: &mut [Item<'a>]) {
    if let Some(line) = items.first().and_then(|item| line_around(*item)) {
        let lines: Vec<Value<'a>> = line.roots_after().collect();
        let until = lines.iter().position(|line| list_of(*line).is_some()).unwrap_or(lines.len());
        let all: Vec<Value<'a>> = items.iter().chain(&lines[..until]).copied().collect();
        blocks::put_in_compaction(read);
        stand(&History::of(&all), read, true);
    } else {
        let history = History::of(items);
        stand(&history, read, false);
        if let Some(last) = history.boundary {
            replace(items, &mut read[..last]);
        }
    }
}

/// What stands before the newest list is superseded, earlier lists included.
fn replace<'a>(items: &[Value<'a>], read: &mut [Item<'a>]) {
    for (item, read) in items.iter().zip(read) {
        if list_of(*item).is_some() {
            *read = boundary(*item);
        }
        if let Item::Message(message) = read
            && message.standing == Standing::Live
        {
            message.standing = Standing::Superseded;
        }
    }
}

/// Marks the records that were rewritten or rolled back; `inner` if further lines follow those that were read.
fn stand(history: &History, read: &mut [Item<'_>], inner: bool) {
    for rewind in &history.rewinds {
        roll_back(rewind, read, inner);
    }
    for &(at, last) in &history.rewritten {
        if last < read.len() {
            read[at] = Item::With(last);
        } else if let Some(Item::Message(message)) = read.get_mut(at) {
            message.standing = Standing::Superseded;
        }
    }
}

/// What was rolled back is kept or dropped with the first of it, and so is the event: without its target, it would roll back
/// everything. An event that reaches into a list stays, and names another target if that one goes.
fn roll_back(rewind: &Rewind, read: &mut [Item<'_>], inner: bool) {
    let records: Vec<usize> = rewind.records.iter().copied().filter(|at| *at < read.len()).collect();
    let Some(&first) = records.iter().find(|at| matches!(read[**at], Item::Message(_))) else {
        if let (Some(event), true) = (read.get_mut(rewind.event), rewind.reaches_into_list) {
            *event = Item::Pinned;
        }
        return;
    };
    for at in records {
        if let Item::Message(message) = &mut read[at] {
            message.dropped_with = u32::try_from(first).ok().filter(|_| at > first && !rewind.reaches_into_list);
            message.roll_back(Standing::RolledBack);
        } else if at < first {
            read[at] = Item::With(first);
        }
    }
    if !inner {
        read[rewind.event] = if rewind.reaches_into_list { Item::Pinned } else { Item::With(first) };
    }
}

/// Gives every event another target that is written, if the one that it names is not: the first that was rolled back with it.
/// So does an event that named nothing and rolled back everything, if what it names is written. Where nothing of that is
/// written, nothing is to be rolled back.
pub(super) fn repoint_rewinds(layout: &Layout<'_>, kept: &[bool]) -> Vec<Patch> {
    let items = &layout.elements;
    if !layout.has_references(|item| target_of(item).is_some()) {
        return Vec::new();
    }
    let stays = layout.stays(kept);
    let kept = items.iter().zip(&stays).filter(|(_, stays)| **stays);
    let written: HashSet<Cow<'_, str>> = kept.filter_map(|(item, _)| Some(id_of(*item)?.into_decoded())).collect();
    let patches = History::of(items).rewinds.into_iter().filter_map(|Rewind { event, records, .. }| {
        let first = *records.first()?;
        let target = items[event].get("$rewindTo")?;
        let named = target.text()?;
        let is_first = id_of(items[first]).as_ref() == Some(&named);
        let holds = if is_first { stays[first] } else { !written.contains(&named.into_decoded()) };
        if holds || !stays[event] {
            return None;
        }
        let next = records.iter().find(|at| stays[**at]).and_then(|at| id_of(items[*at]));
        Some(match next {
            Some(id) => Patch { span: target.span(), text: quote(&id.decode()) },
            None => Patch { span: items[event].span(), text: String::from("{\"$set\":{}}") },
        })
    });
    patches.collect()
}

/// Whether the program wrote the message for the user: the context of the session.
pub(super) fn is_context(message: &Message<'_>) -> bool {
    blocks::first_text(message).is_some_and(|text| text.decode().trim_start().starts_with("<session_context>"))
}
