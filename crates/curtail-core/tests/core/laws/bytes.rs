//! Law 2: what is kept is kept byte for byte; a message that loses a part loses its bytes and one comma. No content is left as
//! an empty list.

use std::ops::Range;

use curtail_core::dialects::{Dialect, SizeFigures};
use curtail_core::json::{Document, Span, Value};
use curtail_core::transcript::{Message, Part, PartPlace, without_arguments};

/// Members that link a message to others, or count others: they change with its neighbors.
const LINKS: [&str; 11] = [
    "parentUuid",
    "parentId",
    "logicalParentUuid",
    "leafUuid",
    "firstKeptEntryId",
    "firstKeptEntryIndex",
    "summary_offset",
    "step_id",
    "compactedCount",
    "keptUserMessageCount",
    "keptHeadUserMessageCount",
];

/// A message: its bytes, with `null` for its links and 0 for figures that a cut can make wrong, and what a cut can remove or
/// rewrite.
#[derive(Debug, Clone)]
pub struct Written {
    pub text: String,
    /// Values that are removed with a part, and the lists and objects that are removed with their last element.
    removable: Vec<Range<usize>>,
    /// Bytes in a string that are removed with a part.
    pieces: Vec<Range<usize>>,
    /// Where the text of a result is, and the arguments of a call.
    contents: Vec<Range<usize>>,
    /// Lists of parts that are the content of something.
    part_lists: Vec<Range<usize>>,
}

impl Written {
    /// `message`, which may repeat results of `messages`.
    pub fn among(dialect: &dyn Dialect, message: &Message<'_>, messages: &[Message<'_>]) -> Option<Self> {
        let value = message.value()?;
        let mut open: Vec<(Range<usize>, &str)> = links_of(value).into_iter().map(|link| (link, "null")).collect();
        open.extend(figures_of(dialect, value).into_iter().map(|figure| (figure, "0")));
        open.sort_by_key(|(place, _)| place.start);
        let start = value.span().start as usize;
        let mut text = value.raw().to_owned();
        for (place, instead) in open.iter().rev() {
            text.replace_range(place.start - start..place.end - start, instead);
        }
        let moved = |at: usize| {
            let before = open.iter().filter(|(place, _)| place.end <= at);
            before.fold(at - start, |at, (place, instead)| at + instead.len() - place.len())
        };
        let range = |span: Span| moved(span.start as usize)..moved(span.end as usize);
        let places: Vec<&PartPlace<'_>> = message.parts.iter().filter_map(Part::place).collect();
        let removable = places.iter().filter(|place| place.piece.is_none()).flat_map(|place| removable(place));
        let results = message.parts.iter().filter(|part| part.content.result().is_some());
        let rewrites = results.filter_map(|part| part.place()?.rewrite);
        let places_of_all = messages.iter().flat_map(|message| &message.parts).filter_map(Part::place);
        let inside = |span: &Span| span.start >= value.span().start && span.end <= value.span().end;
        let repeats = places_of_all
            .filter_map(|place| place.further.as_ref())
            .flat_map(|further| &further.repeats)
            .filter(|twin| inside(&twin.span))
            .copied();
        let contents = places.iter().filter_map(|place| content_around(place)).map(Value::span);
        let arguments = message.parts.iter().filter_map(without_arguments).flatten().map(|one| range(one.span));
        let rewritten = rewrites.chain(repeats).map(|rewrite| range(rewrite.span)).chain(arguments);
        Some(Self {
            removable: removable.map(|value| range(value.span())).collect(),
            pieces: places.iter().filter_map(|place| place.piece).map(range).collect(),
            contents: rewritten.collect(),
            part_lists: contents.filter(inside).map(range).collect(),
            text,
        })
    }

    /// Whether this message can be what a cut left of `old`, with one of `rewritten` in place of some results.
    pub fn is_left_of(&self, old: &Self, rewritten: &[&str]) -> bool {
        if self.text == old.text {
            return true;
        }
        let [new, before] = [&self.text, &old.text].map(|text| Document::parse_log(text).ok());
        let (Some(new), Some(before)) = (new, before) else { return false };
        let roots = new.roots().next().zip(before.roots().next());
        roots.is_some_and(|(new, before)| old.leaves(before, new, rewritten))
    }

    fn leaves(&self, old: Value<'_>, new: Value<'_>, rewritten: &[&str]) -> bool {
        let place = old.span().start as usize..old.span().end as usize;
        if old.raw() == new.raw() {
            return true;
        }
        if self.contents.contains(&place) && rewritten.iter().any(|text| new.raw().contains(text)) {
            return true;
        }
        if old.text().is_some() {
            return self.leaves_pieces(old, new);
        }
        if old.is_array() != new.is_array() || old.is_object() != new.is_object() {
            return false;
        }
        let (before, after) = (Elements::of(old), Elements::of(new));
        if after.values.is_empty() && self.part_lists.contains(&place) {
            return false;
        }
        self.leaves_elements(&before, &after, rewritten)
    }

    /// The elements that are left are those before, in order and with the bytes between them; what is missing was removable.
    fn leaves_elements(&self, before: &Elements<'_>, after: &Elements<'_>, rewritten: &[&str]) -> bool {
        let mut next = 0;
        for (at, (key, value)) in before.values.iter().enumerate() {
            let kept = after.values.get(next).is_some_and(|(other, new)| {
                // The first element that is kept has what was before the first one, and others what was before them.
                let gap = if next == 0 { &before.gaps[0] } else { &before.gaps[at] };
                key == other && after.gaps[next] == *gap && self.leaves(*value, *new, rewritten)
            });
            if kept {
                next += 1;
                continue;
            }
            // A member goes with the last one under its key, in whose place it would count.
            let namesake = before.values[at + 1..].iter().rev().find(|(other, _)| !key.is_empty() && other == key);
            let is_left = namesake.is_some() && after.values.iter().any(|(other, _)| other == key);
            if is_left || !self.is_removable(namesake.map_or(*value, |(_, last)| *last)) {
                return false;
            }
        }
        let end = before.gaps.last().cloned().unwrap_or_default();
        // Without elements, the brackets are left.
        let emptied = after.values.is_empty() && !before.values.is_empty();
        let end = if emptied { before.gaps[0].clone() + &end } else { end };
        next == after.values.len() && after.gaps.last() == Some(&end)
    }

    fn is_removable(&self, value: Value<'_>) -> bool {
        self.removable.contains(&(value.span().start as usize..value.span().end as usize))
    }

    fn leaves_pieces(&self, old: Value<'_>, new: Value<'_>) -> bool {
        let start = old.span().start as usize;
        let end = old.span().end as usize;
        let inside = self.pieces.iter().filter(|piece| piece.start >= start && piece.end <= end);
        let mut pieces: Vec<_> = inside.map(|piece| piece.start - start..piece.end - start).collect();
        pieces.sort_by_key(|piece| piece.start);
        !pieces.is_empty() && left_without(old.raw(), &pieces, 0, new.raw())
    }
}

