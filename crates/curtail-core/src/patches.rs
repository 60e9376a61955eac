//! The patches of a message: what is cut out of it, and rewritten in it; and how bytes are copied with patches.

use std::ops::Range;

use foldhash::HashSet;

use crate::dialects::Patch;
use crate::json::{Span, Value, removal};
use crate::transcript::{Message, Part, PartOrigin, PartPlace};

/// Appends a range of `source` to `out`, with the patches in it, which are in the order of their places.
pub(crate) fn copy_patched(source: &str, range: Range<usize>, patches: &[Patch], out: &mut String) {
    let mut at = range.start;
    let first = patches.partition_point(|patch| (patch.span.start as usize) < range.start);
    for Patch { span, text } in patches[first..].iter().take_while(|patch| patch.span.end as usize <= range.end) {
        if span.start as usize >= at {
            out.push_str(&source[at..span.start as usize]);
            out.push_str(text);
            at = span.end as usize;
        }
    }
    out.push_str(&source[at..range.end]);
}

/// What is removed and written so that the text of the part at `place` is `text`; nothing, if it cannot be rewritten.
pub(crate) fn rewriting<'a>(place: &PartPlace<'a>, text: &str) -> (Vec<Value<'a>>, Vec<Patch>) {
    if place.rewrite.is_none() {
        return (Vec::new(), Vec::new());
    }
    let mut place = place.clone();
    place.rewrite(text);
    (outdated(&place).collect(), substituted(&place))
}

/// The patches for a part that was rewritten.
pub(super) fn rewrites(part: &Part<'_>) -> Vec<Patch> {
    let PartOrigin::Rewritten(place) = &part.origin else { return Vec::new() };
    substituted(place)
}

fn substituted(place: &PartPlace<'_>) -> Vec<Patch> {
    place.substitutions().iter().map(|one| Patch { span: one.span, text: one.json.clone() }).collect()
}

/// The copies of a rewritten part in which nothing was substituted: they still contain the old text, or the removed image.
fn outdated<'p, 'a>(place: &'p PartPlace<'a>) -> impl Iterator<Item = Value<'a>> + 'p {
    let copies = place.copies.iter().copied();
    copies.filter(|copy| !place.substitutions().iter().any(|one| is_within(one.span, copy.span())))
}

/// Whether a value is nothing but texts: a string, a block with one, or a list of these.
fn is_text(value: Value<'_>) -> bool {
    value.text().is_some() || value.get_text("text").is_some() || value.is_array() && value.items().all(is_text)
}

const fn is_within(inner: Span, outer: Span) -> bool {
    outer.start <= inner.start && inner.end <= outer.end
}

/// The patches that take `removed` out of a message, and the pieces of texts that were cut.
pub(super) fn cuts(message: &Message<'_>, removed: &Removed<'_>) -> Vec<Patch> {
    let mut seen: HashSet<Value<'_>> = HashSet::default();
    let holders = removed.order.iter().filter_map(|value| value.parent()).filter(|&holder| seen.insert(holder));
    let spans = holders.flat_map(|holder| removal(holder, |value| removed.set.contains(&value)));
    let pieces = message.cut.iter().filter_map(|part| part.place()?.piece);
    spans.chain(pieces).map(|span| Patch { span, text: String::new() }).collect()
}

/// The values that are removed from a message: of parts that were cut, the copies of what was rewritten, and the lists and objects
/// that this empties.
#[derive(Default)]
pub(super) struct Removed<'a> {
    order: Vec<Value<'a>>,
    set: HashSet<Value<'a>>,
}

impl<'a> Removed<'a> {
    pub(super) fn from_message(message: &Message<'a>) -> Self {
        let mut removed = Self::default();
        removed.add_cut_parts(message);
        removed.add_outdated_copies(message);
        removed.add_emptied_shells(message);
        removed
    }

    fn add_cut_parts(&mut self, message: &Message<'a>) {
        for place in message.cut.iter().filter_map(Part::place).filter(|place| place.piece.is_none()) {
            self.add(place.element);
            let others = place.further.iter().flat_map(|further| &further.copies_cut);
            for &copy in place.copies.iter().chain(others) {
                self.add(copy);
            }
        }
    }

    fn add_outdated_copies(&mut self, message: &Message<'a>) {
        for part in &message.parts {
            let PartOrigin::Rewritten(place) = &part.origin else { continue };
            // Beside a replaced medium of a result, a text says something else.
            let has_texts =
                part.content.result().is_some() && place.substitutions().iter().all(|one| !one.text.is_empty());
            outdated(place).filter(|copy| !(has_texts && is_text(*copy))).for_each(|copy| self.add(copy));
        }
    }

    fn add_emptied_shells(&mut self, message: &Message<'a>) {
        let mut asked: HashSet<Value<'_>> = HashSet::default();
        for place in message.cut.iter().filter_map(Part::place).filter(|place| place.shell) {
            for &element in std::iter::once(&place.element).chain(&place.copies) {
                let list = element.parent().filter(|&list| asked.insert(list));
                if list.is_some_and(|list| self.holds_all_of(list)) {
                    place.shell_of(element).into_iter().for_each(|shell| self.add(shell));
                }
            }
        }
    }

    fn add(&mut self, value: Value<'a>) {
        if self.set.insert(value) {
            self.order.push(value);
        }
    }

    fn holds_all_of(&self, shell: Value<'_>) -> bool {
        shell.items().all(|item| self.set.contains(&item))
            && shell.members().all(|member| self.set.contains(&member.value))
    }

    /// Whether an element stays in the list that `patch` begins.
    pub(super) fn is_followed(&self, message: &Message<'_>, patch: &Patch) -> bool {
        let elements = message.cut.iter().chain(&message.parts).filter_map(Part::place).map(|place| place.element);
        let mut lists = elements.filter_map(Value::parent).filter(|holder| holder.is_array());
        let list = lists.find(|list| list.span().start + 1 == patch.span.start);
        list.is_none_or(|list| list.items().any(|item| !self.set.contains(&item)))
    }

    /// Takes out the object with this span, if there is one: it is replaced and not removed.
    pub(super) fn take_object(&mut self, span: Span) -> Option<Value<'a>> {
        let at = self.order.iter().position(|value| value.span() == span && value.is_object())?;
        self.set.remove(&self.order[at]);
        Some(self.order.remove(at))
    }
}
