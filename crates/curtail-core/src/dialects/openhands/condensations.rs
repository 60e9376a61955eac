//! Condensations: boundaries that name the events that the model no longer reads, and that put a summary among those that
//! it still does.

use std::collections::{BTreeMap, HashSet};
use std::ops::{Range, RangeInclusive};

use crate::dialects::{Item, Patch, Written, blocks};
use crate::json::{Text, Value};
use crate::transcript::{Content, Layout, SlotKind, Standing};

/// The content of a condensation.
pub(super) struct Condensation<'a> {
    forgotten: HashSet<String>,
    /// Version 0 can name a range of numbers instead.
    range: Option<RangeInclusive<u64>>,
    summary: Option<Value<'a>>,
    /// How many events that the model still reads precede the summary.
    offset: Option<Value<'a>>,
}

impl<'a> Condensation<'a> {
    /// The condensation that `event` is; `None` for any other event, and for one that forgets nothing and has no summary.
    pub(super) fn from_event(event: Value<'a>) -> Option<Self> {
        let is = |key: &str, name: &str| event.get(key).is_some_and(|value| value.is(name));
        let held = if is("kind", "Condensation") {
            event
        } else if is("action", "condensation") {
            event.get("args")?
        } else {
            return None;
        };
        let forgotten = held.items_under("forgotten_event_ids").map(id_text).collect();
        let end = |key: &str| held.some(key).and_then(|number| number.raw().parse::<u64>().ok());
        let range = end("forgotten_events_start_id").zip(end("forgotten_events_end_id"));
        let summary = held.some("summary").filter(|summary| summary.text().is_some_and(|text| text.len_bound() > 0));
        let found = Self {
            forgotten,
            range: range.map(|(start, end)| start..=end),
            summary,
            offset: held.some("summary_offset"),
        };
        (!found.forgotten.is_empty() || found.range.is_some() || summary.is_some()).then_some(found)
    }

    fn forgets(&self, id: &str) -> bool {
        let in_range = |range: &RangeInclusive<u64>| id.parse().is_ok_and(|number| range.contains(&number));
        self.forgotten.contains(id) || self.range.as_ref().is_some_and(in_range)
    }

    /// The boundary, with its summary if there is one.
    pub(super) fn summary(&self, event: Value<'a>) -> Item<'a> {
        let mut message = blocks::notice(event, event.get_text("id"), blocks::plain_parts(self.summary));
        message.set_boundary();
        if message.parts.is_empty() {
            message.parts.push(blocks::whole(event, Content::Other));
        }
        Item::Message(message)
    }
}

/// The id of an event: a text, or a number in version 0.
pub(super) fn id_of(id: Value<'_>) -> Text<'_> {
    id.text().unwrap_or(Text::Json(id.raw()))
}

fn id_text(id: Value<'_>) -> String {
    id_of(id).into_decoded().into_owned()
}

/// The id under which a condensation names an event; a summary has one of its own.
fn name_of(event: Value<'_>) -> Option<String> {
    let id = event.get("id").map(id_text)?;
    Some(if Condensation::from_event(event).is_some() { summary_name(&id) } else { id })
}

fn summary_name(id: &str) -> String {
    format!("{id}-summary")
}

/// For each event before a condensation, whether the model no longer reads it, because this condensation or an earlier one
/// names it.
fn forgotten<'a>(before: &[Value<'a>], condensation: Condensation<'a>) -> Vec<bool> {
    let mut later = vec![condensation];
    let mut found: Vec<bool> = Vec::with_capacity(before.len());
    for &event in before.iter().rev() {
        let name = name_of(event);
        found.push(name.is_some_and(|name| later.iter().any(|condensation| condensation.forgets(&name))));
        later.extend(Condensation::from_event(event));
    }
    found.reverse();
    found
}

/// The events that the model still reads, condensation by condensation.
#[derive(Default)]
pub(super) struct StillRead {
    /// Indices of events by their names.
    places: BTreeMap<String, Vec<usize>>,
    /// The same for names that are numbers.
    numbers: BTreeMap<u64, Vec<usize>>,
    /// The number of events that were read.
    count: usize,
    /// The events among them that the model still reads, as runs of their indices.
    runs: BTreeMap<usize, usize>,
}

