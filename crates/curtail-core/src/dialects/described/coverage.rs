//! What a description names that samples do not have: a path that leads nowhere in all of them is often a slip. And the texts
//! beside the messages that it does not name.

use super::covered::Covered;
use super::paths::Path;
use super::rules::{Group, Is, KINDS, Kind, Rules, Speaker, all_hold};
use crate::dialects::accounting::span_of;
use crate::json::{Span, Value};
use crate::transcript::{Layout, Role};

/// A message, with the item that it is in and its role.
struct Said<'a> {
    role: Role,
    item: Value<'a>,
    said: Value<'a>,
}

/// The record around the messages of a transcript; `None` if there is none, or no message.
fn record_of<'a>(layout: &Layout<'a>) -> Option<Value<'a>> {
    let mut around = std::iter::successors(layout.elements.first()?.parent(), |value| value.parent());
    around.find(|value| value.is_object() && value.span() == layout.record)
}

impl Rules {
    /// The paths that lead nowhere in a transcript, each with what it is for.
    pub(super) fn unmatched(&self, layout: &Layout<'_>) -> Vec<String> {
        let items = &layout.elements;
        let inner = items.iter().flat_map(|item| match self.inner_list(*item) {
            Some(list) => list.items().collect(),
            None => vec![*item],
        });
        let inner: Vec<Value<'_>> = inner.collect();
        let messages: Vec<Said<'_>> = inner.iter().filter_map(|item| self.message_in(*item)).collect();
        let parts = self.placed_kinds().flat_map(|(group, kind)| unmatched_of(group, kind, &messages));
        self.unmatched_around(record_of(layout), &inner).into_iter().chain(parts).collect()
    }

    /// All kinds of parts, each with the list that it is in; `None` for whole messages.
    fn placed_kinds(&self) -> impl Iterator<Item = (Option<&Group>, &Kind)> {
        let whole = self.whole.iter().map(|kind| (None, kind));
        let grouped = self.groups.iter().flat_map(|group| group.kinds.iter().map(move |kind| (Some(group), kind)));
        whole.chain(grouped)
    }

    /// What is missing beside the messages, and beside what is said in them.
    fn unmatched_around(&self, record: Option<Value<'_>>, items: &[Value<'_>]) -> Vec<String> {
        let holds =
            |path: &Path| items.iter().any(|item| path.text(*item).is_some() || path.text(self.said(*item)).is_some());
        let lists = self.lists.iter().filter(|place| !record.is_some_and(|record| place.has_list(record)));
        let beside = self.preamble.iter().filter(|path| record.is_none_or(|record| path.all(record).is_empty()));
        let of_items =
            [("message", &self.message), ("model", &self.model), ("reply", &self.reply), ("order", &self.order)];
        let of_items = of_items.into_iter().filter_map(|(key, path)| Some((key, path.as_ref()?)));
        let mut missing: Vec<String> = lists.map(|place| format!("no `list` at `{place}`")).collect();
        missing.extend(beside.map(|path| format!("no `preamble` at `{path}`, beside the messages")));
        missing.extend(of_items.filter(|(_, path)| !holds(path)).map(|(key, path)| format!("no `{key}` at `{path}`")));
        missing
    }

    /// Whether an item has a mark of the description: a message, or what has a list of them.
    pub(super) fn marks_one(&self, layout: &Layout<'_>) -> bool {
        layout.elements.iter().any(|item| {
            let holder = item.parent().and_then(Value::parent).filter(|holder| self.inner_list(*holder).is_some());
            self.is_marked(*item) || holder.is_some_and(|holder| self.is_marked(holder))
        })
    }

    /// The values beside the messages with a text that is in no preamble and under no known key, each with its place in the record.
    pub(super) fn beside<'a>(&self, layout: &Layout<'a>) -> Vec<(String, Value<'a>)> {
        let Some(record) = record_of(layout) else { return Vec::new() };
        // A list without a message is in place of one.
        let lists = layout.elements.iter().filter_map(|item| self.inner_list(*item).or_else(|| item.parent()));
        let lists = lists.map(Value::span);
        let answers = layout.answers.branches.iter().flatten().copied().chain(layout.answers.mirrors.iter().copied());
        let named = self.preamble.iter().flat_map(|path| path.all(record)).chain(answers).map(Value::span);
        // The text of a string is inside its quotes.
        let read = layout.outside().filter_map(|text| span_of(layout.source, text));
        let read = read.map(|text| Span::new(text.start.saturating_sub(1), text.end + 1));
        let accounted: Covered = lists.chain(named).chain(read).collect();
        let strangers = self.strangers(record, &accounted).into_iter();
        strangers.map(|value| (value.pointer().split_off(record.pointer().len()), value)).collect()
    }

    /// Where the parts of a kind are, and what is in them: "a result is read at `say[].hears` with `id` at `ref`".
    pub(super) fn places_of(&self, wanted: Is) -> String {
        let places = self.placed_kinds().filter(|(_, kind)| kind.is == wanted).map(|(group, kind)| {
            let named = [("id", &kind.id), ("text", &kind.text)];
            let named = named.into_iter().filter_map(|(key, path)| Some(format!("`{key}` at `{}`", path.as_ref()?)));
            let named: Vec<String> = named.collect();
            let with = if named.is_empty() { "" } else { " with " };
            format!("a {} is read {}{with}{}", name_of(kind), place_of(group, kind), named.join(" and "))
        });
        places.collect::<Vec<_>>().join(", or ")
    }

    fn message_in<'a>(&self, item: Value<'a>) -> Option<Said<'a>> {
        let said = self.said(item);
        match self.speaker(item, said) {
            Ok(Speaker::Role(role)) => Some(Said { role, item, said }),
            _ => None,
        }
    }
}

