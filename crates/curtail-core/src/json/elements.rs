//! Lists and objects as elements with commas between them: which bytes to remove with an element.

use std::collections::HashSet;

use super::Span;
use super::value::{Member, Value};

/// The members of every object in `value`, at every depth, whose key its object had before.
#[must_use]
pub fn repeated_members(value: Value<'_>) -> Vec<Member<'_>> {
    let mut repeated = Vec::new();
    let mut keys = Vec::new();
    for object in value.holders() {
        if !object.document.has_escaped_keys() && !may_repeat_by_ends(object) {
            continue;
        }
        keys.clear();
        keys.extend(object.written_members().map(|(key, _)| key));
        if object.document.has_escaped_keys() || may_repeat(&keys) {
            let mut seen = HashSet::new();
            repeated.extend(object.members().filter(|member| !seen.insert(member.key.decode().into_owned())));
        }
    }
    repeated
}

/// Whether two keys of an object are of the same length and begin and end alike, or seem so.
fn may_repeat_by_ends(object: Value<'_>) -> bool {
    let mut seen = 0_u128;
    object.written_members().any(|(key, _)| {
        let [first, last] = [key.first(), key.last()].map(|byte| byte.copied().map_or(0, usize::from));
        let bit = 1 << ((37 * key.len() + 5 * first + last) % 128);
        let is_seen = seen & bit != 0;
        seen |= bit;
        is_seen
    })
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
pub fn removal(holder: Value<'_>, gone: impl Fn(Value<'_>) -> bool) -> Vec<Span> {
    let elements = match holder.is_array() {
        true => holder.items().map(|item| (item.span(), gone(item))).collect(),
        false => members(holder, gone),
    };
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
pub(super) fn members(holder: Value<'_>, gone: impl Fn(Value<'_>) -> bool) -> Vec<(Span, bool)> {
    let mut keys = HashSet::new();
    let mut members: Vec<Member<'_>> = holder.members().collect();
    members.reverse();
    let is_gone = |member: Member<'_>| {
        let key = member.key.decode();
        let is_gone = gone(member.value) || keys.contains(&*key);
        if is_gone {
            keys.insert(key.into_owned());
        }
        (member.span, is_gone)
    };
    let mut members: Vec<(Span, bool)> = members.into_iter().map(is_gone).collect();
    members.reverse();
    members
}
