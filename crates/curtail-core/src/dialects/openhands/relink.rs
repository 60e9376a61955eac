//! What a cut changes of a condensation: the place of its summary, and what it names.

use std::borrow::Cow;

use super::condensations::{Condensation, id_of, summary_name};
use crate::dialects::{Patch, Written};
use crate::transcript::{Layout, SlotKind};

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