/// What is missing of one kind of part in all messages: its place, or a path from there.
fn unmatched_of(group: Option<&Group>, kind: &Kind, messages: &[Said<'_>]) -> Vec<String> {
    let places: Vec<(Value<'_>, Value<'_>)> = messages
        .iter()
        .filter(|message| kind.is_of(message.role))
        .flat_map(|message| elements(group, kind, message).into_iter().map(|element| (element, message.said)))
        .collect();
    let name = name_of(kind);
    if places.is_empty() {
        return vec![format!("no {name} {}", place_of(group, kind))];
    }
    let named = [
        ("text", &kind.text),
        ("id", &kind.id),
        ("name", &kind.name),
        ("arguments", &kind.arguments),
        ("result", &kind.result),
        ("signed", &kind.signed),
    ];
    let named = named.into_iter().filter_map(|(key, path)| Some((key, path.as_ref()?)));
    let lost =
        named.filter(|(_, path)| !places.iter().any(|(value, said)| path.text(path.base(*value, *said)).is_some()));
    lost.map(|(key, path)| format!("no `{key}` of a {name} at `{path}`")).collect()
}

fn name_of(kind: &Kind) -> &'static str {
    KINDS.iter().find(|(_, is)| *is == kind.is).map_or("part", |(name, _)| *name)
}

/// Where a kind of part is, from its message.
fn place_of(group: Option<&Group>, kind: &Kind) -> String {
    match group {
        None => String::from("as a whole message"),
        Some(Group { list: Some(list), .. }) if kind.inner.is_here() => format!("at `{list}[]`"),
        Some(Group { list: Some(list), .. }) => format!("at `{list}[].{}`", kind.inner),
        Some(_) => format!("at `{}`", kind.inner),
    }
}

/// The values that a kind of part is at, where its conditions hold.
fn elements<'a>(group: Option<&Group>, kind: &Kind, message: &Said<'a>) -> Vec<Value<'a>> {
    let Said { item, said, .. } = *message;
    let holds = |value, outer| all_hold(&kind.when, value, Some(outer));
    let Some(group) = group else {
        return if holds(said, item) { vec![said] } else { Vec::new() };
    };
    let from = if group.of_item { item } else { said };
    let Some(list) = &group.list else {
        return kind.inner.first(from).filter(|_| holds(said, item)).into_iter().collect();
    };
    let lists = list.all(from).into_iter();
    // A string in place of a list is a text.
    let elements = lists.flat_map(|list| if list.is_array() { list.items().collect() } else { vec![list] });
    let fitting = elements.filter(|element| holds(*element, said));
    fitting.filter_map(|element| kind.inner.first(element)).collect()
}