/// Whether `new` is `old` from `at` on without some of `pieces`.
fn left_without(old: &str, pieces: &[Range<usize>], at: usize, new: &str) -> bool {
    let Some((piece, rest)) = pieces.split_first() else { return &old[at..] == new };
    let Some(behind) = new.strip_prefix(&old[at..piece.start]) else { return false };
    left_without(old, rest, piece.end, behind)
        || behind.strip_prefix(&old[piece.clone()]).is_some_and(|kept| left_without(old, rest, piece.end, kept))
}

/// What is removed with the part at `place`: its element, the copies, and what is left empty without it.
fn removable<'a>(place: &PartPlace<'a>) -> Vec<Value<'a>> {
    let elements: Vec<Value<'a>> = std::iter::once(place.element).chain(place.copies.iter().copied()).collect();
    let shells: Vec<Value<'a>> = elements.iter().filter_map(|element| place.shell_of(*element)).collect();
    [elements, shells].concat()
}

/// The list around the part at `place`, if it is the content of something.
fn content_around<'a>(place: &PartPlace<'a>) -> Option<Value<'a>> {
    let list = place.element.parent().filter(|list| list.is_array())?;
    let holder = list.parent()?;
    ["content", "contents", "parts"].iter().any(|key| holder.get(key) == Some(list)).then_some(list)
}

/// The numbers that a program takes for the size of the conversation.
pub fn figures_of(dialect: &dyn Dialect, item: Value<'_>) -> Vec<Range<usize>> {
    match dialect.log().size_figures(item) {
        Some(SizeFigures::SoFar(numbers) | SizeFigures::Whole(numbers)) => {
            numbers.iter().map(|number| number.span().start as usize..number.span().end as usize).collect()
        }
        Some(SizeFigures::Item) | None => Vec::new(),
    }
}

fn links_of(message: Value<'_>) -> Vec<Range<usize>> {
    let holders = [Some(message), message.get("args")].into_iter().flatten();
    let members = holders.flat_map(|holder| holder.members().collect::<Vec<_>>());
    let links = members.filter(|member| LINKS.iter().any(|link| member.key.is(link)));
    let mut links: Vec<_> =
        links.map(|member| member.value.span().start as usize..member.value.span().end as usize).collect();
    links.sort_by_key(|link| link.start);
    links
}

/// The elements of a list or the members of an object, with the bytes around them.
struct Elements<'a> {
    /// Each with its key.
    values: Vec<(String, Value<'a>)>,
    /// The bytes before each, and those after the last.
    gaps: Vec<String>,
}

impl<'a> Elements<'a> {
    fn of(holder: Value<'a>) -> Self {
        let raw = holder.raw();
        let start = holder.span().start;
        let spans: Vec<(Span, String, Value<'a>)> = if holder.is_array() {
            holder.items().map(|item| (item.span(), String::new(), item)).collect()
        } else {
            let member = |member: curtail_core::json::Member<'a>| {
                let key = &raw[(member.span.start - start) as usize..(member.value.span().start - start) as usize];
                (member.span, key.to_owned(), member.value)
            };
            holder.members().map(member).collect()
        };
        let mut at = 0;
        let mut gaps = Vec::new();
        for (span, ..) in &spans {
            gaps.push(raw[at..(span.start - start) as usize].to_owned());
            at = (span.end - start) as usize;
        }
        gaps.push(raw[at..].to_owned());
        Self { values: spans.into_iter().map(|(_, key, value)| (key, value)).collect(), gaps }
    }
}
