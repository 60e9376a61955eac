//! Lists and objects as elements with commas between them: which bytes to remove with an element.

use std::collections::HashSet;

use super::value::{Member, Value};
use super::{Document, Span};

/// The members of every object in `value`, at every depth, whose key its object had before.
#[must_use]
pub fn repeated_members(value: Value<'_>) -> Vec<Member<'_>> {
    let mut repeated = Vec::new();
    let mut keys = Vec::new();
    for object in value.holders() {
        keys.clear();
        keys.extend(object.written_members().map(|(key, _)| key));
        if object.document.has_escaped_keys() || may_repeat(&keys) {
            repeated.extend(own_repeated_members(object));
        }
    }
    repeated
}

/// As [`repeated_members`], of `object` alone and of no object in it.
pub(crate) fn own_repeated_members(object: Value<'_>) -> impl Iterator<Item = Member<'_>> {
    let mut seen = HashSet::new();
    object.members().filter(move |member| !seen.insert(member.key.decode().into_owned()))
}

/// Whether two keys without escapes may be equal. Up to a few dozen keys, comparing each with each is faster than a set,
/// because most differ in length.
fn may_repeat(keys: &[&[u8]]) -> bool {
    keys.len() > 48 || (1..keys.len()).any(|nth| keys[..nth].contains(&keys[nth]))
}

/// The spans to remove from `holder` so that it no longer contains the elements for which `gone` returns true. With a
/// member, the earlier ones with its key are removed, which would otherwise apply in its place.
///
/// A kept element keeps the separator before it; the first kept element has none. Removing `2` and `4`:
///
/// ```text
/// [1, 2, 3, 4]   removes `, 2` and `, 4`:   [1, 3]
/// [1, 2, 3]      without `1`, removes `1, `: [2, 3]
/// ```
pub fn removal<'a>(holder: Value<'a>, gone: impl Fn(Value<'a>) -> bool) -> Vec<Span> {
    match holder.is_array() {
        true => removal_of(holder.items(), gone),
        false => without(&members(holder, gone)),
    }
}

/// As [`removal`], of the values at the top level of a text, such as its lines.
pub(crate) fn removal_of_roots<'a>(document: &'a Document<'a>, gone: impl Fn(Value<'a>) -> bool) -> Vec<Span> {
    removal_of(document.roots(), gone)
}

fn removal_of<'a>(values: impl Iterator<Item = Value<'a>>, gone: impl Fn(Value<'a>) -> bool) -> Vec<Span> {
    without(&values.map(|value| (value.span(), gone(value))).collect::<Vec<_>>())
}

/// The spans to remove from elements, each with whether it is removed.
fn without(elements: &[(Span, bool)]) -> Vec<Span> {
    let first_kept = elements.iter().position(|(_, gone)| !gone);
    let Some(first_kept) = first_kept else {
        let ends = elements.first().zip(elements.last());
        return ends.map(|((first, _), (last, _))| Span::new(first.start, last.end)).into_iter().collect();
    };
    let mut spans = Vec::new();
    if first_kept > 0 {
        spans.push(Span::new(elements[0].0.start, elements[first_kept].0.start));
    }
    for pair in elements[first_kept..].windows(2) {
        if pair[1].1 {
            spans.push(Span::new(pair[0].0.end, pair[1].0.end));
        }
    }
    spans
}

/// The members of `holder`, and whether each is removed.
fn members<'a>(holder: Value<'a>, gone: impl Fn(Value<'a>) -> bool) -> Vec<(Span, bool)> {
    let mut keys = HashSet::new();
    let members: Vec<Member<'a>> = holder.members().collect();
    let mut spans = Vec::with_capacity(members.len());
    for member in members.iter().rev() {
        let key = member.key.decode();
        let is_gone = gone(member.value) || keys.contains(&key);
        if is_gone {
            keys.insert(key);
        }
        spans.push((member.span, is_gone));
    }
    spans.reverse();
    spans
}
