//! Compactions and reverts. In version 1, a compaction is a message of the user with nothing but a mark, and a summary of the
//! assistant that names it as its parent: a model reads both in place of everything before them. In version 2, it is one record.

use std::borrow::Cow;
use std::ops::Range;

use foldhash::HashMap;

use super::opencode_messages::{ASKED, info, is_compaction, is_summary2};
use super::{Item, Patch, blocks};
use crate::json::{Text, Value, quote, removal};
use crate::transcript::{Content, Layout, Standing};

/// Whether an item is the summary of a compaction. One that failed or is not finished replaces nothing.
pub(super) fn is_summary(item: Value<'_>) -> bool {
    let Some(info) = item.get("info") else { return is_summary2(item) };
    let done = info.some("finish").is_some() && info.some("error").is_none();
    done && info.is_true("summary")
}

/// The part of an item that marks a compaction.
fn mark_of(item: Value<'_>) -> Option<Value<'_>> {
    item.get("info")?;
    item.get("parts")?.items().find(|part| is_compaction(*part))
}

/// Marks the compactions: the summary is the boundary, and its mark is kept or dropped with it.
pub(super) fn mark<'a>(items: &[Value<'a>], read: &mut [Item<'a>]) {
    let mut names = None;
    let mut last = None;
    for at in (0..items.len()).filter(|at| is_summary(items[*at])) {
        let names = names.get_or_insert_with(|| Names::new(items));
        let Some(asked) = asked_for(at, items, names).filter(|asked| is_live(&read[*asked])) else { continue };
        if let Item::Message(message) = &mut read[at]
            && message.standing == Standing::Live
        {
            message.set_boundary();
            message.attached.push(Text::Escaped(ASKED));
            read[asked] = Item::With(at);
            last = Some(kept_by(at, items, names));
        }
    }
    blocks::preserve(read, last.unwrap_or_default());
}

fn is_live(item: &Item<'_>) -> bool {
    matches!(item, Item::Message(message) if message.standing == Standing::Live)
}

/// Index of the mark of the compaction whose summary is the item `at`.
fn asked_for(at: usize, items: &[Value<'_>], names: &Names<'_>) -> Option<usize> {
    let asked = names.last(&info(items[at]).get_text("parentID")?, at)?;
    mark_of(items[asked]).map(|_| asked)
}

/// Indices of the items before the summary `at` that are read with it: its mark, and the messages from the one that the mark names.
/// All of them if there is none of that name.
pub(super) fn kept_by(at: usize, items: &[Value<'_>], names: &Names<'_>) -> Vec<Range<usize>> {
    let Some(asked) = asked_for(at, items, names) else { return Vec::new() };
    let from = match tail_start(items[asked]) {
        Some(id) => id.text().and_then(|id| names.last(&id, asked)).unwrap_or(0),
        None => asked,
    };
    std::iter::once(from..at).collect()
}

/// The indices of items by their ids, in order.
#[derive(Default)]
pub(super) struct Names<'a>(HashMap<Cow<'a, str>, Vec<usize>>);

impl<'a> Names<'a> {
    pub(super) fn new(items: &[Value<'a>]) -> Self {
        let mut names = Self::default();
        for (at, item) in items.iter().enumerate() {
            if let Some(id) = info(*item).get_text("id") {
                names.0.entry(id.into_decoded()).or_default().push(at);
            }
        }
        names
    }

    /// The last item before `end` with this id.
    fn last(&self, id: &Text<'_>, end: usize) -> Option<usize> {
        let places = self.0.get(&*id.decode())?;
        places[..places.partition_point(|at| *at < end)].last().copied()
    }
}

/// The id of the first message that a compaction kept word for word.
fn tail_start(item: Value<'_>) -> Option<Value<'_>> {
    mark_of(item)?.some("tail_start_id")
}

/// Marks the messages that a revert rolled back, from the one that it names. Without that message, it would roll back nothing,
/// so the others are kept or dropped with it.
pub(super) fn roll_back<'a>(revert: Value<'a>, items: &[Value<'a>], read: &mut [Item<'a>]) {
    let Some(id) = revert.get_text("messageID") else { return };
    let Some(first) = items.iter().rposition(|item| info(*item).get_text("id").as_ref() == Some(&id)) else { return };
    let undone = revert.some("partID").and_then(Value::text);
    let mut parts = items[first].items_under("parts");
    let from = parts.find(|part| undone.is_some() && part.get_text("id") == undone).map(|part| part.span().start);
    for (at, item) in read.iter_mut().enumerate().skip(first) {
        let Item::Message(message) = item else { continue };
        message.dropped_with = u32::try_from(first).ok().filter(|_| at > first);
        let Some(start) = from.filter(|_| at == first) else {
            message.roll_back(Standing::RolledBack);
            continue;
        };
        // The beginning of the message stands.
        for part in &mut message.parts {
            if part.place().is_some_and(|place| place.element.span().start >= start) {
                part.content = Content::Other;
            }
        }
    }
}

/// Makes every compaction name the first message that is written of those that it kept. If none is, it names none, because a
/// name without a message would bring back everything before it.
pub(super) fn relink(layout: &Layout<'_>, kept: &[bool]) -> Vec<Patch> {
    let items = &layout.elements;
    if !layout.has_references(|item| tail_start(item).is_some()) {
        return Vec::new();
    }
    let stays = layout.stays(kept);
    let names = Names::new(items);
    let mut patches = Vec::new();
    for at in (0..items.len()).filter(|at| stays[*at]) {
        let Some((mark, link)) = mark_of(items[at]).zip(tail_start(items[at])) else { continue };
        let first = link.text().and_then(|id| names.last(&id, at));
        let Some(first) = first.filter(|first| !stays[*first]) else { continue };
        let next = (first..at).find(|next| stays[*next]).and_then(|next| info(items[next]).get_text("id"));
        match next {
            Some(id) => patches.push(Patch { span: link.span(), text: quote(&id.decode()) }),
            None => patches.extend(
                removal(mark, |value| value == link).into_iter().map(|span| Patch { span, text: String::new() }),
            ),
        }
    }
    patches
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialects::dialect_named;
    use crate::json::Document;

    /// A question that was typed while the summary was written stands between the mark and the summary.
    #[test]
    fn a_compaction_has_its_mark_wherever_that_is() {
        let message = |id: &str, info: &str, part: &str| {
            format!(
                r#"{{"info":{{"id":"{id}",{info},"sessionID":"s"}},"parts":[{{"id":"p","messageID":"{id}",{part}}}]}}"#
            )
        };
        let user = r#""role":"user""#;
        let log = [
            message("m1", user, r#""type":"text","text":"Is the lamp lit?""#),
            message("m2", user, r#""type":"compaction""#),
            message("m3", user, r#""type":"text","text":"And the horn?""#),
            message(
                "m4",
                r#""role":"assistant","parentID":"m2","summary":true,"finish":"stop""#,
                r#""type":"text","text":"So far: nothing.""#,
            ),
        ];
        let log = format!("[{}]", log.join(","));
        let document = Document::parse(&log).unwrap();
        let items: Vec<Value<'_>> = document.roots().next().unwrap().items().collect();
        let read = dialect_named("opencode").unwrap().read_all(&items);
        assert!(matches!(&read[1], Item::With(3)));
        assert!(matches!(&read[2], Item::Message(message) if message.standing == Standing::Preserved));
        assert!(matches!(&read[3], Item::Message(message) if message.is_boundary()));
        assert_eq!(kept_by(3, &items, &Names::new(&items)), std::iter::once(1..3).collect::<Vec<_>>());
    }
}
