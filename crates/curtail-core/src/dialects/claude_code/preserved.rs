//! What a compaction preserves of the messages before it: those that it lists or, in older logs, a segment by its ends. The program
//! lets them stand behind another record, the anchor.

use std::borrow::Cow;
use std::ops::Deref;

use foldhash::{HashMap, HashMapExt as _};

use crate::json::{Text, Value};

/// Indices of the records that the compaction at `at` preserved, in order.
pub(super) fn kept_at<'a>(items: &[Value<'a>], at: usize, records: &impl Deref<Target = Records<'a>>) -> Vec<usize> {
    let listed = preserved(items[at], "preservedMessages").map_or_else(Vec::new, |kept| texts_of(kept, "uuids"));
    let found = match preserved(items[at], "preservedSegment") {
        Some(segment) if listed.is_empty() => segment_of(items, segment, records),
        _ => listed.iter().filter_map(|uuid| records.get(uuid)).flatten().copied().collect(),
    };
    let mut kept: Vec<usize> = found.into_iter().filter(|record| *record < at).collect();
    kept.sort_unstable();
    kept.dedup();
    kept
}

/// The records of a segment of which only the ends are named: each one is the parent of the next. None if the chain breaks off.
fn segment_of<'a>(items: &[Value<'a>], segment: Value<'a>, records: &Records<'a>) -> Vec<usize> {
    let [head, mut next] = segment.get_each(["headUuid", "tailUuid"]);
    let mut found = Vec::new();
    while let Some(places) = next.and_then(|uuid| records.get(&*uuid.text()?.decode())) {
        found.extend(places);
        if next.and_then(Value::text) == head.and_then(Value::text) {
            return found;
        }
        // A damaged log can link records in a circle.
        next = places.first().filter(|_| found.len() <= items.len()).and_then(|at| items[*at].get("parentUuid"));
    }
    Vec::new()
}

/// The record behind which what a compaction preserved stands from then on, and what can be named as the last of that.
pub(super) fn anchored(boundary: Value<'_>) -> Option<(Cow<'_, str>, Vec<Cow<'_, str>>)> {
    let kept = ["preservedMessages", "preservedSegment"].into_iter().filter_map(|key| preserved(boundary, key));
    let mut kept =
        kept.map(|kept| (kept.word("anchorUuid"), [texts_of(kept, "uuids"), texts_of(kept, "tailUuid")].concat()));
    kept.find(|(_, last)| !last.is_empty())
}

/// What a compaction says under `key` of what it preserved.
fn preserved<'a>(boundary: Value<'a>, key: &str) -> Option<Value<'a>> {
    boundary.get("compactMetadata")?.some(key)
}

/// The text or the texts under `key`.
fn texts_of<'a>(holder: Value<'a>, key: &str) -> Vec<Cow<'a, str>> {
    let text = holder.get(key);
    text.into_iter().chain(holder.items_under(key)).filter_map(Value::text).map(Text::into_decoded).collect()
}

/// Indices of the records with each id.
pub(super) type Records<'a> = HashMap<Cow<'a, str>, Vec<usize>>;

pub(super) fn records_by_uuid<'a>(items: &[Value<'a>]) -> Records<'a> {
    let mut records = Records::new();
    for (at, uuid) in items.iter().enumerate().filter_map(|(at, item)| Some((at, item.get_text("uuid")?))) {
        records.entry(uuid.into_decoded()).or_default().push(at);
    }
    records
}
