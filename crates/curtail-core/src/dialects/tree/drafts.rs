//! The ids of drafts, and their records up to the links.

use std::borrow::Cow;
use std::collections::HashSet;

use foldhash::{HashMap, HashMapExt as _};

use super::keys::Tree;
use crate::dialects::Remaining;
use crate::digest::fnv1a_64;
use crate::json::{ObjectWriter, Text, Value, or_null};
use crate::transcript::{Draft, DraftId, DraftPart, Layout, Links};

impl Tree {
    /// The beginning of a record for `draft`, up to its links.
    pub(in crate::dialects) fn begin(&self, draft: &Draft, anchor: Option<Value<'_>>) -> ObjectWriter {
        let Links { id, parent } = draft.links.clone().unwrap_or_else(|| self.links(draft, anchor));
        ObjectWriter::new().member(self.parent, &or_null(parent.as_deref())).member(self.id, &id.to_string())
    }

    /// The links of `draft` before it has neighbors: no parent.
    pub(in crate::dialects) fn links(&self, draft: &Draft, anchor: Option<Value<'_>>) -> Links {
        first_links(self.id, draft, anchor)
    }

    /// Sets the ids of the drafts that have none.
    pub(in crate::dialects) fn name_drafts(&self, layout: &Layout<'_>, remaining: &mut Remaining<'_>) {
        let links = self.records(layout);
        make_ids_unique(remaining, |id| links.is_id(id));
    }
}

/// No parent, and an id derived from the role, the parts and the id of `anchor`, which its record has under `key`. The
/// text is not part of the id, because it may be shortened before it is written.
pub(in crate::dialects) fn first_links(key: &str, draft: &Draft, anchor: Option<Value<'_>>) -> Links {
    let origin: Vec<&str> = std::iter::once(draft.role.name()).chain(part_names(draft)).collect();
    let beside = draft.beside.map(|id| id.to_string());
    let anchor = beside.or_else(|| Some(anchor?.word(key).into_owned())).unwrap_or_default();
    Links { id: id(fingerprint(&origin.join("\n"), &anchor), 0), parent: None }
}

/// What tells the parts of a draft from those of another: not their texts, because these may be shortened before they are written.
pub(in crate::dialects) fn part_names(draft: &Draft) -> impl Iterator<Item = &str> {
    draft.parts.iter().map(|part| match part {
        DraftPart::Text(_) => "",
        DraftPart::ToolResult(result) => result.call_id(),
        DraftPart::Verbatim(raw) => raw,
    })
}

/// Gives drafts of records that have ids, which `id_of` finds, but no parents, different ones.
pub(in crate::dialects) fn name_records<'a>(
    id_of: impl Fn(Value<'a>) -> Option<Text<'a>>,
    layout: &Layout<'a>,
    remaining: &mut Remaining<'_>,
) {
    if remaining.written.is_empty() {
        return;
    }
    let read = layout.elements.iter().filter_map(|item| id_of(*item));
    let known: HashSet<Cow<'_, str>> = read.map(Text::into_decoded).collect();
    make_ids_unique(remaining, |id| known.contains(id));
}

/// Gives drafts with the same id different ones. The last draft keeps its id, because later cuts drop the first ones. What an
/// earlier stage named keeps its name.
pub(super) fn make_ids_unique(remaining: &mut Remaining<'_>, is_known: impl Fn(&str) -> bool) {
    let mut taken: HashSet<DraftId> = remaining.written.iter().filter_map(|written| written.id).collect();
    // For each digest: the first number that may be free.
    let mut free: HashMap<u64, u32> = HashMap::new();
    for written in remaining.written.iter_mut().rev() {
        let Some(links) = &mut written.draft.links else { continue };
        let seed = fingerprint(&written.text, "");
        let from = free.entry(seed).or_insert(1);
        let numbered = std::iter::repeat_with(|| id(seed, std::mem::replace(from, *from + 1)));
        let ids = std::iter::once(links.id).chain(numbered);
        let mut free = ids.filter(|id| !taken.contains(id) && !is_known(&id.to_string()));
        let Some(id) = written.id.or_else(|| free.next()) else { continue };
        links.id = id;
        written.id = Some(id);
        taken.insert(id);
    }
}

/// A digest of both texts: the same input gives the same record on every machine.
fn fingerprint(text: &str, anchor: &str) -> u64 {
    fnv1a_64(text.bytes().chain([0xff]).chain(anchor.bytes()))
}

/// A UUID of version 8 (RFC 9562).
fn id(seed: u64, nth: u32) -> DraftId {
    let seed = u128::from(seed);
    let version = 8 << 12 | seed & 0xfff;
    let variant = 8 << 12 | seed >> 4 & 0xfff;
    DraftId::new((seed >> 16) << 80 | version << 64 | variant << 48 | u128::from(nth))
}
