//! What a pass writes into a text: edits of which none touches another. It knows no rule.

use std::collections::{BTreeMap, HashSet};

use crate::dialects::Patch;
use crate::json::{Document, Span, Value, removal, removal_of_roots};

/// The edits of one pass. An edit is applied as a whole: half of one could remove a text that the other half writes elsewhere.
#[derive(Default)]
pub(super) struct Edits<'a> {
    /// What is written, by the ends of the bytes that it replaces. None touches another.
    written: BTreeMap<(u32, u32), String>,
    /// The values that are removed, by their first bytes: those that are in no other one of them.
    removed: BTreeMap<u32, Value<'a>>,
}

impl<'a> Edits<'a> {
    pub(super) fn is_empty(&self) -> bool {
        self.written.is_empty() && self.removed.is_empty()
    }

    /// Adds an edit, unless another one touches the same bytes: it waits for the next pass.
    pub(super) fn add(&mut self, removed: &[Value<'a>], written: &[Patch]) {
        let is_apart = written.iter().all(|patch| self.has_room_for(patch))
            && removed.iter().all(|value| !self.writes_at(value.span_with_key()));
        if is_apart {
            self.written.extend(written.iter().map(|patch| (ends(patch.span), patch.text.clone())));
            removed.iter().for_each(|value| self.remove(*value));
        }
    }

    /// Whether nothing else happens where `patch` writes, or just this.
    fn has_room_for(&self, patch: &Patch) -> bool {
        let before = self.removed.range(..=patch.span.end).next_back();
        let is_removed = before.is_some_and(|(_, value)| value.span().end >= patch.span.start);
        let is_there = self.written.get(&ends(patch.span)) == Some(&patch.text);
        !is_removed && (is_there || !self.writes_at(patch.span))
    }

    /// Whether something is written in `span`, or beside it.
    fn writes_at(&self, span: Span) -> bool {
        let last = self.written.range(..=(span.end, u32::MAX)).next_back();
        last.is_some_and(|((_, end), _)| *end >= span.start)
    }

    /// Values are inside each other or apart.
    fn remove(&mut self, value: Value<'a>) {
        let Span { start, end } = value.span_with_key();
        let before = self.removed.range(..=start).next_back();
        if before.is_some_and(|(_, outer)| outer.span().end >= end) {
            return;
        }
        while let Some((&inner, _)) = self.removed.range(start..end).next() {
            self.removed.remove(&inner);
        }
        self.removed.insert(start, value);
    }

    /// The text of `document`, from which the values are, with the edits.
    pub(super) fn applied_to(self, document: &'a Document<'a>) -> String {
        let text = document.text();
        let mut patches: Vec<((u32, u32), String)> = self.written.into_iter().collect();
        let removed: HashSet<Value<'a>> = self.removed.into_values().collect();
        let holders: HashSet<Value<'a>> = removed.iter().filter_map(|value| value.parent()).collect();
        let is_root = removed.iter().any(|value| value.parent().is_none());
        let spans = holders.into_iter().flat_map(|holder| removal(holder, |value| removed.contains(&value)));
        let roots = is_root.then(|| removal_of_roots(document, |value| removed.contains(&value)));
        patches.extend(spans.chain(roots.into_iter().flatten()).map(|span| (ends(span), String::new())));
        patches.sort_by_key(|(ends, _)| *ends);
        let mut out = String::with_capacity(text.len());
        let mut at = 0;
        for ((start, end), written) in patches {
            out.push_str(text.get(at..start as usize).unwrap_or_default());
            out.push_str(&written);
            at = at.max(end as usize);
        }
        out.push_str(&text[at..]);
        out
    }
}

const fn ends(span: Span) -> (u32, u32) {
    (span.start, span.end)
}
