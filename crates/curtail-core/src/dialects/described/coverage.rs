//! What a description names that samples do not have: a path that leads nowhere in all of them is often a slip.

use super::paths::Path;
use super::read::all_hold;
use super::rules::{Group, KINDS, Kind, Rules, Speaker};
use crate::json::Value;
use crate::transcript::Role;

/// A message, with the item that it is in and its role.
struct Said<'a> {
    role: Role,
    item: Value<'a>,
    said: Value<'a>,
}

impl Rules {
    /// The paths of parts that lead nowhere in `items`, each with what it is for.
    pub(super) fn unmatched(&self, items: &[Value<'_>]) -> Vec<String> {
        let inner = items.iter().flat_map(|item| match self.inner_list(*item) {
            Some(list) => list.items().collect(),
            None => vec![*item],
        });
        let messages: Vec<Said<'_>> = inner.filter_map(|item| self.message_in(item)).collect();
        let whole = self.whole.iter().map(|kind| (None, kind));
        let grouped = self.groups.iter().flat_map(|group| group.kinds.iter().map(move |kind| (Some(group), kind)));
        whole.chain(grouped).flat_map(|(group, kind)| unmatched_of(group, kind, &messages)).collect()
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
    let name = KINDS.iter().find(|(_, is)| *is == kind.is).map_or("part", |(name, _)| *name);
    if places.is_empty() {
        let at = match group {
            None => String::from("a whole message"),
            Some(Group { list: Some(list), .. }) if kind.inner.is_here() => format!("`{list}[]`"),
            Some(Group { list: Some(list), .. }) => format!("`{list}[].{}`", kind.inner),
            Some(_) => format!("`{}`", kind.inner),
        };
        return vec![format!("no {name} at {at}")];
    }
    let found = |path: &Path| places.iter().any(|(value, said)| path.first(path.base(*value, *said)).is_some());
    let named = [
        ("text", &kind.text),
        ("id", &kind.id),
        ("name", &kind.name),
        ("arguments", &kind.arguments),
        ("result", &kind.result),
        ("signed", &kind.signed),
    ];
    let lost = named.into_iter().filter_map(|(key, path)| Some((key, path.as_ref()?))).filter(|(_, path)| !found(path));
    lost.map(|(key, path)| format!("no `{key}` of a {name} at `{path}`")).collect()
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