impl StillRead {
    /// Reads the events up to the next condensation.
    pub(super) fn advance(&mut self, before: &[Value<'_>]) {
        for (at, event) in before.iter().enumerate().skip(self.count) {
            let Some(name) = name_of(*event) else { continue };
            if let Ok(number) = name.parse() {
                self.numbers.entry(number).or_default().push(at);
            }
            self.places.entry(name).or_default().push(at);
        }
        if self.count < before.len() {
            self.runs.insert(self.count, before.len());
        }
        self.count = self.count.max(before.len());
    }

    /// Forgets what `condensation` names, and returns what is left.
    pub(super) fn forget(&mut self, condensation: &Condensation<'_>) -> Vec<Range<usize>> {
        let named = condensation.forgotten.iter().filter_map(|name| self.places.get(name));
        let range = condensation.range.clone().filter(|range| !range.is_empty());
        let numbered = range.into_iter().flat_map(|range| self.numbers.range(range).map(|(_, places)| places));
        let forgotten: Vec<usize> = named.chain(numbered).flatten().copied().collect();
        for at in forgotten {
            self.remove(at);
        }
        self.runs.iter().map(|(start, end)| *start..*end).collect()
    }

    fn remove(&mut self, at: usize) {
        let Some((&start, &end)) = self.runs.range(..=at).next_back().filter(|(_, end)| **end > at) else { return };
        self.runs.remove(&start);
        let parts = [start..at, at + 1..end];
        self.runs.extend(parts.into_iter().filter(|part| !part.is_empty()).map(|part| (part.start, part.end)));
    }
}

/// Marks the messages before the last condensation that the model still reads, and those that it no longer reads.
pub(super) fn mark<'a>(items: &[Value<'a>], read: &mut [Item<'a>]) {
    let last = items.iter().enumerate().rev().find_map(|(at, item)| Some((at, Condensation::from_event(*item)?)));
    let Some((last, condensation)) = last else { return };
    for (read, is_forgotten) in read.iter_mut().zip(forgotten(&items[..last], condensation)) {
        if let Item::Message(message) = read {
            message.standing = if is_forgotten { Standing::Superseded } else { Standing::Preserved };
        }
    }
}

/// Gives each draft that the model no longer reads the id of the event that it replaces: a condensation names that one, and
/// forgets no event without an id.
pub(super) fn forget_drafts(layout: &Layout<'_>, written: &mut [Written]) {
    for draft in written.iter_mut().filter(|draft| !draft.live) {
        let replaced = layout.elements.iter().find(|event| Some(event.span().start) == draft.place);
        if let Some(id) = replaced.and_then(|event| event.get("id")) {
            draft.text = draft.text.replacen('{', &format!("{{\"id\":{},", id.raw()), 1);
        }
    }
}

/// An event that the model reads at some point of the log.
struct ReadEvent {
    id: String,
    stays: bool,
}

/// A condensation gives the position of its summary among the events that the model still reads. The number decreases with
/// each event before it that a cut drops.
pub(super) fn renumber(layout: &Layout<'_>, kept: &[bool]) -> Vec<Patch> {
    let mut view: Vec<ReadEvent> = Vec::new();
    let mut patches = Vec::new();
    for (slot, event) in layout.slotted_elements() {
        let SlotKind::Message(index) = slot.kind else { continue };
        let id = event.get("id").map(id_text).unwrap_or_default();
        let Some(condensation) = Condensation::from_event(event) else {
            view.push(ReadEvent { id, stays: kept[index] });
            continue;
        };
        view.retain(|read| !condensation.forgets(&read.id));
        let Some(offset) = condensation.offset.filter(|_| condensation.summary.is_some()) else { continue };
        let Ok(before) = offset.raw().parse::<usize>() else { continue };
        let at = before.min(view.len());
        let gone = view[..at].iter().filter(|read| !read.stays).count();
        if gone > 0 {
            patches.push(Patch { span: offset.span(), text: (before - gone).to_string() });
        }
        view.insert(at, ReadEvent { id: summary_name(&id), stays: kept[index] });
    }
    patches
}
