//! Condensations: boundaries that name the events that the model no longer reads, and that put a summary among those that
//! it still does; and what a cut changes of them.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::{Range, RangeInclusive};

use foldhash::{HashMap, HashSet};

use crate::dialects::index_runs::IndexRuns;
use crate::dialects::{Item, Patch, Written, blocks};
use crate::json::{Text, Value};
use crate::transcript::{Content, Layout, SlotKind, Standing};

/// The content of a condensation.
pub(super) struct Condensation<'a> {
    forgotten: HashSet<Cow<'a, str>>,
    /// Version 0 can name a range of numbers instead.
    range: Option<RangeInclusive<u64>>,
    summary: Option<Value<'a>>,
    /// How many events that the model still reads precede the summary.
    offset: Option<Value<'a>>,
}

impl<'a> Condensation<'a> {
    /// The condensation that `event` is; `None` for any other event, and for one that forgets nothing and has no summary.
    pub(super) fn from_event(event: Value<'a>) -> Option<Self> {
        let held = if event.member_is("kind", "Condensation") {
            event
        } else {
            event.get("args").filter(|_| event.member_is("action", "condensation"))?
        };
        let forgotten = held.items_under("forgotten_event_ids").map(id_of).map(Text::into_decoded).collect();
        let ends = ["forgotten_events_start_id", "forgotten_events_end_id"];
        let [start, end] = ends.map(|key| held.some(key).and_then(|number| number.raw().parse::<u64>().ok()));
        let summary = held.some("summary").filter(|summary| summary.text().is_some_and(|text| text.len_bound() > 0));
        let found = Self {
            forgotten,
            range: start.zip(end).map(|(start, end)| start..=end),
            summary,
            offset: held.some("summary_offset"),
        };
        (!found.forgotten.is_empty() || found.range.is_some() || summary.is_some()).then_some(found)
    }

    /// Whether it names an event with this id.
    fn forgets(&self, id: &str) -> bool {
        let range = self.range.as_ref();
        self.forgotten.contains(id) || range.is_some_and(|range| id.parse().is_ok_and(|number| range.contains(&number)))
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

/// The id under which a condensation names an event; a summary has one of its own.
fn name_of(event: Value<'_>) -> Option<Cow<'_, str>> {
    let id = id_of(event.get("id")?).into_decoded();
    Some(if Condensation::from_event(event).is_some() { summary_name(&id).into() } else { id })
}

/// The id under which a condensation names the summary of the one with this id.
fn summary_name(id: &str) -> String {
    format!("{id}-summary")
}

/// The events that the model still reads, condensation by condensation.
#[derive(Default)]
pub(super) struct StillRead<'a> {
    /// Indices of events by their names.
    places: HashMap<Cow<'a, str>, Vec<usize>>,
    /// The same for names that are numbers.
    numbers: BTreeMap<u64, Vec<usize>>,
    /// The number of events that were read.
    count: usize,
    /// The events among them that the model still reads.
    left: IndexRuns,
}

impl<'a> StillRead<'a> {
    /// Reads the events up to the next condensation.
    pub(super) fn advance(&mut self, before: &[Value<'a>]) {
        for (at, event) in before.iter().enumerate().skip(self.count) {
            self.left.toggle(at);
            let Some(name) = name_of(*event) else { continue };
            if let Ok(number) = name.parse() {
                self.numbers.entry(number).or_default().push(at);
            }
            self.places.entry(name).or_default().push(at);
        }
        self.count = self.count.max(before.len());
    }

    /// Forgets what `condensation` names.
    pub(super) fn forget(&mut self, condensation: &Condensation<'_>) {
        let named = condensation.forgotten.iter().filter_map(|name| self.places.get(name));
        let range = condensation.range.clone().filter(|range| !range.is_empty());
        let numbered = range.into_iter().flat_map(|range| self.numbers.range(range).map(|(_, places)| places));
        for at in named.chain(numbered).flatten().copied() {
            if self.left.has(at) {
                self.left.toggle(at);
            }
        }
    }

    /// The events that are left, as runs of their indices.
    pub(super) fn runs(&self) -> Vec<Range<usize>> {
        self.left.before(self.count).collect()
    }
}

/// Marks the messages before the last condensation that the model still reads, and those that it no longer reads.
pub(super) fn mark<'a>(items: &[Value<'a>], read: &mut [Item<'a>]) {
    let mut still_read = StillRead::default();
    let mut last = 0;
    for (at, item) in items.iter().enumerate() {
        if let Some(condensation) = Condensation::from_event(*item) {
            still_read.advance(&items[..at]);
            still_read.forget(&condensation);
            last = at;
        }
    }
    for (at, read) in read[..last].iter_mut().enumerate() {
        if let Item::Message(message) = read {
            let is_read = still_read.left.has(at);
            message.standing = if is_read { Standing::Preserved } else { Standing::Superseded };
        }
    }
}

// What a cut changes of a condensation: the place of its summary, and what it names.

/// Gives each draft that the model no longer reads the id of the event that it replaces: a condensation names that one, and
/// forgets no event without an id.
pub(super) fn forget_drafts(layout: &Layout<'_>, written: &mut [Written]) {
    for draft in written.iter_mut().filter(|draft| !draft.live) {
        let Some(place) = draft.place else { continue };
        let replaced = layout.elements.binary_search_by_key(&place, |event| event.span().start);
        if let Some(id) = replaced.ok().and_then(|at| layout.elements[at].get("id")) {
            draft.text = draft.text.replacen('{', &format!("{{\"id\":{},", id.raw()), 1);
        }
    }
}

/// An event that the model reads at some point of the log.
struct ReadEvent<'a> {
    id: Cow<'a, str>,
    stays: bool,
}

/// A condensation gives the position of its summary among the events that the model still reads. The number decreases with
/// each event before it that a cut drops.
pub(super) fn renumber(layout: &Layout<'_>, kept: &[bool]) -> Vec<Patch> {
    if !layout.has_references(|event| Condensation::from_event(event).is_some()) {
        return Vec::new();
    }
    let mut view: Vec<ReadEvent<'_>> = Vec::new();
    let mut patches = Vec::new();
    for (slot, event) in layout.slotted_elements() {
        let SlotKind::Message(index) = slot.kind else { continue };
        let id = event.get("id").map(|id| id_of(id).into_decoded()).unwrap_or_default();
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
        view.insert(at, ReadEvent { id: summary_name(&id).into(), stays: kept[index] });
    }
    patches
}
