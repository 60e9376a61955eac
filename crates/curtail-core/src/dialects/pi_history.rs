//! The compactions of a log of pi: each names the first entry that it kept, by its id, or by its number in older logs.

use std::borrow::Cow;
use std::ops::Range;

use foldhash::HashMap;

use super::{Patch, Remaining};
use crate::json::{Text, Value};
use crate::transcript::Layout;

/// The entries before `compaction`, the entry `at`, that it kept: from the one that it names.
pub(super) fn kept_by(compaction: Value<'_>, at: usize, names: &Names<'_>) -> Vec<Range<usize>> {
    let named = compaction.get_text("firstKeptEntryId").and_then(|id| names.find(&id.decode(), at));
    let first = named.or_else(|| compaction.get("firstKeptEntryIndex")?.raw().parse().ok());
    let first = first.filter(|first| *first < at);
    first.map(|first| first..at).into_iter().collect()
}

/// Makes every compaction name the first entry that is written of those that it kept.
pub(super) fn relink(layout: &Layout<'_>, remaining: &Remaining<'_>) -> Vec<Patch> {
    if !layout.has_references(|entry| entry.has_any(["firstKeptEntryId", "firstKeptEntryIndex"])) {
        return Vec::new();
    }
    let stays = layout.stays(remaining.kept);
    let mut patches = rename(layout, &stays);
    patches.extend(renumber(layout, &stays, remaining));
    patches
}

/// The entries of a log by their ids.
#[derive(Default)]
pub(super) struct Names<'a> {
    /// Index of the first entry with each id.
    first: HashMap<Cow<'a, str>, usize>,
    /// The number of entries, before each entry and in all, that no id tells from the others: another has the id, or a message
    /// has none. Only damaged logs contain such entries.
    nameless: Vec<usize>,
}

impl<'a> Names<'a> {
    pub(super) fn new(entries: &[Value<'a>]) -> Self {
        let mut names = Self::default();
        let mut nameless = 0;
        for (at, entry) in entries.iter().enumerate() {
            names.nameless.push(nameless);
            let id = entry.get_text("id").map(Text::into_decoded);
            let named = id.map(|id| *names.first.entry(id).or_insert(at) == at);
            nameless += usize::from(!named.unwrap_or_else(|| !is_read(*entry)));
        }
        names.nameless.push(nameless);
        names
    }

    /// The entry `id`, if every entry from there to `end` has an id of its own. Otherwise, a link to another of them could not
    /// replace the link to this one once it is dropped.
    fn find(&self, id: &str, end: usize) -> Option<usize> {
        let first = self.first.get(id).copied().filter(|first| *first < end)?;
        (self.nameless[first] == self.nameless[end]).then_some(first)
    }
}

/// Whether an entry can be a message.
fn is_read(entry: Value<'_>) -> bool {
    matches!(&*entry.word("type"), "message" | "custom_message" | "branch_summary" | "compaction")
}

/// A compaction names the first entry that it kept: if that is dropped, the next one that is written.
fn rename(layout: &Layout<'_>, stays: &[bool]) -> Vec<Patch> {
    let links = layout.elements.iter().enumerate();
    let mut links = links.filter_map(|(at, entry)| Some((at, entry.get("firstKeptEntryId")?))).peekable();
    if links.peek().is_none() {
        return Vec::new();
    }
    let names = Names::new(&layout.elements);
    let mut next = vec![None; stays.len() + 1];
    for at in (0..stays.len()).rev() {
        let is_written = stays[at] && layout.elements[at].get_text("id").is_some();
        next[at] = if is_written { Some(at) } else { next[at + 1] };
    }
    let renamed = links.filter_map(|(at, link)| {
        let id = link.text()?.into_decoded();
        names.first.get(&id)?;
        let now = names.find(&id, at).and_then(|first| next[first]).filter(|now| *now < at);
        let now = now.and_then(|now| layout.elements[now].get("id"));
        let same = now.is_some_and(|now| now.text().is_some_and(|name| *name.decode() == *id));
        let text = now.map_or("null", Value::raw).to_owned();
        (!same).then(|| Patch { span: link.span(), text })
    });
    renamed.collect()
}

/// Older logs name the first entry that a compaction kept by its number. A draft right before that entry, or in its place, is
/// kept by the compaction, too.
fn renumber(layout: &Layout<'_>, stays: &[bool], remaining: &Remaining<'_>) -> Vec<Patch> {
    let numbers = layout.elements.iter().filter_map(|entry| entry.get("firstKeptEntryIndex"));
    let numbers: Vec<(Value<'_>, usize)> =
        numbers.filter_map(|number| Some((number, number.raw().parse().ok()?))).collect();
    if numbers.is_empty() {
        return Vec::new();
    }
    let mut drafts = remaining.elements_before(layout);
    drafts.sort_unstable();
    // How many entries stay before each one, and in all.
    let mut staying = vec![0];
    stays.iter().for_each(|stays| staying.push(staying[staying.len() - 1] + usize::from(*stays)));
    let moved = numbers.into_iter().filter_map(|(number, first)| {
        let entries = staying[first.min(stays.len())];
        let now = entries + drafts.partition_point(|behind| *behind < Some(first));
        (now != first).then(|| Patch { span: number.span(), text: now.to_string() })
    });
    moved.collect()
}
