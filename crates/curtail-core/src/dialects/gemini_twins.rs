//! The program writes the results of a message twice: beside the calls, and as the line of the user that it sends. The line is
//! what a model reads; after a resume, the list of messages may hold it twice. A result that stands twice is one.

use std::borrow::Cow;

use foldhash::HashMap;

use super::Item;
use crate::json::Text;
use crate::transcript::{Part, PartOrigin};

/// Where a result was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct ReadAt {
    /// Index of its item.
    item: usize,
    part: usize,
}

/// Where results were read, by the id of the call.
#[derive(Default)]
struct Places<'a> {
    /// Beside their calls.
    beside: HashMap<Cow<'a, str>, ReadAt>,
    /// In lines of the user.
    in_lines: HashMap<Cow<'a, str>, ReadAt>,
    /// Those beside a call that a line of the user repeats.
    moved: Vec<ReadAt>,
}

/// Makes one of the results that stand twice.
pub(super) fn unite_results<'a>(read: &mut [Item<'a>]) {
    let mut places = Places::default();
    for at in 0..read.len() {
        let Item::Message(message) = &read[at] else { continue };
        let results = message.results().filter_map(|(nth, result)| Some((nth, result.id.clone()?.into_decoded())));
        let results: Vec<(usize, Cow<'a, str>)> = results.collect();
        let calls: Vec<Cow<'a, str>> =
            message.calls().filter_map(|(_, call)| Some(call.id.clone()?.into_decoded())).collect();
        for id in &calls {
            places.in_lines.remove(id);
            places.beside.remove(id);
        }
        if !calls.is_empty() {
            places.beside.extend(results.into_iter().map(|(part, id)| (id, ReadAt { item: at, part })));
        } else if !results.is_empty() {
            read_line(read, at, results, &mut places);
        }
    }
    // A line of the user has them.
    places.moved.sort_unstable();
    for place in places.moved.into_iter().rev() {
        if let Item::Message(message) = &mut read[place.item] {
            let beside = message.parts.remove(place.part);
            let call = place.part.checked_sub(1).map(|before| &mut message.parts[before].origin);
            if let (Some(PartOrigin::Source(call)), Some(record)) = (call, beside.place()) {
                call.further_mut().superseded = record.element.some("result").or(Some(record.element));
            }
        }
    }
}

/// Reads a line with results: the ones of an earlier line, or ones that stand beside their calls as well.
fn read_line<'a>(read: &mut [Item<'a>], at: usize, results: Vec<(usize, Cow<'a, str>)>, places: &mut Places<'a>) {
    let in_lines = &mut places.in_lines;
    let first = results.first().and_then(|(_, id)| in_lines.get(id)).map(|place| place.item);
    let only = matches!(&read[at], Item::Message(message) if message.parts.len() == results.len());
    let mut lines = results.iter().map(|(_, id)| in_lines.get(id).map(|place| place.item));
    if only && first.is_some() && lines.all(|line| line == first) {
        for (part, id) in &results {
            let Some(copy) = part_of(read, ReadAt { item: at, part: *part }) else { continue };
            if let Some(&place) = in_lines.get(id) {
                add_twin(read, place, &copy, true);
            }
        }
        read[at] = first.map_or(Item::Metadata, Item::With);
        return;
    }
    for (part, id) in results {
        let line = ReadAt { item: at, part };
        if let Some(place) = places.beside.remove(&id)
            && let Some(copy) = part_of(read, place)
        {
            add_twin(read, line, &copy, false);
            places.moved.push(place);
        }
        in_lines.insert(id, line);
    }
}

fn part_of<'a>(read: &[Item<'a>], place: ReadAt) -> Option<Part<'a>> {
    let Item::Message(message) = read.get(place.item)? else { return None };
    message.parts.get(place.part).cloned()
}

/// What a result says.
fn result_texts<'p>(part: &'p Part<'_>) -> Option<Vec<Cow<'p, str>>> {
    Some(part.content.result()?.content.iter().map(Text::decode).collect())
}

/// Makes `copy` change with the part at `place`, and go with it if `goes`. A copy that says something else stays as it is.
fn add_twin<'a>(read: &mut [Item<'a>], place: ReadAt, copy: &Part<'a>, goes: bool) {
    let Some(Item::Message(message)) = read.get_mut(place.item) else { return };
    let part = &mut message.parts[place.part];
    let same = result_texts(part) == result_texts(copy);
    if let (PartOrigin::Source(first), Some(other)) = (&mut part.origin, copy.place()) {
        first.further_mut().repeats.extend(other.rewrite.filter(|_| same));
        if goes {
            first.further_mut().copies_cut.push(other.element);
        }
    }
}
