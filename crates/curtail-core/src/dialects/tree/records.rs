//! Reads the links of a log: once, however often parts of it are written.

use std::borrow::Cow;

use foldhash::HashMap;

use super::keys::{Sides, Tree};
use crate::json::{Text, Value};
use crate::transcript::{Layout, LinkedRecord, Name, RecordLinks, Side, SlotKind};

impl Tree {
    /// The links of the records of `layout`.
    pub(super) fn records<'l>(&self, layout: &'l Layout<'_>) -> &'l RecordLinks {
        layout.links.get_or_init(|| {
            let mut reader = LinkReader { keys: self, links: RecordLinks::default(), named: HashMap::default() };
            reader.read(layout);
            reader.links
        })
    }
}

struct LinkReader<'k, 'a> {
    keys: &'k Tree,
    links: RecordLinks,
    /// Index of the first record of each side conversation, by its name.
    named: HashMap<Cow<'a, str>, usize>,
}

impl<'a> LinkReader<'_, 'a> {
    fn read(&mut self, layout: &Layout<'a>) {
        let trees = self.keys.trees.map(|trees_of| trees_of(&layout.elements)).unwrap_or_default();
        // The id of the last record of each tree, by its first record.
        let mut ends: HashMap<usize, Name> = HashMap::default();
        let slots = layout.slots.iter().enumerate().filter(|(_, slot)| !matches!(slot.kind, SlotKind::Frame { .. }));
        for ((slot, of_slot), &value) in slots.zip(&layout.elements) {
            let at = self.links.records.len();
            if let SlotKind::Message(_) = of_slot.kind {
                self.links.of_message.push(at);
            }
            let id = self.name(value, self.keys.id);
            let parent = self.name(value, self.keys.parent);
            let logical = self.keys.others.first().filter(|_| parent.is_none()).and_then(|key| self.name(value, key));
            let side = self.keys.sides.as_ref().and_then(|keys| self.side(value, [id, parent], keys));
            let tree = trees.get(at).copied().flatten();
            let previous = tree.and_then(|tree| ends.get(&tree).copied());
            if let (Some(id), Some(side)) = (id, side) {
                let known = self.links.sides.entry(id).or_insert(side);
                *known = if side.named { *known } else { side };
            }
            ends.extend(tree.zip(id));
            let linked = value.get(self.keys.parent).is_some();
            self.links.push(LinkedRecord { id, parent, linked, logical, previous, slot, side, tree });
        }
    }

    fn name(&mut self, value: Value<'a>, key: &str) -> Option<Name> {
        value.get_text(key).map(|text| self.links.intern(&text.decode()))
    }

    /// The side conversation of `value`, the next record, whose own id and parent are `ids`.
    fn side(&mut self, value: Value<'a>, ids: [Option<Name>; 2], keys: &Sides) -> Option<Side> {
        if !value.is_true(keys.flag) {
            return None;
        }
        let next = self.links.records.len();
        let name = value.get_text(keys.name).map(Text::into_decoded);
        let named = name.is_some();
        let root = match name {
            Some(name) => *self.named.entry(name).or_insert(next),
            None => {
                let mut sides = ids.into_iter().flatten().filter_map(|id| self.links.sides.get(&id));
                sides.find(|side| !side.named).map_or(next, |side| side.root)
            }
        };
        Some(Side { root, named })
    }
}
